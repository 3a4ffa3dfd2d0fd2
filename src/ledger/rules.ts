/**
 * Every constant of the ledger's rules, once: also the first argument of each Lua script, and SQL
 * functions of the same names. The model in `test/model` keeps its own.
 */
import { DAY_MS } from '../core/clock.js';

export const RULES = {
  /** How often a worker renews its heartbeat, and the age of the last one at which it is dead. */
  workerHeartbeatMs: 5_000,
  workerDeadAfterMs: 15_000,
  workerKeptMs: DAY_MS,
  /** A run is dead when its heartbeat (every 5 s) is older than this: its jobs are dropped. */
  runDeadAfterMs: 30_000,
  /** A heartbeat further ahead is from before the store's clock was set back: the run is dead. */
  runHeartbeatAheadMs: 5_000,
  /** A clock that goes back by more than this was set back. */
  clockBackMs: 1_000,

  /** After so long without a useful answer the next request goes alone. */
  aloneAfterMs: 300_000,
  /** One request beyond the limit in this time shows whether the limit was raised. */
  probeEveryMs: 60_000,
  /** Requests in flight at most while the quota is unknown. */
  unknownQuotaHeld: 8,
  /** One in four of the requests left is in flight: others may send all but one of them. */
  leftPerInFlight: 4,
  /** Requests in a day for an own domain that is not proven free. */
  looksADay: 3,
  lookDayMs: DAY_MS,
  /** The usage header shows our own requests after so many times `--usage-lag`. */
  quietLags: 2,
  /** A person may order one request beyond the limit in this time. */
  checkEveryMs: 3_600_000,
  /** No slot of the pace further ahead is given out. */
  paceHorizonMs: 1_000,
  /** Unusable answers after which a run gives a key up. */
  unusableAllowed: 2,
  /** How long a permit outlives the total time-out of its request. */
  permitMarginMs: 10_000,

  /** How far a `Date` that names a period is from the store's clock; how late a service resets. */
  dateAgreesMs: 1.5 * DAY_MS,
  /** When the next period opens at the latest after an answer first named it. */
  periodGraceMs: 900_000,
  /** How long after a period it is safe to ask for the next one: kept clocks differ by less. */
  turnMarginMs: 900_000,
  /** Days of which an account knows its use. */
  daysKept: 62,

  /** Services of this kind allow 30 days. */
  answersKeptMs: 30 * DAY_MS,
  /** Claims end with their worker's heartbeat; this keeps abandoned ones from piling up. */
  claimKeptMs: 2 * DAY_MS,
  unusableKeptMs: 2 * DAY_MS,
  /** From the last heartbeat of a run. */
  runKeptMs: 7 * DAY_MS,
  /** Of the caps of a key of which no run completes. */
  runKeyKeptMs: 90 * DAY_MS,
} as const;
