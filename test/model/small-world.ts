/**
 * A world small enough for an exhaustive search: three workers, one service that serves and bills
 * whatever arrives, other users of the token, and the ledger model between them. The service never
 * refuses, so nothing but the ledger stands between the workers and the bill.
 *
 * Beside the state of the world it holds what only an observer knows: what was really billed, how
 * much of it may provably have been ours, and what others spent as far as it could be seen.
 */
import { addRun, isWorkerAlive, type ModelAccount, ModelWorld, open } from './ledger-model.js';

export const ACCOUNT = 'account';
export const RUN = 'run';
export const LIMIT = 4;
/** Half of a permit's life: two steps of time pass its deadline. */
export const TICK_MS = 25_000;
/** Twice of it is a step of time, after which the usage header of a world with looks is current. */
export const LOOK_LAG_MS = TICK_MS / 2;
export const OWN = 'service own.example';
export const PERMIT_MS = 2 * TICK_MS;
export const MONTHS = ['2030-01-01', '2030-02-01', '2030-03-01'] as const;

export function endOf(month: number): number {
  return Date.UTC(2030, month + 1);
}

/** The service's clock: the store's, unless that one is past the service's month. */
export function serviceTime(now: number, month: number): number {
  return Math.min(now, endOf(month) - 43_200_000);
}

/**
 * idle      nothing under way, perhaps something to tell the ledger
 * asking    asked for a permit; the answer got lost
 * looked    saw room and has not yet counted itself in (only in a broken ledger)
 * holding   has a permit, has not sent
 * billed    the service served and billed the request; the answer is on its way
 */
type Phase = 'idle' | 'asking' | 'looked' | 'holding' | 'billed';

export interface Outbox {
  readonly permit: string;
  readonly as: 'billed' | 'free' | 'maybe_billed';
  /** The usage header of the answer, and the month of its `Date`. */
  readonly reading: { readonly usage: number; readonly month: number } | null;
}

export interface Worker {
  readonly phase: Phase;
  readonly permit: string;
  readonly outbox: Outbox | null;
  /** The highest state this worker saw, should the ledger go back in time. */
  readonly seen: { readonly epoch: string; readonly version: number; readonly spent: number } | null;
}

export interface SmallWorld {
  readonly ledger: ModelWorld;
  /** The state that the ledger restarts with after a power cut; null if it lost nothing. */
  disk: ModelWorld | null;
  now: number;
  workers: readonly Worker[];
  serial: number;
  /** The service: its month, what it counted in it, and what its usage header shows. */
  month: number;
  total: number;
  shown: number;
  /** Of the total: billed to us. */
  ours: number;
  /** Permits granted and not proven free: all that may be ours. */
  mayBeOurs: number;
  /** Of those billed to us: beyond the limit. */
  oursBeyond: number;
  /** Spending by others that a reading proved. */
  provenOthers: number;
  /** How often each kind of accident may still happen. */
  readonly left: Readonly<typeof NO_ACCIDENTS>;
  /** Nothing crashed, was lost or expired so far. */
  isClean: boolean;
  /** What the service does with own-domain requests of the last worker; null without any. */
  readonly own: 'free' | 'billed' | null;
}

const NO_ACCIDENTS = {
  others: 0,
  crash: 0,
  loss: 0,
  time: 0,
  powerCut: 0,
  turn: 0,
  lie: 0,
  look: 0,
  row: 0,
  glance: 0,
  rest: 0,
  correction: 0,
};
export type Accident = keyof typeof NO_ACCIDENTS;

export const IDLE: Worker = { phase: 'idle', permit: '', outbox: null, seen: null };

export function workerName(index: number): string {
  return `worker-${index}`;
}

export function keyOfWorker(index: number): string {
  return `key-${index}`;
}

/** A world at rest: the quota is known, nothing is spent. `now`: the store's clock. */
export function createSmallWorld(
  numWorkers: number,
  left: Partial<SmallWorld['left']>,
  now = Date.UTC(2030, 0, 15),
  own: SmallWorld['own'] = null,
): SmallWorld {
  const ledger = new ModelWorld();
  // A quarter of so few is one at a time, of which the search would see little.
  ledger.keepsQuarter = false;
  addRun(ledger, RUN, { account: ACCOUNT, plan: 'paid' });
  open(ledger, ACCOUNT, { rate: null, burst: 1 }, now);
  const account = accountIn(ledger);
  account.quota = LIMIT;
  account.usage = 0;
  account.confirmedAt = now;
  account.period = MONTHS[0];
  account.behindMs = now - serviceTime(now, 0);
  const workers = Array.from({ length: numWorkers }, () => IDLE);
  for (let index = 0; index < numWorkers; index += 1)
    ledger.claims.set(keyOfWorker(index), { worker: workerName(index), permit: null });
  return {
    ledger,
    disk: null,
    now,
    workers,
    serial: 0,
    month: 0,
    total: 0,
    shown: 0,
    ours: 0,
    mayBeOurs: 0,
    oursBeyond: 0,
    provenOthers: 0,
    left: { ...NO_ACCIDENTS, ...left },
    isClean: own === null,
    own,
  };
}

