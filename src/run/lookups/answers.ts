/**
 * What each distinct identifier came to, by its number: status and rank in memory (about 35 bytes each), the rendered
 * text on disk. Filled as answers are known, read when rows are joined.
 */

import { grown } from '../../core/growable.js';
import { OUTCOME_STATUSES, type OutcomeStatus } from '../../core/outcome.js';
import type { RenderedAnswer } from '../output/output-plan.js';
import type { SpoolFile } from '../scan/spool-file.js';

export interface Answers {
  /** Makes the identifier wanted; false when it was already. */
  want(index: number): boolean;
  isWanted(index: number): boolean;
  /** The status, or null while there is none. */
  status(index: number): OutcomeStatus | null;
  set(
    index: number,
    status: OutcomeStatus,
    rank: { group: number; score: number },
    rendered: RenderedAnswer,
  ): void;
  rank(index: number): { readonly group: number; readonly score: number };
  rendered(index: number): RenderedAnswer;
  /** The number of the row that used this identifier first; notes this row when there was none. */
  firstRow(index: number, row: number): number;
  /** Forgets which rows used what: before the rows are joined again. */
  forgetRows(): void;
  /** How many identifiers are wanted, and how many of them have a status. */
  readonly wanted: number;
  readonly answered: number;
}

/** Rendered texts kept at hand. */
const CACHED_BYTES = 16 * 1_048_576;

export function createAnswers(file: SpoolFile): Answers {
  let statuses = new Uint8Array(1_024);
  let groups = new Uint8Array(1_024);
  let scores = new Float64Array(1_024);
  let positions = new Float64Array(1_024);
  let lengths = new Uint32Array(2_048);
  let firstRows = new Uint32Array(1_024);
  let cache = new Map<number, RenderedAnswer>();
  let cachedBytes = 0;
  let wanted = 0;
  let answered = 0;
  let isFlushed = false;
  const WANTED = 1;
  const FIRST_STATUS = 2;

  function fit(index: number): void {
    if (index < statuses.length) return;
    statuses = grown(statuses, index + 1);
    groups = grown(groups, index + 1);
    scores = grown(scores, index + 1);
    positions = grown(positions, index + 1);
    lengths = grown(lengths, (index + 1) * 2);
    firstRows = grown(firstRows, index + 1);
  }

  return {
    get wanted() {
      return wanted;
    },
    get answered() {
      return answered;
    },
    want(index) {
      fit(index);
      if (statuses[index] !== 0) return false;
      statuses[index] = WANTED;
      wanted += 1;
      return true;
    },
    isWanted: (index) => (statuses[index] ?? 0) !== 0,
    status(index) {
      const code = statuses[index] ?? 0;
      return code < FIRST_STATUS ? null : (OUTCOME_STATUSES[code - FIRST_STATUS] ?? null);
    },
    set(index, status, rank, rendered) {
      fit(index);
      // First, because it fails when the disk is full: then the identifier has no answer yet.
      const { buffer, at } = file.room((rendered.before.length + rendered.after.length) * 3);
      if ((statuses[index] ?? 0) < FIRST_STATUS) answered += 1;
      statuses[index] = OUTCOME_STATUSES.indexOf(status) + FIRST_STATUS;
      groups[index] = rank.group;
      scores[index] = rank.score;
      positions[index] = file.length;
      const before = buffer.write(rendered.before, at);
      const after = buffer.write(rendered.after, at + before);
      lengths[index * 2] = before;
      lengths[index * 2 + 1] = after;
      file.advance(before + after);
      isFlushed = false;
      cache.delete(index);
    },
    rank: (index) => ({ group: groups[index] ?? 0, score: scores[index] ?? 0 }),
    rendered(index) {
      const known = cache.get(index);
      if (known) return known;
      if (!isFlushed) file.flush();
      isFlushed = true;
      const before = lengths[index * 2] ?? 0;
      const text = file.read(positions[index] ?? 0, before + (lengths[index * 2 + 1] ?? 0));
      const rendered = { before: text.toString('utf8', 0, before), after: text.toString('utf8', before) };
      // Sorted rows of one identifier stand together: the latest are the likeliest.
      if (cachedBytes > CACHED_BYTES) {
        cache = new Map();
        cachedBytes = 0;
      }
      cache.set(index, rendered);
      cachedBytes += text.length;
      return rendered;
    },
    firstRow(index, row) {
      const first = firstRows[index] ?? 0;
      if (first !== 0) return first;
      firstRows[index] = row;
      return row;
    },
    forgetRows() {
      firstRows.fill(0);
    },
  };
}
