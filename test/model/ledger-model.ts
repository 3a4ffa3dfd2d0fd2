/**
 * The ledger as arithmetic: one process, no store, time passed in. It is the reference that the
 * engines' ledgers are compared with, operation by operation, and the subject of the exhaustive
 * search in `ledger-search.test.ts`. `src/ledger/ledger.ts` documents the operations.
 */
import type { RunSettings } from '../../src/engine/stores/run-store.js';
import type {
  DayUse,
  ExchangeAnswer,
  ExchangeRequest,
  LedgerState,
  LookRequest,
  PermitAnswer,
  Reading,
  RunSpending,
  SettledAs,
  Settlement,
  Spending,
} from '../../src/ledger/ledger.js';

const ALONE_AFTER_MS = 300_000;
const PROBE_EVERY_MS = 60_000;
const UNKNOWN_QUOTA_HELD = 8;
const LEFT_PER_IN_FLIGHT = 4;
const PACE_HORIZON_MS = 1_000;
const PERIOD_GRACE_MS = 900_000;
const DAY_MS = 86_400_000;
const DAYS_KEPT = 62;
const RESET_LATE_MS = 1.5 * DAY_MS;
/** Kept clocks differ by less. */
const TURN_MARGIN_MS = 900_000;
const UNUSABLE_ALLOWED = 2;
const WORKER_HEARTBEAT_MS = 5_000;
const WORKER_DEAD_AFTER_MS = 15_000;
const WORKER_KEPT_MS = 86_400_000;
const RUN_DEAD_AFTER_MS = 30_000;
const RUN_HEARTBEAT_AHEAD_MS = 5_000;
const LOOKS_A_DAY = 3;
/** Our own requests are visible in the usage header after so many times its lag. */
const QUIET_LAGS = 2;
const CHECK_EVERY_MS = 3_600_000;
/** A clock that goes back by more than this was set back. */
const CLOCK_BACK_MS = 1_000;

interface ModelPermit {
  account: string;
  /** Empty once its claim was taken over. */
  worker: string;
  run: string;
  /** That of its run; empty where none pays. */
  generation: string;
  key: string;
  deadline: number;
  probe: boolean;
  /** Service and own domain, where it is for that domain. */
  own: string | null;
  /** Granted because the service is proven not to bill it. */
  free: boolean;
}

/** What the runs of one generation used of their caps. */
interface ModelCaps {
  requests: number;
  overage: number;
  held: number;
}

/**
 * A permit that was closed as billed in this call: which run pays, and in which period, as the
 * account counts them. Without a date it is the one that the permit was granted in.
 */
interface Billed {
  readonly run: string;
  readonly generation: string;
  readonly period: 'this' | 'next' | 'last';
  /** Its own header shows a usage beyond the quota. */
  readonly isBeyond: boolean;
}

export interface ModelRun {
  /** What it shares with other runs of its key, until one of them completes. */
  generation: string;
  heartbeatAt: number;
  status: 'running' | 'completed' | 'stopped' | 'cancelled';
  /** Its workers stopped asking; absent: they did not. */
  isHalted?: boolean;
  isPaused?: boolean;
  settings: Pick<
    RunSettings,
    'account' | 'plan' | 'quotaCap' | 'overage' | 'maxRequests' | 'maxOverageRequests'
  >;
}

export class ModelAccount {
  version = 0;
  /** The store's clock at the last change. */
  changedAt = 0;
  period: string | null = null;
  /** When the period is over by the store's clock, where that is known. */
  periodEnd: number | null = null;
  /** A later period that answers name, the last one among them, and since when they do. */
  nextPeriod: string | null = null;
  nextSince = 0;
  /** The last answer that named it showed a usage that fell. */
  hasNextFallen = false;
  /** The lone probe for more quota or for the next period; null if its answer decided nothing. */
  nextAsked: string | null = null;
  /** Billed requests that may belong to the next period: they count in both. */
  nextSent = 0;
  /** Billed requests that their dates put in it: they count in both, too. */
  nextDated = 0;
  /** Of `sent`: requests that count to be safe, and are not billed in this period. */
  early = 0;
  /** When the period opened, as long as the usage has not fallen. */
  resetAwaitedAt: number | null = null;
  /** When a request beyond the limit last asked for the next period; 0: never. */
  turnAskedAt = 0;
  /** How far the service's clock is behind the store's; negative where it is ahead. */
  behindMs = 0;
  sent = 0;
  held = 0;
  probes = 0;
  others = 0;
  quota: number | null = null;
  usage: number | null = null;
  lastUsage: number | null = null;
  confirmedAt = 0;
  answeredAt: number | null = null;
  /** Use of the period on each day, as it was after the last operation of that day. */
  days: readonly DayUse[] = [];
  /** The permit last granted while the account opened; no other is while it is in flight. */
  alone: string | null = null;
  closedAt: number | null = null;
  nextProbeAt = 0;
  restsUntil = 0;
  servesOverage = false;
  second = 0;
  secondSent = 0;
  secondBefore = 0;
  paceVersion = 0;
  rate: number | null = null;
  burst = 1;
  /** When the pace has room for one more request. */
  slotAt = 0;
  floorUntil = 0;
  /** Service and own domain of the following fields; null before the first request for it. */
  lookOf: string | null = null;
  lookProven = false;
  /** Requests for it that count in `sent` until they are proven free. */
  lookBooked = 0;
  /** How often the usage rose after such a request without others of ours. */
  lookRises = 0;
  /** Looks tried without proof, in the day since. */
  lookTries = 0;
  lookTriesSince = 0;
  /** Usage in a quiet moment, and our other requests surely billed since; null before the first. */
  lookBase: number | null = null;
  /** Whether the own domain was asked for since. */
  lookSince = false;
  /** Free requests that may not be visible yet: since `lookMarkAt`, and before. */
  lookRecent = 0;
  lookEarlier = 0;
  lookMarkAt = 0;
  /** When a request was last closed as billed or perhaps billed. */
  spentAt = 0;
  free = 0;
  checkedAt = 0;
  /** The look, or the free request, that was last granted, and when; null if closed. */
  lookOut: string | null = null;
  lookOutAt = 0;