export function accountIn(ledger: ModelWorld): ModelAccount {
  const account = ledger.accounts.get(ACCOUNT);
  if (account === undefined) throw new Error('the ledger has no account');
  return account;
}

export function copyLedger(ledger: ModelWorld): ModelWorld {
  const account = accountIn(ledger);
  return {
    // Runs do not change, and what claims and caps count is never compared here: all copies may
    // share them.
    ...ledger,
    accounts: new Map([[ACCOUNT, { ...account }]]),
    heartbeats: new Map(ledger.heartbeats),
    // Permits never change, they are only removed: the clock is never set back here.
    permits: new Map(ledger.permits),
    // Every request is for another identifier: unusable answers to earlier ones do not matter.
    unusable: new Map(),
  };
}

export function copyWorld(world: SmallWorld): SmallWorld {
  return { ...world, ledger: copyLedger(world.ledger), workers: [...world.workers] };
}

/** Equal for worlds with the same future: names, absolute times and the order are left out. */
export function keyOfWorld(world: SmallWorld): string {
  const account = accountIn(world.ledger);
  const life = (permit: string) => {
    const known = world.ledger.permits.get(permit);
    return known === undefined
      ? '-'
      : `${(known.deadline - world.now) / TICK_MS}${isWorkerAlive(world.ledger, known.worker, world.now) ? '' : 'x'}`;
  };
  const named = new Set<string>();
  const workers = world.workers.map(({ phase, permit, outbox, seen }) => {
    named.add(permit);
    if (outbox !== null) named.add(outbox.permit);
    const unsent =
      outbox === null
        ? ''
        : `${outbox.as[0]}${outbox.reading === null ? '' : `${outbox.reading.usage}/${outbox.reading.month}`}${life(outbox.permit)}`;
    const saw = seen === null ? '' : `${seen.version - account.version}/${seen.spent}`;
    return `${phase}${phase === 'idle' ? '' : life(permit)}${unsent}${saw}`;
  });
  const orphans: string[] = [];
  for (const permit of world.ledger.permits.keys()) if (!named.has(permit)) orphans.push(life(permit));
  const age = (time: number) => Math.min(1, Math.floor((world.now - time) / TICK_MS));
  const looks =
    world.own === null
      ? ''
      : [
          `${account.lookProven}${account.lookSince}${account.lookTries},${account.lookBooked},${account.lookBase}`,
          `${account.lookRecent},${account.lookEarlier},${age(account.lookMarkAt)}${age(account.spentAt)}${age(account.lookOutAt)}`,
          life(account.lookOut ?? ''),
        ].join();
  const since = Math.min(2, Math.floor((world.now - account.nextSince) / 900_000));
  return [
    `${account.sent},${account.held},${account.others},${account.confirmedAt > 0 ? 'h' : ''}${account.behindMs > 0 ? 'b' : ''}`,
    `${account.period}${account.nextPeriod}${account.nextPeriod && since}${account.hasNextFallen}${account.nextSent}+${account.nextDated},${account.early}${account.resetAwaitedAt !== null}${account.turnAskedAt > 0}${life(account.nextAsked ?? '')}`,
    world.left.turn > 0 || world.month > 0 ? `${account.usage},${account.lastUsage}` : '',
    account.restsUntil > world.now ? Math.ceil((account.restsUntil - world.now) / TICK_MS) : '',
    world.disk === null
      ? ''
      : `${accountIn(world.disk).sent},${accountIn(world.disk).held},${accountIn(world.disk).version - account.version}`,
    looks,
    // The one that looks is not like the others.
    world.own === null ? '' : workers.pop(),
    workers.sort().join(' '),
    orphans.sort().join(' '),
    `${world.month},${world.total},${world.shown},${world.ours},${world.mayBeOurs},${world.provenOthers},${world.oursBeyond}`,
    Object.values(world.left).join(),
    world.isClean ? 'clean' : '',
  ].join('|');
}
