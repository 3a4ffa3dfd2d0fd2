import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { askHolder } from '../../../src/engine/embedded/ask-holder.js';
import type { EmbeddedEngine } from '../../../src/engine/embedded/open-embedded-engine.js';
import { openEmbeddedEngine } from '../../../src/engine/embedded/open-embedded-engine.js';
import { createReleasers } from '../../../src/lifecycle.js';
import { silentLog } from '../../../src/log.js';
import { runSettings } from '../contract/run-settings.js';
import { startChild } from './child.js';

const ANY_AGE = {
  asOf: 0,
  maxAgeMs: Number.MAX_SAFE_INTEGER,
  maxAgeMissingMs: Number.MAX_SAFE_INTEGER,
  notBefore: 0,
};
const DAY_MS = 86_400_000;

describe('the embedded engine', () => {
  const releasers = createReleasers();
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    releasers.push(() => rm(folder, { recursive: true, force: true }));
  });
  afterEach(() => releasers.releaseAll());

  async function open(offsetMs = 0, where = folder): Promise<EmbeddedEngine> {
    const engine = await openEmbeddedEngine({
      folder: where,
      log: silentLog(),
      clockOffsetMs: () => offsetMs,
    });
    releasers.push(() => engine.close());
    return engine;
  }

  test('says what a loss of power could cost, and keeps its folder to itself', async () => {
    const state = join(folder, 'deep', 'state');
    const engine = await open(0, state);
    expect(engine).toMatchObject({ kind: 'embedded', address: state });
    expect(engine.warnings.join()).toContain('loss of power');
    expect(await engine.freeMemory()).toBeNull();
    for (const path of [state, join(state, 'embedded')]) expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  test('a folder that holds other things keeps its mode', async () => {
    await writeFile(join(folder, 'customers.csv'), '');
    await chmod(folder, 0o755);
    await open();
    expect((await stat(folder)).mode & 0o777).toBe(0o755);
    expect((await stat(join(folder, 'embedded'))).mode & 0o777).toBe(0o700);
  });

  test('a second engine on the folder is refused, and may ask the first', async () => {
    const engine = await open();
    engine.onRequest((request) => ({ heard: request }));
    await expect(open()).rejects.toMatchObject({ code: 'engine-held' });
    expect(await askHolder(folder, 'status')).toEqual({ heard: 'status' });
    await engine.close();
    expect(await askHolder(folder, 'status')).toBeNull();
  });

  test('a database that was cut short while it was made is made again', { tags: ['long'] }, async () => {
    await mkdir(join(folder, 'embedded', 'database'), { recursive: true });
    await writeFile(join(folder, 'embedded', 'database', 'PG_VERSION'), '18\n');
    const engine = await open();
    expect(await engine.outcomes.stats()).toMatchObject({ matched: 0 });
  });

  test('what was stored is there after a close, what is older than 30 days is not, live runs spared', async () => {
    const first = await open();
    await first.outcomes.record('w', [
      { key: 'k', status: 'matched', packed: Buffer.from('answer'), billed: true, freshMs: null },
    ]);
    await first.close();
    const second = await open(29 * DAY_MS);
    expect((await second.outcomes.read(['k'], ANY_AGE))[0]?.packed?.toString()).toBe('answer');
    await second.runs.start({ id: 'r', key: 'r', label: '', settings: runSettings() });
    await second.close();
    const third = await open(29 * DAY_MS + 1);
    expect((await third.outcomes.stats()).matched).toBe(1);
    await third.close();
    const fourth = await open(31 * DAY_MS);
    expect((await fourth.outcomes.stats()).matched).toBe(0);
  });

  test('a closed engine refuses at once', async () => {
    const engine = await open();
    await engine.close();
    await expect(engine.outcomes.stats()).rejects.toThrow('closed');
  });

  test('kill -9 in mid-work loses no acknowledged answer and no permit, again and again', {
    tags: ['long'],
  }, async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const child = startChild(`
        const { openEmbeddedEngine } = await load('src/engine/embedded/open-embedded-engine.js');
        const { silentLog } = await load('src/log.js');
        const { ledger, outcomes, runs } =
          await openEmbeddedEngine({ folder: ${JSON.stringify(folder)}, log: silentLog() });
        const run = 'run-${round}';
        const worker = 'worker-${round}';
        const { asOf } = await runs.start({ id: run, key: run, label: '', settings: ${JSON.stringify(runSettings())} });
        const freshness = { asOf, maxAgeMs: 0, maxAgeMissingMs: 0, notBefore: asOf };
        const request = { account: ${JSON.stringify(runSettings().account)}, worker, run, seen: null, settle: [],
          reading: { quota: 1e6, usage: 0, period: 'none' }, heard: true, refusedForQuota: false, pace: null,
          permitMs: 3_600_000, mayHaveTurned: false, usageLagMs: 0 };
        for (let batch = 0; ; batch += 1) {
          const keys = Array.from({ length: 20 }, (_, i) => 'k-${round}-' + batch + '-' + i);
          await outcomes.claim({ worker, run, keys, freshness });
          const take = keys.map((key) => ({ permit: 'p-' + key, key }));
          const { permits } = await ledger.exchange({ ...request, take });
          if (permits.some(({ answer }) => answer !== 'granted')) throw new Error('not granted');
          await outcomes.record(worker, keys.map((key) => (
            { key, status: 'matched', packed: Buffer.alloc(600, key), billed: true, freshMs: null })));
          say('${round}-' + batch);
        }
      `);
      releasers.push(() => child.kill('SIGKILL'));
      for (let line = 0; line < 10 + 7 * round; line += 1) acknowledged.push(await child.nextLine());
      await child.kill('SIGKILL');
      acknowledged.push(...child.takenLines());
    }
    const engine = await open();
    const keys = acknowledged.flatMap((batch) => Array.from({ length: 20 }, (_, i) => `k-${batch}-${i}`));
    const found = await engine.outcomes.read(keys, ANY_AGE);
    expect(found.filter((outcome) => outcome === null)).toEqual([]);
    expect(found.every((outcome) => outcome?.packed?.equals(Buffer.alloc(600, outcome.key)))).toBe(true);
    expect((await engine.ledger.show(runSettings().account)).held).toBeGreaterThanOrEqual(keys.length);
  });
});
