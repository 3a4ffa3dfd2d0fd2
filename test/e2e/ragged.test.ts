/** Rows that do not fit their table: nothing is bought for them, and they come back complete. */
import { access, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { createScene } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

const letter = (at: number) => String.fromCharCode(65 + (at % 26));
const tickerAt = (at: number) => `T${letter(at)}${letter(Math.floor(at / 26))}`;
const GOOD = Array.from({ length: 60 }, (_, at) => `Brand no ${at},x${at},${tickerAt(at)},${at * 10},`);
const MISFITS = ['Acme, Inc.,x,ACM,13,', 'Acme x,ACM,13,', 'Acme,x,ACM,13,note,'];

const others = [embeddedEngine(), postgresEngine()].map(inLongTests);
// These checks run before an engine is opened.
onEngines([redisEngine(), ...others], (engine) => {
  test('a few ragged rows are invalid with their reason and original bytes, in plan and run', async () => {
    const scene = await createScene(engine);
    const lines = [...GOOD.slice(0, 20), ...MISFITS, ...GOOD.slice(20)];
    await scene.write('list.csv', `company,isin_or_name,ticker,employees,notes\n${lines.join('\n')}\n`);

    const plan = await ends(0, scene.run(['plan', 'list.csv', '--column', 'ticker', '--json']));
    expect(JSON.parse(plan.stdout)).toMatchObject({
      rows: { total: 63, asked: 60 },
      input: { unreadable: 3, misfits: 3, short: 0, long: 0 },
      reasons: { '6 cells instead of 5': 2, '4 cells instead of 5': 1 },
    });

    const run = await ends(0, scene.run(['run', 'list.csv', '--column', 'ticker']));
    expect(run.stderr).toContain(
      '3 rows (first line 22) are invalid, because the cells do not fit the columns',
    );
    const asked = scene.service.meter.requests.map(({ identifier }) => identifier).sort();
    expect(asked).toEqual(GOOD.map((_, at) => `ticker:${tickerAt(at)}`).sort());

    const rows = await readRows(scene.path('list.enriched.csv'));
    expect(countStatuses(rows)).toMatchObject({ invalid: 3 });
    expect(rows).toHaveLength(63);
    for (const name of ['list.enriched.csv', 'list.errors.csv']) {
      const invalid = (await readRows(scene.path(name))).filter((row) => row.brand_status === 'invalid');
      expect(invalid.map((row) => row.brand_raw)).toEqual(MISFITS);
      expect(invalid.map((row) => row.brand_error)).toEqual([
        'line 22: 6 cells instead of 5',
        'line 23: 4 cells instead of 5',
        'line 24: 6 cells instead of 5',
      ]);
    }
    const report = JSON.parse(await readFile(scene.path('list.report.json'), 'utf8'));
    expect(report.input).toMatchObject({ unreadable: 3, misfits: 3, short: 0, long: 0 });
    expect(report.input.examples[0]).toEqual({ line: 22, reason: '6 cells instead of 5' });
  });

  test('many ragged rows stop the run before anything is sent; --ragged continues', async () => {
    const scene = await createScene(engine);
    await scene.write('shifted.csv', 'company,ticker,notes\nAcme, Inc.,ACM,\n');
    for (const command of ['run', 'plan']) {
      const stopped = await ends(5, scene.run([command, 'shifted.csv', '--column', 'ticker:ticker']));
      expect(stopped.stderr).toMatch(/1 of 1 row with delimiter ',' \(detected\), first in line 2 \(4 cells/);
      expect(stopped.stderr).toMatch(/--delimiter.*--ragged invalid.*--ragged take/);
    }
    await expect(access(scene.path('shifted.enriched.csv'))).rejects.toThrow();

    await ends(0, scene.run(['run', 'shifted.csv', '--column', 'ticker:ticker', '--ragged', 'invalid']));
    expect(await readRows(scene.path('shifted.enriched.csv'))).toMatchObject([
      { brand_status: 'invalid', brand_raw: 'Acme, Inc.,ACM,' },
    ]);
    expect(scene.service.meter.requests).toEqual([]);
  });
});
