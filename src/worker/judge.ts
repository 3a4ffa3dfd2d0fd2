/** Judges what an answer leads to, as one pure table; `handle-answer.ts` counts, waits and acts. */
import type { Answer, Meaning, Means } from '../brand-api/read-answer.js';
import type { FailureReason, RunHalt, Unreached } from '../engine/stores/run-reasons.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { THROTTLED_GIVE_UP_MS, THROTTLED_GIVE_UP_SILENT_MS } from '../ledger/policy.js';
import type { UsageOfQuota } from './refusal-series.js';

/** Damaged or lost answers in a row that end a run: each was, or may have been, billed. */
const UNUSABLE_AT_MOST = 20;
/** Untrusted answers that end a run without a good one. */
const UNTRUSTED_AT_MOST = 5;
/** A service that was never reached is misspelt rather than down. */
const UNREACHABLE_MS = 60_000;
/** Time for a service that is started alongside. */
const REFUSED_MS = 3_000;
/** Time for a second try at an unknown name or an untrusted certificate. */
const LASTING_MS = 500;

/** Whether an answer is the service's: any web server says "not found" of an unknown path. */
export type Trust = 'trusted' | 'untrusted' | 'not_the_service';

export interface Address {
  readonly service: string;
  /** True if this answer, or one to its run, shows the service. */
  readonly isTrusted: boolean;
  /** True if the user vouches for the address, whatever it does not know. */
  readonly allowsUnknown: boolean;
  /** The first of these that has had an answer from the address. */
  readonly answered: 'process' | 'run' | 'account' | null;
}

export interface Series {
  /** Length of the series named by {@link seriesOf}, with this answer. */
  readonly count: number;
  /** True if the lookup had an unusable answer before: another one is its last. */
  readonly isSecond: boolean;
  /** From the breaker. */
  readonly badForMs: number;
  /** True for a 429 that is for the quota, by its code or the ledger's count. */
  readonly isQuota: boolean;
  /** The usage at which 429s in a row show that the quota is used up. */
  readonly usedUp: UsageOfQuota | null;
}

/** For requests outside of any chunk. */
export const NO_SERIES: Series = { count: 0, isSecond: false, badForMs: 0, isQuota: false, usedUp: null };

export type Step =
  | { readonly type: 'record'; readonly meaning: Means<'matched' | 'not_found'> }
  /**
   * This run does not ask again. `kept` makes it durable, because it was paid for or not trusted;
   * with `final`, later starts do not ask either. `halt` ends the run too.
   */
  | {
      readonly type: 'fail';
      readonly reason: FailureReason;
      readonly kept: 'for_now' | 'final' | null;
      readonly halt: RunHalt | null;
    }
  /** Another request at once. `unusable` is the fault; null for a refusal, which is no attempt. */
  | { readonly type: 'repeat'; readonly unusable: string | null }
  /** Another request when `retry-policy.ts` says, since there was no answer. */
  | { readonly type: 'retry'; readonly meaning: Means<'unavailable'> }
  | { readonly type: 'halt'; readonly halt: RunHalt };

export function judge(answer: Answer, address: Address, series: Series): Step {
  const { meaning, cost } = answer;
  const { service } = address;
  const trust = trustOf(answer, address);
  if (trust === 'not_the_service') {
    const reason = { code: 'foreign', text: textWithCost(answer) } as const;
    const useless = { how: 'foreign', service, answer: textOf(answer) } as const;
    return { type: 'fail', reason, kept: 'for_now', halt: { why: 'useless', useless } };
  }
  if (trust === 'untrusted') {
    const halt = series.count < UNTRUSTED_AT_MOST ? null : untrustedHalt(service);
    return { type: 'fail', reason: untrustedReason(answer), kept: 'for_now', halt };
  }
  switch (meaning.type) {
    case 'matched':
    case 'not_found':
      return { type: 'record', meaning };
    case 'credentials': {
      const { reason, status } = meaning;
      return { type: 'halt', halt: { why: 'credentials', reason, status } };
    }
    case 'refused':
      return haltOr(haltOfRefusal(answer, meaning, series), { type: 'repeat', unusable: null });
    case 'failed':
    case 'unusable': {
      const halt = isUnusable(meaning) ? haltOfUnusable(answer, meaning.reason, address, series) : null;
      const isFinal = meaning.type === 'failed';
      // A damaged or lost answer is worth one more request, which may be billed too.
      if (!isFinal && !series.isSecond) return haltOr(halt, { type: 'repeat', unusable: meaning.reason });
      const kept = cost === 'free' ? null : isFinal ? 'final' : 'for_now';
      return { type: 'fail', reason: { code: 'answer', text: meaning.reason }, kept, halt };
    }
    case 'unavailable':
      return haltOr(haltOfSilence(meaning, address, series), { type: 'retry', meaning });
  }
}

/** The reason that a row has until the address is trusted. */
export function untrustedReason(answer: Answer): FailureReason {
  const saysNotFound = answer.meaning.type === 'not_found';
  return { code: 'unproven', text: textWithCost(answer), saysNotFound };
}

export function untrustedHalt(service: string): RunHalt {
  return { why: 'useless', useless: { how: 'unproven', service } };
}

