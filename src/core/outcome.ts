/** The statuses of rows, the sources of answers, and stored answers: which of them are fresh. */

/** `matched`, `not_found` and `failed` come from the service's side; the others are ours. */
export const OUTCOME_STATUSES = ['matched', 'not_found', 'failed', 'invalid', 'skipped', 'deferred'] as const;
export type OutcomeStatus = (typeof OUTCOME_STATUSES)[number];

export type StatusCounts = Record<OutcomeStatus, number>;

export function emptyCounts(): StatusCounts {
  return { matched: 0, not_found: 0, failed: 0, invalid: 0, skipped: 0, deferred: 0 };
}

/** Whether there are rows and not one of them has a brand. */
export function hasNoMatch(rows: StatusCounts): boolean {
  return rows.matched === 0 && Object.values(rows).some((count) => count > 0);
}

/** Whether this run asked the service for the answer or found it in the outcome store. */
export type AnswerSource = 'api' | 'stored';

/**
 * Which answers are fresh: `fetchedAt >= asOf - (matched ? maxAgeMs : maxAgeMissingMs)`, `fetchedAt
 * >= notBefore`, and `freshUntil === null || freshUntil > asOf`.
 */
export interface Freshness {
  /** The run's start on the store's clock: judged at one moment, in every pass. */
  readonly asOf: number;
  readonly maxAgeMs: number;
  readonly maxAgeMissingMs: number;
  /** `--refresh`: older answers are stale; 0 without it. */
  readonly notBefore: number;
}

/** Service, allowNsfw, kind and value as one text; made by `outcomeKeys`. */
export type OutcomeKey = string;

export interface StoredOutcome {
  readonly key: OutcomeKey;
  readonly status: 'matched' | 'not_found';
  /** The service's JSON as it came, packed by `profile-codec.ts`; null for `not_found`. */
  readonly packed: Buffer | null;
  /** Store's clock, milliseconds. */
  readonly fetchedAt: number;
  readonly billed: boolean;
  /** Stale after this time despite the age rules ("retry later"); null: no such limit. */
  readonly freshUntil: number | null;
}

/** What `record` gets: the store dates it by its own clock. */
export interface NewOutcome extends Pick<StoredOutcome, 'key' | 'status' | 'packed' | 'billed'> {
  /** Fresh for so many milliseconds at most; null: the age rules alone. */
  readonly freshMs: number | null;
  /** Age in ms of an answer that waited for the store; it replaces no later one. Absent: now. */
  readonly ageMs?: number;
}
