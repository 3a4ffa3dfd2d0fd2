/**
 * An `up` and a `worker` that live on while files come in again and again: memory and open files of
 * the thirds and listeners grow by less than 5 %. `SOAK_MINUTES` sets the length, 10 by default;
 * half as much comes before, to fill caches and compile what runs often.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { onEngines } from '../e2e/commands.js';
import { startUp } from '../e2e/start-up.js';
import { createInboxScene } from '../jobs/inbox-scene.js';
import type { CliProcess } from '../support/cli.js';
import { redisEngine } from '../support/engines.js';
import { domainAt } from '../support/scene.js';
import { INSPECTED, lookInto } from './inspector.js';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const SAMPLE_MS = 500;
const ROWS = 40;
/** Files in the inbox at once: as many as it processes at once. */
const FILES_AT_ONCE = 4;

interface Sample {
  readonly atMs: number;
  readonly rssKiB: number;
  readonly openFiles: number;
}

async function sample(process: CliProcess): Promise<Sample> {
  const folder = `/proc/${process.pid}`;
  const rssKiB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`${folder}/status`, 'utf8'))?.[1]);
  return { atMs: performance.now(), rssKiB, openFiles: (await readdir(`${folder}/fd`)).length };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}

const redis = redisEngine();
onEngines([redis], () => {
  const isLinux = process.platform === 'linux';
  const options = { tags: ['soak'], timeout: MINUTES * 90_000 + 120_000 };
  test.runIf(isLinux)(`${MINUTES} minutes of life need no more than their beginning`, options, async () => {
    const scene = await createInboxScene(redis, { latencyMs: 5, jitterMs: 10 });
    const { meter } = scene.service;
    const living = {
      up: await startUp(scene, { settle: '100ms', concurrency: 8 }, INSPECTED),
      worker: scene.start(['worker', '--concurrency', '8'], INSPECTED),
    };
    await living.worker.untilSaid(/waiting for chunks/);
    const metrics = /"metrics":"(http:[^"]+)"/.exec(living.up.said)?.[1] ?? '';
    const samples: Record<keyof typeof living, Sample[]> = { up: [], worker: [] };
    let files = 0;

    /** Half of each file is new; half is in the one before. */
    const drop = async () => {
      const rows = Array.from({ length: ROWS }, (_, row) => domainAt((files * ROWS) / 2 + row));
      await scene.drop(`list-${files}.csv`, `website\n${rows.join('\n')}\n`);
      files += 1;
    };
    let done = 0;
    /** What is done makes way, as in an inbox that somebody empties. Returns how many in all. */
    const collect = async () => {
      const paths = (await scene.list('done')).map((name) => scene.path(`done/${name}`));
      for (const path of paths) await rm(path, { recursive: true });
      done += paths.length;
      return done;
    };
    const workFor = async (minutes: number) => {
      const endsAt = performance.now() + minutes * 60_000;
      while (performance.now() < endsAt) {
        while (files - done < FILES_AT_ONCE) await drop();
        await after(SAMPLE_MS);
        await collect();
        for (const name of ['up', 'worker'] as const) samples[name].push(await sample(living[name]));
        expect((await fetch(metrics)).status).toBe(200);
      }
      await expect.poll(collect, { timeout: 60_000 }).toBe(files);
    };
    const lookIntoBoth = async () => ({
      up: await lookInto(living.up),
      worker: await lookInto(living.worker),
    });

    await workFor(MINUTES / 6);
    const before = await lookIntoBoth();
    // A look collects garbage and frees memory, which fills again.
    await workFor(MINUTES / 3);
    for (const each of Object.values(samples)) each.length = 0;
    await workFor(MINUTES);
    const end = await lookIntoBoth();

    const [first, last] = [samples.up[0]?.atMs ?? 0, samples.up.at(-1)?.atMs ?? 0];
    const third = (last - first) / 3;
    for (const name of ['up', 'worker'] as const) {
      const of = (index: number) =>
        samples[name].filter(({ atMs }) => Math.min(2, Math.floor((atMs - first) / third)) === index);
      const thirds = [0, 1, 2].map((index) => ({
        rssMiB: Math.round(mean(of(index).map(({ rssKiB }) => rssKiB)) / 102.4) / 10,
        openFiles: mean(of(index).map(({ openFiles }) => openFiles)),
      }));
      console.log(name, JSON.stringify({ files, thirds, idle: [before[name], end[name]] }));
      const grown = [
        ['memory', ...thirds.map(({ rssMiB }) => rssMiB)],
        ['open files', ...thirds.map(({ openFiles }) => openFiles)],
        ['listeners', before[name].listeners, end[name].listeners],
      ] as const;
      for (const [what, was, ...later] of grown)
        for (const is of later) expect(is, `${what} of ${name}`).toBeLessThanOrEqual(was * 1.05);
      expect(living[name].said).not.toContain('MaxListenersExceededWarning');
    }
    const distinct = ((files + 1) * ROWS) / 2;
    expect([meter.billed, meter.billedOf.size]).toEqual([distinct, distinct]);
    for (const each of Object.values(living)) each.kill('SIGTERM');
    for (const each of Object.values(living)) expect((await each.done).code).toBe(0);
  });
});
