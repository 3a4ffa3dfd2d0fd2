/**
 * Detects a used-up quota in refusals that name neither quota nor pace, when budget or plan are set
 * too high. One refusal proves nothing: a plan with overage allows usage over the quota, and a
 * usage header may lag. But no pace is too fast once requests go one at a time.
 */
import type { Answer } from '../brand-api/read-answer.js';

const REFUSALS_AT_LEAST = 5;
const LASTING_MS = 5_000;
/** At this rate or a lower one, no request is refused for its pace. */
export const SLOW_RATE = 1;

export interface UsageOfQuota {
  readonly usage: number;
  readonly quota: number;
}

export class RefusalSeries {
  #series: { readonly usage: number; readonly since: number; count: number } | null = null;

  /**
   * Notes an answer; returns the usage at which the service refuses for quota, or null. `isSlow`:
   * at most one request a second was sent. `own`: the ledger's count, for answers without usage.
   */
  note({ meaning, usage, quota }: Answer, isSlow: boolean, now: number, own: UsageOfQuota | null) {
    const stated = usage !== null && quota !== null ? { usage, quota } : null;
    const account = usage === null && quota === null ? own : stated;
    const isEvidence =
      meaning.type === 'refused' &&
      meaning.code === null &&
      meaning.retryAfterMs === null &&
      account !== null &&
      account.usage >= account.quota;
    if (!isEvidence || this.#series?.usage !== account.usage) this.#series = null;
    if (!isEvidence || !isSlow) return null;
    this.#series ??= { usage: account.usage, since: now, count: 0 };
    this.#series.count += 1;
    return this.#series.count >= REFUSALS_AT_LEAST && now - this.#series.since >= LASTING_MS ? account : null;
  }
}
