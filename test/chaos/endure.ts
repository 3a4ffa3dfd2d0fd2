/** One run through an outage of its engine, with another worker and more rows than the limit. */
import { setTimeout as after } from 'node:timers/promises';
import { expect } from 'vitest';
import { stop } from '../e2e/commands.js';
import type { EngineUnderTest } from '../support/engines.js';
import { domainList } from '../support/scene.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { createDice, type Dice } from './dice.js';
import {
  createLoggedScene,
  expectComplete,
  expectDeferredOnly,
  limitedTo,
  PAID_ACCOUNT,
  untilSeen,
} from './ground-truth.js';

const IDENTIFIERS = 600;
const LIMIT = 400;
/** Longer than the test, so that the ledger has to know by itself what was spent. */
const HEADER_LAG_MS = 600_000;
const CONCURRENCY = 8;
/** Of both workers. */
const IN_FLIGHT = 2 * CONCURRENCY;
/** Workers count as dead after 15 s: others may then ask for what these had in flight. */
const LONG_MS = 12_000;
const FAULTS = 10;

/**
 * Harms the engine and mends it. Returns how many paid answers the engine lost for good, if any.
 * `billed`: what the service has billed by now.
 */
type Strike = (harm: { readonly dice: Dice; readonly billed: () => number }) => Promise<unknown>;

/**
 * The limit holds; each row has a status; the same command with a higher budget completes the file;
 * and what is bought again are only answers that the engine lost and, after a long outage, what was
 * in flight. `exitCode`: 7 when the run goes on to its limit, 5 when it ends at once.
 */
export async function endure(engine: EngineUnderTest, name: string, exitCode: 5 | 7, strike: Strike) {
  const dice = createDice(`${name} ${engine.name}`);
  const scene = await createLoggedScene(engine, {
    ...PAID_ACCOUNT,
    latencyMs: 300,
    jitterMs: 300,
    headerLagMs: HEADER_LAG_MS,
  });
  const { meter, options } = scene.service;
  await scene.write('list.csv', domainList(IDENTIFIERS));
  const flags = ['--concurrency', String(CONCURRENCY), '--timeout', '5s', '--usage-lag', '2s'];
  const worker = scene.start(['worker', ...flags]);
  await worker.untilSaid(/waiting for chunks/);
  const runWithin = (limit: number) => ['run', 'list.csv', ...flags, ...limitedTo(limit)];
  const command = runWithin(LIMIT);
  const running = scene.start(command);
  const moment = dice.between(60, 140);
  await untilSeen(scene, running, () => meter.billed >= moment);
  const struckAt = performance.now();
  const lost = Number(await strike({ dice, billed: () => meter.billed })) || 0;
  const isLong = performance.now() - struckAt > LONG_MS;

  const struck = await running.done;
  expect(struck.stderr).not.toContain('this is a bug');
  expect(struck.code, struck.stderr).toBe(exitCode);
  expect(meter.billed).toBeLessThanOrEqual(LIMIT);
  const stopped = exitCode === 7 ? struck : await scene.run(command);
  expect(stopped.code, stopped.stderr).toBe(7);
  expect(meter.billed).toBeLessThanOrEqual(LIMIT);
  // Permits whose settlement was lost count as spent; those in flight at an older state, twice.
  expect(meter.billed).toBeGreaterThanOrEqual(LIMIT - (lost > 0 ? 2 : 1) * IN_FLIGHT);
  await expectDeferredOnly(scene, IDENTIFIERS);
  const { billed } = meter;

  options.latencyMs = 10;
  options.jitterMs = 0;
  await expectComplete(scene, await scene.run(runWithin(10 * LIMIT)), IDENTIFIERS);
  const again = meter.billed - IDENTIFIERS;
  console.log(`limit ${LIMIT}: ${billed} billed; bought again: ${again}, lost by the engine: ${lost}`);
  expect(again).toBeLessThanOrEqual(lost > 0 || isLong ? lost + IN_FLIGHT : 0);
  expect(meter.mostBilledOnce()).toBeLessThanOrEqual(lost > 0 ? 3 : 2);
  await stop(worker);
}

/** One long hang, then faults at random: cuts, lost answers, one-sided ends, shorter hangs. */
export async function failAtRandom(proxy: TcpProxy, dice: Dice, longestMs: number): Promise<void> {
  const hangFor = async (ms: number) => {
    proxy.hang();
    await after(ms);
    proxy.resume();
  };
  const faults = [
    async () => proxy.cut(),
    () => proxy.cutNextAnswer(),
    async () => proxy.halfClose('client'),
    async () => proxy.halfClose('server'),
    () => hangFor(dice.between(100, 2_000)),
  ];
  await hangFor(longestMs);
  for (let times = 0; times < FAULTS; times += 1) {
    await after(dice.between(100, 1_000));
    await dice.pick(faults)();
  }
}
