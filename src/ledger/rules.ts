/**
 * Every constant of the ledger's rules, once: also the first argument of each Lua script, and SQL
 * functions of the same names. The model in `test/model` keeps its own.
 */
import { DAY_MS } from '../core/clock.js';

export const RULES = {
  /** How often a worker renews its heartbeat, and the age of the last one at which it is dead. */
  workerHeartbeatMs: 5_000,
  workerDeadAfterMs: 15_000,
  /** The last heartbeats are kept so long. */
  workerKeptMs: DAY_MS,
  /** A run is dead when its heartbeat (every 5 s) is older than this: its jobs are dropped. */
  runDeadAfterMs: 30_000,
  /**
   * A heartbeat further ahead of the store's clock is from before that clock was set back: the run
   * is dead until its next heartbeat.
   */
  runHeartbeatAheadMs: 5_000,
  /** A clock that goes back by more than this was set back. */
  clockBackMs: 1_000,

  /** After so long without a useful answer the next request goes alone. */
  aloneAfterMs: 300_000,
  /** One request beyond the limit in this time finds out whether the limit was raised. */
  probeEveryMs: 60_000,
  /** As long as the quota is unknown, at most so many requests are in flight. */
  unknownQuotaHeld: 8,
  /** One in so many of the requests left is in flight: others may send all but one of them. */
  leftPerInFlight: 4,
  /** Requests for the own domain that are not proven free: so many in a day. */
  looksADay: 3,
  lookDayMs: DAY_MS,
  /** Our own requests are visible in the usage header after so many times `--usage-lag`. */
  quietLags: 2,
  /** A person may order one request beyond the limit in this time. */
  checkEveryMs: 3_600_000,
  /** A slot of the pace further ahead than this is not given out. */
  paceHorizonMs: 1_000,
  /** With so many unusable answers, this run does not retry a key. */
  unusableAllowed: 2,
  /** A permit outlives the total time-out of its request by so much. */
  permitMarginMs: 10_000,

  /**
   * A `Date` further from the store's clock than this names no period. So long a service may reset
   * late: another time zone, a header that lags.
   */
  dateAgreesMs: 1.5 * DAY_MS,
  /** The next period opens at the latest so long after an answer first named it. */
  periodGraceMs: 900_000,
  /**
   * How long after the end of a period, by the store's clock, it is safe to ask for the next one:
   * kept clocks differ by less.
   */
  turnMarginMs: 900_000,
  /** Days of its period of which an account knows its use: two months. */
  daysKept: 62,

  /** How long answers are kept at most: services of this kind allow 30 days. */
  answersKeptMs: 30 * DAY_MS,
  /** Claims end with their worker's heartbeat; this keeps abandoned ones from piling up. */
  claimKeptMs: 2 * DAY_MS,
  unusableKeptMs: 2 * DAY_MS,
  /** Records of a run are kept this long after its last heartbeat. */
  runKeptMs: 7 * DAY_MS,
  /** Caps last until a run of the key completes; without one they are forgotten after this. */
  runKeyKeptMs: 90 * DAY_MS,
} as const;
