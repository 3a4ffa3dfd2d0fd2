/** Which rows of a file are looked up, and in which order, counted at the service. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene, domainAt, domainList, type Scene } from '../support/scene.js';
import { ends, expectPaidOnce, onEngines, stop } from './commands.js';

const COUNTRIES = `website,country\n${Array.from({ length: 60 }, (_, at) => `${domainAt(at)},${at % 3 === 0 ? 'DE' : 'FR'}\n`).join('')}`;

/** Value of row n: a permutation, so that the order of the file says nothing. */
const COUNT = 400;
const worthAt = (index: number) => (index * 617) % COUNT;

function pricedList(): string {
  const lines = Array.from({ length: COUNT }, (_, index) => `${domainAt(index)},${worthAt(index)}`);
  return `website,revenue\n${lines.join('\n')}\n`;
}

/** Values of what the service billed, best first. */
function boughtWorths({ service }: Scene): number[] {
  return Array.from({ length: COUNT }, (_, index) => index)
    .filter((index) => service.meter.billedOf.has(`domain:${domainAt(index)}`))
    .map(worthAt)
    .sort((a, b) => b - a);
}

const best = (count: number) => Array.from({ length: count }, (_, at) => COUNT - 1 - at);

onEngines([redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)], (engine) => {
  test('a selection is bought once, goes on after a stop, and its other rows come back as skipped', async () => {
    const scene = await createScene(engine, {}, COUNTRIES);
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
    const scene = await createScene(engine, {}, COUNTRIES);
    await ends(2, scene.run(['run', 'list.csv', '--where', 'contry=DE']), 'did you mean "country"?');
    const none = await ends(0, scene.run(['run', 'list.csv', '--where', 'country=XX']));
    expect(none.stderr).toContain('Nothing was looked up: no row has country=XX.');
    expect(scene.service.meter.requests).toHaveLength(0);
  });

  test('websites named as tickers are refused by run and plan until a flag insists', async () => {
    const scene = await createScene(engine, {}, domainList(30));
    const wrong = ['list.csv', '--column', 'website:ticker'];
    for (const command of ['run', 'plan']) {
      const { code, stderr } = await scene.run([command, ...wrong]);
      expect(code).toBe(2);
      expect(stderr).toContain('most values of this column cannot be tickers: "website" as ticker');
      expect(stderr).toContain('use --column website:domain, or use --allow-mismatch');
    }
    expect(scene.service.meter.requests).toHaveLength(0);
    expect(await scene.files()).toEqual(expect.not.arrayContaining(['list.enriched.csv']));

    await ends(0, scene.run(['run', ...wrong, '--allow-mismatch', '--limit', '1']));
    expect(scene.service.meter.billed).toBe(1);
  });

  test('a quota of 100 buys exactly the 100 most valuable of 400, and once raised the same command buys the rest', async () => {
    const scene = await createScene(engine, { quota: 100 }, pricedList());
    const { meter, options } = scene.service;
    const command = ['run', 'list.csv', '--priority', 'revenue'];
    await ends(7, scene.run(command), 'bought first: the highest "revenue"');
    expect(boughtWorths(scene)).toEqual(best(100));
    expect(meter.billed).toBe(100);
    const partial = await readRows(scene.path('list.enriched.partial.csv'));
    expect([partial.length, countStatuses(partial).deferred]).toEqual([COUNT, COUNT - 100]);
    expect(await scene.files()).not.toContain('list.enriched.csv');

    options.quota = 5_000;
    await ends(0, scene.run(command));
    expectPaidOnce(meter, COUNT);
    const left = expect.stringMatching(/^list\.(enriched\.partial|errors)\.csv$/);
    expect(await scene.files()).not.toContainEqual(left);
    const rows = await readRows(scene.path('list.enriched.csv'));
    expect(countStatuses(rows).deferred).toBeUndefined();
    // The order of the output does not change.
    const scores = rows
      .filter((row) => row.brand_quality_score !== '')
      .map((row) => Number(row.brand_quality_score));
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  test('in a script --try buys that many, spread over the file, and stops; --yes continues, and nothing is bought twice', async () => {
    const { run, files, path, service } = await createScene(engine, {}, domainList(40));
    const tried = await ends(0, run(['run', 'list.csv', '--try', '5']));
    expect([...service.meter.billedOf.keys()].sort()).toEqual(
      [4, 12, 20, 28, 36].map((index) => `domain:${domainAt(index)}`),
    );
    expect(tried.stderr).toMatch(/^tried 5 identifiers: \d matched \(\d+ %\)/m);
    expect(tried.stderr).toMatch(/^ {2}domain:brand-\d+\.com: \S.*, (score 0|1|unscored)/m);
    expect(tried.stderr).toMatch(/^35 more identifiers to look up, 35 within the quota/m);
    expect(tried.stderr).toContain('to continue, run the same command without --try, or answer y');
    expect(await files()).toContain('list.enriched.partial.csv');
    expect(await files()).not.toContain('list.enriched.csv');
    expect(countStatuses(await readRows(path('list.enriched.partial.csv'))).deferred).toBe(35);
    expect((await readReport(path('list.report.json'))).run).toMatchObject({
      status: 'declined',
      isComplete: false,
      exitCode: 0,
    });

    await ends(0, run(['run', 'list.csv', '--try', '5', '--yes']), /^tried 5 identifiers/m);
    expect([service.meter.billed, service.meter.mostBilledOnce()]).toEqual([40, 1]);
    expect(await files()).not.toContain('list.enriched.partial.csv');
  });
});

onEngines([inLongTests(redisEngine())], (engine) => {
  test('three workers with varying latency buy the same 120 as one would', async () => {
    const scene = await createScene(engine, { quota: 120, jitterMs: 60 }, pricedList());
    const workers = Array.from({ length: 3 }, () => scene.start(['worker']));
    await ends(7, scene.run(['run', 'list.csv', '--no-worker', '--priority', 'revenue']));
    expect(boughtWorths(scene)).toEqual(best(120));
    await Promise.all(workers.map(stop));
  });
});
