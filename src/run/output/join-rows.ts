/** Joins each row with the answer that counts, ranks and renders it; 20 bytes of memory a row. */
import type { OutcomeStatus } from '../../core/outcome.js';
import type { Answers } from '../lookups/answers.js';
import {
  candidatesOf,
  kindOf,
  nameOf,
  type RowRecord,
  type RowSpool,
  rawOf,
  readRow,
  reasonInCell,
} from '../scan/row-spool.js';
import { matchNames } from './name-match.js';
import { NOTHING_ASKED, type RenderedAnswer, type Renderer } from './output-plan.js';

/** Groups in the order of the output. Group 0 is for matched brands with a score. */
const GROUP_OF_STATUS: Record<OutcomeStatus, number> = {
  matched: 1,
  not_found: 2,
  deferred: 3,
  failed: 4,
  invalid: 5,
  skipped: 6,
};

function rankOf(status: OutcomeStatus, score: number | null) {
  if (status === 'matched' && score !== null && !Number.isNaN(score)) return { group: 0, score };
  return { group: GROUP_OF_STATUS[status], score: 0 };
}

/** `index`: the identifier used, or -1 without one. `duplicateOf`: its first row, or 0 for this. */
export type JoinedRow = Readonly<ReturnType<typeof joinRow>>;

/** Joins a row with its answer. Call it in row order first, since the first row is the original. */
export function joinRow(record: RowRecord, answers: Answers) {
  const kind = kindOf(record);
  if (kind !== 'asked') {
    return { record, status: kind === 'skipped' ? kind : ('invalid' as const), index: -1, duplicateOf: 0 };
  }
  const index = usedCandidate(candidatesOf(record), answers);
  const first = answers.firstRow(index, record.number);
  const duplicateOf = first === record.number ? 0 : first;
  return { record, status: answers.status(index) ?? ('deferred' as const), index, duplicateOf };
}

/** Returns the first candidate with a result other than `not_found`, else the first one. */
function usedCandidate(candidates: readonly number[], answers: Answers): number {
  const used = candidates.find((each) => (answers.status(each) ?? 'not_found') !== 'not_found');
  return used ?? candidates[0] ?? 0;
}

/** Ranks joined rows by group and score; rows that tie keep the order of the input. */
export class RowRanking {
  /** Smaller comes first: the score negated in group 0 (so -1 to 0), else the group. */
  readonly #keys: Float64Array;
  /** Where each record begins in the spool, and the last one ends. */
  readonly #starts: Float64Array;
  #count = 0;

  constructor(
    private readonly rows: RowSpool,
    private readonly answers: Answers,
  ) {
    this.#keys = new Float64Array(rows.count);
    this.#starts = new Float64Array(rows.count + 1);
  }

  /** Adds a row; call it once for each, in the order of the input. */
  add({ record, status, index }: JoinedRow): void {
    const { group, score } = rankOf(status, this.answers.score(index));
    this.#keys[this.#count] = group === 0 ? 0 - score : group;
    this.#count += 1;
    this.#starts[this.#count] = (this.#starts[this.#count - 1] ?? 0) + record.length;
  }

  /** Yields rows like `RowSpool.inOrder`, in the final order, rows of one identifier together. */
  *inOrder(): Generator<JoinedRow> {
    const keys = this.#keys;
    // The sort is stable.
    const order = new Uint32Array(keys.length).map((_, at) => at);
    order.sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
    for (const record of this.rows.inOrder(order, this.#starts)) yield joinRow(record, this.answers);
  }
}

/** Returns how well the names of row and brand match, 0 to 1; null if one is blank or unknown. */
export function nameMatchOf(record: RowRecord, { name = '' }: RenderedAnswer): number | null {
  return name === '' ? null : matchNames(nameOf(record), name);
}

/** Returns a function that renders joined rows; rows without a lookup share their reasons. */
export function createRowRenderer(renderer: Renderer, answers: Answers): (row: JoinedRow) => string {
  const excluded = new Map<string, RenderedAnswer>();
  return ({ record, status, index, duplicateOf }) => {
    if (index >= 0) {
      const rendered = answers.rendered(index);
      return renderer.row(rawOf(record), rendered, duplicateOf || null, nameMatchOf(record, rendered));
    }
    const row = readRow(record);
    if (row.kind === 'unreadable') return renderer.unreadable(row.raw, reasonInCell(row));
    const name = `${row.kind} ${row.reason}`;
    let rendered = excluded.get(name);
    if (!rendered) {
      rendered = renderer.answer({ ...NOTHING_ASKED, status, error: reasonInCell(row) });
      if (excluded.size < 10_000) excluded.set(name, rendered);
    }
    return renderer.row(row.raw, rendered, null);
  };
}
