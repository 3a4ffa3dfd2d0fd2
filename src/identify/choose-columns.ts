/**
 * Which columns hold the identifiers, and of which kind: as asked, else by names and a sample of
 * values. A tie or a doubt stops the run with the flag that settles it, because a wrong guess
 * spends money. `judge-columns.ts` weighs the columns, `column-advice.ts` has the messages.
 */

import type { ColumnRequest } from '../config/column-value.js';
import { NeverStartError } from '../core/errors.js';
import type { IdentifierKind } from '../core/identifier.js';
import { doubtful, explainBlanks, findHeaderless, kindUnclear, nothingClear } from './column-advice.js';
import { type ColumnChoice, columnLabel, findColumn } from './find-column.js';
import { symbolContext } from './header-words.js';
import { type ColumnReading, type JudgeInput, judgeColumn, judgeColumns } from './judge-columns.js';
import { assertKindsFit } from './kind-mismatch.js';

interface ColumnsInput {
  readonly columns: readonly string[];
  /** Cells of some rows, best from all over the file; the first 1,000 are looked at. */
  readonly sample: readonly (readonly string[])[];
  /** From `--column`, in order. */
  readonly requested: readonly ColumnRequest[];
  /** From `--kind`; a kind in `requested` wins over it. */
  readonly kind: IdentifierKind | null;
  /** `--allow-mismatch`: a named kind holds, whatever the values look like. */
  readonly allowMismatch?: boolean | undefined;
  /** Before the names of the columns we add, `brand_` by default. */
  readonly prefix: string;
}

export interface ChosenColumns {
  /** In order: the first that yields an identifier is used. Never empty. */
  readonly choices: readonly ColumnChoice[];
  /** For people: which column, which kind, why. */
  readonly sentence: string;
  /** Positions of columns that an earlier run added: to be replaced, never chosen. */
  readonly ours: readonly number[];
}

/** Two readings closer than this are a tie. */
const MARGIN = 0.1;

/**
 * Throws `NeverStartError`: column-unknown (with the nearest name), column-doubtful (with the flag
 * to use), column-ours, column-mismatch.
 */
export function chooseColumns(input: ColumnsInput): ChosenColumns {
  const ours = findOurColumns(input.columns, input.prefix);
  const context = symbolContext(input.columns.filter((_, column) => !ours.includes(column)));
  const judge: JudgeInput = { columns: input.columns, sample: input.sample, context, kind: input.kind };
  const { named, ...chosen } =
    input.requested.length > 0 ? takeRequested(input, judge, ours) : takeSurest(judge, ours);
  if (input.allowMismatch !== true) assertKindsFit(judge, named, chosen.choices);
  return { ...chosen, ours };
}

type Chosen = Omit<ChosenColumns, 'ours'> & {
  /** Those of the choices whose kind the user said. */
  readonly named: readonly ColumnChoice[];
};

function takeRequested(input: ColumnsInput, judge: JudgeInput, ours: readonly number[]): Chosen {
  const choices: ColumnChoice[] = [];
  const named: ColumnChoice[] = [];
  const parts: string[] = [];
  for (const request of input.requested) {
    const found = findColumn(input.columns, request);
    if (ours.includes(found.column)) throw askedForOurs(input, found.column);
    const asked = found.kind ?? input.kind;
    const reading = asked === null ? readNamed(judge, found.column) : null;
    const kind = asked ?? reading?.kind ?? 'auto';
    if (choices.some((choice) => choice.column === found.column && choice.kind === kind)) continue;
    const choice = { column: found.column, name: input.columns[found.column] ?? '', kind };
    choices.push(choice);
    if (asked !== null) named.push(choice);
    const why = reading === null ? 'as asked' : reading.because;
    parts.push(`${columnLabel(input.columns, found.column)} as ${kind} (${why})`);
  }
  const blanks = explainBlanks(judge, choices, []);
  return { choices, named, sentence: `identifiers come from column ${parts.join(', then ')}${blanks}` };
}

