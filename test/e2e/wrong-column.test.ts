/**
 * A wrong column or kind: the run refuses to buy nonsense, and one in which nothing matched is no
 * success.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isKnown } from '../support/brand-profile.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, describeOn, domainAt, domainList } from '../support/scene.js';

const others = [embeddedEngine(), postgresEngine()].map(inLongTests);
// Hardly any of it depends on the engine.
describeOn([redisEngine(), ...others], (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

  test('websites named as tickers are refused by run and plan until any source of settings insists', async () => {
    const scene = await createScene(engine);
    await scene.write('list.csv', domainList(30));
    const wrong = ['list.csv', '--column', 'website:ticker'];
    for (const command of ['run', 'plan']) {
      const { code, stderr } = await scene.run([command, ...wrong]);
      expect(code).toBe(2);
      expect(stderr).toContain('most values of this column cannot be tickers: "website" as ticker');
      expect(stderr).toContain('use --column website:domain, or use --allow-mismatch');
    }
    expect(scene.service.meter.requests).toHaveLength(0);
    expect(await scene.files()).toEqual(expect.not.arrayContaining(['list.enriched.csv']));

    for (const [limit, flags, env] of [
      [1, ['--allow-mismatch'], {}],
      [2, [], { BRAND_ENRICH_ALLOW_MISMATCH: 'true' }],
    ] as const) {
      const insisted = await scene.run(['run', ...wrong, ...flags, '--limit', String(limit)], env);
      expect(insisted.code, insisted.stderr).toBe(0);
      expect(scene.service.meter.billed).toBe(limit);
    }
    await scene.write('brand-enrich.config.json', '{"allowMismatch": true}');
    expect((await scene.run(['run', ...wrong, '--limit', '3'])).code).toBe(0);
    expect(scene.service.meter.billed).toBe(3);
  });

  test('a run in which nothing matched says so in summary, page and JSON, and exits with 1 under --strict', async () => {
    const scene = await createScene(engine);
    const unknown = Array.from({ length: 200 }, (_, at) => domainAt(at)).filter(
      (name) => !isKnown('domain', name),
    );
    await scene.write('list.csv', `website\n${unknown.join('\n')}\n`);

    const run = await scene.run(['run', 'list.csv']);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain('Nothing matched: identifiers were read from "website" as domain.');
    const report = await readReport(scene.path('list.report.json'));
    expect(report.run).toMatchObject({ isComplete: true, nothingMatched: true });
    const page = await readFile(scene.path('list.report.html'), 'utf8');
    expect(page).toContain('<span class="verdict warn">Finished, nothing matched</span>');
    expect(page).toContain('Nothing matched: identifiers were read from');

    const strict = await scene.run(['run', 'list.csv', '--strict', '--json']);
    expect(strict.code, strict.stderr).toBe(1);
    expect(JSON.parse(strict.stdout)).toMatchObject({ run: { nothingMatched: true, exitCode: 1 } });
    expect(scene.service.meter.billed).toBe(unknown.length);
  });
});
