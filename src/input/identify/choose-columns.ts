/** Chooses the columns with the identifiers: as requested, else by score; doubt stops the run. */
import { basename } from 'node:path';
import { ConfigError } from '../../core/errors.js';
import type { IdentifierKind } from '../../core/identifier.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import type { RowReason } from '../../core/row-reason.js';
import { isJson, JSON_MARKS, jsonKey, type TableShape } from '../../core/table.js';
import { shortName } from '../../core/terminal-text.js';
import { comparable, conditionText, type RowCondition } from '../../settings/column-value.js';
import type { Settings } from '../../settings/settings.js';
import type { Candidate } from './column-evidence.js';
import { decide, kindOfColumn } from './decide-columns.js';
import {
  assertHeader,
  assertOneKind,
  evidenceInWords,
  explainBlanks,
  type Facts,
  kindUnclear,
  question,
} from './explain-columns.js';
import { type ColumnChoice, columnIsOurs, columnLabel, findColumn } from './find-column.js';
import { assertKindsFit } from './kind-mismatch.js';
import { measureTable } from './measure-columns.js';

export type ChoiceSettings = Pick<
  Settings,
  'columns' | 'kind' | 'allowMismatch' | 'prefix' | 'priority' | 'where' | 'nameColumn'
>;

export type TableChoice = Readonly<ReturnType<typeof chooseFrom>>;

interface SampledTable {
  readonly name: string;
  readonly shape: Pick<TableShape, 'columns' | 'format'>;
  readonly sample: readonly (readonly string[])[];
  readonly firstLines?: readonly number[];
}

/** Chooses the columns and rows to look up. Throws the errors `column-…`. */
export function chooseFrom(table: SampledTable, settings: ChoiceSettings) {
  const { name, shape, sample, firstLines = [] } = table;
  const { columns, format } = shape;
  const { prefix, priority, nameColumn } = settings;
  const filter = new RowFilter(columns, settings.where);
  const selected = sample.filter((cells) => filter.reasonAgainst(cells) === null);
  const isSelected = selected.length > 0;
  const ours = isJson(format) ? findOurMembers(columns, jsonKey(prefix)) : findOurColumns(columns, prefix);
  const measured = isSelected ? selected : sample;
  const toMeasure = { columns, sample: measured, fileName: basename(name) };
  const hasLines = (format === 'csv' || format === 'xlsx') && measured.length === sample.length;
  const lines = hasLines ? firstLines : [];
  const seen: Facts = { columns, lines, table: measureTable(toMeasure, ours), kind: settings.kind };
  const requested = settings.columns;
  const { named, ...found } = requested[0]
    ? takeRequested(requested, seen)
    : takeSurest(seen, ours.length > 0);
  // Rows that are not looked up prove nothing against a kind.
  if (isSelected && !settings.allowMismatch) assertKindsFit(seen, named, found.choices);
  const chosen = { ...found, ours };
  const find = (named: string, key: 'nameColumn' | 'priority') =>
    findColumn(columns, { name: named, kind: null }, key).column;
  /** Position of the column with the names to compare; null without `--name-column`. */
  const nameAt = nameColumn === null ? null : find(nameColumn, 'nameColumn');
  for (const at of filter.places) if (chosen.ours.includes(at)) throw columnIsOurs(columns, at, 'where');
  if (nameAt !== null && chosen.ours.includes(nameAt)) throw columnIsOurs(columns, nameAt, 'nameColumn');
  /** Position of the column that decides what is bought first; null without `--priority`. */
  const priorityAt = priority && find(priority.name, 'priority');
  const places = [...chosen.choices.map(({ column }) => column), priorityAt, ...filter.places, nameAt];
  /** Columns whose cells are needed; null for all in an output of ours, which is mostly blank. */
  const wanted = chosen.ours.length > 0 ? null : [...new Set(places)].filter((at) => at !== null);
  return { chosen, filter, nameAt, priorityAt, wanted };
}

interface Chosen {
  /** In order: the first that yields an identifier is used. Never empty. */
  readonly choices: readonly ColumnChoice[];
  /** For people: which column, which kind, why. */
  readonly sentence: Phrase;
  /** The choices whose kind the user gave. */
  readonly named: readonly ColumnChoice[];
}

/** Takes the requested columns. A kind in a request wins over `--kind`. */
function takeRequested(requested: Settings['columns'], seen: Facts): Chosen {
  const { columns, table } = seen;
  const choices: ColumnChoice[] = [];
  const named: ColumnChoice[] = [];
  const parts: string[] = [];
  for (const request of requested) {
    const { column, kind: writtenKind } = findColumn(columns, request);
    const label = columnLabel(columns, column);
    const measured = table.columns.find((each) => each.column === column);
    if (measured === undefined) throw columnIsOurs(columns, column, 'column');
    const asked = writtenKind ?? seen.kind;
    const reading = kindOfColumn(table, measured, asked);
    const kind = asked ?? reading?.kind ?? null;
    // Values of another kind would come back as invalid.
    if (asked === null && !reading?.evidence.head) assertOneKind(columns, measured, kind);
    if (kind === null) throw kindUnclear(columns, measured);
    if (choices.some((choice) => choice.column === column && choice.kind === kind)) continue;
    const choice = choiceOf(columns, column, kind, reading);
    choices.push(choice);
    if (asked !== null) named.push(choice);
    const because = asked === null && reading !== null ? evidenceInWords(reading, true) : 'as asked';
    parts.push(`${label} as ${kind} (${because}${lookedUpIn(choice)})`);
  }
  const blanks = explainBlanks(seen, choices, null);
  return { choices, named, sentence: phrase`identifiers come from column ${parts.join(', then ')}${blanks}` };
}

