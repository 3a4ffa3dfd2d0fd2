/**
 * The first pass: the whole input is read once before anything is spent. Rows go to disk as they stand, identifiers
 * get numbers, and whatever is wrong with the file is known afterwards.
 */

import { type IdentifierKind, identifierText } from '../../core/identifier.js';
import type { Releasers } from '../../core/lifecycle.js';
import type { Row } from '../../core/table.js';
import { identifyRow } from '../../identify/identify-cell.js';
import { readingStopped } from '../../intake/byte-source.js';
import { type Answers, createAnswers } from '../lookups/answers.js';
import { earlierCells, earlierKey, jsonKey } from '../output/earlier-key.js';
import { createIdentifierSpool, type IdentifierSpool } from './identifier-spool.js';
import { createKeyTable } from './key-table.js';
import type { Chosen, OpenedTable } from './open-table.js';
import { createRowSpool, type RowSpool } from './row-spool.js';
import { createSpoolFile } from './spool-file.js';

export interface ScanOptions {
  readonly waterfall: boolean;
  readonly prefix: string;
  /** An existing folder for the spools. */
  readonly folder: string;
  /** Looked at between batches: reading a large file can be stopped. */
  readonly stop: AbortSignal;
  /** Called between batches with the rows read so far. */
  readonly onRows: (rows: number) => void;
}

export interface Scan extends Chosen {
  readonly rows: RowSpool;
  readonly identifiers: IdentifierSpool;
  /** The first candidates of all rows are wanted. */
  readonly answers: Answers;
  /** Rows by what their cells came to. `duplicates`: rows whose first identifier an earlier row had. */
  readonly counts: {
    readonly asked: number;
    readonly invalid: number;
    readonly skipped: number;
    readonly unreadable: number;
    readonly duplicates: number;
    /** Of the unreadable ones those that do not fit the table. */
    readonly misfits: number;
    /** Rows whose last cells are missing, and those with cells beyond the last column, that were read nevertheless. */
    readonly short: number;
    readonly long: number;
  };
  /** Distinct first candidates by kind. */
  readonly byKind: ReadonlyMap<IdentifierKind, number>;
  /** Reasons of invalid, unreadable and skipped rows, with how many rows each has. At most 1,000 different ones. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Of `reasons` those of skipped rows, with how many of these each has. */
  readonly skipReasons: ReadonlyMap<string, number>;
  /** First rows that are invalid or unreadable, for people. */
  readonly examples: readonly { readonly line: number; readonly reason: string }[];
  readonly columns: readonly string[];
  readonly contentHash: string;
}

/** Cells whose identifier is remembered. */
const KNOWN_CELLS = 65_536;
const REASONS_AT_MOST = 1_000;
const EXAMPLES_AT_MOST = 5;

