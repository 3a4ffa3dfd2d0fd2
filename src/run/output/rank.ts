/**
 * The order of the output: quality score down, then what has no score, group by group. Rows that tie keep the
 * order of the input; that is the sorter's part.
 */
import type { OutcomeStatus } from '../../core/outcome.js';

/** Groups in the order of the output. Group 0 is for matched brands that have a score. */
const GROUP_OF_STATUS: Record<OutcomeStatus, number> = {
  matched: 1,
  not_found: 2,
  deferred: 3,
  failed: 4,
  invalid: 5,
  skipped: 6,
};

export interface Rank {
  /** Smaller comes first. */
  readonly group: number;
  /** Within a group, larger comes first. */
  readonly score: number;
}

/**
 * Where a row belongs.
 * @param score the quality score, 0 to 1; null when the brand has none. Of a status other than `matched` it is ignored.
 */
export function rankOf(status: OutcomeStatus, score: number | null): Rank {
  if (status === 'matched' && score !== null && !Number.isNaN(score)) return { group: 0, score };
  return { group: GROUP_OF_STATUS[status], score: 0 };
}
