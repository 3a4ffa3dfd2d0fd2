/**
 * Everything that can happen next in a small world, and the promises that must hold whatever does:
 *
 * - what is billed to us, and what may be ours together with what others provably spent, never
 * exceeds the limit
 * - while nothing crashed, got lost or expired, no worker learns that the limit is reached before
 * it is
 */
import type { ExchangeRequest } from '../../src/ledger/ledger.js';
import { judgeDenial } from '../../src/ledger/policy.js';
import type { Step } from './explore.js';
import type { LedgerRules } from './ledger-rules.js';
import {
  ACCOUNT,
  type Accident,
  accountIn,
  copyLedger,
  copyWorld,
  endOf,
  IDLE,
  keyOfWorker,
  LIMIT,
  LOOK_LAG_MS,
  MONTHS,
  type Outbox,
  OWN,
  PERMIT_MS,
  RUN,
  type SmallWorld,
  serviceTime,
  TICK_MS,
  type Worker,
  workerName,
} from './small-world.js';

/** What a change returns is the promise that it broke; nothing: it broke none. */
type TakeStep = (what: string, change: (next: SmallWorld) => string | null | undefined) => void;
type TakeAccident = (kind: Accident, what: string, change: (next: SmallWorld) => void) => void;

export function createSteps(rules: LedgerRules): (world: SmallWorld) => Step<SmallWorld>[] {
  return (world) => {
    const steps: Step<SmallWorld>[] = [];
    const step: TakeStep = (what, change) => {
      const next = copyWorld(world);
      const broken = change(next) ?? (next.ours > LIMIT ? `${next.ours} billed to us` : null);
      steps.push({ what, state: next, broken });
    };
    const accident: TakeAccident = (kind, what, change) => {
      if (world.left[kind] === 0) return;
      step(what, (next) => {
        spend(next, kind);
        change(next);
      });
    };

    world.workers.forEach((worker, index) => {
      // Of idle workers one is enough, except where their clocks differ.
      const isLooker = isLookerOf(world, index);
      const isLikeAnother = world.workers.indexOf(IDLE) < index && rules.clockOf === undefined;
      if (worker === IDLE && isLikeAnother && !isLooker) return;
      stepsOfWorker(rules, worker, index, world.own, isLooker, step, accident);
    });
    accident('others', 'somebody else spends one', (next) => {
      next.total += 1;
    });
    if (world.shown < world.total)
      step('the usage header catches up', (next) => {
        next.shown = next.total;
      });
    accident('time', 'time passes', (next) => {
      next.now += TICK_MS;
      if (next.own !== null) next.shown = next.total;
      // Workers that were silent for so long count as dead, and their permits as sent.
      if (next.ledger.permits.size > 0) next.isClean = false;
    });
    if (world.workers.every((worker) => worker === IDLE)) {
      accident('rest', 'nothing happens for five minutes, and the usage header catches up', (next) => {
        next.now += 300_000;
        next.shown = next.total;
        next.isClean = false;
      });
      accident('glance', 'a worker reads the usage for free', (next) => {
        const reading = { usage: next.shown, month: next.month };
        next.workers = next.workers.map((each, at) =>
          at === 0 ? { ...each, outbox: { permit: '', as: 'free', reading } } : each,
        );
        exchange(rules, next, 0, null);
      });
    }
    if (world.total > world.ours)
      accident('correction', 'the service takes back one that others spent', (next) => {
        next.total -= 1;
        next.provenOthers = Math.max(0, next.provenOthers - 1);
        next.isClean = false;
      });
    if (world.disk !== null) {
      step('the ledger is on disk', (next) => {
        next.disk = copyLedger(next.ledger);
      });
      accident('powerCut', 'the ledger loses power', (next) => {
        const { accounts, permits } = copyLedger(next.disk ?? next.ledger);
        Object.assign(next.ledger, { accounts, permits });
        next.isClean = false;
      });
    }
    if (world.workers.every(({ phase }) => phase === 'idle'))
      accident('turn', 'the month turns', (next) => {
        // Free answers that were not reported yet are still to be subtracted.
        const mayBeOurs = next.workers.filter(({ outbox }) => outbox?.as === 'free').length;
        // Until a reading says so the new room is unknown.
        Object.assign(next, {
          isClean: false,
          month: 1,
          total: 0,
          shown: 0,
          ours: 0,
          mayBeOurs,
          oursBeyond: 0,
          provenOthers: 0,
        });
      });
    return steps;
  };
}

