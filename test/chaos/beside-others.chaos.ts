/**
 * An `up` with an own domain, true and wrong, beside others who spend on the same account, counted
 * at the service: while it is idle, at its limit, and after a raised quota. The header does not
 * lag, or half as much again as `--usage-lag` says, as one of 90 s does by default.
 */
import { expect, onTestFinished, test } from 'vitest';
import { accountOf } from '../e2e/commands.js';
import { createInboxScene, type InboxScene } from '../jobs/inbox-scene.js';
import { type EngineUnderTest, embeddedEngine, postgresEngine, redisEngine } from '../support/engines.js';
import { turnTriesBack } from '../support/look-tries.js';
import { domainList } from '../support/scene.js';
import { newToken } from '../support/service-options.js';

const LIMIT = 60;
const LAG_MS = 6_000;
const OWN = 'own-brand.com';

interface Case {
  readonly isTrue: boolean;
  readonly headerLagMs: number;
}

const CASES: readonly Case[] = [true, false].flatMap((isTrue) =>
  [0, 1.5 * LAG_MS].map((headerLagMs) => ({ isTrue, headerLagMs })),
);

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Until whatever was spent is long visible. */
const quiet = () => sleep(3 * LAG_MS);

function counting({ service: { meter } }: InboxScene) {
  const of = (isOurs: boolean) =>
    [...meter.billedOf].reduce(
      (sum, [name, count]) => sum + (name.startsWith('domain:other-') === isOurs ? 0 : count),
      0,
    );
  return {
    ours: () => of(true),
    others: () => of(false),
    /** Billed in all, when our last one was: others may go on after it. */
    atOurLast: () => {
      const billed = meter.requests.filter(({ isBilled }) => isBilled);
      return billed.findLastIndex(({ identifier }) => !identifier.startsWith('domain:other-')) + 1;
    },
    looks: () => meter.requests.filter(({ identifier }) => identifier === `domain:${OWN}`).length,
  };
}

/** Others with a token of their own, one request every `everyMs` until it is stopped. */
function startOthers(scene: InboxScene, token: string, everyMs: number): () => Promise<void> {
  let isOver = false;
  const spend = async () => {
    while (!isOver) {
      await spendAsOther(scene, token);
      await sleep(everyMs);
    }
  };
  const spending = spend();
  return async () => {
    isOver = true;
    await spending;
  };
}

let serial = 0;
async function spendAsOther({ service }: InboxScene, token: string): Promise<void> {
  serial += 1;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${service.url}/v2/brands/domain/other-${serial}.com`, { headers });
  await answer.arrayBuffer();
}

async function livesThrough(engine: EngineUnderTest, { isTrue, headerLagMs }: Case): Promise<void> {
  const name = `${engine.name}, ${isTrue ? 'true' : 'wrong'} own domain, header ${headerLagMs} ms late`;
  const others = newToken();
  const scene = await createInboxScene(engine, { quota: LIMIT, plan: 'paid', headerLagMs });
  const { options, meter } = scene.service;
  options.tokens.push(others);
  options.ownDomain = isTrue ? OWN : 'another.com';
  const count = counting(scene);
  const until = (what: string, condition: () => boolean | Promise<boolean>, timeout = 260_000) =>
    expect.poll(condition, { timeout, interval: 500, message: `${name}: ${what}` }).toBe(true);
  const settings = { ownDomain: OWN, plan: 'paid', overageBudget: 0, usageLag: `${LAG_MS / 1_000}s` };
  const config = { inbox: ['.'], settle: '200ms', dashboardPort: 0, metricsPort: 0, ...settings };
  await scene.write('brand-enrich.config.json', JSON.stringify(config));
  const up = scene.start(['up']);
  await up.untilSaid(/"msg":"up"/);

  // Others spend: three looks, none of which proves anything.
  const stopOthers = startOthers(scene, others, 10_000);
  await scene.drop('first.csv', domainList(5, 'first'));
  await scene.until('done', 1);
  await until('three looks', () => count.looks() === 3);
  expect(await accountOf(scene), name).toMatchObject({ free: 0, sent: 8 });
  await sleep(62_000);
  expect(count.looks(), name).toBe(3);

  // They pause, and a day later it is proven, or not.
  await stopOthers();
  await quiet();
  await turnTriesBack(engine, scene.folder);
  await until('three more looks', () => count.looks() === 6);
  await quiet();
  expect(count.ours(), name).toBe(isTrue ? 5 : 11);
  expect(await accountOf(scene), name).toMatchObject({ sent: count.ours(), inFlight: 0 });
  if (isTrue) expect((await accountOf(scene)).others, name).toBe(count.others());
  else expect(up.said, name).toContain(`${OWN} seems to be billed`);

  // The limit is reached; beside them where no proof is to last.
  const stopAgain = isTrue ? null : startOthers(scene, others, 3_000);
  await scene.drop('list.csv', domainList(90));
  await scene.until('waiting', 1);
  await stopAgain?.();
  await quiet();
  const atLimit = { ours: count.ours(), billed: meter.billed };
  // What others spent within the lag was not seen yet.
  const unseen = Math.ceil((headerLagMs + 3_000) / 3_000);
  if (isTrue) expect(atLimit.billed, name).toBe(LIMIT);
  else expect(count.atOurLast(), name).toBeLessThanOrEqual(LIMIT + (headerLagMs === 0 ? 1 : unseen));
  console.log(`${name}: ${meter.billed} billed, ${count.atOurLast()} when ours was the last`);
  await sleep(70_000);
  expect({ ours: count.ours(), billed: meter.billed }, name).toEqual(atLimit);

  // A raised quota is noticed: by a free look, else by a check that a person orders.
  options.quota = LIMIT + 20;
  if (!isTrue) {
    await sleep(65_000);
    expect(count.ours(), name).toBe(atLimit.ours);
    const checked = await scene.run(['ledger', 'check', '--yes']);
    expect(checked.code, `${name}: ${checked.stderr}`).toBe(0);
    expect(count.ours(), name).toBe(atLimit.ours + 1);
  }
  await until('the raised quota is used', () => meter.billed >= LIMIT + 19, 150_000);
  await scene.until('waiting', 1);

  // Others beyond the limit end the proof: nothing of ours is billed any more, nor looked up.
  await quiet();
  const later = count.ours();
  for (let request = 0; request < 3; request += 1) await spendAsOther(scene, others);
  await sleep(75_000);
  const looks = count.looks();
  await sleep(35_000);
  expect({ ours: count.ours(), looks: count.looks() }, name).toEqual({ ours: later, looks });
  const { sent, others: theirs, inFlight, free, used } = await accountOf(scene);
  expect({ inFlight, used }, name).toEqual({ inFlight: 0, used: sent + theirs });
  if (isTrue) expect({ used, free: free > 0 }, name).toEqual({ used: meter.billed, free: true });
  else expect({ sent, free }, name).toEqual({ sent: later, free: 0 });
  expect(meter.mostBilledOnce(), name).toBe(isTrue ? 1 : 6);
  up.kill('SIGTERM');
  await up.done;
}

const ENGINES = [embeddedEngine(), redisEngine(), postgresEngine()].filter(({ missing }) => missing === null);

// All at once: each waits most of its time.
test(`an own domain, true or wrong, beside others who spend, on ${ENGINES.map(({ name }) => name).join(', ')}`, {
  timeout: 1_200_000,
}, async () => {
  for (const engine of ENGINES) {
    await engine.start();
    onTestFinished(() => engine.stop());
  }
  await Promise.all(ENGINES.flatMap((engine) => CASES.map((each) => livesThrough(engine, each))));
});