function textOf({ meaning }: Answer): string {
  if ('reason' in meaning) return meaning.reason;
  return meaning.type === 'not_found' ? `the service answered ${meaning.status}` : 'the service answered';
}

/** The text of an unusable answer says what it cost. */
function textWithCost(answer: Answer): string {
  const text = textOf(answer);
  const costs = { billed: 'was billed', maybe_billed: 'may have been billed', free: 'not billed' };
  return isUnusable(answer.meaning) ? text : `${text}, ${costs[answer.cost]}`;
}

function haltOr(halt: RunHalt | null, step: Step): Step {
  return halt === null ? step : { type: 'halt', halt };
}

/** Returns null for an answer that is lost or unusable, or says nothing of its sender. */
export function trustOf(answer: Answer, address: Address): Trust | null {
  const { meaning } = answer;
  if (meaning.type === 'matched') return 'trusted';
  if (!('evidence' in meaning) || meaning.evidence === undefined) return null;
  const isObject = meaning.evidence === 'object';
  if (address.isTrusted || showsService(answer) || (isObject && address.allowsUnknown))
    return meaning.type === 'unusable' ? null : 'trusted';
  return isObject ? 'untrusted' : 'not_the_service';
}

/** True if only the service can have answered: with a brand, an error code or a usage header. */
function showsService({ meaning, quota, usage }: Answer): boolean {
  if (quota !== null || usage !== null || meaning.type === 'matched') return true;
  return 'evidence' in meaning && meaning.evidence === 'own';
}

/** True if a run trusts the address by this answer; with stored answers of it, by any JSON. */
export function trustsBy(answer: Answer, { stored }: Pick<RunRecord['tally'], 'stored'>): boolean {
  const { meaning } = answer;
  const isJson = 'evidence' in meaning && meaning.evidence === 'object';
  return showsService(answer) || (stored > 0 && isJson);
}

/** Returns the series that an answer extends: untrusted in its run, or unusable in a row. */
export function seriesOf(answer: Answer, address: Address): 'untrusted' | 'unusable' | null {
  const trust = trustOf(answer, address);
  if (trust === 'untrusted') return trust;
  return trust !== 'not_the_service' && isUnusable(answer.meaning) ? 'unusable' : null;
}

function isUnusable(meaning: Meaning): boolean {
  return meaning.type === 'unusable' || (meaning.type === 'failed' && meaning.isNoBrand === true);
}

/** Fewer unusable answers end a run if the address has given no good one. */
function haltOfUnusable(
  answer: Answer,
  reason: string,
  { isTrusted, allowsUnknown }: Address,
  { count }: Series,
): RunHalt | null {
  const isRight = isTrusted || allowsUnknown || showsService(answer);
  const atMost = isRight ? UNUSABLE_AT_MOST : UNTRUSTED_AT_MOST;
  return count < atMost ? null : { why: 'useless', useless: { how: 'unusable', answers: count, reason } };
}

/** After a refusal for quota, the next permit says what is left. */
function haltOfRefusal(
  { usage }: Answer,
  { code, retryAfterMs }: Means<'refused'>,
  { isQuota, usedUp, badForMs }: Series,
): RunHalt | null {
  if (isQuota) return null;
  if (usedUp !== null) return { why: 'limit', reached: { name: 'overstated', ...usedUp } };
  const isSilent = code === null && retryAfterMs === null && usage === null;
  const patienceMs = isSilent ? THROTTLED_GIVE_UP_SILENT_MS : THROTTLED_GIVE_UP_MS;
  return badForMs > patienceMs ? { why: 'throttled', forMs: patienceMs } : null;
}

/** Returns a halt if waiting cannot help. */
function haltOfSilence(meaning: Means<'unavailable'>, address: Address, { badForMs }: Series) {
  const { answered, isTrusted } = address;
  const unreachable = (how: Unreached): RunHalt => ({ why: 'unreachable', how, reason: meaning.reason });
  if (meaning.unsent && answered !== 'process' && badForMs > UNREACHABLE_MS) return unreachable('minute');
  if (meaning.unsent === 'refused' && answered === null && !isTrusted && badForMs > REFUSED_MS)
    return unreachable('unanswered');
  return isWrongAddress(meaning, address) && badForMs > LASTING_MS ? unreachable('lasting') : null;
}

/**
 * True for an unknown name, an untrusted certificate or a refusing proxy before any answer. Later
 * it is an outage of a name server; only a proxy's password may change between runs.
 */
export function isWrongAddress(meaning: Meaning, { answered }: Pick<Address, 'answered'>): boolean {
  if (meaning.type !== 'unavailable') return false;
  if (meaning.unsent === 'barred') return answered === null || answered === 'account';
  return meaning.unsent === 'lasting' && answered === null;
}

/** True if this may be no answer of the service, but a failure on the way. */
export function isLost({ cost, meaning }: Answer): boolean {
  return cost === 'maybe_billed' || meaning.type === 'unavailable';
}

/** Returns what the ledger learns. The usage header may count `later` requests after this one. */
export function observe(answer: Answer, period: string | null, trust: Trust | null, later: number) {
  const { quota, usage, date, meaning } = answer;
  return {
    reading: { quota, usage, period, date },
    period,
    isBeyond: usage !== null && quota !== null && usage - later > quota,
    isConfirmed: trust === 'trusted' && !isUnusable(meaning),
  };
}
