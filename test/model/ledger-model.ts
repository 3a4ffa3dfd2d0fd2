/**
 * The ledger as arithmetic: one process, no store, time passed in. It is the reference that the
 * engines' ledgers are compared with, operation by operation, and the subject of the exhaustive
 * search in `ledger-search.test.ts`. `src/ledger/ledger.ts` documents the operations.
 */
import type {
  DayUse,
  ExchangeAnswer,
  ExchangeRequest,
  LedgerState,
  PermitAnswer,
  Reading,
  RunSpending,
  Settlement,
  Spending,
} from '../../src/ledger/ledger.js';
import type { RunSettings } from '../../src/stores/run-store.js';

const ALONE_AFTER_MS = 300_000;
const PROBE_EVERY_MS = 60_000;
const UNKNOWN_QUOTA_HELD = 8;
const PACE_HORIZON_MS = 1_000;
const JUMP_CONFIRM_MS = 60_000;
const JUMP_FLOOR = 1_000;
const PERIOD_GRACE_MS = 900_000;
const DAY_MS = 86_400_000;
const DAYS_KEPT = 62;
/** A month and a day. */
const LONGEST_PERIOD_MS = 32 * DAY_MS;
/** Servers whose clocks differ by seconds date answers of one moment in two periods. */
const PENDING_KEPT_MS = 60_000;
const DOUBTS_ALLOWED = 2;
const WORKER_DEAD_AFTER_MS = 15_000;
const RUN_DEAD_AFTER_MS = 30_000;
const RUN_HEARTBEAT_AHEAD_MS = 5_000;
/** A clock that goes back by more than this was set back. */
const CLOCK_BACK_MS = 1_000;

interface ModelPermit {
  account: string;
  /** Empty once its claim was taken over. */
  worker: string;
  run: string;
  runKey: string;
  key: string;
  deadline: number;
  period: string | null;
  /** The generation of its run key; a completed key starts anew. */
  generation: string;
  probe: boolean;
}

/** What runs of one key used of their caps. */
interface ModelCaps {
  /** Unique for each generation of the key. */
  generation: string;
  requests: number;
  overage: number;
  held: number;
}

/**
 * A permit that was closed as billed in this call: which run pays, and whether its answer is dated
 * in a later period.
 */
interface Billed {
  readonly run: string;
  readonly runKey: string;
  readonly generation: string;
  readonly isDatedNext: boolean;
  readonly isUndated: boolean;
}

export interface ModelRun {
  key: string;
  beatAt: number;
  status: 'running' | 'completed' | 'stopped' | 'cancelled';
  /** Its workers stopped asking; absent: they did not. */
  isHalted?: boolean;
  isPaused?: boolean;
  settings: Pick<
    RunSettings,
    'account' | 'plan' | 'quotaCap' | 'overage' | 'maxRequests' | 'maxOverageRequests'
  >;
}

export interface ModelAccount {
  epoch: string;
  version: number;
  /** The store's clock at the last change. */
  changedAt: number;
  period: string | null;
  pendingPeriod: string | null;
  pendingSince: number;
  /**
   * When a reading of the next period was last seen; 0: never, or one of this period came after it.
   */
  pendingSeenAt: number;
  /**
   * How often in a row usage had fallen with it: 0, 1, or 2 where that is enough (once where the
   * clock is in that period).
   */
  pendingFalls: number;
  /**
   * The permit of the lone probe for more quota or for the next period; null: its answer did not
   * decide it.
   */
  pendingAsked: string | null;
  /** Since when `pendingSent` is counted, where readings of this period come between. */
  pendingKeptAt: number;
  /** A period that one answer named, and that the store's clock is far from. */
  firstPeriod: string | null;
  /** Billed requests without a date that may belong to the next period: they count in both. */
  pendingSent: number;
  /**
   * Billed requests that are dated in the next period, or came without a date after a reading of
   * it: they count in both until it opens.
   */
  pendingDated: number;
  sent: number;
  held: number;
  probes: number;
  others: number;
  quota: number | null;
  usage: number | null;
  heardAt: number;
  answeredAt: number | null;
  /** Use of the period on each day, as it was after the last operation of that day. */
  days: readonly DayUse[];
  /**
   * The permit last granted while the account was opening; no other is granted while it is in
   * flight.
   */
  alone: string | null;
  closedAt: number | null;
  nextProbeAt: number;
  restsUntil: number;
  servesOverage: boolean;
  suspectSince: number;
  /** Billed requests settled in the current and the previous minute of the store's clock. */
  minute: number;
  minuteSent: number;
  minuteBefore: number;
  second: number;
  secondSent: number;
  secondBefore: number;
  paceVersion: number;
  rate: number | null;
  burst: number;
  tat: number;
  floorUntil: number;
}

