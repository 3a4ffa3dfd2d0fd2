/** `ledger check`: the one request beyond the limit that a person may order, counted there. */
import { expect, test } from 'vitest';
import type { Document } from '../../src/run/documents.js';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { createScene, domainAt, domainList } from '../support/scene.js';
import { newToken } from '../support/service-options.js';
import { accountOf, ends, kill, onEngines, statusOf } from './commands.js';
import { askAs, startUp } from './start-up.js';

const PAID = { BRAND_ENRICH_PLAN: 'paid', BRAND_ENRICH_OVERAGE_BUDGET: '0' };

onEngines([redisEngine(), inLongTests(embeddedEngine())], (engine) => {
  test('a raised quota is seen by one request that is ordered, at most once an hour and never while paused', async () => {
    const scene = await createScene(engine, { quota: 5, plan: 'paid' }, domainList(9));
    const { meter, options } = scene.service;
    await ends(7, scene.run(['run', 'list.csv'], PAID), /ledger check.*ledger observe --quota/);
    expect(meter.billed).toBe(5);

    // A plan names the same ways.
    const plan = await scene.run(['plan', 'list.csv'], PAID);
    expect(plan.stdout).toMatch(
      /would be deferred {3}4: .*--own-domain.*ledger check.*ledger observe --quota/,
    );
    const capped = await scene.run(['plan', 'list.csv', '--max-requests', '6'], PAID);
    expect(capped.stdout).toContain('would be deferred   4: a higher --overage-budget');
    const few = await scene.run(['plan', 'list.csv', '--max-requests', '5'], PAID);
    expect(few.stdout).toContain('would be deferred   4: a higher --max-requests would cover');

    options.quota = 100;
    const again = await scene.run(['run', 'list.csv'], PAID);
    expect([again.code, meter.billed]).toEqual([7, 5]);

    await scene.run(['pause']);
    await ends(7, scene.run(['ledger', 'check'], PAID), 'spending is paused');
    expect(meter.billed).toBe(5);
    await scene.run(['resume']);

    const checked = await ends(0, scene.run(['ledger', 'check', '--json', 'other.com'], PAID));
    expect(checked.stderr).toMatch(/the first that \S+: list\.csv deferred: it costs at most 0\.10/);
    const { identifier, outcome, account } = JSON.parse(checked.stdout) as Document<'ledger-check'>;
    expect(identifier).toMatch(/^domain:brand-0000[1-9]\.com$/);
    expect(outcome).toMatch(/matched|not_found/);
    expect(account).toMatchObject({ sent: 6, quota: 100 });
    expect(meter.billed).toBe(6);

    await ends(7, scene.run(['ledger', 'check', '--yes'], PAID), 'less than an hour ago');
    expect(meter.billed).toBe(6);

    await ends(0, scene.run(['run', 'list.csv'], PAID));
    expect([meter.billed, meter.mostBilledOnce()]).toEqual([9, 1]);
  });

  test('without deferred rows the argument is asked for, and without both nothing is', async () => {
    const scene = await createScene(engine, { quota: 5, plan: 'paid' });
    const { meter } = scene.service;
    const nothing = await scene.run(['ledger', 'check'], PAID);
    expect([nothing.code, meter.requests.length]).toEqual([2, 0]);
    await ends(0, scene.run(['ledger', 'check', domainAt(0)], PAID));
    expect([...meter.billedOf.keys()]).toEqual([`domain:${domainAt(0)}`]);
  });

  test('without an answer it does not end with 0: refused credentials with 4, a failure with 1', async () => {
    const scene = await createScene(engine, { quota: 5, plan: 'paid' });
    const { meter, options } = scene.service;
    await ends(
      4,
      scene.run(['ledger', 'check', domainAt(0)], { ...PAID, BRAND_API_TOKEN: newToken() }),
      'refused the credentials',
    );
    options.alwaysStatus = 500;
    const failed = await ends(1, scene.run(['ledger', 'check', '--json', domainAt(0)], PAID));
    expect(JSON.parse(failed.stdout)).toMatchObject({ outcome: 'failed', isBilled: false });
    expect(meter.billed).toBe(0);
  });
});

