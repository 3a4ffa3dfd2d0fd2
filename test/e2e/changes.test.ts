/** `--changes` of real runs: against the last complete output, and never against a partial one. */
import { readFile, writeFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import type { Document } from '../../src/run/documents.js';
import { startHook } from '../notify/hook-server.js';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { createScene, domainAt, type Scene } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

/** The test service knows nine in ten. */
const list = (from: number, to: number) =>
  `website\n${Array.from({ length: to - from }, (_, at) => `${domainAt(from + at)}\n`).join('')}`;
const changesIn = async (scene: Scene) =>
  parse<Record<string, string>>(await readFile(scene.path('changes.csv')), { columns: true });

onEngines([redisEngine().missing === null ? redisEngine() : embeddedEngine()], (engine) => {
  test('a night later they are in the file, the report and the webhook, and a stopped run leaves them', async () => {
    const scene = await createScene(engine, {}, list(0, 30));
    const hook = await startHook(200);
    const command = ['run', 'list.csv', '--changes', 'changes.csv', '--notify-url', hook.url];
    await ends(0, scene.run(command), 'all its brands will count as new');
    const before = await changesIn(scene);
    expect(new Set(before.map(({ change }) => change))).toEqual(new Set(['new']));

    // A person corrects a name in the output; the list loses ten rows and gets five.
    const output = await readFile(scene.path('list.enriched.csv'), 'utf8');
    const renamed = before.map(({ identifier = '' }) => identifier).find((each) => each >= domainAt(12));
    await writeFile(scene.path('list.enriched.csv'), output.replace(`Brand ""${renamed}""`, 'Renamed'));
    await scene.write('list.csv', list(10, 35));
    await ends(7, scene.run([...command, '--max-requests', '2']));
    expect(await changesIn(scene)).toEqual(before);

    const second = await ends(0, scene.run([...command, '--json']));
    const changes = await changesIn(scene);
    const wasThere = new Set(before.map(({ identifier }) => identifier));
    const gone = Array.from({ length: 10 }, (_, at) => domainAt(at)).filter((each) => wasThere.has(each));
    const of = (kind: string) => changes.filter(({ change }) => change === kind);
    expect(
      of('vanished')
        .map(({ identifier }) => identifier)
        .sort(),
    ).toEqual(gone);
    expect(of('changed')).toEqual([expect.objectContaining({ identifier: renamed, fields: 'name' })]);
    expect(of('new').every(({ identifier = '' }) => identifier > domainAt(29))).toBe(true);
    const counts = { new: of('new').length, changed: 1, vanished: gone.length, failed: 0 };
    expect(JSON.parse(second.stdout)).toMatchObject({ changes: { ...counts, fields: { name: 1 } } });
    expect(JSON.parse(hook.received.at(-1)?.body ?? '')).toMatchObject({ event: 'finish', changes: counts });
  });

  test.each(['csv', 'jsonl'])('only what both runs selected is compared: %s', async (format) => {
    const scene = await createScene(engine);
    const rows = Array.from({ length: 20 }, (_, at) => ({
      website: domainAt(at),
      land: at < 10 ? 'DE' : 'FR',
    }));
    const text = (some: typeof rows) =>
      format === 'csv'
        ? `website,land\n${some.map(({ website, land }) => `${website},${land}\n`).join('')}`
        : some.map((row) => `${JSON.stringify(row)}\n`).join('');
    const counts = async (...args: string[]) => {
      const command = ['run', `list.${format}`, '--changes', 'changes.csv', '--json', ...args];
      const { changes } = JSON.parse((await ends(0, scene.run(command))).stdout) as Document<'report'>;
      return [changes?.new, changes?.vanished, changes?.unchanged];
    };
    await scene.write(`list.${format}`, text(rows));
    const [all = 0] = await counts();
    const [, , german = 0] = await counts('--where', 'land=DE');
    expect(german).toBeGreaterThan(0);
    expect(await counts('--where', 'land=DE')).toEqual([0, 0, german]);
    expect(await counts()).toEqual([0, 0, german]);
    expect(await counts('--where', 'land=FR')).toEqual([0, 0, all - german]);
    await counts();
    expect((await counts('--limit', '5')).slice(0, 2)).toEqual([0, 0]);
    await counts();
    await scene.write(`list.${format}`, text(rows.slice(5)));
    const [added, gone = 0] = await counts('--where', 'land=DE');
    expect([added, gone > 0]).toEqual([0, true]);
  });

  test('what cannot be compared is refused before anything is spent', async () => {
    const scene = await createScene(engine, {}, list(0, 5));
    for (const flags of [
      ['--changes', 'changes.xlsx'],
      ['--changes', 'changes.csv', '-o', '-'],
      ['--changes', 'changes.csv', '--no-output-header'],
      ['--changes', 'changes.csv', '-o', '/dev/null'],
      ['--changes', 'list.csv'],
    ]) {
      await ends(2, scene.run(['run', 'list.csv', ...flags]));
    }
    expect(scene.service.meter.requests).toHaveLength(0);
  });
});