  constructor(readonly epoch: string) {}
}

export class ModelWorld {
  accounts = new Map<string, ModelAccount>();
  /** Heartbeats of workers. */
  heartbeats = new Map<string, number>();
  permits = new Map<string, ModelPermit>();
  runs = new Map<string, ModelRun>();
  /** Caps used so far, by generation. */
  caps = new Map<string, ModelCaps>();
  /** Permits taken for a run and not given back, by run. */
  spent = new Map<string, number>();
  /** Requests of a run that were overage when they were settled, by run. */
  overageBilled = new Map<string, number>();
  /** Claims by outcome key: which worker, and the permit granted under it while unsettled. */
  claims = new Map<string, { worker: string; permit: string | null }>();
  /** Answers billed or possibly billed without use, by `run` + space + key. */
  unusable = new Map<string, number>();
  isPaused = false;
  /** Whether at most a quarter of what is left is in flight: the limit holds without it, too. */
  keepsQuarter = true;

  /** `newEpoch` makes epochs. */
  constructor(readonly newEpoch: () => string = () => 'epoch') {}
}

/** A run that lives for ever, of a generation of its own. */
export function addRun(world: ModelWorld, id: string, settings: Partial<ModelRun['settings']>): void {
  const plain = { quotaCap: null, overage: 0, maxRequests: null, maxOverageRequests: null };
  world.runs.set(id, {
    generation: id,
    heartbeatAt: Number.POSITIVE_INFINITY,
    status: 'running',
    settings: { account: 'account', plan: 'unspecified', ...plain, ...settings },
  });
}

/** One operation on an account. */
interface Call {
  readonly world: ModelWorld;
  readonly name: string;
  readonly account: ModelAccount;
  readonly now: number;
  readonly policy: ReturnType<typeof policyOf>;
  /** The permits that it closed as billed. */
  readonly billed: Billed[];
}

function callOn(world: ModelWorld, name: string, now: number): Call {
  const account = world.accounts.get(name) ?? new ModelAccount(world.newEpoch());
  world.accounts.set(name, account);
  return { world, name, account, now, policy: policyOf(world, name, now), billed: [] };
}

/** The policy of the live runs: of several the lowest holds; without any, no overage, no cap. */
function policyOf(world: ModelWorld, name: string, now: number) {
  let quotaCap: number | null = null;
  let overage: number | null = null;
  for (const run of world.runs.values()) {
    if (run.settings.account !== name || runStatus(run, now) !== 'alive') continue;
    overage = Math.min(overage ?? Infinity, run.settings.overage);
    if (run.settings.quotaCap !== null) quotaCap = Math.min(quotaCap ?? Infinity, run.settings.quotaCap);
  }
  return { quotaCap, overage: overage ?? 0 };
}

function runStatus(run: ModelRun, now: number): 'alive' | 'dead' | 'cancelled' {
  if (run.status === 'cancelled') return 'cancelled';
  const hasHeartbeat =
    now - run.heartbeatAt < RUN_DEAD_AFTER_MS && run.heartbeatAt - now <= RUN_HEARTBEAT_AHEAD_MS;
  return run.status === 'running' && (hasHeartbeat || run.heartbeatAt === Infinity) ? 'alive' : 'dead';
}

function spendingStatus(run: ModelRun, now: number): RunSpending['status'] {
  const status = runStatus(run, now);
  if (status !== 'alive') return status;
  if (run.isHalted) return 'halted';
  return run.isPaused ? 'paused' : 'alive';
}

/** Requests of the period, those in flight included. */
function spentOf({ sent, held, others }: ModelAccount): number {
  return sent + held + others;
}

function limitOf({ account: { quota }, policy }: Call): number | null {
  // The user's own, below the service's, leaves no overage.
  if (quota !== null && policy.quotaCap !== null && policy.quotaCap < quota) return policy.quotaCap;
  const limit = quota ?? policy.quotaCap;
  return limit === null ? null : limit + policy.overage;
}