export interface ModelWorld {
  accounts: Map<string, ModelAccount>;
  /** Heartbeats of workers. */
  heartbeats: Map<string, number>;
  permits: Map<string, ModelPermit>;
  runs: Map<string, ModelRun>;
  /** Caps used so far, by run key. */
  caps: Map<string, ModelCaps>;
  /** Permits taken for a run and not given back, by run. */
  spent: Map<string, number>;
  /** Requests of a run that were overage when they were settled, by run. */
  overageBilled: Map<string, number>;
  /** Claims by outcome key: which worker, and the permit granted under it while unsettled. */
  claims: Map<string, { worker: string; permit: string | null }>;
  /** Answers billed or possibly billed without use, by `run` + space + key. */
  doubts: Map<string, number>;
  isPaused: boolean;
  /** Makes epochs; tests use a counter. */
  newEpoch: () => string;
}

export function createWorld(newEpoch: () => string): ModelWorld {
  return {
    accounts: new Map(),
    heartbeats: new Map(),
    permits: new Map(),
    runs: new Map(),
    caps: new Map(),
    spent: new Map(),
    overageBilled: new Map(),
    claims: new Map(),
    doubts: new Map(),
    isPaused: false,
    newEpoch,
  };
}

function createAccount(epoch: string): ModelAccount {
  return {
    epoch,
    version: 0,
    changedAt: 0,
    period: null,
    pendingPeriod: null,
    pendingSince: 0,
    pendingSeenAt: 0,
    pendingFalls: 0,
    pendingAsked: null,
    pendingKeptAt: 0,
    firstPeriod: null,
    pendingSent: 0,
    pendingDated: 0,
    sent: 0,
    held: 0,
    probes: 0,
    others: 0,
    quota: null,
    usage: null,
    heardAt: 0,
    answeredAt: null,
    days: [],
    alone: null,
    closedAt: null,
    nextProbeAt: 0,
    restsUntil: 0,
    servesOverage: false,
    suspectSince: 0,
    minute: 0,
    minuteSent: 0,
    minuteBefore: 0,
    second: 0,
    secondSent: 0,
    secondBefore: 0,
    paceVersion: 0,
    rate: null,
    burst: 1,
    tat: 0,
    floorUntil: 0,
  };
}

function accountOf(world: ModelWorld, name: string): ModelAccount {
  let account = world.accounts.get(name);
  if (!account) {
    account = createAccount(world.newEpoch());
    world.accounts.set(name, account);
  }
  return account;
}

/**
 * The policy of the live runs: of several, the lowest holds. No live run: no overage and no cap.
 */
function policyOf(
  world: ModelWorld,
  name: string,
  now: number,
): { quotaCap: number | null; overage: number } {
  let quotaCap: number | null = null;
  let overage: number | null = null;
  for (const run of world.runs.values()) {
    if (run.settings.account !== name || runStatus(run, now) !== 'alive') continue;
    overage = overage === null ? run.settings.overage : Math.min(overage, run.settings.overage);
    if (run.settings.quotaCap !== null) quotaCap = Math.min(quotaCap ?? Infinity, run.settings.quotaCap);
  }
  return { quotaCap, overage: overage ?? 0 };
}

function runStatus(run: ModelRun, now: number): 'alive' | 'dead' | 'cancelled' {
  if (run.status === 'cancelled') return 'cancelled';
  const hasHeartbeat = now - run.beatAt < RUN_DEAD_AFTER_MS && run.beatAt - now <= RUN_HEARTBEAT_AHEAD_MS;
  return run.status === 'running' && (hasHeartbeat || run.beatAt === Infinity) ? 'alive' : 'dead';
}

function spendingStatus(run: ModelRun, now: number): RunSpending['status'] {
  const status = runStatus(run, now);
  if (status !== 'alive') return status;
  if (run.isHalted) return 'halted';
  return run.isPaused ? 'paused' : 'alive';
}

function limitOf(account: ModelAccount, policy: { quotaCap: number | null; overage: number }): number | null {
  if (account.quota === null && policy.quotaCap === null) return null;
  return Math.min(account.quota ?? Infinity, policy.quotaCap ?? Infinity) + policy.overage;
}

