/** Statuses of rows, and stored answers with the rule that decides which are fresh. */

/** `matched`, `not_found` and `failed` come from the service's side; the others are ours. */
export const OUTCOME_STATUSES = ['matched', 'not_found', 'failed', 'invalid', 'skipped', 'deferred'] as const;
export type OutcomeStatus = (typeof OUTCOME_STATUSES)[number];

export type StatusCounts = Record<OutcomeStatus, number>;

export function emptyCounts(): StatusCounts {
  return { matched: 0, not_found: 0, failed: 0, invalid: 0, skipped: 0, deferred: 0 };
}

/** True if there are rows and no row has a brand. */
export function hasNoMatch(rows: StatusCounts): boolean {
  return rows.matched === 0 && Object.values(rows).some((count) => count > 0);
}

/** Whether this run asked the service for the answer or found it stored. */
export type AnswerSource = 'api' | 'stored';

/**
 * Which stored answers are fresh: those with `freshUntil === null || freshUntil > asOf`, `fetchedAt
 * >= notBefore` and `fetchedAt >= asOf - (matched ? maxAgeMs : maxAgeMissingMs)`.
 */
export interface Freshness {
  /** The run's start on the store's clock: the same moment for every pass. */
  readonly asOf: number;
  readonly maxAgeMs: number;
  readonly maxAgeMissingMs: number;
  /** Answers older than this are stale (`--refresh`); 0 otherwise. */
  readonly notBefore: number;
}

/** Service, allowNsfw, kind and value as one text; made by `outcomeKeys`. */
export type OutcomeKey = string;

export interface StoredOutcome {
  readonly key: OutcomeKey;
  readonly status: 'matched' | 'not_found';
  /** The service's JSON as it came, packed by `profile-codec.ts`; null for `not_found`. */
  readonly packed: Buffer | null;
  /** In milliseconds, on the store's clock. */
  readonly fetchedAt: number;
  readonly billed: boolean;
  /** Stale after this time whatever its age ("retry later"); null if age alone decides. */
  readonly freshUntil: number | null;
}

/** An answer to record; the store dates it by its own clock. */
export interface NewOutcome extends Pick<StoredOutcome, 'key' | 'status' | 'packed' | 'billed'> {
  /** Fresh for at most this many milliseconds; null if age alone decides. */
  readonly freshMs: number | null;
  /** Milliseconds that the answer waited; it never replaces one fetched later. Absent for 0. */
  readonly ageMs?: number;
}

/** Why a run stopped, in one word for programs. */
export const STOP_CODES = [
  ...(['limit', 'throttled', 'min-match', 'max-errors', 'paused', 'cancelled', 'interrupted'] as const),
  ...(['declined', 'credentials', 'unreachable', 'useless', 'doubtful', 'lost'] as const),
] as const;
export type StopCode = (typeof STOP_CODES)[number];