/** The kind of a column that was named without one. */
function readNamed(judge: JudgeInput, column: number): ColumnReading {
  const reading = judgeColumn(judge, column, true);
  if (reading !== null && reading.kind !== null) return reading;
  throw kindUnclear(judge, column, reading !== null);
}

function takeSurest(judge: JudgeInput, ours: readonly number[]): Chosen {
  const { columns } = judge;
  const all = judgeColumns(judge, ours);
  const mail = all.filter((reading) => reading.isMail);
  const hasWebsite = all.some((reading) => reading.kind === 'domain' && !reading.isMail);
  const readings = hasWebsite ? all.filter((reading) => !reading.isMail) : all;
  const [surest, ...others] = readings;
  if (surest === undefined) return takeOnly(judge, ours);
  const rivals = [surest, ...others.filter((other) => surest.score - other.score < MARGIN)];
  if (rivals.length > 1 || surest.kind === null) throw doubtful(judge, rivals);
  const choice = {
    column: surest.column,
    name: columns[surest.column] ?? '',
    kind: judge.kind ?? surest.kind,
  };
  const lost = findHeaderless(judge, [choice.column]);
  if (lost !== null) throw lost;
  const leftAside = hasWebsite && mail.length > 0 ? explainMail(columns, mail) : '';
  const blanks = explainBlanks(judge, [choice], others);
  const sentence = `identifiers come from column ${columnLabel(columns, choice.column)} as ${choice.kind}, because ${surest.because}${blanks}${leftAside}`;
  return { choices: [choice], named: judge.kind === null ? [] : [choice], sentence };
}

function explainMail(columns: readonly string[], mail: readonly ColumnReading[]): string {
  const names = mail.map((reading) => columnLabel(columns, reading.column)).join(', ');
  return `; e-mail addresses (${names}) are left aside, a website says more surely whose brand it is`;
}

/** Nothing could be read: a kind given for the only column there is leaves no doubt. */
function takeOnly(judge: JudgeInput, ours: readonly number[]): Chosen {
  const { columns, kind } = judge;
  const open = columns.flatMap((_, column) => (ours.includes(column) ? [] : [column]));
  const [only] = open;
  if (only !== undefined && open.length === 1 && kind !== null) {
    const lost = findHeaderless(judge, open);
    if (lost !== null) throw lost;
    const sentence = `identifiers come from column ${columnLabel(columns, only)} as ${kind}, because it is the only one`;
    const choice = { column: only, name: columns[only] ?? '', kind };
    return { choices: [choice], named: [choice], sentence };
  }
  throw nothingClear(judge, open, ours.length > 0);
}

function askedForOurs({ columns, prefix }: ColumnsInput, column: number): NeverStartError {
  return new NeverStartError({
    code: 'column-ours',
    what: 'this column was added by an earlier run and will be replaced',
    subject: columnLabel(columns, column),
    todo: `name a column of your own, or keep it with a prefix for ours other than ${prefix}`,
  });
}

/** All three are written by every run, so together they mark a file as ours. */
const MARKS = ['status', 'identifier', 'fetched_at'] as const;

/**
 * Positions of the columns to be replaced; none when the table is not ours. Throws
 * `NeverStartError` column-ours when there are columns with the prefix and not all of the marks. An
 * empty prefix claims nothing.
 */
export function findOurColumns(columns: readonly string[], prefix: string): number[] {
  if (prefix === '') return [];
  const prefixed = columns.flatMap((column, index) => (column.startsWith(prefix) ? [index] : []));
  if (prefixed.length === 0) return [];
  const missing = MARKS.map((mark) => prefix + mark).filter((name) => !columns.includes(name));
  if (missing.length === 0) return prefixed;
  const names = prefixed.map((index) => columns[index]).join(', ');
  throw new NeverStartError({
    code: 'column-ours',
    what: `some columns begin with "${prefix}" like those that are added, but ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    subject: names,
    todo: `keep them as yours with another prefix for ours, such as --prefix ${prefix === 'enriched_' ? 'added_' : 'enriched_'}`,
  });
}