function takeSurest(seen: Facts, isOurs: boolean): Chosen {
  const { columns, table, kind } = seen;
  const decision = decide(table, kind);
  const { taken, others } = decision;
  if (taken.length === 0) throw question(seen, decision, isOurs);
  const takenColumns = taken.map(({ column }) => column);
  assertHeader(seen, takenColumns);
  const isShown = taken.every(({ evidence: { head = 0, valid = 0 } }) => head > 0 || valid > 0.8);
  for (const column of isShown || kind !== null ? [] : takenColumns) assertOneKind(columns, column);
  const choices = taken.map((each) => choiceOf(columns, each.column.column, kind ?? each.kind, each));
  const parts = choices.map((choice, at) => {
    const because = (taken[at] && evidenceInWords(taken[at], true)) + lookedUpIn(choice);
    return `${columnLabel(columns, choice.column)} as ${choice.kind}, because ${because}`;
  });
  const [next = null] = others;
  const blanks = explainBlanks(seen, choices, next);
  const from = `identifiers come from column ${parts.join('; where it has none, from ')}`;
  const named = kind === null ? [] : choices;
  if (next === null) return { choices, named, sentence: phrase`${from}${blanks}` };
  const second = `${columnLabel(columns, next.column.column)} as ${next.kind} (${evidenceInWords(next)})`;
  return { choices, named, sentence: phrase`${from}${blanks}; the runner-up is ${second}` };
}

function choiceOf(
  columns: readonly string[],
  column: number,
  kind: IdentifierKind,
  reading: Candidate | null,
): ColumnChoice {
  const areMarkets = kind === 'crypto' && (reading?.evidence.markets ?? 0) >= 0.8;
  return { column, name: columns[column] ?? '', kind, ...(areMarkets && { areMarkets }) };
}

function lookedUpIn({ areMarkets }: ColumnChoice): string {
  return areMarkets ? ', and the coin of each market is looked up' : '';
}

/** All three are written by every run, so together they mark a file as ours. */
const MARKS = ['status', 'identifier', 'fetched_at'] as const;

/** Returns the positions of our key and its members; an empty list if no run wrote them. */
function findOurMembers(columns: readonly string[], key: string): number[] {
  const isOurs = JSON_MARKS.every((mark) => columns.includes(`${key}.${mark}`));
  const isUnderKey = (column: string) => column === key || column.startsWith(`${key}.`);
  return columns.flatMap((column, index) => (isOurs && isUnderKey(column) ? [index] : []));
}

/** Returns the positions of columns to replace. Throws column-ours if a mark is missing. */
function findOurColumns(columns: readonly string[], prefix: string): number[] {
  const prefixed = columns.flatMap((column, index) => (column.startsWith(prefix) ? [index] : []));
  if (prefix === '' || prefixed.length === 0) return [];
  const missing = MARKS.map((mark) => prefix + mark).filter((name) => !columns.includes(name));
  if (missing.length === 0) return prefixed;
  const lacks = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  const what = `some columns begin with "${prefix}" like the columns that a run adds, but ${lacks}`;
  const subject = prefixed.map((index) => columns[index]).join(', ');
  const set = { prefix: prefix === 'enriched_' ? 'added_' : 'enriched_' };
  const todo = phrase`to keep them, choose another prefix for the added columns, such as ${{ set }}`;
  throw new ConfigError({ code: 'column-ours', what, subject, todo });
}

type Judged = RowCondition & { readonly at: number; readonly key: string; readonly reason: RowReason };

/** Selects rows by `--where`. The others come back as skipped, with the condition. */
export class RowFilter {
  readonly #conditions: readonly Judged[];

  /** Throws `ConfigError` (column-unknown, column-doubtful): no such column, or several. */
  constructor(columns: readonly string[], conditions: readonly RowCondition[]) {
    this.#conditions = conditions.map((condition) => {
      const at = findColumn(columns, { name: condition.column, kind: null }, 'where').column;
      return { ...condition, at, key: comparable(condition.value), reason: reasonOf(condition) };
    });
  }

  get texts(): readonly string[] {
    return this.#conditions.map(conditionText);
  }

  /** Returns the first condition that a row does not meet, or null if it is looked up. */
  reasonAgainst(cells: readonly string[]): RowReason | null {
    for (const { at, wants, key, reason } of this.#conditions) {
      const text = cells[at] ?? '';
      const meets =
        wants === 'value' ? comparable(text) === key : (text.trim() === '') === (wants === 'blank');
      if (!meets) return reason;
    }
    return null;
  }

  get places(): readonly number[] {
    return this.#conditions.map(({ at }) => at);
  }
}

function reasonOf({ column, wants, value }: RowCondition): RowReason {
  const named = { column: shortName(column) };
  if (wants === 'value') return { code: 'not_selected', ...named, value: shortName(value) };
  return { code: wants === 'blank' ? 'not_selected_filled' : 'not_selected_blank', ...named };
}