onEngines([redisEngine(), postgresEngine(), embeddedEngine()].map(inLongTests), (engine) => {
  test('of several persons who order it at once, one is asked for and the others are told', async () => {
    const scene = await createInboxScene(engine, { quota: 5, plan: 'paid', latencyMs: 800 });
    const { meter, options } = scene.service;
    const up = await startUp(scene, {}, PAID);
    const ask = askAs('ada', up);
    await scene.drop('list.csv', domainList(9));
    await scene.until('waiting', 1);
    expect(meter.billed).toBe(5);
    options.quota = 100;
    // Another machine has a state folder of its own, and reaches a shared engine.
    const elsewhere = engine.name === 'embedded' ? {} : { BRAND_ENRICH_STATE: scene.path('elsewhere') };
    const [page, ...ends] = await Promise.all([
      ask('/account/check', { confirmed: 'yes' }),
      scene.run(['ledger', 'check', '--yes'], PAID),
      scene.run(['ledger', 'check', '--yes'], { ...PAID, ...elsewhere }),
    ]);
    expect([200, 400, 409]).toContain(page.status);
    const checked = meter.requests.filter(({ identifier }) => identifier === `domain:${domainAt(5)}`);
    expect(checked).toHaveLength(1);
    for (const { code, stderr } of ends) expect([0, 7], stderr).toContain(code);
    expect(ends.filter(({ code }) => code === 0).length).toBeLessThanOrEqual(1);
    const told = ends.filter(({ code }) => code === 7).map(({ stderr }) => stderr);
    for (const text of told)
      expect(text).toMatch(
        /less than an hour ago|another worker is looking it up|its answer is already stored/,
      );
    await scene.until('done', 1, 120_000);
    expect([meter.billed, meter.mostBilledOnce()]).toEqual([9, 1]);
  });

  test('killed while it asks, it is in flight, then sent, and the hour counts', async () => {
    const scene = await createScene(engine, { quota: 2, plan: 'paid' }, domainList(5));
    const { meter, options } = scene.service;
    await ends(7, scene.run(['run', 'list.csv'], PAID));
    options.latencyMs = 5_000;
    const killed = scene.start(['ledger', 'check', '--timeout', '2s'], PAID);
    await scene.service.until(() => meter.billed === 3);
    await kill(killed);
    options.latencyMs = 0;
    expect(await accountOf(scene)).toMatchObject({ sent: 2, inFlight: 1, used: 3, left: 0 });
    await ends(7, scene.run(['ledger', 'check', '--yes'], PAID), 'less than an hour ago');
    await expect.poll(() => accountOf(scene)).toMatchObject({ sent: 3, inFlight: 0 });
    expect(meter.billed).toBe(3);
  });

  test('what has an answer is not asked for again, and does not use up the hour', async () => {
    const scene = await createScene(engine, { quota: 5, plan: 'paid' }, domainList(3));
    const { meter } = scene.service;
    await ends(0, scene.run(['run', 'list.csv'], PAID));
    await ends(7, scene.run(['ledger', 'check', domainAt(0)], PAID), 'its answer is already stored');
    expect(meter.billed).toBe(3);
    const other = await scene.run(['ledger', 'check', domainAt(7)], PAID);
    expect([other.code, meter.billed], other.stderr).toEqual([0, 4]);
    expect(await accountOf(scene)).toMatchObject({ sent: 4, inFlight: 0 });
  });

  test('over the limit it is one request, whatever the settings allow, and what a paused run deferred is not asked for', async () => {
    const scene = await createScene(engine, { quota: 100, plan: 'paid' }, domainList(6));
    const { meter } = scene.service;
    const capped = { ...PAID, BRAND_ENRICH_QUOTA: '4' };
    await ends(7, scene.run(['run', 'list.csv'], capped));
    const id = (await statusOf(scene)).runs[0]?.id ?? '';
    await ends(0, scene.run(['pause', id], capped));
    await ends(7, scene.run(['ledger', 'check', '--yes'], capped), 'paused');
    expect(meter.billed).toBe(4);
    await ends(0, scene.run(['resume', id], capped));
    for (const [code, billed] of [
      [0, 5],
      [7, 5],
    ]) {
      const checked = await scene.run(['ledger', 'check', '--yes'], capped);
      expect([checked.code, meter.billed], checked.stderr).toEqual([code, billed]);
    }
    // Its answer is stored, and the limit of the user holds.
    const again = await scene.run(['run', 'list.csv'], capped);
    expect([again.code, meter.billed, meter.mostBilledOnce()], again.stderr).toEqual([7, 5, 1]);
    expect(await accountOf(scene)).toMatchObject({ sent: 5, inFlight: 0 });
  });
});
