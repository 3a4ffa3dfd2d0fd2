/** The messages between our process and the reading process, each a line of JSON. */
import { BrandEnrichError, ConfigError, errorText, RunError } from '../../core/errors.js';
import type { RowReason } from '../../core/row-reason.js';
import type { Row } from '../../core/table.js';
import { cutText, shortText } from '../../core/terminal-text.js';
import { type BinaryTable, OverBounds } from '../binary-table.js';
import type { ReadingSettings } from '../input.js';

/** A request for a pass over descriptor 3. `name`: that of the input, for messages. */
export type Pass = { readonly name: string } & (
  | { readonly type: 'open'; readonly opening: TableOpening }
  | { readonly type: 'sheets' }
  /** `wanted`: the columns whose cells are needed; null for all. */
  | {
      readonly type: 'rows';
      readonly opening: TableOpening;
      readonly limit: number | null;
      readonly wanted: readonly number[] | null;
    }
  | { readonly type: 'bytes'; readonly part: string }
  /** `part`: the path of the sheet in the archive; null for a Parquet file. */
  | { readonly type: 'count'; readonly part: string | null }
);

export type TableOpening = Pick<ReadingSettings, 'header' | 'skipLines' | 'sheet'>;

/** A table, or the name of the only table in an archive. */
export type FoundTable = Pick<BinaryTable, 'shape' | 'detected' | 'warnings'> | { readonly part: string };

export interface RowsEnd {
  readonly width: number;
  readonly notes: readonly string[];
}

/** Rows from number `first` on, bytes in Base64, or counts; then the end or an error. */
export type Reply =
  | { readonly first: number; readonly rows: readonly SentRow[]; readonly width: number }
  | { readonly bytes: string }
  | { readonly counted: number }
  | { readonly end: unknown }
  | { readonly error: SentError };

/** Raw text, line, problem, number of cells, cells: the wanted ones, or up to the last filled. */
type SentRow = readonly [string, number, RowReason | null, number, readonly string[]];

export function sentRow({ line, raw, problem, cells }: Row, wanted: readonly number[] | null): SentRow {
  const last = cells.findLastIndex((cell) => cell !== '');
  const sent = wanted === null ? cells.slice(0, last + 1) : wanted.map((at) => cells[at] ?? '');
  return [raw, line, problem, cells.length, sent];
}

export function rowOf(sent: SentRow, number: number, wanted: readonly number[] | null): Row {
  const [raw, line, problem, width, cells] = sent;
  const all = wanted === null ? [...cells] : [];
  while (all.length < width) all.push('');
  for (const [nth, at] of (wanted ?? []).entries()) if (at < width) all[at] = cells[nth] ?? '';
  return { number, line, raw, cells: all, problem };
}

type SentError = Pick<RunError['detail'], 'code' | 'what' | 'subject' | 'todo'> & {
  readonly isUsage: boolean;
  readonly reason?: string;
};

/** Limits of messages and stacks, in which libraries may quote the file. */
const CAUSE_AT_MOST = 300;
const STACK_AT_MOST = 2_000;

/** Makes an error to send. An unexpected one counts as damage of the file. */
export function sentError(name: string, cause: unknown): SentError {
  const error = damaged(name, cause);
  const { code, what, subject, todo } = error.detail;
  const { stack } = error.cause instanceof Error ? error.cause : {};
  const reason = stack === undefined ? {} : { reason: cutText(stack, STACK_AT_MOST) };
  return { code, what, subject, todo, isUsage: error instanceof ConfigError, ...reason };
}

export function errorOf({ isUsage, reason, ...detail }: SentError): Error {
  const Kind = isUsage ? ConfigError : RunError;
  return new Kind({ ...detail, ...(reason && { cause: new Error(reason) }) });
}

/** Returns an error of ours unchanged, and `input-binary` for any other cause. */
function damaged(name: string, cause: unknown): BrandEnrichError {
  if (cause instanceof BrandEnrichError) return cause;
  const isOver = cause instanceof OverBounds;
  // The message of a RangeError is about V8, not about the file.
  const isRange = cause instanceof RangeError;
  const words = isRange ? 'its structure is nested too deeply, or too large' : errorText(cause);
  const subject = `${name} (${shortText(words, CAUSE_AT_MOST)})`;
  const what = isOver ? 'the file is too large to be read' : 'the file is damaged, or has another format';
  const again = 'open it in the program that made it, save it again, or save it as CSV (UTF-8)';
  return new RunError({ code: 'input-binary', what, subject, todo: isOver ? cause.todo : again, cause });
}
