/** The service's own domain, true and wrong: looking never costs a request beyond the limit. */
import { expect, test } from 'vitest';
import type { Document } from '../../src/run/documents.js';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { accountOf, ends, LONG, onEngines } from './commands.js';
import { startUp } from './start-up.js';

const LIMIT = 55;

onEngines([embeddedEngine(), redisEngine()], (engine) => {
  test.each([
    ['its header at once', 0],
    ['a header that lags 90 s', 90_000],
  ])('a wrong one costs nothing beyond the limit, with %s', LONG, async (_, headerLagMs) => {
    const scene = await createInboxScene(engine, { quota: LIMIT, plan: 'paid', headerLagMs });
    await startUp(scene, { ownDomain: 'not-the-service.com', plan: 'paid', overageBudget: 0 });
    await scene.drop('list.csv', domainList(80));
    await scene.until('waiting', 1);
    const { meter } = scene.service;
    await new Promise((resolve) => setTimeout(resolve, 70_000));
    expect(meter.billed + meter.count({ why: 'quota' })).toBe(LIMIT);
  });

  test('a true one is proven free in quiet moments, and its rows cost nothing at the limit', {
    ...LONG,
    timeout: 240_000,
  }, async () => {
    const OWN = 'own-brand.com';
    const scene = await createScene(engine, { quota: 100, plan: 'paid', ownDomain: OWN });
    const { meter, options } = scene.service;
    const flags = ['--own-domain', OWN, '--plan', 'paid', '--overage-budget', '0', '--usage-lag', '1s'];
    const account = () => accountOf(scene);
    for (const part of [1, 2, 3]) {
      await scene.write(`${part}.csv`, domainList(4, `part${part}`));
      await ends(0, scene.run(['run', `${part}.csv`, ...flags]));
      // Its looks count until they are proven free.
      if (part < 3) expect((await account()).sent).toBe(meter.billed + part);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
    }
    expect(await account()).toMatchObject({ sent: 12, others: 0, free: 0 });
    expect(meter.billed).toBe(12);

    options.quota = 12;
    await scene.write('own.csv', `website\n${OWN}\nother-brand.com\n`);
    const limited = await ends(7, scene.run(['run', 'own.csv', '--json', ...flags]));
    const { rows, requests } = JSON.parse(limited.stdout) as Document<'report'>;
    expect(rows).toMatchObject({ matched: 1, deferred: 1 });
    expect(requests).toMatchObject({ billed: 0 });
    const { free, sent } = await account();
    expect([sent, meter.billed]).toEqual([12, 12]);
    expect(free).toBeGreaterThanOrEqual(2);

    const waiting = scene.start(['run', 'own.csv', '--on-limit', 'wait', ...flags]);
    await waiting.untilSaid(/parked/);
    options.quota = 100;
    expect((await waiting.done).code).toBe(0);
    expect(meter.billed).toBe(13);

    // The service begins to bill it: one look shows it, and then there is no other at the limit.
    options.ownDomain = 'another.com';
    options.quota = 13;
    for (const part of [4, 5]) {
      await scene.write(`${part}.csv`, domainList(2, `part${part}`));
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      const { stderr } = await ends(7, scene.run(['run', `${part}.csv`, ...flags]));
      if (part === 5) expect(stderr).toMatch(/--own-domain own-brand\.com seems to be billed/);
    }
    expect(meter.billed).toBe(14);
  });
});
