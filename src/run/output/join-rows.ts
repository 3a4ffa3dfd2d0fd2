/**
 * A row and its answer: which candidate counts, where the row ranks, how it is rendered. Rows are
 * sorted as they stand in the spool, a fifth of their rendered size, and are rendered in their final
 * order, where rows of one identifier stand together.
 */
import type { OutcomeStatus } from '../../core/outcome.js';
import type { Answers } from '../lookups/answers.js';
import { candidatesOf, kindOf, type RowRecord, rawOf, readRow } from '../scan/row-spool.js';
import type { AnswerView, RenderedAnswer, Renderer } from './output-plan.js';

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

/** What a row came to, without its texts. */
export interface JoinedRow {
  readonly record: RowRecord;
  readonly status: OutcomeStatus;
  readonly rank: Rank;
  /** Number of the identifier that counts; -1 when nothing was asked. */
  readonly index: number;
  /** The first row with the same identifier; 0 when that is this one or nothing was asked. */
  readonly duplicateOf: number;
}

const INVALID_RANK = rankOf('invalid', null);
const SKIPPED_RANK = rankOf('skipped', null);

/** To be called in the order of the rows: who comes first is the original, the others are duplicates. */
export function joinRow(record: RowRecord, answers: Answers): JoinedRow {
  const kind = kindOf(record);
  if (kind !== 'asked') {
    const status = kind === 'skipped' ? 'skipped' : 'invalid';
    const rank = status === 'skipped' ? SKIPPED_RANK : INVALID_RANK;
    return { record, status, rank, index: -1, duplicateOf: 0 };
  }
  const index = usedCandidate(candidatesOf(record), answers);
  const first = answers.firstRow(index, record.number);
  return {
    record,
    status: answers.status(index) ?? 'deferred',
    rank: answers.rank(index),
    index,
    duplicateOf: first === record.number ? 0 : first,
  };
}

/** The first candidate that came to anything but `not_found`; when none did, the first. */
function usedCandidate(candidates: readonly number[], answers: Answers): number {
  const first = candidates[0] ?? 0;
  if (candidates.length === 1) return first;
  for (const candidate of candidates) {
    const status = answers.status(candidate);
    if (status !== null && status !== 'not_found') return candidate;
  }
  return first;
}

/** Renders joined rows. Rows that nobody was asked for share their reasons. */
export function createRowRenderer(
  renderer: Renderer,
  answers: Answers,
): (record: RowRecord, index: number, duplicateOf: number) => string {
  const unasked = new Map<string, RenderedAnswer>();
  return (record, index, duplicateOf) => {
    if (index >= 0) {
      return renderer.row(rawOf(record), answers.rendered(index), duplicateOf === 0 ? null : duplicateOf);
    }
    const row = readRow(record);
    if (row.kind === 'unreadable') return renderer.unreadable(row.raw, row.reason);
    const name = `${row.kind} ${row.reason}`;
    let rendered = unasked.get(name);
    if (!rendered) {
      rendered = renderer.answer(unaskedView(row.kind === 'skipped' ? 'skipped' : 'invalid', row.reason));
      if (unasked.size < 10_000) unasked.set(name, rendered);
    }
    return renderer.row(row.raw, rendered, null);
  };
}

export function unaskedView(status: OutcomeStatus, error: string | null): AnswerView {
  return { status, identifier: null, profile: null, source: null, fetchedAt: null, error };
}

/** Row number, identifier number and original before the record itself, each a u32. */
const HEAD_BYTES = 12;

/** Joined rows as the bytes that are sorted; the returned buffer is used again by the next call. */
export function createRowPacker(): (row: JoinedRow) => Buffer {
  let scratch = Buffer.allocUnsafe(4_096);
  return ({ record, index, duplicateOf }) => {
    const length = HEAD_BYTES + record.length;
    if (length > scratch.length) scratch = Buffer.allocUnsafe(length * 2);
    scratch.writeUInt32LE(record.number, 0);
    scratch.writeInt32LE(index, 4);
    scratch.writeUInt32LE(duplicateOf, 8);
    record.buffer.copy(scratch, HEAD_BYTES, record.at, record.at + record.length);
    return scratch.subarray(0, length);
  };
}

/** The joined rows that lie in a chunk of whole ones, one after the other. */
export function* unpackRows(
  buffer: Buffer,
): Generator<{ readonly record: RowRecord; readonly index: number; readonly duplicateOf: number }> {
  let from = 0;
  while (from < buffer.length) {
    const at = from + HEAD_BYTES;
    const length = buffer.readUInt32LE(at);
    yield {
      record: { number: buffer.readUInt32LE(from), buffer, at, length },
      index: buffer.readInt32LE(from + 4),
      duplicateOf: buffer.readUInt32LE(from + 8),
    };
    from = at + length;
  }
}