/** Moves a permit from held to sent, or gives it back. */
function close(
  world: ModelWorld,
  account: ModelAccount,
  { permit: id, as, period: datedIn = null }: Settlement,
  now: number,
  billed: Billed[],
): void {
  const permit = world.permits.get(id);
  if (!permit) return;
  world.permits.delete(id);
  if (permit.probe) account.probes -= 1;
  else account.held -= 1;
  const claim = world.claims.get(permit.key);
  if (claim?.permit === id) claim.permit = null;
  const caps = world.caps.get(permit.runKey);
  const isOfKey = caps?.generation === permit.generation;
  if (caps && isOfKey) caps.held -= 1;
  if (as === 'free') {
    if (caps && isOfKey) caps.requests -= 1;
    world.spent.set(permit.run, (world.spent.get(permit.run) ?? 0) - 1);
    return;
  }
  // The first answers name the period that requests before them were sent in.
  if (permit.period === null || permit.period === account.period) account.sent += 1;
  const isLaterDated = isLater(datedIn, account.period);
  // A date that the store's clock does not know yet proves nothing: it may belong to either period.
  const isDatedNext = isLaterDated && now >= startOf(datedIn ?? '');
  const isUndated = datedIn === null;
  if (isDatedNext) account.pendingDated += 1;
  else if (isUndated || isLaterDated) account.pendingSent += 1;
  // The worker that took its claim over has counted the doubt.
  if (as === 'doubtful' && permit.worker !== '') {
    const name = `${permit.run} ${permit.key}`;
    world.doubts.set(name, (world.doubts.get(name) ?? 0) + 1);
  }
  billed.push({
    run: permit.run,
    runKey: permit.runKey,
    generation: permit.generation,
    isDatedNext,
    isUndated,
  });
  count(account, now);
}

/** When a period begins, by its name. */
function startOf(period: string): number {
  return Date.parse(`${period}T00:00:00Z`);
}

/**
 * Whether `period` comes after `current`; false where one of them is unknown or there are no
 * periods.
 */
function isLater(period: string | null, current: string | null): boolean {
  return period !== null && period !== 'none' && current !== null && current !== 'none' && period > current;
}

/**
 * The usage of the account in its period: every request that the service may have counted in it.
 */
function standing(account: ModelAccount): number {
  return account.sent - account.pendingDated + account.others;
}

/**
 * Records which of the requests just closed are overage: those beyond the quota in the period that
 * they were billed in. `before`: period, usage and dated ones after closing them and before the
 * reading. `isProbeWithin`: a request beyond the limit was answered with a usage below the quota.
 */
function bookOverage(
  world: ModelWorld,
  account: ModelAccount,
  quota: number,
  billed: readonly Billed[],
  before: { period: string | null; standing: number; dated: number },
  isProbeWithin: boolean,
  now: number,
): void {
  const numDated = billed.filter(({ isDatedNext }) => isDatedNext).length;
  const hasOpened = account.period !== before.period && before.period !== null;
  // Without a date it belongs to the period of the last reading.
  const isNextSeen = hasOpened || (account.pendingSeenAt > 0 && now >= startOf(account.pendingPeriod ?? ''));
  const numUndated = isNextSeen ? billed.filter(({ isUndated }) => isUndated).length : 0;
  if (!hasOpened) {
    account.pendingDated += numUndated;
    account.pendingSent -= numUndated;
  }
  let position = hasOpened
    ? before.standing - (billed.length - numDated)
    : standing(account) - (billed.length - numDated - numUndated);
  let datedPosition = before.dated - numDated;
  for (const { run, runKey, generation, isDatedNext, isUndated } of billed) {
    const isNext = isDatedNext || (isUndated && isNextSeen);
    if (isNext) datedPosition += 1;
    else position += 1;
    if (isProbeWithin || (isNext ? datedPosition : position) <= quota) continue;
    world.overageBilled.set(run, (world.overageBilled.get(run) ?? 0) + 1);
    const caps = world.caps.get(runKey);
    if (caps?.generation === generation) caps.overage += 1;
  }
}

/** What the service bills as quota: its header, or the user's setting as long as there is none. */
function billedQuota(account: ModelAccount, policy: { quotaCap: number | null }): number {
  return account.quota ?? policy.quotaCap ?? Infinity;
}

function count(account: ModelAccount, now: number): void {
  turn(account, now);
  account.minuteSent += 1;
  account.secondSent += 1;
}

function turn(account: ModelAccount, now: number): void {
  const minute = Math.floor(now / 60_000);
  if (minute !== account.minute) {
    account.minuteBefore = minute === account.minute + 1 ? account.minuteSent : 0;
    account.minuteSent = 0;
    account.minute = minute;
  }
  const second = Math.floor(now / 1_000);
  if (second !== account.second) {
    account.secondBefore = second === account.second + 1 ? account.secondSent : 0;
    account.secondSent = 0;
    account.second = second;
  }
}

/** The current day replaces what is known of it; a clock that was set back forgets later days. */
function noteDay(account: ModelAccount, now: number): void {
  const day = new Date(now).toISOString().slice(0, 10);
  const earlier = account.days.filter((each) => each.day < day);
  account.days = [...earlier, { day, used: account.sent + account.others }].slice(-DAYS_KEPT);
}