/** Throws what reading the input throws, and the signal's reason. */
export async function scanInput(
  { input, chosen, priorities }: OpenedTable,
  options: ScanOptions,
  releasers: Releasers,
): Promise<Scan> {
  const { folder, waterfall, stop, onRows } = options;
  const isJson = input.shape.format === 'jsonl';
  const ourKey = jsonKey(options.prefix);
  const earlierProblem = isJson
    ? earlierKey(ourKey)
    : earlierCells(input.shape.columns, chosen.ours, options.prefix);
  const open = (name: string) => {
    const file = createSpoolFile(folder, name);
    releasers.push(() => file.close());
    return file;
  };
  const rows = createRowSpool(open('rows'));
  const identifiers = createIdentifierSpool(open('identifiers'));
  const answers = createAnswers(open('answers'));
  const table = createKeyTable();
  const knownCells = new Map<string, number>();
  const onlyColumn = chosen.choices.length === 1 ? (chosen.choices[0]?.column ?? null) : null;
  const counts = {
    asked: 0,
    invalid: 0,
    skipped: 0,
    unreadable: 0,
    duplicates: 0,
    misfits: 0,
    short: 0,
    long: 0,
  };
  const byKind = new Map<IdentifierKind, number>();
  const reasons = new Map<string, number>();
  const examples: { line: number; reason: string }[] = [];
  const skipReasons = new Map<string, number>();
  const note = (reason: string, kind: 'invalid' | 'skipped') => {
    for (const noted of kind === 'skipped' ? [reasons, skipReasons] : [reasons]) {
      if (noted.has(reason) || noted.size < REASONS_AT_MOST) noted.set(reason, (noted.get(reason) ?? 0) + 1);
    }
  };

  const addUnreadable = (row: Row, problem: string) => {
    counts.unreadable += 1;
    note(problem, 'invalid');
    if (examples.length < EXAMPLES_AT_MOST) examples.push({ line: row.line, reason: problem });
    rows.add('unreadable', [], withLine(row.line, problem), row.raw);
  };
  const { delimiter } = input.shape;

  for await (const batch of input.rows()) {
    if (stop.aborted) throw readingStopped(input.name);
    for (const row of batch) {
      if (row.problem !== null) {
        if (row.isMisfit) counts.misfits += 1;
        addUnreadable(row, row.problem);
        continue;
      }
      // Our cells must land under our headers, so that a short record is made as long as the others.
      const { shortBy = 0, surplus = 0 } = row;
      const raw = shortBy === 0 ? row.raw : row.raw + delimiter.repeat(shortBy);
      if (shortBy > 0) counts.short += 1;
      if (surplus > 0) counts.long += 1;
      // A value of the user's under our key stops the run before anything is spent.
      const earlier = earlierProblem(row);
      // The same cell means the same identifier: most long files repeat themselves.
      const cell = onlyColumn === null ? undefined : row.cells[onlyColumn];
      const known = cell === undefined ? undefined : knownCells.get(cell);
      if (known !== undefined) {
        counts.asked += 1;
        counts.duplicates += 1;
        priorities?.note(known, row.cells[priorities.column] ?? '', row.line);
        rows.add('asked', [known], '', raw);
        continue;
      }
      const found = identifyRow(row.cells, chosen.choices);
      const first = found.identifiers[0];
      if (first === undefined) {
        const { otherwise } = found;
        const isInvalid = otherwise.type === 'invalid' || earlier !== null;
        const kind = isInvalid ? 'invalid' : 'skipped';
        const reason = earlier ?? (otherwise.type === 'identifier' ? '' : otherwise.reason);
        counts[kind] += 1;
        // The line that an earlier run names is one of another file.
        const cause = earlier === null ? reason : withoutLine(reason);
        note(cause, kind);
        if (kind === 'invalid' && examples.length < EXAMPLES_AT_MOST)
          examples.push({ line: row.line, reason: cause });
        rows.add(kind, [], reason, raw);
        continue;
      }
      counts.asked += 1;
      const candidates: number[] = [];
      for (const identifier of waterfall ? found.identifiers : [first]) {
        const text = identifierText(identifier);
        const { index, isNew } = table.add(text);
        if (isNew) identifiers.add(text);
        candidates.push(index);
        priorities?.note(index, row.cells[priorities.column] ?? '', row.line);
      }
      if (answers.want(candidates[0] ?? 0)) byKind.set(first.kind, (byKind.get(first.kind) ?? 0) + 1);
      else counts.duplicates += 1;
      rows.add('asked', candidates, '', raw);
      if (cell !== undefined && candidates[0] !== undefined && knownCells.size < KNOWN_CELLS) {
        // The copy lets go of the chunk of the file that the text may be a part of.
        knownCells.set(Buffer.from(cell).toString(), candidates[0]);
      }
    }
    onRows(rows.count);
  }
  return {
    chosen,
    rows,
    identifiers,
    answers,
    priorities,
    counts,
    byKind,
    reasons,
    skipReasons,
    examples,
    columns: input.columns(),
    contentHash: input.contentHash(),
  };
}

/** How the row of a line that could not be read says where it stood, and what is left of that without the place. */
function withLine(line: number, problem: string): string {
  return `line ${line}: ${problem}`;
}

function withoutLine(reason: string): string {
  return reason.replace(/^line \d+: /, '');
}

/** Wants the next candidates of rows whose candidate so far was not found; how many identifiers became wanted. */
export function wantNextCandidates(scan: Scan): number {
  const { answers, rows } = scan;
  const before = answers.wanted;
  for (const batch of rows.rows()) {
    for (const row of batch) {
      if (row.candidates.length < 2) continue;
      for (const candidate of row.candidates) {
        answers.want(candidate);
        if (answers.status(candidate) !== 'not_found') break;
      }
    }
  }
  return answers.wanted - before;
}