function stepsOfWorker(
  rules: LedgerRules,
  worker: Worker,
  index: number,
  own: SmallWorld['own'],
  isLooker: boolean,
  step: TakeStep,
  accident: TakeAccident,
): void {
  const name = workerName(index);
  const become = (next: SmallWorld, some: Partial<Worker>) => {
    next.workers = next.workers.map((each, at) => (at === index ? { ...each, ...some } : each));
  };
  const withOutbox = (as: Outbox['as'], reading: Outbox['reading']): Partial<Worker> => ({
    phase: 'idle',
    permit: '',
    outbox: { permit: worker.permit, as, reading },
  });
  switch (worker.phase) {
    case 'idle':
      if (worker.outbox !== null) step(`${name} settles`, (next) => exchange(rules, next, index, null));
      if (rules.look !== undefined)
        step(`${name} looks whether there is room`, (next) => {
          if (rules.look?.(next.ledger)) become(next, { phase: 'looked' });
        });
      else if (isLooker)
        accident('look', `${name} wants to look`, (next) => {
          exchange(rules, next, index, 'confirmed');
        });
      else if (own !== null)
        accident('row', `${name} asks for a permit`, (next) => {
          exchange(rules, next, index, 'confirmed');
        });
      else step(`${name} asks for a permit`, (next) => exchange(rules, next, index, 'confirmed'));
      accident('loss', `${name} asks for a permit, the answer is lost`, (next) => {
        exchange(rules, next, index, 'unconfirmed');
      });
      break;
    case 'looked':
      step(`${name} counts itself in`, (next) => exchange(rules, next, index, 'confirmed'));
      break;
    case 'asking':
      step(`${name} asks again`, (next) => exchange(rules, next, index, 'confirmed'));
      break;
    case 'holding':
      step(`${name}: the service ${isLooker && own === 'free' ? 'serves' : 'bills'}`, (next) => {
        const isBilled = !isLooker || own === 'billed';
        next.total += isBilled ? 1 : 0;
        next.ours += isBilled ? 1 : 0;
        if (isBilled && next.total > LIMIT) next.oursBeyond += 1;
        become(next, { phase: 'billed' });
        return rules.isHeaderExact && next.oursBeyond > 1
          ? `${next.oursBeyond} of ours beyond the limit`
          : null;
      });
      step(`${name} is answered for free`, (next) => {
        become(next, withOutbox('free', null));
      });
      accident('loss', `${name}: the request is lost on its way`, (next) => {
        next.isClean = false;
        become(next, withOutbox('maybe_billed', null));
      });
      break;
    case 'billed':
      step(`${name} has its answer`, (next) => {
        const usage = rules.isHeaderExact ? next.total : next.shown;
        become(next, withOutbox('billed', { usage, month: next.month }));
      });
      accident('lie', `${name} has an answer that is dated in the next month and shows no usage`, (next) => {
        next.isClean = false;
        become(next, withOutbox('billed', { usage: 0, month: next.month + 1 }));
      });
      accident('loss', `${name} waits for its answer in vain`, (next) => {
        next.isClean = false;
        become(next, withOutbox('maybe_billed', null));
      });
  }
  if (worker.phase !== 'idle' || worker.outbox !== null)
    accident('crash', `${name} is killed and starts anew`, (next) => {
      next.isClean = false;
      next.workers = next.workers.map((each, at) => (at === index ? IDLE : each));
    });
}

function isLookerOf({ own, workers }: SmallWorld, index: number): boolean {
  return own !== null && index === workers.length - 1;
}