/** A heartbeat. When the clock was set back all others go back with it: none is in the future. */
export function noteHeartbeat(world: ModelWorld, worker: string, now: number): void {
  const ahead = Math.max(...world.heartbeats.values()) - now;
  if (ahead > CLOCK_BACK_MS)
    for (const [name, beatAt] of world.heartbeats) world.heartbeats.set(name, beatAt - ahead);
  world.heartbeats.set(worker, now);
}

export function isWorkerAlive(world: ModelWorld, worker: string, now: number): boolean {
  const beatAt = world.heartbeats.get(worker);
  return beatAt !== undefined && now - beatAt < WORKER_DEAD_AFTER_MS;
}

/** When the clock was set back, its times go back too, so that nothing waits longer than before. */
function followClock(world: ModelWorld, name: string, account: ModelAccount, now: number): void {
  const backMs = account.changedAt - now;
  account.changedAt = now;
  if (backMs <= CLOCK_BACK_MS) return;
  const back = (time: number) => (time === 0 ? 0 : time - backMs);
  account.heardAt = back(account.heardAt);
  if (account.answeredAt !== null) account.answeredAt -= backMs;
  account.closedAt = account.closedAt === null ? null : back(account.closedAt);
  account.nextProbeAt = back(account.nextProbeAt);
  account.restsUntil = back(account.restsUntil);
  account.suspectSince = back(account.suspectSince);
  account.pendingSince = back(account.pendingSince);
  account.pendingSeenAt = back(account.pendingSeenAt);
  account.pendingKeptAt = back(account.pendingKeptAt);
  account.tat = back(account.tat);
  account.floorUntil = back(account.floorUntil);
  for (const permit of world.permits.values()) if (permit.account === name) permit.deadline -= backMs;
}

/**
 * Permits of dead workers count as sent as soon as a request waits for their end: unknown is spent.
 */
function closeDead(
  world: ModelWorld,
  name: string,
  account: ModelAccount,
  now: number,
  billed: Billed[],
): void {
  const dead = [...world.permits].filter(
    ([, permit]) => permit.account === name && !isWorkerAlive(world, permit.worker, now),
  );
  for (const [permit] of oldestFirst(dead)) close(world, account, { permit, as: 'doubtful' }, now, billed);
}

/** Whether permits are withheld, or granted one at a time, until permits in flight have ended. */
function waitsForOthers(account: ModelAccount, isFull: boolean, limit: number | null, now: number): boolean {
  const out = account.held + account.probes;
  if (out === 0) return false;
  if (isFull || account.closedAt !== null || (limit === null && out >= UNKNOWN_QUOTA_HELD)) return true;
  return (
    account.heardAt <= now - ALONE_AFTER_MS || isPeriodDue(account, now) || isTurnUnconfirmed(account, now)
  );
}

function oldestFirst(permits: [string, ModelPermit][]): [string, ModelPermit][] {
  return permits.sort(
    ([id, one], [otherId, other]) => one.deadline - other.deadline || (id < otherId ? -1 : 1),
  );
}

/** Permits past their deadline count as sent, the oldest first; their answers are lost. */
function sweep(world: ModelWorld, name: string, account: ModelAccount, now: number, billed: Billed[]): void {
  const due = [...world.permits].filter(([, permit]) => permit.account === name && permit.deadline <= now);
  for (const [permit] of oldestFirst(due)) close(world, account, { permit, as: 'doubtful' }, now, billed);
}

/** Sweeps on its own, outside of an exchange. */
function sweepAlone(world: ModelWorld, name: string, account: ModelAccount, now: number): void {
  const billed: Billed[] = [];
  sweep(world, name, account, now, billed);
  const { period, pendingDated: dated } = account;
  const quota = billedQuota(account, policyOf(world, name, now));
  bookOverage(world, account, quota, billed, { period, standing: standing(account), dated }, false, now);
}

function applyReading(account: ModelAccount, reading: Reading, hasConfirmed: boolean, now: number): void {
  const next = reading.period;
  if (next !== null && next !== 'none' && account.period !== 'none') {
    if (account.period === null) {
      if (!nameFirstPeriod(account, next, now)) {
        applyNumbers(account, reading, now);
        return;
      }
    } else if (next < account.period) {
      if (startOf(account.period) - now <= DAY_MS || startOf(next) > now) return;
      // The date that named it is still far off.
      account.period = next;
    }
    if (next > (account.period ?? next)) {
      notePending(account, reading, hasConfirmed, now);
      if (isPeriodDue(account, now) && account.held === 0 && account.probes === 0) openPeriod(account);
      else return;
    } else if (account.pendingFalls < 2) {
      // Not in a row: the service still is in this period, and soon what was dated otherwise is
      // too.
      account.pendingFalls = 0;
      account.pendingSince = now;
      account.pendingSeenAt = 0;
      if (now - account.pendingKeptAt >= PENDING_KEPT_MS) {
        account.pendingSent = 0;
        account.pendingKeptAt = now;
      }
    }
  } else if (next === 'none' && account.period === null) account.period = 'none';
  applyNumbers(account, reading, now);
}

