/** A run of which hardly anything matches is held for a person, counted at the service. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startHook } from '../notify/hook-server.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { hasTerminal, startOnTerminal } from '../support/on-terminal.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene } from '../support/scene.js';
import { ends, kill, LONG, onEngines, stop } from './commands.js';
import { list, unknown } from './unknown-domains.js';

const QUESTION = '0 of 50 found: is `website` the right column?';

onEngines([redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)], (engine) => {
  test('of 120 wrong domains 50 are bought; the run is held until --min-match 0', async () => {
    const hook = await startHook(200);
    const { run, path, files, service } = await createScene(engine, {}, list(unknown(120)));
    const env = { BRAND_ENRICH_NOTIFY_URL: hook.url };
    const held = await run(['run', 'list.csv', '--json', '--strict', '--concurrency', '16'], env);
    expect([held.code, service.meter.billed], held.stderr).toEqual([7, 50]);
    expect(held.stderr.trimStart().split('\n')).toContainEqual(
      expect.stringMatching(/^0 of 50 found: is `website` the right column\? 70 identifiers are left/),
    );
    expect(held.stderr).toContain('--min-match 0');
    const report = await readReport(path('list.report.json'));
    for (const each of [report, JSON.parse(held.stdout)])
      expect(each).toMatchObject({ stopped: 'min-match', reason: QUESTION, run: { exitCode: 7 } });
    expect(await files()).not.toContain('list.enriched.csv');
    expect(countStatuses(await readRows(path('list.enriched.partial.csv')))).toMatchObject({
      not_found: 50,
      deferred: 70,
    });
    expect(await readFile(path('list.report.html'), 'utf8')).toContain(
      '<p class="headline">0 of 50 found: is `website` the right column? So far,',
    );

    const sent = service.meter.requests.length;
    for (const share of [[], ['--min-match', '30%']]) {
      const again = await run(['run', 'list.csv', ...share], env);
      expect([again.code, service.meter.requests.length], again.stderr).toEqual([7, sent]);
      expect(again.stderr).toContain(QUESTION);
    }
    expect(hook.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { event: 'parked', stopped: 'min-match', reason: QUESTION },
    ]);

    const lifted = await run(['run', 'list.csv', '--min-match', '0', '--max-requests', '60'], env);
    expect([lifted.code, service.meter.billed], lifted.stderr).toEqual([7, 60]);
    expect(lifted.stderr).not.toContain('found: is');
    const rest = await run(['run', 'list.csv'], env);
    expect([rest.code, service.meter.billed, service.meter.mostBilledOnce()]).toEqual([0, 120, 1]);
  });

  test('49 wrong domains, or 50 with nothing left, are finished; 51 are held', async () => {
    const { run, write, service } = await createScene(engine);
    for (const [count, code] of [
      [49, 0],
      [50, 0],
      [51, 7],
    ] as const) {
      const { billed } = service.meter;
      await write(`list-${count}.csv`, list(unknown(count, `n${count}`)));
      const ended = await run(['run', `list-${count}.csv`]);
      expect([ended.code, service.meter.billed - billed], ended.stderr).toEqual([code, Math.min(50, count)]);
    }
  });

  test('stored answers count, and lookups that fail do not', async () => {
    const { run, write, service } = await createScene(engine);
    const wrong = unknown(100);
    await write('first.csv', list(wrong.slice(0, 40)));
    await ends(0, run(['run', 'first.csv']));
    await write('list.csv', list(wrong));
    const held = await run(['run', 'list.csv']);
    expect([held.code, service.meter.billed], held.stderr).toEqual([7, 50]);
    service.options.badShare = 0.5;
    const others = unknown(150, 'failing');
    await write('failing.csv', list(others));
    await ends(7, run(['run', 'failing.csv']), QUESTION);
    expect(service.meter.billed).toBe(100);
  });

  test('two workers elsewhere buy 50, and so does a run after a kill', LONG, async () => {
    const { start, run, write, service } = await createScene(engine, { latencyMs: 200 }, list(unknown(300)));
    const workers = [start(['worker']), start(['worker'])];
    const held = await run(['run', 'list.csv', '--no-worker']);
    expect([held.code, service.meter.billed], held.stderr).toEqual([7, 50]);
    await Promise.all(workers.map(stop));

    await write('killed.csv', list(unknown(300, 'killed')));
    const killed = start(['run', 'killed.csv', '--concurrency', '8']);
    await service.until((meter) => meter.billed >= 70);
    await kill(killed);
    await ends(7, run(['run', 'killed.csv', '--concurrency', '8']));
    // What was in flight at the kill is bought twice.
    expect(service.meter.billed).toBeGreaterThanOrEqual(100);
    expect(service.meter.billed).toBeLessThanOrEqual(100 + 16);
  });

  test.skipIf(!hasTerminal)('on a terminal a person is asked, and the answer holds', LONG, async () => {
    const scene = await createScene(engine, {}, list(unknown(120)));
    const refused = startOnTerminal(scene, 'run list.csv');
    await refused.until(/0 of 50 found: is `website` the right column\? Continue\? \[y\/N\] $/m);
    refused.type('n\n');
    expect([await refused.ended, scene.service.meter.billed]).toEqual([7, 50]);
    const agreed = startOnTerminal(scene, 'run list.csv --max-requests 60');
    await agreed.until(/Continue\? \[y\/N\] $/m);
    expect(scene.service.meter.requests).toHaveLength(50);
    agreed.type('y\n');
    expect([await agreed.ended, scene.service.meter.billed]).toEqual([7, 60]);
    const rest = await scene.run(['run', 'list.csv']);
    expect([rest.code, scene.service.meter.billed], rest.stderr).toEqual([0, 120]);
    await scene.write('other.csv', list(unknown(120, 'other')));
    const interrupted = startOnTerminal(scene, 'run other.csv');
    await interrupted.until(/Continue\? \[y\/N\] $/m);
    expect(await interrupted.stop()).toBe(130);
    expect(scene.service.meter.billed).toBe(170);
  });
});
