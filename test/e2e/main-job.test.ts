/** The main job: a list comes back enriched, ranked and complete, and is paid for once. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { profileText, scoreOf } from '../support/brand-profile.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, type OutputRow, readReport, readRows } from '../support/output-files.js';
import { createScene } from '../support/scene.js';
import { ends, expectPaidOnce, onEngines } from './commands.js';

/** Records as their owner wrote them, which must come back unchanged. */
const RECORDS = [
  '007,shop-one.com,"several\r\nlines, ""quoted"""',
  '12345678901234567890,shop-two.com,1.10',
  '"0012",https://user:word@www.shop-one.com:8080/path?query=1#part,=1+1',
  '-5,  SHOP-THREE.COM  ,"  blanks kept  "',
  '1e5,sales@shop-four.com,+49 30 123',
  ',localhost,an address that nobody can ask for',
  'x,,',
  '8,shop-two.com,"asked ""twice"""',
  "9,'shop-five.com',Ünïcode – ✓",
  ...Array.from({ length: 90 }, (_, index) => `${index + 1}.50,bulk-${index}.com,row ${index}`),
];
const LIST = `Nr,Website,Note\r\n${RECORDS.join('\r\n')}\r\n`;

const RANKS = ['matched', 'not_found', 'deferred', 'failed', 'invalid', 'skipped'];

/** Descending scores, brands without one, the statuses in order; ties as in the input. */
function rankOf({ brand_status: status = '', brand_quality_score: score = '' }: OutputRow): number {
  if (status === 'matched' && score !== '') return 1 - Number(score);
  return 2 + (status === 'matched' ? 0 : 1 + RANKS.indexOf(status));
}

const [redis, embedded, postgres] = [redisEngine(), embeddedEngine(), inLongTests(postgresEngine())];
onEngines([redis, embedded, postgres], (engine) => {
  test('a plan sends nothing; the run returns every row once, ranked, byte for byte, and each identifier is billed once', async () => {
    const scene = await createScene(engine, {}, LIST);

    const plan = await ends(0, scene.run(['plan', 'list.csv', '--json']));
    expect(JSON.parse(plan.stdout)).toMatchObject({ identifiers: { distinct: 95 }, requests: { most: 95 } });
    expect(scene.service.meter.requests).toHaveLength(0);

    await ends(0, scene.run(['run', 'list.csv']));
    const text = await readFile(scene.path('list.enriched.csv'), 'utf8');
    for (const record of RECORDS) expect(text).toContain(`\r\n${record},`);
    const rows = await readRows(scene.path('list.enriched.csv'));
    expect(rows).toHaveLength(RECORDS.length);
    expect(rows.map((row) => row.Nr).sort()).toEqual(
      RECORDS.map((record) => record.split(',')[0]?.replaceAll('"', '')).sort(),
    );
    const ranks = rows.map(rankOf);
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    for (const row of rows.filter(({ brand_status: status }) => status === 'matched')) {
      const score = scoreOf('domain', row.brand_identifier ?? '');
      expect(row.brand_quality_score).toBe(score === null ? '' : String(score));
    }
    const { meter } = scene.service;
    expectPaidOnce(meter, 95);
    expect(countStatuses(rows)).toMatchObject({ invalid: 1, skipped: 1 });
    const report = await readReport(scene.path('list.report.json'));
    expect(report.accounting).toEqual({
      recordsRead: RECORDS.length,
      rowsByStatus: RECORDS.length,
      recordsWritten: RECORDS.length,
    });
    expect(report.requests).toMatchObject({ sent: 95, billed: 95 });
    expect(report.rows).toMatchObject(countStatuses(rows));

    await ends(0, scene.run(['run', 'list.csv', '-o', 'again.csv']));
    expect(meter.requests).toHaveLength(95);
    const withoutSource = ({ brand_source: _, ...row }: OutputRow) => row;
    expect((await readRows(scene.path('again.csv'))).map(withoutSource)).toEqual(rows.map(withoutSource));
  });
});

onEngines([redis, inLongTests(embedded), postgres], (engine) => {
  test('JSON lines carry the profile exactly as the service sent it', async () => {
    const scene = await createScene(engine);
    const lines = Array.from(
      { length: 60 },
      (_, index) => `{"site": "json-${index}.com", "n": 12345678901234567890, "v":1.10 , "i":${index}}`,
    );
    await scene.write('list.jsonl', `${lines.join('\n')}\n`);

    await ends(0, scene.run(['run', 'list.jsonl']));
    const written = (await readFile(scene.path('list.enriched.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(written).toHaveLength(60);
    for (const line of written) {
      const { site, brand } = JSON.parse(line) as { site: string; brand: { status: string } };
      const profile = profileText('domain', site);
      expect(brand.status).toBe(profile === null ? 'not_found' : 'matched');
      expect(line).toContain(`"profile":${profile}`);
      expect(lines.some((original) => line.startsWith(original.slice(0, -1)))).toBe(true);
    }
    expectPaidOnce(scene.service.meter, 60);
  });
});

onEngines([redis], () => {
  test('accepts the output of a run as input of the next, which is billed nothing', async () => {
    const scene = await createScene(redis, {}, 'website,note\na-one.com,1\na-two.com,2\na-one.com,3\n');
    const named = ['--name-column', 'note', '--json'];
    const { stdout } = await ends(0, scene.run(['run', 'list.csv', '-o', 'one.csv', ...named]));
    const { nameMatch, rows } = JSON.parse(stdout);
    const compared = rows.matched;
    expect(nameMatch).toEqual({ column: 'note', compared, low: compared, threshold: 0.75 });
    if (compared > 0) expect(await readRows(scene.path('one.errors.csv'))).toHaveLength(compared);
    await ends(0, scene.run(['run', 'one.csv', '-o', 'two.csv', ...named]));
    expect(scene.service.meter.billed).toBe(2);
    const header = (path: string) => readFile(scene.path(path), 'utf8').then((text) => text.split('\n')[0]);
    expect(await header('two.csv')).toBe(await header('one.csv'));
  });
});
