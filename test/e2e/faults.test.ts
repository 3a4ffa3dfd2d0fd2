/** A faulty service: nothing is lost or paid three times, and no known miss asked for again. */
import { expect, test } from 'vitest';
import { isKnown } from '../support/brand-profile.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';
import { onEngines } from './commands.js';

const redis = redisEngine();
onEngines([redis, inLongTests(embeddedEngine())], (engine) => {
  test('errors, resets and damaged answers: the file is right, nothing is paid three times, no 404 asked twice', async () => {
    const scene = await createScene(engine, {
      faults: {
        unavailable: 0.1,
        broken: 0.1,
        resetBefore: 0.02,
        resetWithin: 0.02,
        truncated: 0.02,
        truncatedSilently: 0.02,
        damaged: 0.02,
      },
    });
    await scene.write('list.csv', domainList(400));
    const result = await scene.run(['run', 'list.csv']);
    expect([0, 1], result.stderr).toContain(result.code);
    const rows = await readRows(scene.path('list.enriched.csv'));
    expect(rows).toHaveLength(400);
    const { meter } = scene.service;
    for (const row of rows) {
      const domain = row.brand_identifier ?? '';
      const isThere = isKnown('domain', domain);
      // Failed is right only after two paid answers that could not be used.
      if (row.brand_status === 'failed') expect(meter.billedOf.get(`domain:${domain}`)).toBe(2);
      else expect(row.brand_status).toBe(isThere ? 'matched' : 'not_found');
      if (row.brand_status === 'matched') expect(row.brand_domain).toBe(domain);
    }
    expect(countStatuses(rows).failed ?? 0).toBeLessThan(60);
    expect(meter.mostBilledOnce()).toBeLessThanOrEqual(2);
    const plainMisses = meter.requests.filter(({ status, why }) => status === 404 && why === '');
    expect(new Set(plainMisses.map(({ identifier }) => identifier)).size).toBe(plainMisses.length);
    const report = await readReport(scene.path('list.report.json'));
    expect(report.requests.billed).toBeGreaterThanOrEqual(meter.billed);
  });

  test.each([
    ['refuses requests as too many', { perSecond: 5 }],
    ['answers 503', { faults: { unavailable: 1 } }],
  ])('a service that %s with a far Retry-After: it is said until when', async (_what, changes) => {
    const scene = await createScene(engine, { ...changes, retryAfter: 600 }, domainList(20));
    const run = scene.startHere(['run', 'list.csv']);
    await run.untilSaid(/the service asks to wait until \d\d:\d\d:\d\d UTC/);
    const status = await scene.run(['status']);
    if ('perSecond' in changes) expect(status.stdout).toContain('wait        the service asks to wait until');
    run.kill('SIGTERM');
    expect((await run.done).code).toBe(130);
  });
});