/**
 * The first answers name the period: one is enough where the store's clock is in it or near it,
 * else two in a row. False: not yet.
 */
function nameFirstPeriod(account: ModelAccount, period: string, now: number): boolean {
  const age = now - startOf(period);
  const isLikely = age >= -DAY_MS && age <= LONGEST_PERIOD_MS;
  if (!isLikely && account.firstPeriod !== period) {
    account.firstPeriod = period;
    return false;
  }
  account.period = period;
  account.firstPeriod = null;
  return true;
}

function applyNumbers(account: ModelAccount, reading: Reading, now: number): void {
  if (reading.quota !== null) {
    if (account.closedAt !== null && account.quota !== null && reading.quota > account.quota)
      account.closedAt = null;
    account.quota = reading.quota;
  }
  if (reading.usage === null) return;
  const candidate = reading.usage - account.sent - account.held - account.probes;
  const jump = candidate - account.others;
  turn(account, now);
  const allowed = Math.max(JUMP_FLOOR, 10 * (account.minuteSent + account.minuteBefore));
  if (account.heardAt !== 0 && account.usage !== null && jump > allowed) {
    if (account.suspectSince === 0) account.suspectSince = now;
    if (now - account.suspectSince < JUMP_CONFIRM_MS) return;
  }
  account.suspectSince = 0;
  // Answers arrive out of order, and within a period usage only grows.
  account.usage = Math.max(account.usage ?? 0, reading.usage);
  if (jump > 0) account.others = candidate;
}

/** A reading of a later period. `hasConfirmed`: it came with the lone probe for that period. */
function notePending(account: ModelAccount, reading: Reading, hasConfirmed: boolean, now: number): void {
  if (account.pendingPeriod !== reading.period) {
    account.pendingPeriod = reading.period;
    account.pendingSince = now;
    account.pendingKeptAt = now;
    account.pendingFalls = 0;
  }
  account.pendingSeenAt = now;
  if (reading.usage === null || account.usage === null) return;
  // A fall larger than answers out of order explain, or below our own count where none can be out
  // of order.
  const out = account.held + account.probes;
  const hasFallen =
    reading.usage < account.usage - out ||
    2 * reading.usage < account.usage ||
    (hasConfirmed && reading.usage < account.sent);
  if (hasFallen && now >= startOf(reading.period ?? '')) account.pendingFalls = 2;
  else if (account.pendingFalls > 1) return;
  else if (!hasFallen) account.pendingFalls = 0;
  else if (account.pendingFalls === 0 || hasConfirmed) account.pendingFalls += 1;
}

function isPeriodDue(account: ModelAccount, now: number): boolean {
  if (account.pendingPeriod === null) return false;
  if (account.pendingFalls > 1 || account.pendingSeenAt - account.pendingSince >= PERIOD_GRACE_MS)
    return true;
  if (now < startOf(account.pendingPeriod)) return false;
  return account.pendingFalls > 0 || now - account.pendingSince >= PERIOD_GRACE_MS;
}

/** One answer said that usage fell in a later period, and the store's clock does not agree. */
function isTurnUnconfirmed(account: ModelAccount, now: number): boolean {
  return account.pendingPeriod !== null && account.pendingFalls > 0 && !isPeriodDue(account, now);
}

function openPeriod(account: ModelAccount): void {
  account.period = account.pendingPeriod;
  account.pendingPeriod = null;
  account.pendingSince = 0;
  account.pendingSeenAt = 0;
  account.pendingFalls = 0;
  account.pendingAsked = null;
  account.sent = account.pendingSent + account.pendingDated;
  account.pendingSent = 0;
  account.pendingDated = 0;
  account.others = 0;
  account.usage = null;
  account.closedAt = null;
  account.suspectSince = 0;
  account.days = [];
}

/** The ledger went back in time: the highest state seen is written back, and spending rests. */
function restoreSeen(account: ModelAccount, request: ExchangeRequest, now: number): boolean {
  const seen = request.seen;
  if (!seen) return false;
  if (seen.epoch === account.epoch && seen.version <= account.version) return false;
  if (account.period === null) account.period = seen.period;
  if (account.period === seen.period) {
    account.sent = Math.max(account.sent, seen.spent);
    account.others = Math.max(account.others, seen.others);
  }
  if (seen.epoch === account.epoch) account.version = seen.version;
  account.restsUntil = now + request.usageLagMs;
  account.heardAt = 0;
  return true;
}

