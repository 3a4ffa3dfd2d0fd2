/** `--name-column` of a real run: wrong matches have a number, are listed and counted. */
import { expect, test } from 'vitest';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { readRows } from '../support/output-files.js';
import { createScene, domainAt } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

/** Of every third row the company is another one; of every seventh it is blank. */
const companyOf = (at: number) =>
  at % 7 === 0 ? '' : at % 3 === 0 ? 'Zzyzx Quarry' : `Brand ${domainAt(at)} United`;
const ROWS = Array.from({ length: 40 }, (_, at) => ({ website: domainAt(at), company: companyOf(at) }));

onEngines([redisEngine().missing === null ? redisEngine() : embeddedEngine()], (engine) => {
  test('from the config file, in the output, the errors file, the report and the page', async () => {
    const scene = await createScene(engine);
    const lines = ROWS.map(({ website, company }) => `${website},${company}\n`).join('');
    await scene.write('list.csv', `website,company\n${lines}`);
    await scene.write('brand-enrich.config.json', '{"nameColumn": "Company"}');
    const result = await ends(0, scene.run(['run', 'list.csv', '--json']));
    const rows = await readRows(scene.path('list.enriched.csv'));
    const matched = rows.filter((row) => row.brand_status === 'matched');
    const wrong = matched.filter(({ company }) => company === 'Zzyzx Quarry');
    const named = matched.filter(({ company }) => company !== '');
    expect(rows).toHaveLength(ROWS.length);
    for (const row of rows) {
      const match =
        row.brand_status === 'matched' && row.company !== '' ? Number(row.brand_name_match) : null;
      expect(row.brand_name_match === '').toBe(match === null);
      if (match !== null) expect(match < 0.75, JSON.stringify(row)).toBe(wrong.includes(row));
    }
    const errors = await readRows(scene.path('list.errors.csv'));
    expect(new Set(errors.map(({ website }) => website))).toEqual(
      new Set(wrong.map(({ website }) => website)),
    );
    const nameMatch = { column: 'company', compared: named.length, low: wrong.length, threshold: 0.75 };
    expect(JSON.parse(result.stdout)).toMatchObject({
      nameMatch,
      accounting: { recordsRead: 40, rowsByStatus: 40, recordsWritten: 40 },
    });
  });
});
