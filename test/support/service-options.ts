/** Options of the test service, all of which may change while it runs. */
import { randomBytes } from 'node:crypto';
import type { PeriodSetting } from '../../src/ledger/period.js';

/** Shares of requests, 0 to 1, that are damaged. Each request is damaged in one way at most. */
const NO_FAULTS = {
  /** 503 and 500, not billed. */
  unavailable: 0,
  broken: 0,
  /** The connection is reset before a byte of the answer, after the request was billed. */
  resetBefore: 0,
  /** The connection is reset in the middle of the body. */
  resetWithin: 0,
  /** The body ends early: seen by its `content-length`, or chunked and seen by its JSON. */
  truncated: 0,
  truncatedSilently: 0,
  /** A complete body that is not JSON. */
  damaged: 0,
};
export type ServiceFaults = typeof NO_FAULTS;
export type ServiceOptions = ReturnType<typeof defaultOptions>;

const defaultOptions = () => ({
  plan: 'free' as 'free' | 'paid',
  quota: 1_000_000,
  /** Money that a paid plan may spend beyond the quota, in tenths: a request costs one of them. */
  overageTenths: 1_000,
  /** Requests that others spent before the test began. */
  others: 0,
  headerLagMs: 0,
  hasHeaders: true,
  /** Whether answers other than a refusal for quota show the quota. */
  hasQuota: true,
  /**
   * `spec`: bodies of errors are `{}`. `coded`: the code is in `x-bf-error` and in a message.
   * `body`: it is only in the body's `error`.
   */
  dialect: 'spec' as 'spec' | 'coded' | 'body',
  faults: NO_FAULTS,
  latencyMs: 0,
  /** Good answers wait for it as well. */
  held: null as Promise<void> | null,
  /** Added to the latency, evenly spread from 0 to this. */
  jitterMs: 0,
  /** Requests that one rolling second may hold, not counting refused ones; null without a limit. */
  perSecond: null as number | null,
  /** Retry-After of refusals for throughput and of a 503, in seconds; 0: none. */
  retryAfter: 0,
  tokens: [newToken()],
  revoked: [] as string[],
  ownDomain: 'brandfetch.com',
  /** Share of identifiers, 0 to 1, that are answered with 400, which is free. */
  badShare: 0,
  /** Added to the clock that dates answers and tells the period that is billed. */
  dateOffsetMs: 0,
  period: 'month' as PeriodSetting,
  /** Every billable request is answered with this status instead, unless null. */
  alwaysStatus: null as number | null,
});

/** A token that no other test has: engines store data by token. */
export function newToken(): string {
  return `tok_${randomBytes(12).toString('hex')}`;
}

export function serviceOptions(
  changes: Partial<Omit<ServiceOptions, 'faults'>> & { faults?: Partial<ServiceFaults> },
): ServiceOptions {
  return { ...defaultOptions(), ...changes, faults: { ...NO_FAULTS, ...changes.faults } };
}
