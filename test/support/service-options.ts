/** Options of the test service, all of which may change while it runs. */

import { randomBytes } from 'node:crypto';
import type { PeriodSetting } from '../../src/ledger/period.js';

/** Shares of requests, 0 to 1, that are damaged. Each request is damaged in one way at most. */
export interface ServiceFaults {
  /** 503 and 500, not billed. */
  unavailable: number;
  broken: number;
  /** The connection is reset before a byte of the answer, after the request was billed. */
  resetBefore: number;
  /** The connection is reset in the middle of the body. */
  resetWithin: number;
  /** The body ends early: seen by its `content-length`, or chunked and seen by its JSON. */
  truncated: number;
  truncatedSilently: number;
  /** A complete body that is not JSON. */
  damaged: number;
}

export interface ServiceOptions {
  plan: 'free' | 'paid';
  quota: number;
  /** Money that a paid plan may spend beyond the quota, in tenths: a request costs one of them. */
  overageTenths: number;
  /** Requests that others spent before the test began. */
  others: number;
  /** How far the usage header lags behind. */
  headerLagMs: number;
  hasHeaders: boolean;
  /** Whether answers other than a refusal for quota show the quota. */
  hasQuota: boolean;
  /**
   * `spec`: bodies of errors are `{}`. `coded`: the code is in `x-bf-error` and in a message.
   * `body`: it is only in the body's `error`.
   */
  dialect: 'spec' | 'coded' | 'body';
  faults: ServiceFaults;
  latencyMs: number;
  /** Good answers wait for it as well. */
  held: Promise<void> | null;
  /** Added to the latency, evenly spread from 0 to this. */
  jitterMs: number;
  /** Requests that one rolling second may hold, not counting refused ones; null: no limit. */
  perSecond: number | null;
  /** Retry-After of refusals for throughput and of a 503, in seconds; 0: none. */
  retryAfter: number;
  /** Accepted tokens; `revoked` ones are refused with 401 (spec) or 403. */
  tokens: string[];
  revoked: string[];
  ownDomain: string;
  /** Share of identifiers, 0 to 1, that are answered with 400, which is free. */
  badShare: number;
  /** Added to the clock that dates answers and tells the period that is billed. */
  dateOffsetMs: number;
  period: PeriodSetting;
  /** Every billable request is answered with this status instead; null: no. */
  alwaysStatus: number | null;
}

const NO_FAULTS: ServiceFaults = {
  unavailable: 0,
  broken: 0,
  resetBefore: 0,
  resetWithin: 0,
  truncated: 0,
  truncatedSilently: 0,
  damaged: 0,
};

/** A token that no other test has: engines store data by token. */
export function newToken(): string {
  return `tok_${randomBytes(12).toString('hex')}`;
}

export function serviceOptions(
  changes: Partial<Omit<ServiceOptions, 'faults'>> & { faults?: Partial<ServiceFaults> },
): ServiceOptions {
  return {
    plan: 'free',
    quota: 1_000_000,
    overageTenths: 1_000,
    others: 0,
    headerLagMs: 0,
    hasHeaders: true,
    hasQuota: true,
    dialect: 'spec',
    latencyMs: 0,
    held: null,
    jitterMs: 0,
    perSecond: null,
    retryAfter: 0,
    tokens: [newToken()],
    revoked: [],
    ownDomain: 'brandfetch.com',
    badShare: 0,
    dateOffsetMs: 0,
    period: 'month',
    alwaysStatus: null,
    ...changes,
    faults: { ...NO_FAULTS, ...changes.faults },
  };
}
