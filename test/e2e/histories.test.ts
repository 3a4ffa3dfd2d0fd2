/** Random histories: reports and `status` agree with the service's bill, to the request. */
import { expect, test } from 'vitest';
import { nextPeriodAt, periodOf, periodStart } from '../../src/ledger/period.js';
import { createDice, type Dice } from '../chaos/dice.js';
import { createLoggedScene, readSpending, untilSeen } from '../chaos/ground-truth.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { domainList, type Scene } from '../support/scene.js';
import { LONG, onEngines, statusOf } from './commands.js';

const HISTORIES = Number(process.env.HISTORIES ?? 4);
const HOUR_MS = 3_600_000;

/**
 * A day of the month on which a billing period begins near `now`, and how far the service's dates
 * are moved to be before and after it. Returns null on the 30th of a long month.
 */
function turnNear(now: number) {
  for (let day = 1; day <= 28; day += 1) {
    const sinceMs = now - periodStart(periodOf(now, day));
    const untilMs = (nextPeriodAt(periodOf(now, day), day) ?? now) - now;
    if (untilMs < 34 * HOUR_MS) return { day, before: 0, after: untilMs + HOUR_MS };
    if (sinceMs < 34 * HOUR_MS) return { day, before: -sinceMs - HOUR_MS, after: 0 };
  }
  return null;
}

/**
 * Starts the command again and again, until one start completes it. A kill comes when all that is
 * in flight is billed: what it loses counts as spent, as a free answer would. Returns by how much
 * the overage may be off: what was in flight when a month turned, and the request that asked.
 */
async function live(scene: Scene, dice: Dice, turn: ReturnType<typeof turnNear>): Promise<number> {
  const { meter, options } = scene.service;
  const concurrency = dice.between(1, 6);
  const identifiers = dice.between(40, 90);
  await scene.write('list.csv', domainList(identifiers));
  const period = String(turn?.day ?? 'month');
  const terms = ['--plan', 'paid', '--overage-budget', '100', '--timeout', '4s', '--period', period];
  const command = ['run', 'list.csv', '--concurrency', String(concurrency), ...terms];
  const happenings = Array.from({ length: dice.between(1, 4) }, () => dice.pick(['kill', 'turn', 'stop']));
  console.log(
    `${identifiers} of a quota of ${options.quota}, ${concurrency} at once: ${happenings.join(', ')}`,
  );
  let hasTurned = false;
  for (const happening of happenings) {
    // Unless usage is seen to fall, the period opens after 15 minutes.
    const least = happening === 'turn' && !hasTurned ? 4 * concurrency : 0;
    const enough = Math.max(least, meter.billed + dice.between(0, 15));
    const running = scene.start(command);
    const isDue = () => meter.billed > enough && meter.billedInFlight === concurrency;
    const isDone = await untilSeen(scene, running, isDue)
      .then(() => false)
      .catch(() => true);
    if (isDone) break;
    if (happening === 'turn' && turn !== null && !hasTurned) {
      hasTurned = true;
      options.dateOffsetMs = turn.after;
      const later = meter.billed + dice.between(0, 15);
      await untilSeen(scene, running, () => meter.billed > later).catch(() => undefined);
    }
    running.kill(happening === 'kill' ? 'SIGKILL' : 'SIGINT');
    await running.done;
  }
  await scene.run(command);
  // What a killed run had in flight is known when its permits have run out.
  const isSettled = async () => (await statusOf(scene)).account.inFlight === 0;
  await expect.poll(isSettled).toBe(true);
  await scene.write('late.csv', 'website\nlate.com\n');
  await scene.run(['run', 'late.csv', ...terms]);
  return hasTurned ? concurrency + 1 : 0;
}

async function expectSums(scene: Scene, doubt: number): Promise<void> {
  const { meter, options } = scene.service;
  const { sum, account } = await readSpending(scene);
  expect(sum(({ billed, unreported }) => billed + unreported)).toBe(meter.billed);
  // A lost answer says nothing of the new month, whose usage then shows one more than is known.
  expect(account.others).toBeLessThanOrEqual(doubt);
  const overage = sum(({ overage }) => overage);
  expect(Math.abs(overage - meter.overage(options.quota))).toBeLessThanOrEqual(doubt);
}

const engines = [redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)];
onEngines(engines, (engine) => {
  test.each(Array.from({ length: HISTORIES }, (_, index) => index))(
    'history %i adds up to the bill',
    LONG,
    async (index) => {
      const dice = createDice(`history ${index}`);
      const turn = turnNear(Date.now());
      const scene = await createLoggedScene(engine, {
        plan: 'paid',
        dateOffsetMs: turn?.before ?? 0,
        period: turn?.day ?? 'month',
        quota: dice.between(10, 60),
        overageTenths: 10_000,
        latencyMs: dice.between(60, 150),
        badShare: dice.pick([0, 0.2]),
        faults: { unavailable: dice.pick([0, 0.05]), resetBefore: dice.pick([0, 0.04]) },
      });
      await expectSums(scene, await live(scene, dice, turn));
    },
  );
});