export function exchange(world: ModelWorld, request: ExchangeRequest, now: number): ExchangeAnswer {
  const account = accountOf(world, request.account);
  if (account.pendingPeriod === null) {
    account.pendingSent = 0;
    account.pendingDated = 0;
  }
  noteHeartbeat(world, request.worker, now);
  followClock(world, request.account, account, now);
  restoreSeen(account, request, now);
  const billed: Billed[] = [];
  sweep(world, request.account, account, now, billed);
  // Facts of this call's settlements are judged with the reading that came with them.
  let hasProbeBilled = false;
  // A free reading is as good as one of the lone probe.
  let hasConfirmed = request.settle.length === 0 && account.held === 0 && account.probes === 0;
  for (const settlement of request.settle) {
    const permit = world.permits.get(settlement.permit);
    if (permit?.probe && settlement.as === 'billed') hasProbeBilled = true;
    if (permit && settlement.permit === account.pendingAsked) hasConfirmed = true;
    close(world, account, settlement, now, billed);
  }
  const before = { period: account.period, standing: standing(account), dated: account.pendingDated };
  if (request.reading) applyReading(account, request.reading, hasConfirmed, now);
  else if (isPeriodDue(account, now) && account.held === 0 && account.probes === 0) openPeriod(account);
  const isAskedSettled = hasConfirmed && request.settle.length > 0;
  if (isAskedSettled && (!request.reading?.period || account.pendingFalls === 0)) account.pendingAsked = null;
  if (request.heard) account.heardAt = now;
  const isDated = request.settle.some(({ period }) => typeof period === 'string');
  if (request.heard || request.reading !== null || request.refusedForQuota || isDated)
    account.answeredAt = now;
  if (request.refusedForQuota) {
    account.closedAt = now;
    account.nextProbeAt = now + PROBE_EVERY_MS;
  } else if (hasProbeBilled) {
    account.closedAt = null;
  }
  const policy = policyOf(world, request.account, now);
  const limit = limitOf(account, policy);
  const isFull = limit !== null && account.sent + account.held + account.others >= limit;
  if (request.take.length > 0 && waitsForOthers(account, isFull, limit, now))
    closeDead(world, request.account, account, now, billed);
  // It went alone, a minute after all others: what its header shows has hardly lagged.
  const usage = request.reading?.usage ?? null;
  const isProbeWithin =
    hasProbeBilled && usage !== null && usage < billedQuota(account, policy) && request.settle.length === 1;
  bookOverage(world, account, billedQuota(account, policy), billed, before, isProbeWithin, now);
  if (hasProbeBilled && !isProbeWithin && limit !== null && account.sent + account.others > limit)
    account.servesOverage = true;
  const pace = request.pace;
  if (pace && pace.ifVersion === account.paceVersion) {
    account.paceVersion += 1;
    account.rate = pace.rate;
    account.burst = pace.burst;
    account.floorUntil = Math.max(account.floorUntil, pace.floorMs > 0 ? now + pace.floorMs : 0);
  }
  const permits = take(world, account, policy, limit, request, now);
  account.version += 1;
  return { permits, state: stateOf(world, request.account, account, request.run, now) };
}

/**
 * Whether one request beyond the limit may probe for more: where a refusal is free, and where the
 * quota is used up rather than the user's own limit.
 */
function mayFindOut(account: ModelAccount, policy: { quotaCap: number | null }, run: ModelRun): boolean {
  const isCapOurs = policy.quotaCap !== null && policy.quotaCap < (account.quota ?? Infinity);
  return run.settings.plan !== 'paid' && !account.servesOverage && !isCapOurs;
}

/**
 * Whether a request beyond the limit may confirm that the next period has begun: where the user
 * says that the plan is free, however often; else only where a lone request was the first to report
 * it.
 */
function mayConfirmTurn(account: ModelAccount, policy: { quotaCap: number | null }, run: ModelRun): boolean {
  return (run.settings.plan === 'free' || account.pendingAsked !== null) && mayFindOut(account, policy, run);
}

/**
 * How far beyond the quota the account may go without another run passing its cap with its permits
 * in flight: all of them may turn out to be overage.
 */
function overageLeftByOthers(world: ModelWorld, account: string, ownKey: string): number {
  const out = new Map<string, { held: number; cap: number }>();
  for (const permit of world.permits.values()) {
    const { runKey, generation } = permit;
    const isCounted = world.caps.get(runKey)?.generation === generation;
    if (permit.account !== account || runKey === ownKey || !isCounted) continue;
    const { held, cap } = out.get(runKey) ?? { held: 0, cap: Infinity };
    const own = world.runs.get(permit.run)?.settings.maxOverageRequests ?? Infinity;
    out.set(runKey, { held: held + 1, cap: Math.min(cap, own) });
  }
  let room = Infinity;
  for (const [key, { held, cap }] of out) {
    const left = cap - (world.caps.get(key)?.overage ?? 0);
    // With none beyond the quota nothing is overage, whatever is left.
    if (held > left) room = Math.min(room, Math.max(0, left));
  }
  return room;
}