/** One exchange of a worker: its outbox, and a permit if it wants one and receives the answer. */
type Take = 'confirmed' | 'unconfirmed' | null;
function exchange(rules: LedgerRules, next: SmallWorld, index: number, take: Take): string | null {
  const worker = next.workers[index] ?? IDLE;
  const { outbox, phase } = worker;
  const isLooker = isLookerOf(next, index);
  if (take !== null && phase !== 'asking') next.serial += 1;
  const permit = phase === 'asking' ? worker.permit : `permit-${next.serial}`;
  const wasOut = next.ledger.permits.has(permit);
  const monthOf = ({ month }: { month: number }) => rules.clockOf?.(index) ?? month;
  const request: ExchangeRequest = {
    account: ACCOUNT,
    worker: workerName(index),
    run: RUN,
    seen: worker.seen && { ...worker.seen, period: accountIn(next.ledger).period, others: 0 },
    settle:
      outbox === null || outbox.permit === ''
        ? []
        : [
            {
              permit: outbox.permit,
              as: outbox.as,
              period: outbox.reading && (MONTHS[monthOf(outbox.reading)] ?? null),
            },
          ],
    reading:
      outbox?.reading == null
        ? null
        : {
            quota: LIMIT,
            usage: outbox.reading.usage,
            period: MONTHS[monthOf(outbox.reading)] ?? null,
            date: serviceTime(next.now, monthOf(outbox.reading)),
          },
    isConfirmed: outbox?.as === 'billed',
    refusedForQuota: false,
    pace: null,
    take: take === null || isLooker ? [] : [{ permit, key: keyOfWorker(index) }],
    look: take === null || !isLooker ? null : { permit, own: OWN, key: null, quotaCap: null },
    permitMs: PERMIT_MS,
    turn: {
      period: MONTHS[0],
      endsAt: endOf(0),
      today: MONTHS[rules.clockOf?.(index) ?? (next.now < endOf(0) ? 0 : 1)] ?? MONTHS[0],
    },
    usageLagMs: next.own === null ? 60_000 : LOOK_LAG_MS,
  };
  // What the observer can prove: free answers are not ours, usage beyond all that may be ours is
  // others'.
  if (outbox?.as === 'free' && outbox.permit !== '' && phase !== 'asking') next.mayBeOurs -= 1;
  if (outbox?.reading && outbox.reading.month === next.month) {
    const proven = Math.min(outbox.reading.usage, next.total) - next.mayBeOurs;
    next.provenOthers = Math.max(next.provenOthers, proven);
  }
  const answer = rules.exchange(next.ledger, request, next.now);
  const mayGoBack = next.disk !== null;
  if (mayGoBack && rules.isDurable) next.disk = copyLedger(next.ledger);
  const isGranted = (answer.permits[0] ?? answer.look)?.answer === 'granted';
  if (isGranted && !wasOut) next.mayBeOurs += 1;
  const { epoch, version, sent, held, probes } = answer.state;
  // A ledger that keeps everything never goes back, so what was seen of it is never needed.
  const seen = mayGoBack && !rules.isDurable ? { epoch, version, spent: sent + held + probes } : null;
  const after: Worker =
    take === 'unconfirmed'
      ? { phase: 'asking', permit, outbox, seen: worker.seen }
      : isGranted
        ? { phase: 'holding', permit, outbox: null, seen }
        : seen === null
          ? IDLE
          : { ...IDLE, seen };
  next.workers = next.workers.map((each, at) => (at === index ? after : each));
  // Until a look is proven free an observer cannot tell whose a rise is: the bill alone decides.
  if (next.own !== null) return null;
  if (isGranted && next.mayBeOurs + next.provenOthers > LIMIT)
    return `${next.mayBeOurs} may be ours and ${next.provenOthers} are others', of ${LIMIT}`;
  const isRefused =
    take !== null && !isGranted && judgeDenial({ ...answer.state, asksAt: null }).type === 'exhausted';
  if (isRefused && next.isClean && next.total < LIMIT)
    return `limit reported as reached after ${next.total} of ${LIMIT}`;
  return null;
}

function spend(next: SmallWorld, kind: Accident): void {
  Object.assign(next, { left: { ...next.left, [kind]: next.left[kind] - 1 } });
}
