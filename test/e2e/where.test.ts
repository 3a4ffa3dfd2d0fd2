/** `--where` buys the selected rows and no others, counted at the service. */
import { expect, test } from 'vitest';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene, domainAt } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

const LIST = `website,country\n${Array.from({ length: 60 }, (_, at) => `${domainAt(at)},${at % 3 === 0 ? 'DE' : 'FR'}\n`).join('')}`;

onEngines([redisEngine().missing === null ? redisEngine() : embeddedEngine()], (engine) => {
  test('a selection is bought once, goes on after a stop, and its other rows come back as skipped', async () => {
    const scene = await createScene(engine, {}, LIST);
    const command = ['run', 'list.csv', '--where', 'country=DE'];
    const plan = await scene.run(['plan', 'list.csv', '--where', 'country=DE']);
    expect(plan.stdout).toContain('  selected          20 with country=DE\n');
    expect(plan.stdout).toContain('requests needed     20\n');

    await ends(7, scene.run([...command, '--max-requests', '5']));
    await ends(0, scene.run(command));
    expect([scene.service.meter.billed, scene.service.meter.requests.length]).toEqual([20, 20]);
    const rows = await readRows(scene.path('list.enriched.csv'));
    const { skipped } = countStatuses(rows);
    expect([rows.length, skipped]).toEqual([60, 40]);
    expect(rows.at(-1)).toMatchObject({
      brand_status: 'skipped',
      brand_error: 'not selected: country is not DE',
    });
    const { accounting } = await readReport(scene.path('list.report.json'));
    expect(accounting).toEqual({ recordsRead: 60, rowsByStatus: 60, recordsWritten: 60 });

    // Another selection has a key and caps of its own, and buys only what it adds.
    await ends(0, scene.run(['run', 'list.csv', '--where', 'country=FR', '--max-requests', '40']));
    expect(scene.service.meter.billed).toBe(60);
  });

  test('a wrong column, and a value that no row has, cost nothing', async () => {
    const scene = await createScene(engine, {}, LIST);
    await ends(2, scene.run(['run', 'list.csv', '--where', 'contry=DE']), 'did you mean "country"?');
    const none = await ends(0, scene.run(['run', 'list.csv', '--where', 'country=XX']));
    expect(none.stderr).toContain('Nothing was looked up: no row has country=XX.');
    expect(scene.service.meter.requests).toHaveLength(0);
  });
});