function take(
  world: ModelWorld,
  account: ModelAccount,
  policy: { quotaCap: number | null; overage: number },
  limit: number | null,
  request: ExchangeRequest,
  now: number,
): PermitAnswer[] {
  const run = request.run === null ? undefined : world.runs.get(request.run);
  const maySpend = run !== undefined && spendingStatus(run, now) === 'alive' && !world.isPaused;
  return request.take.map(({ permit, key }): PermitAnswer => {
    if (world.permits.has(permit)) return { permit, answer: 'granted', waitMs: 0 };
    const claim = world.claims.get(key);
    if (claim?.worker !== request.worker) return { permit, answer: 'lost' };
    if (!run || !maySpend) return { permit, answer: 'denied' };
    if ((world.doubts.get(`${request.run} ${key}`) ?? 0) >= DOUBTS_ALLOWED)
      return { permit, answer: 'spent' };
    const out = account.held + account.probes;
    if (now < account.restsUntil) return { permit, answer: 'denied' };
    if (isPeriodDue(account, now)) return { permit, answer: 'denied' };
    const isTurn = isTurnUnconfirmed(account, now);
    if (isTurn && out > 0) return { permit, answer: 'denied' };
    // Leftovers of a dead process do not count: they may take a minute to expire.
    const isOpening = account.heardAt <= now - ALONE_AFTER_MS;
    if (isOpening && account.alone !== null && world.permits.has(account.alone))
      return { permit, answer: 'denied' };
    if (limit === null && out >= UNKNOWN_QUOTA_HELD) return { permit, answer: 'denied' };
    const spent = account.sent + account.held + account.others;
    const hasRoom = limit === null || spent < limit;
    const probe = account.closedAt !== null || !hasRoom;
    if (probe) {
      const mayAsk = hasRoom || mayFindOut(account, policy, run) || request.mayHaveTurned;
      const isDue =
        now >= account.nextProbeAt && (account.closedAt !== null || now - account.heardAt >= PROBE_EVERY_MS);
      const isConfirming = isTurn && mayConfirmTurn(account, policy, run);
      if (!mayAsk || !(isDue || isConfirming) || out > 0) return { permit, answer: 'denied' };
    }
    const caps = world.caps.get(run.key) ?? { generation: permit, requests: 0, overage: 0, held: 0 };
    const { maxRequests, maxOverageRequests } = run.settings;
    if (maxRequests !== null && caps.requests >= maxRequests) return { permit, answer: 'denied' };
    const beyond = Math.max(0, spent + account.probes + 1 - billedQuota(account, policy));
    if (maxOverageRequests !== null && beyond > 0) {
      if (caps.overage + Math.min(caps.held + 1, beyond) > maxOverageRequests)
        return { permit, answer: 'denied' };
    }
    if (beyond > overageLeftByOthers(world, request.account, run.key)) return { permit, answer: 'denied' };
    let slot = Math.max(now, account.floorUntil);
    if (account.rate !== null) {
      const interval = 1_000 / account.rate;
      slot = Math.max(slot, account.tat - (account.burst - 1) * interval);
      if (slot - now > PACE_HORIZON_MS) return { permit, answer: 'denied' };
      account.tat = Math.max(account.tat, slot) + interval;
    } else if (slot - now > PACE_HORIZON_MS) return { permit, answer: 'denied' };
    if (probe) {
      account.probes += 1;
      account.nextProbeAt = now + PROBE_EVERY_MS;
    } else account.held += 1;
    world.caps.set(run.key, { ...caps, requests: caps.requests + 1, held: caps.held + 1 });
    world.spent.set(request.run ?? '', (world.spent.get(request.run ?? '') ?? 0) + 1);
    world.permits.set(permit, {
      account: request.account,
      worker: request.worker,
      run: request.run ?? '',
      runKey: run.key,
      key,
      deadline: now + request.permitMs,
      period: account.period,
      generation: caps.generation,
      probe,
    });
    claim.permit = permit;
    if (isOpening) account.alone = permit;
    if (isTurn || probe) account.pendingAsked = permit;
    return { permit, answer: 'granted', waitMs: slot - now };
  });
}

