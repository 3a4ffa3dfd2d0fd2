/** Every constant of the ledger's rules, also for Lua and SQL; `test/model` keeps its own. */
import { DAY_MS } from '../core/clock.js';

export const RULES = {
  /** How often a worker renews its heartbeat, and at which age of the last one it is dead. */
  workerHeartbeatMs: 5_000,
  workerDeadAfterMs: 15_000,
  workerKeptMs: DAY_MS,
  /** A run is dead when its heartbeat (every 5 s) is older than this: its jobs are dropped. */
  runDeadAfterMs: 30_000,
  /** A heartbeat further ahead is from before the store's clock was set back: its run is dead. */
  runHeartbeatAheadMs: 5_000,
  /** A clock that goes back by more than this was set back. */
  clockBackMs: 1_000,

  /** After this time without a useful answer, the next request goes alone. */
  aloneAfterMs: 300_000,
  /** In this time, one request beyond the limit shows whether the limit was raised. */
  probeEveryMs: 60_000,
  /** Most requests in flight while the quota is unknown. */
  unknownQuotaHeld: 8,
  /** One in four requests left may be in flight: others may send all but one of these. */
  leftPerInFlight: 4,
  /** Requests in a day for an own domain that is not proven free. */
  looksADay: 3,
  lookDayMs: DAY_MS,
  /** After this many times `--usage-lag`, the usage header shows our own requests. */
  quietLags: 2,
  /** In this time, a person may order one request beyond the limit. */
  checkEveryMs: 3_600_000,
  /** The furthest ahead that a slot of the pace is given. */
  paceHorizonMs: 1_000,
  /** Unusable answers after which a run gives up on a key. */
  unusableAllowed: 2,
  /** How long a permit outlives the total time-out of its request. */
  permitMarginMs: 10_000,

  /** How far the `Date` of a period may be from the store's clock; how late services reset. */
  dateAgreesMs: 1.5 * DAY_MS,
  /** An answer opens the next period at the latest this long after the first one that named it. */
  periodGraceMs: 900_000,
  /** How long after a period it is safe to ask for the next: well-kept clocks differ by less. */
  turnMarginMs: 900_000,
  /** Days whose use an account keeps. */
  daysKept: 62,

  /** The longest that such services allow. */
  answersKeptMs: 30 * DAY_MS,
  /** Claims end with their worker's heartbeat; this keeps abandoned ones from piling up. */
  claimKeptMs: 2 * DAY_MS,
  unusableKeptMs: 2 * DAY_MS,
  /** From the last heartbeat of a run. */
  runKeptMs: 7 * DAY_MS,
  /** The caps of a key none of whose runs completes. */
  runKeyKeptMs: 90 * DAY_MS,
} as const;