/** Moves a permit from held to sent, or gives it back. */
function close(call: Call, { permit: id, as, period: datedIn = null, isBeyond }: Settlement): void {
  const { world, account, now, billed } = call;
  const permit = world.permits.get(id);
  if (!permit) return;
  world.permits.delete(id);
  if (id === account.lookOut) account.lookOut = null;
  if (permit.probe) account.probes -= 1;
  else if (!permit.free) account.held -= 1;
  const claim = world.claims.get(permit.key);
  if (claim?.permit === id) claim.permit = null;
  // The worker that took its claim over has counted it.
  if (as === 'maybe_billed' && permit.worker !== '' && permit.run !== '') {
    const name = `${permit.run} ${permit.key}`;
    world.unusable.set(name, (world.unusable.get(name) ?? 0) + 1);
  }
  if (permit.free) {
    if (as !== 'free') noteClosedFree(account, now);
    return;
  }
  const caps = world.caps.get(permit.generation);
  if (caps) caps.held -= 1;
  if (as === 'free') {
    if (permit.own !== null && permit.run === '') account.lookTries = Math.max(0, account.lookTries - 1);
    if (caps) caps.requests -= 1;
    world.spent.set(permit.run, (world.spent.get(permit.run) ?? 0) - 1);
    return;
  }
  const period = isLater(datedIn, account.period)
    ? 'next'
    : isLater(account.period, datedIn)
      ? 'last'
      : 'this';
  account.sent += 1;
  noteClosed(call, permit, as, period === 'this');
  if (period === 'next') account.nextDated += 1;
  else if (account.periodEnd !== null && now >= account.periodEnd) account.nextSent += 1;
  if (period === 'last') account.early += 1;
  const { run, generation } = permit;
  billed.push({ run, generation, period, isBeyond: isBeyond ?? false });
  turn(account, now);
  account.secondSent += 1;
}

function isDrained(account: ModelAccount): boolean {
  return account.held === 0 && account.probes === 0;
}

function measureLooksFrom(account: ModelAccount, usage: number | null): void {
  account.lookBase = usage;
  account.lookSince = false;
}

/** What was booked counts for good, and what was measured compares with nothing that comes. */
function endLooks(account: ModelAccount): void {
  measureLooksFrom(account, null);
  account.lookBooked = 0;
  account.lookRecent = 0;
  account.lookEarlier = 0;
}

/** A permit that was closed as billed or perhaps billed. `isSent`: it counts in this period. */
function noteClosed({ account, now }: Call, permit: ModelPermit, as: SettledAs, isSent: boolean): void {
  account.spentAt = now;
  if (permit.own !== null && permit.own === account.lookOf) {
    account.lookSince = account.lookBase !== null;
    if (isSent) account.lookBooked += 1;
  } else if (as === 'billed' && account.lookBase !== null) account.lookBase += 1;
}

/** The same of a free permit. Another own domain may have taken its place meanwhile. */
function noteClosedFree(account: ModelAccount, now: number): void {
  if (account.lookProven) {
    account.free += 1;
    account.lookRecent += 1;
  } else {
    account.spentAt = now;
    account.sent += 1;
  }
}

/** What was known of looks before this call, whose look may not be visible yet. */
interface Looks {
  readonly since: boolean;
  readonly spentAt: number;
  readonly quietMs: number;
  /** The reading came with the last look that was granted. */
  isCarried: boolean;
}

/**
 * Two readings, both of moments when all of our own requests were long visible: the second proves
 * the requests for the own domain between them free when it is the first plus our others, and
 * withdraws an earlier proof when it is above that. A reading may arrive late: only one that comes
 * with the last look, and nothing else, is judged, as of the moment at which that was granted.
 */
function judgeLooks(account: ModelAccount, usage: number, looks: Looks, now: number): void {
  const at = account.lookOutAt;
  if (!looks.isCarried || !isDrained(account) || at - looks.spentAt < looks.quietMs) return;
  const isAbove = account.lookBase !== null && usage > account.lookBase;
  if (account.lookProven) {
    if (isAbove) {
      const unseen = account.lookRecent + account.lookEarlier;
      account.lookProven = false;
      account.lookRises += 1;
      account.sent += unseen;
      account.lookBooked += unseen;
      // What readings showed of them until now was taken for others'.
      account.others = Math.max(0, account.others - unseen);
      account.lookRecent = 0;
      account.lookEarlier = 0;
      account.spentAt = now;
    } else if (at - account.lookMarkAt >= looks.quietMs) {
      account.lookEarlier = account.lookRecent;
      account.lookRecent = 0;
      account.lookMarkAt = at;
    }
  } else if (isAbove) account.lookRises += 1;
  else if (usage === account.lookBase) {
    if (!looks.since) return;
    account.lookProven = true;
    account.lookRises = 0;
    account.sent -= Math.min(account.lookBooked, account.sent);
    account.lookBooked = 0;
    account.lookMarkAt = at;
  }
  measureLooksFrom(account, usage);
}

/** Whether `period` comes after `current`; false where one is unknown or there are none. */
function isLater(period: string | null, current: string | null): boolean {
  return period !== null && period !== 'none' && current !== null && current !== 'none' && period > current;
}

/** How the account stands after closing requests and before the reading. */
function standingOf({ period, sent, others, early, nextSent, nextDated }: ModelAccount) {
  return {
    period,
    /** Requests that the service bills in the period, and in the next one. */
    this: sent - nextDated - early + others,
    next: nextDated,
    last: 0,
    /** The same, where each counts in both. */
    most: Math.max(sent + others, nextSent + nextDated),
  };
}
type Standing = ReturnType<typeof standingOf>;

/**
 * Records which of the requests just closed are overage: those beyond the quota by their own
 * header, or in the period that they are billed in. Caps count those that may be, in either of two
 * periods, so that they are never passed. `isProbeWithin`: a request beyond the limit was answered
 * with a usage below the quota.
 */