function stateOf(
  world: ModelWorld,
  name: string,
  account: ModelAccount,
  runId: string | null,
  now: number,
): LedgerState {
  turn(account, now);
  if (account.changedAt > 0) noteDay(account, now);
  const policy = policyOf(world, name, now);
  const run = runId === null ? undefined : world.runs.get(runId);
  const caps = run ? (world.caps.get(run.key) ?? { requests: 0, overage: 0, held: 0 }) : undefined;
  const limit = limitOf(account, policy);
  const hasRoom = limit === null || account.sent + account.held + account.others < limit;
  const isTurn = isTurnUnconfirmed(account, now);
  const out = account.held + account.probes;
  const beyond = Math.max(0, account.sent + out + account.others - billedQuota(account, policy));
  return {
    now,
    epoch: account.epoch,
    version: account.version,
    period: account.period,
    isDraining: isPeriodDue(account, now) || (isTurn && out > 0),
    isTurnUnconfirmed: isTurn && (hasRoom || (run !== undefined && mayConfirmTurn(account, policy, run))),
    sent: account.sent,
    held: account.held,
    probes: account.probes,
    others: account.others,
    quota: account.quota,
    usage: account.usage,
    heardAt: account.heardAt,
    answeredAt: account.answeredAt,
    days: account.days,
    closedAt: account.closedAt,
    nextProbeAt: account.nextProbeAt,
    restsUntil: account.restsUntil > now ? account.restsUntil : 0,
    servesOverage: account.servesOverage,
    isPaused: world.isPaused,
    quotaCap: policy.quotaCap,
    overage: policy.overage,
    pace: {
      version: account.paceVersion,
      rate: account.rate,
      burst: account.burst,
      floorMs: Math.max(0, account.floorUntil - now),
      acceptedLastSecond: account.secondBefore,
      acceptedThisSecond: account.secondSent,
    },
    run:
      run && caps
        ? {
            status: spendingStatus(run, now),
            requests: caps.requests,
            overageRequests: caps.overage,
            overageInFlight: run.settings.maxOverageRequests === null ? 0 : Math.min(caps.held, beyond),
            overageBilled: world.overageBilled.get(runId ?? '') ?? 0,
            maxRequests: run.settings.maxRequests,
            maxOverageRequests: run.settings.maxOverageRequests,
          }
        : null,
  };
}

/** On a copy: reading changes nothing. A missing account is shown as one without an epoch. */
export function show(world: ModelWorld, name: string, now: number, runId?: string): LedgerState {
  const copy: ModelWorld = {
    ...structuredClone({ ...world, newEpoch: null, runs: null }),
    runs: world.runs,
    newEpoch: () => '',
  };
  const account = accountOf(copy, name);
  sweep(copy, name, account, now, []);
  return stateOf(copy, name, account, runId ?? null, now);
}

export function open(
  world: ModelWorld,
  name: string,
  pace: { rate: number | null | undefined; burst: number },
  now: number,
): LedgerState {
  const account = accountOf(world, name);
  followClock(world, name, account, now);
  sweepAlone(world, name, account, now);
  account.heardAt = 0;
  account.nextProbeAt = now;
  if (pace.rate !== undefined) {
    account.paceVersion += 1;
    account.rate = pace.rate;
    account.burst = pace.burst;
  }
  account.version += 1;
  return stateOf(world, name, account, null, now);
}

/**
 * Import from another ledger: the larger sum holds, and a later period opens once nothing is in
 * flight.
 */
export function raise(
  world: ModelWorld,
  name: string,
  { period, sent, others, quota }: Spending,
  now: number,
): LedgerState {
  const account = accountOf(world, name);
  followClock(world, name, account, now);
  sweepAlone(world, name, account, now);
  if (period !== null && isLater(period, account.period)) {
    if (account.pendingPeriod === null) {
      account.pendingSent = 0;
      account.pendingDated = 0;
    }
    account.pendingPeriod = period;
    account.pendingFalls = 2;
    if (account.held === 0 && account.probes === 0) openPeriod(account);
  }
  account.period ??= period;
  if (period === null || account.period === period || [account.period, period].includes('none')) {
    const ours = account.sent + account.held + account.probes;
    const missing = Math.max(0, sent + others - ours - account.others);
    const missingOurs = Math.min(missing, Math.max(0, sent - ours));
    account.sent += missingOurs;
    account.others += missing - missingOurs;
    account.quota ??= quota;
  }
  account.version += 1;
  return stateOf(world, name, account, null, now);
}

export function observe(
  world: ModelWorld,
  name: string,
  seen: { usage?: number; quota?: number },
  now: number,
): LedgerState {
  const account = accountOf(world, name);
  followClock(world, name, account, now);
  sweepAlone(world, name, account, now);
  if (seen.quota !== undefined) account.quota = seen.quota;
  if (seen.usage !== undefined) {
    account.usage = seen.usage;
    account.sent = Math.min(account.sent, seen.usage);
    account.others = Math.max(0, seen.usage - account.sent - account.held - account.probes);
    account.servesOverage = false;
  }
  account.closedAt = null;
  account.suspectSince = 0;
  account.nextProbeAt = now;
  account.version += 1;
  return stateOf(world, name, account, null, now);
}