function bookOverage(call: Call, quota: number, before: Standing, isProbeWithin = false): void {
  const { world, account, billed } = call;
  const at = isLater(account.period, before.period) ? { ...before } : standingOf(account);
  for (const { period } of billed) at[period] -= 1;
  at.most -= billed.length;
  for (const { run, generation, period, isBeyond } of billed) {
    at[period] += 1;
    at.most += 1;
    const isOver = isBeyond || (!isProbeWithin && at[period] > quota);
    const mayBe = isOver || (!isProbeWithin && (period === 'last' || at.most > quota));
    world.overageBilled.set(run, (world.overageBilled.get(run) ?? 0) + (isOver ? 1 : 0));
    const caps = world.caps.get(generation);
    if (caps && mayBe) caps.overage += 1;
  }
}

/** What the service bills as quota: its header, or the user's setting as long as there is none. */
function billedQuota({ account, policy }: Call): number {
  return account.quota ?? policy.quotaCap ?? Infinity;
}

function turn(account: ModelAccount, now: number): void {
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

/**
 * A heartbeat. When the clock was set back all others go back with it: none is in the future. And
 * when the store was away they go on with it, one interval short: all seem dead, this one is here,
 * and was alive when the last heartbeat was heard.
 */
export function noteHeartbeat(world: ModelWorld, worker: string, now: number): void {
  const latest = Math.max(...world.heartbeats.values());
  const own = world.heartbeats.get(worker) ?? Number.NEGATIVE_INFINITY;
  const silentMs = now - latest;
  const wasAway =
    silentMs >= WORKER_DEAD_AFTER_MS && silentMs < WORKER_KEPT_MS && latest - own < WORKER_DEAD_AFTER_MS;
  const shift = silentMs < -CLOCK_BACK_MS ? silentMs : wasAway ? silentMs - WORKER_HEARTBEAT_MS : 0;
  for (const [name, heartbeatAt] of world.heartbeats) world.heartbeats.set(name, heartbeatAt + shift);
  world.heartbeats.set(worker, now);
}

export function isWorkerAlive(world: ModelWorld, worker: string, now: number): boolean {
  const heartbeatAt = world.heartbeats.get(worker);
  return heartbeatAt !== undefined && now - heartbeatAt < WORKER_DEAD_AFTER_MS;
}

/** Fields of an account that hold a time; 0 or null where there is none. */
const NAMES_A_TIME = /(At|Since|Until)$/;

/**
 * When the clock was set back, no time is further ahead of it than it was: what was past is past,
 * and nothing waits for longer than it would have.
 */
function followClock({ account, now }: Call): void {
  const last = account.changedAt;
  account.changedAt = now;
  if (last <= now) return;
  for (const [field, at] of Object.entries(account))
    if (NAMES_A_TIME.test(field) && typeof at === 'number')
      Object.assign(account, { [field]: Math.min(at, now + Math.max(0, at - last)) });
  account.behindMs += now - last;
}

/** Permits whose answers are lost count as sent, the oldest first: unknown is spent. */
function closeLost(call: Call, isLost: (permit: ModelPermit) => boolean): number {
  const { world, name } = call;
  const lost = [...world.permits].filter(([, permit]) => permit.account === name && isLost(permit));
  lost.sort(([id, one], [otherId, other]) => one.deadline - other.deadline || (id < otherId ? -1 : 1));
  for (const [permit] of lost) close(call, { permit, as: 'maybe_billed' });
  return lost.length;
}

const sweep = (call: Call) => closeLost(call, ({ deadline }) => deadline <= call.now);

/** Whether permits are withheld, or granted one at a time, until permits in flight have ended. */
function waitsForOthers(account: ModelAccount, allowed: number, now: number): boolean {
  const out = account.held + account.probes;
  if (out === 0) return false;
  if (out >= allowed || account.closedAt !== null) return true;
  return account.confirmedAt <= now - ALONE_AFTER_MS || account.hasNextFallen;
}

/** `others`: permits that were out beside the one that brought the reading. */
function applyReading(
  call: Call,
  { reading, turn }: ExchangeRequest,
  hasConfirmed: boolean,
  others: number,
  looks: Looks,
): void {
  if (reading === null) return;
  if (typeof reading.date === 'number') call.account.behindMs = call.now - reading.date;
  if (followPeriod(call, reading, turn?.today ?? null, hasConfirmed, others))
    applyNumbers(call, reading, looks);
}

/**
 * The table of periods (`src/ledger/README.md`). `today`: the period that the store's clock is in.
 * `hasConfirmed`: the answer came to a request that went alone. False: it is of another period.
 */
function followPeriod(
  { account, now }: Call,
  { period, usage }: Reading,
  today: string | null,
  hasConfirmed: boolean,
  others: number,
): boolean {
  const last = account.usage;
  // More than answers that overtake each other explain.
  const hasFallen = usage !== null && last !== null && (usage < last - others || 2 * usage < last);
  if (account.period === null) account.period = period;
  if (period === null) {
    if (hasFallen && isLater(today, account.period)) openPeriod(account, today, usage, null);
    return true;
  }
  if (isLater(account.period, period)) return false;
  if (!isLater(period, account.period)) {
    forgetNext(account);
    if (hasFallen && account.resetAwaitedAt !== null && today === period) {
      // The service reset late.
      Object.assign(account, { resetAwaitedAt: null, others: 0, usage: null, early: Infinity });
    }
    return true;
  }
  if (account.nextPeriod !== period) {
    forgetNext(account);
    account.nextPeriod = period;
    account.nextSince = now;
  }
  const isIn = today !== null && !isLater(period, today);
  const opens = hasFallen
    ? isIn || (account.hasNextFallen && hasConfirmed)
    : isIn && now - account.nextSince >= PERIOD_GRACE_MS;
  account.hasNextFallen = hasFallen;
  if (opens) openPeriod(account, period, usage, hasFallen ? null : now);
  return opens;
}

function forgetNext(account: ModelAccount): void {
  account.nextPeriod = null;
  account.nextSince = 0;
  account.hasNextFallen = false;
}

function applyNumbers({ account, now }: Call, reading: Reading, looks: Looks): void {
  if (reading.quota !== null) {
    if (account.closedAt !== null && account.quota !== null && reading.quota > account.quota)
      account.closedAt = null;
    account.quota = reading.quota;
  }
  if (reading.usage === null) return;
  judgeLooks(account, reading.usage, looks, now);
  const seen = reading.usage - account.sent - account.held - account.probes;
  account.others = Math.max(account.others, seen);
  account.early = Math.min(account.early, account.others - seen);
  account.lastUsage = reading.usage;
  // Answers arrive out of order, and within a period usage only grows.
  account.usage = Math.max(account.usage ?? 0, reading.usage);
}

/** What is in flight counts in the new period, too. */
function openPeriod(
  account: ModelAccount,
  period: string | null,
  usage: number | null,
  resetAwaitedAt: number | null,
): void {
  forgetNext(account);
  account.sent = account.nextSent + account.nextDated;
  // The usage shows how many of those that are dated in it are billed in it.
  account.early = account.nextSent + (usage === null ? 0 : account.nextDated);
  Object.assign(account, {
    ...{ period, resetAwaitedAt, periodEnd: null, nextAsked: null, nextSent: 0, nextDated: 0 },
    ...{ others: 0, usage: null, lastUsage: null, closedAt: null, days: [], free: 0 },
  } satisfies Partial<ModelAccount>);
  endLooks(account);
}

/**
 * From when on one request beyond the limit may ask for the next period, or for a reset that is
 * late, on any plan: once a day; null where none may.
 */
function asksAt({ periodEnd, behindMs, resetAwaitedAt, turnAskedAt }: ModelAccount): number | null {
  const tomorrow = turnAskedAt + DAY_MS;
  if (resetAwaitedAt !== null) {
    const at = Math.max(resetAwaitedAt, tomorrow);
    if (at <= resetAwaitedAt + RESET_LATE_MS) return at;
  }
  // Over by the store's clock and by the service's.
  return periodEnd === null ? null : Math.max(periodEnd + TURN_MARGIN_MS + Math.max(0, behindMs), tomorrow);
}

/** The ledger went back in time: the highest state seen is written back, and spending rests. */
function restoreSeen(account: ModelAccount, { seen, usageLagMs }: ExchangeRequest, now: number): void {
  if (!seen || (seen.epoch === account.epoch && seen.version <= account.version)) return;
  if (account.period === null) account.period = seen.period;
  if (account.period === seen.period) {
    account.sent = Math.max(account.sent, seen.spent);
    account.others = Math.max(account.others, seen.others);
  }
  if (seen.epoch === account.epoch) account.version = seen.version;
  account.restsUntil = now + usageLagMs;
  account.confirmedAt = 0;
  // What was measured and booked may be older than the count.
  endLooks(account);
  account.spentAt = now;
}

export function exchange(world: ModelWorld, request: ExchangeRequest, now: number): ExchangeAnswer {
  const call = callOn(world, request.account, now);
  const { account } = call;
  noteHeartbeat(world, request.worker, now);
  followClock(call);
  const { turn } = request;
  if (turn !== null && turn.period === account.period) account.periodEnd = turn.endsAt;
  restoreSeen(account, request, now);
  const looks = {
    since: account.lookSince,
    spentAt: account.spentAt,
    quietMs: QUIET_LAGS * request.usageLagMs,
    isCarried: false,
  };
  const swept = sweep(call);
  // Facts of this call's settlements are judged with the reading that came with them.
  let probedAt: number | null = null;
  // A free reading is as good as one of the lone probe.
  const isFree = ({ permit }: Settlement) => world.permits.get(permit)?.free === true;
  const out = account.held + account.probes;
  let hasConfirmed = out === 0 && request.settle.every(isFree);
  let isAskedSettled = false;
  const [carrier, ...others] = request.settle;
  looks.isCarried =
    carrier !== undefined &&
    others.length === 0 &&
    swept === 0 &&
    carrier.permit === account.lookOut &&
    world.permits.has(carrier.permit);
  for (const settlement of request.settle) {
    const permit = world.permits.get(settlement.permit);
    if (permit?.probe && settlement.as === 'billed')
      probedAt = Math.min(permit.deadline - request.permitMs, now);
    if (permit && settlement.permit === account.nextAsked) isAskedSettled = true;
    close(call, settlement);
  }
  hasConfirmed ||= isAskedSettled;
  const before = standingOf(account);
  applyReading(call, request, hasConfirmed, Math.max(0, out - 1), looks);
  if (isAskedSettled && !(request.reading?.period && account.hasNextFallen)) account.nextAsked = null;
  if (request.isConfirmed) account.confirmedAt = now;
  const isDated = request.settle.some(({ period }) => typeof period === 'string');
  if (request.isConfirmed || request.reading !== null || request.refusedForQuota || isDated)
    account.answeredAt = now;
  if (request.refusedForQuota) {
    account.closedAt = now;
    account.nextProbeAt = now + PROBE_EVERY_MS;
  } else if (probedAt !== null) {
    account.closedAt = null;
  }
  const run = request.run === null ? undefined : world.runs.get(request.run);
  // Permits of dead workers count as sent as soon as a request waits for their end.
  if (request.take.length > 0 && waitsForOthers(account, inFlightAllowed(call, run), now))
    closeLost(call, ({ worker }) => !isWorkerAlive(world, worker, now));
  // It went alone, and was sent long enough after all others for its header to show them.
  const usage = request.reading?.usage ?? null;
  const isVisible =
    probedAt !== null && probedAt - looks.spentAt >= Math.max(PROBE_EVERY_MS, request.usageLagMs);
  const isProbeWithin =
    usage !== null && usage < billedQuota(call) && request.settle.length === 1 && isVisible;
  bookOverage(call, billedQuota(call), before, isProbeWithin);
  const isProvenWithin = isProbeWithin && !isLater(account.period, request.reading?.period ?? null);
  const limit = limitOf(call);
  if (probedAt !== null && !isProvenWithin && limit !== null && account.sent + account.others > limit)
    account.servesOverage = true;
  const pace = request.pace;
  if (pace && pace.ifVersion === account.paceVersion) {
    account.paceVersion += 1;
    account.rate = pace.rate;
    account.burst = pace.burst;
    account.floorUntil = Math.max(account.floorUntil, pace.floorMs > 0 ? now + pace.floorMs : 0);
  }
  const permits = take(call, request);
  const look = request.look && grantLook(call, request, request.look);
  account.version += 1;
  const state = stateOf(call, request.run);
  return { permits, look, recordedAt: null, state };
}

/**
 * Whether one request beyond the limit may probe for more: where a refusal is free, and where the
 * quota is used up rather than the user's own limit.
 */
function mayFindOut({ account, policy }: Call, run: ModelRun): boolean {
  const isCapOurs = policy.quotaCap !== null && policy.quotaCap < (account.quota ?? Infinity);
  return run.settings.plan !== 'paid' && !account.servesOverage && !isCapOurs;
}

/**
 * Whether a request beyond the limit may confirm that the next period has begun: where the user
 * says that the plan is free, however often; else only where a lone request was the first to report
 * it.
 */
function mayConfirmTurn(call: Call, run: ModelRun): boolean {
  return (run.settings.plan === 'free' || call.account.nextAsked !== null) && mayFindOut(call, run);
}

function capsOf(world: ModelWorld, generation: string): ModelCaps {
  return world.caps.get(generation) ?? { requests: 0, overage: 0, held: 0 };
}

/**
 * How far beyond the quota the account may go without another run passing its cap with its permits
 * in flight: all of them may turn out to be overage.
 */
function overageLeftByOthers(world: ModelWorld, account: string, own: string): number {
  const out = new Map<string, { held: number; cap: number }>();
  for (const permit of world.permits.values()) {
    const { generation } = permit;
    if (permit.account !== account || generation === own || generation === '') continue;
    const { held, cap } = out.get(generation) ?? { held: 0, cap: Infinity };
    const ofRun = world.runs.get(permit.run)?.settings.maxOverageRequests ?? Infinity;
    out.set(generation, { held: held + 1, cap: Math.min(cap, ofRun) });
  }
  let room = Infinity;
  for (const [generation, { held, cap }] of out) {
    const left = cap - capsOf(world, generation).overage;
    // With none beyond the quota nothing is overage, whatever is left.
    if (held > left) room = Math.min(room, Math.max(0, left));
  }
  return room;
}

/**
 * Requests that may be in flight: a quarter of what is left, and at least one. Left is the quota
 * until it is used up, so that few are in flight when it ends and it is known which are beyond it;
 * then what the limit and the run's cap allow.
 */
function inFlightAllowed(call: Call, run: ModelRun | undefined): number {
  const { world, account } = call;
  const limit = limitOf(call);
  if (limit === null) return UNKNOWN_QUOTA_HELD;
  const ours = account.sent + account.others;
  const used = Math.max(account.usage ?? 0, ours);
  if (!world.keepsQuarter) return Math.max(1, limit - ours);
  const cap = run?.settings.maxOverageRequests ?? Infinity;
  const overageLeft = run ? cap - capsOf(world, run.generation).overage : Infinity;
  const within = billedQuota(call) - used;
  const left = Math.min(limit - used, within > 0 ? within : overageLeft);
  return Math.max(1, Math.floor(left / LEFT_PER_IN_FLIGHT));
}

function take(call: Call, request: ExchangeRequest): PermitAnswer[] {
  const { world, account, now } = call;
  const limit = limitOf(call);
  const run = request.run === null ? undefined : world.runs.get(request.run);
  const maySpend = run !== undefined && spendingStatus(run, now) === 'alive' && !world.isPaused;
  const allowed = inFlightAllowed(call, run);
  return request.take.map(({ permit, key, own = null }): PermitAnswer => {
    const denied = { permit, answer: 'denied' } as const;
    const known = world.permits.get(permit);
    if (known) return { permit, answer: 'granted', waitMs: 0, isFree: known.free };
    const claim = world.claims.get(key);
    if (claim?.worker !== request.worker) return { permit, answer: 'lost' };
    if (!run || !maySpend || request.run === null) return denied;
    if ((world.unusable.get(`${request.run} ${key}`) ?? 0) >= UNUSABLE_ALLOWED)
      return { permit, answer: 'attempts_exhausted' };
    const { account: name, worker, run: id, permitMs } = request;
    const { generation } = run;
    const common = { account: name, worker, run: id, generation, key, deadline: now + permitMs, own };
    if (own !== null && own === account.lookOf && account.lookProven) {
      const answer = grantFree(call, permit, { ...common, generation: '', probe: false });
      if (answer.answer === 'granted') claim.permit = permit;
      return answer;
    }
    const out = account.held + account.probes;
    const isTurn = account.hasNextFallen;
    if (now < account.restsUntil || (isTurn && out > 0)) return denied;
    // Leftovers of a dead process do not count: they may take a minute to expire.
    const isOpening = account.confirmedAt <= now - ALONE_AFTER_MS;
    if (isOpening && account.alone !== null && world.permits.has(account.alone)) return denied;
    if (out >= allowed) return denied;
    const hasRoom = limit === null || spentOf(account) < limit;
    const probe = account.closedAt !== null || !hasRoom;
    if (probe) {
      const mayAsk = hasRoom || mayFindOut(call, run) || now >= (asksAt(account) ?? Infinity);
      const isDue =
        now >= account.nextProbeAt &&
        (account.closedAt !== null || now - account.confirmedAt >= PROBE_EVERY_MS);
      const isConfirming = isTurn && mayConfirmTurn(call, run);
      if (!mayAsk || !(isDue || isConfirming) || out > 0) return denied;
    }
    const caps = capsOf(world, generation);
    const { maxRequests, maxOverageRequests } = run.settings;
    if (maxRequests !== null && caps.requests >= maxRequests) return denied;
    const beyond = Math.max(0, spentOf(account) + account.probes + 1 - billedQuota(call));
    const overage = caps.overage + Math.min(caps.held + 1, beyond);
    if (beyond > 0 && overage > (maxOverageRequests ?? Infinity)) return denied;
    if (beyond > overageLeftByOthers(world, name, generation)) return denied;
    const slot = slotOf(account, now);
    if (slot === null) return denied;
    if (probe) {
      if (now >= (asksAt(account) ?? Infinity)) account.turnAskedAt = now;
      account.probes += 1;
      account.nextProbeAt = now + PROBE_EVERY_MS;
    } else account.held += 1;
    world.caps.set(generation, { ...caps, requests: caps.requests + 1, held: caps.held + 1 });
    world.spent.set(id, (world.spent.get(id) ?? 0) + 1);
    world.permits.set(permit, { ...common, probe, free: false });
    claim.permit = permit;
    if (isOpening) account.alone = permit;
    if (isTurn || probe) account.nextAsked = permit;
    return { permit, answer: 'granted', waitMs: slot - now, isFree: false };
  });
}

/** Returns when to send, or null beyond the horizon, and moves the pace on. */
function slotOf(account: ModelAccount, now: number): number | null {
  let slot = Math.max(now, account.floorUntil);
  if (account.rate === null) return slot - now > PACE_HORIZON_MS ? null : slot;
  const interval = 1_000 / account.rate;
  slot = Math.max(slot, account.slotAt - (account.burst - 1) * interval);
  if (slot - now > PACE_HORIZON_MS) return null;
  account.slotAt = Math.max(account.slotAt, slot) + interval;
  return slot;
}

/** One at a time, and outside of every limit. */
function grantFree(call: Call, permit: string, record: Omit<ModelPermit, 'free'>): PermitAnswer {
  const { world, account, now } = call;
  if (account.lookOut !== null) return { permit, answer: 'queued' };
  const slot = slotOf(account, now);
  if (slot === null) return { permit, answer: 'queued' };
  world.permits.set(permit, { ...record, free: true });
  account.lookOut = permit;
  account.lookOutAt = now;
  return { permit, answer: 'granted', waitMs: slot - now, isFree: true };
}

/** Whether a look may cost one request: within the quota, when all of ours are long visible. */
function mayTryLook({ account, policy, now }: Call, look: LookRequest, quietMs: number): boolean {
  if (account.closedAt !== null || account.hasNextFallen || !isDrained(account)) return false;
  const quota = Math.min(account.quota ?? Infinity, policy.quotaCap ?? Infinity, look.quotaCap ?? Infinity);
  if (spentOf(account) >= quota || now - account.spentAt < quietMs) return false;
  if (now - account.lookTriesSince >= DAY_MS) {
    account.lookTriesSince = now;
    account.lookTries = 0;
  }
  return account.lookTries < LOOKS_A_DAY;
}

/** A request outside of any run: a look, or a check that a person ordered. */
function grantLook(call: Call, request: ExchangeRequest, look: LookRequest): PermitAnswer {
  const { world, account, now } = call;
  const { permit, own } = look;
  const denied = { permit, answer: 'denied' } as const;
  const known = world.permits.get(permit);
  if (known) return { permit, answer: 'granted', waitMs: 0, isFree: known.free };
  if (world.isPaused) return denied;
  const { account: name, worker, permitMs } = request;
  const record = {
    ...{ account: name, worker, run: '', generation: '', key: look.key ?? '', own },
    ...{ deadline: now + permitMs, probe: false, free: false },
  };
  if (own !== null && account.lookOf !== own) {
    endLooks(account);
    Object.assign(account, { lookOf: own, lookProven: false, lookRises: 0 });
  }
  if (own !== null && account.lookProven) return grantFree(call, permit, record);
  if (now < account.restsUntil) return denied;
  const claim = world.claims.get(record.key);
  if (own !== null) {
    if (!mayTryLook(call, look, QUIET_LAGS * request.usageLagMs)) return denied;
  } else {
    if (claim?.worker !== worker) return { permit, answer: 'lost' };
    if (account.checkedAt > 0 && now - account.checkedAt < CHECK_EVERY_MS) return denied;
    const limit = limitOf(call);
    record.probe = account.closedAt !== null || (limit !== null && spentOf(account) >= limit);
  }
  const slot = slotOf(account, now);
  if (slot === null) return { permit, answer: 'queued' };
  if (own !== null) {
    account.lookTries += 1;
    account.lookOut = permit;
    account.lookOutAt = now;
    if (account.confirmedAt <= now - ALONE_AFTER_MS) account.alone = permit;
  } else {
    account.checkedAt = now;
    if (claim) claim.permit = permit;
  }
  if (record.probe) account.probes += 1;
  else account.held += 1;
  world.permits.set(permit, record);
  return { permit, answer: 'granted', waitMs: slot - now, isFree: false };
}

function stateOf(call: Call, runId: string | null): LedgerState {
  const { world, account, now, policy } = call;
  turn(account, now);
  if (account.changedAt > 0) noteDay(account, now);
  const run = runId === null ? undefined : world.runs.get(runId);
  const caps = run && capsOf(world, run.generation);
  const limit = limitOf(call);
  const hasRoom = limit === null || spentOf(account) < limit;
  const beyond = Math.max(0, spentOf(account) + account.probes - billedQuota(call));
  const { epoch, version, period, behindMs, sent, held, probes, others, free, checkedAt } = account;
  const { quota, usage, lastUsage, confirmedAt, answeredAt, days, closedAt, nextProbeAt } = account;
  const { lookOf: of, lookProven: isProven, lookBooked: booked, lookRises: rises } = account;
  return {
    ...{ now, epoch, version, period, behindMs, sent, held, probes, others, free, checkedAt },
    ...{ quota, usage, lastUsage, confirmedAt, answeredAt, days, closedAt, nextProbeAt },
    own: { of, isProven, booked, rises },
    isTurnUnconfirmed: account.hasNextFallen && (hasRoom || (run !== undefined && mayConfirmTurn(call, run))),
    asksAt: asksAt(account),
    freeOut: world.permits.get(account.lookOut ?? '')?.free === true ? 1 : 0,
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
            held: (run.settings.maxRequests ?? run.settings.maxOverageRequests) === null ? 0 : caps.held,
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
  const call = callOn(copy, name, now);
  sweep(call);
  return stateOf(call, runId ?? null);
}

/** An operation that takes no permits. */
function correct(world: ModelWorld, name: string, now: number, change: (call: Call) => void): LedgerState {
  const call = callOn(world, name, now);
  followClock(call);
  sweep(call);
  bookOverage(call, billedQuota(call), standingOf(call.account));
  call.billed.length = 0;
  change(call);
  call.account.version += 1;
  return stateOf(call, null);
}

type Pace = { rate: number | null | undefined; burst: number };
export function open(world: ModelWorld, name: string, pace: Pace, now: number): LedgerState {
  return correct(world, name, now, ({ account }) => {
    account.confirmedAt = 0;
    account.nextProbeAt = now;
    if (pace.rate === undefined) return;
    account.paceVersion += 1;
    account.rate = pace.rate;
    account.burst = pace.burst;
  });
}

/** An import: the larger sum holds, and a later period opens. */
export function raise(world: ModelWorld, name: string, spending: Spending, now: number): LedgerState {
  const { period, sent, others, quota } = spending;
  return correct(world, name, now, ({ account }) => {
    if (isLater(period, account.period)) openPeriod(account, period, null, null);
    account.period ??= period;
    if (period !== null && account.period !== period && ![account.period, period].includes('none')) return;
    const ours = account.sent + account.held + account.probes;
    const missing = Math.max(0, sent + others - ours - account.others);
    const missingOurs = Math.min(missing, Math.max(0, sent - ours));
    account.sent += missingOurs;
    account.others += missing - missingOurs;
    account.quota ??= quota;
  });
}

type Seen = { usage?: number; quota?: number };
export function observe(world: ModelWorld, name: string, seen: Seen, now: number): LedgerState {
  return correct(world, name, now, ({ account }) => {
    if (seen.quota !== undefined) account.quota = seen.quota;
    if (seen.usage !== undefined) {
      account.early = 0;
      account.usage = seen.usage;
      account.lastUsage = seen.usage;
      account.sent = Math.min(account.sent, seen.usage);
      account.others = Math.max(0, seen.usage - account.sent - account.held - account.probes);
      account.servesOverage = false;
      endLooks(account);
    }
    account.closedAt = null;
    account.nextProbeAt = now;
  });
}
