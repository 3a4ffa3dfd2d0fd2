/**
 * Chooses the columns that hold the identifiers, and their kinds: as requested, else by names and a
 * sample of values. A tie or doubt stops the run and names the flags to use: a wrong guess costs
 * money. `judge-columns.ts` weighs the columns, `column-advice.ts` has the messages.
 */
import { basename } from 'node:path';
import { NeverStartError } from '../../core/errors.js';
import type { IdentifierKind } from '../../core/identifier.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { isJson, JSON_MARKS, jsonKey, type TableShape } from '../../core/table.js';
import type { Settings } from '../../settings/settings.js';
import {
  assertHeader,
  doubtful,
  explainBlanks,
  kindsOfMixed,
  kindUnclear,
  MOST_TOGETHER,
  nothingClear,
} from './column-advice.js';
import { assertOwnColumn, type ColumnChoice, columnLabel, findColumn } from './find-column.js';
import { symbolContext } from './header-words.js';
import {
  type ColumnReading,
  type JudgeInput,
  judgeColumn,
  judgeColumns,
  sampleColumn,
} from './judge-columns.js';
import { assertKindsFit } from './kind-mismatch.js';
import { areOfOneCompany, arePartiesOfRow, withoutOutranked } from './rank-columns.js';
import { RowFilter } from './row-filter.js';

/** The settings that choose the columns and rows of a table. */
export type ChoiceSettings = Pick<
  Settings,
  'columns' | 'kind' | 'allowMismatch' | 'prefix' | 'priority' | 'where' | 'nameColumn'
>;

export type TableChoice = Readonly<ReturnType<typeof chooseFrom>>;

interface SampledTable {
  readonly name: string;
  readonly shape: Pick<TableShape, 'columns' | 'format'>;
  /** Cells of some rows. */
  readonly sample: readonly (readonly string[])[];
}

/** Chooses the columns and rows that are read. Throws `NeverStartError` if they are unclear. */
export function chooseFrom({ name, shape, sample }: SampledTable, settings: ChoiceSettings) {
  const { columns, format } = shape;
  const { prefix, priority, nameColumn } = settings;
  const filter = new RowFilter(columns, settings.where);
  const selected = sample.filter((cells) => filter.reasonAgainst(cells) === null);
  const isSeen = selected.length > 0;
  const chosen = chooseColumns({
    requested: settings.columns,
    kind: settings.kind,
    // Rows that are not looked up prove nothing against a kind.
    allowMismatch: settings.allowMismatch || !isSeen,
    fileName: basename(name),
    columns,
    sample: isSeen ? selected : sample,
    prefix,
    ...(isJson(format) && { key: jsonKey(prefix) }),
  });
  const find = (named: string, key: 'nameColumn' | 'priority') =>
    findColumn(columns, { name: named, kind: null }, key).column;
  /** Position of the column with the names to compare; null without `--name-column`. */
  const nameAt = nameColumn === null ? null : find(nameColumn, 'nameColumn');
  for (const at of filter.places) assertOwnColumn(columns, at, chosen.ours, 'where');
  if (nameAt !== null) assertOwnColumn(columns, nameAt, chosen.ours, 'nameColumn');
  /** Position of the column that says what is bought first; null without `--priority`. */
  const priorityAt = priority && find(priority.name, 'priority');
  const places = [...chosen.choices.map(({ column }) => column), priorityAt, ...filter.places, nameAt];
  /**
   * Columns whose cells are needed, or null for all of them: columns of an earlier run are blank in
   * most rows, or all cells of a row are looked at.
   */
  const wanted = chosen.ours.length > 0 ? null : [...new Set(places)].filter((at) => at !== null);
  return { chosen, filter, nameAt, priorityAt, wanted };
}

interface ColumnsInput extends Omit<JudgeInput, 'context'> {
  /** From `--column`, in order; a kind in one of them wins over `kind`. */
  readonly requested: Settings['columns'];
  /** `--allow-mismatch`: the given kind applies, even if the values do not fit. */
  readonly allowMismatch?: boolean | undefined;
  /** Before the names of the columns we add, `brand_` by default. */
  readonly prefix: string;
  /** Of JSON: the key that we add, with an object; absent: columns are added. */
  readonly key?: string;
}

export interface ChosenColumns {
  /** In order: the first that yields an identifier is used. Never empty. */
  readonly choices: readonly ColumnChoice[];
  /** For people: which column, which kind, why. */
  readonly sentence: Phrase;
  /** Positions of columns that an earlier run added: to be replaced, never chosen. */
  readonly ours: readonly number[];
}

/** Sampled rows that are looked at: more would only cost time. */
const MOST_ROWS = 1000;
/** Two readings closer than this are a tie. */
const MARGIN = 0.1;

/** Throws `NeverStartError`: column-unknown, column-doubtful, column-ours, column-mismatch. */
export function chooseColumns(input: ColumnsInput): ChosenColumns {
  const { columns, kind } = input;
  const ours =
    input.key === undefined ? findOurColumns(columns, input.prefix) : findOurMembers(columns, input.key);
  const names = columns.filter((_, column) => !ours.includes(column));
  const context = symbolContext([...names, input.fileName ?? '']);
  const { fileName } = input;
  const judge: JudgeInput = { columns, sample: input.sample.slice(0, MOST_ROWS), context, kind, fileName };
  const { named, ...chosen } =
    input.requested.length > 0 ? takeRequested(input, judge, ours) : takeSurest(judge, ours);
  if (input.allowMismatch !== true) assertKindsFit(judge, named, chosen.choices);
  return { ...chosen, ours };
}

type Chosen = Omit<ChosenColumns, 'ours'> & {
  /** The choices whose kind the user gave. */
  readonly named: readonly ColumnChoice[];
};

function takeRequested(input: ColumnsInput, judge: JudgeInput, ours: readonly number[]): Chosen {
  const { columns } = judge;
  const choices: ColumnChoice[] = [];
  const named: ColumnChoice[] = [];
  const parts: string[] = [];
  for (const request of input.requested) {
    const { column, kind: writtenKind } = findColumn(columns, request);
    const label = columnLabel(columns, column);
    if (ours.includes(column)) {
      throw new NeverStartError({
        code: 'column-ours',
        what: 'this column was added by an earlier run and will be replaced',
        subject: label,
        todo: phrase`choose another column, or keep this one by setting a ${{
          setting: 'prefix',
        }} other than ${input.prefix}`,
      });
    }
    const asked = writtenKind ?? input.kind;
    const reading = asked === null ? judgeColumn(judge, column, true) : null;
    const kind = asked ?? reading?.kind ?? null;
    // What is not of the kind would come back as invalid.
    const isOpen = asked === null && (reading === null || reading.weight === 0);
    const mixed = isOpen ? kindsOfMixed(judge, column, kind) : null;
    if (kind === null || mixed !== null)
      throw kindUnclear(judge, column, { mixed, likely: kind, isSymbol: reading !== null });
    if (choices.some((choice) => choice.column === column && choice.kind === kind)) continue;
    const choice = choiceOf(judge, column, kind);
    choices.push(choice);
    if (asked !== null) named.push(choice);
    parts.push(`${label} as ${kind} (${reading?.because ?? 'as asked'}${lookedUpIn(choice)})`);
  }
  const blanks = explainBlanks(judge, choices, []);
  return { choices, named, sentence: phrase`identifiers come from column ${parts.join(', then ')}${blanks}` };
}

function takeSurest(judge: JudgeInput, ours: readonly number[]): Chosen {
  const { columns } = judge;
  const { kept, mail } = withoutOutranked(columns, judgeColumns(judge, ours));
  const [surest, ...others] = kept;
  if (surest === undefined) return takeOnly(judge, ours);
  const isSame = (other: ColumnReading) => areOfOneCompany(judge, surest, other);
  const variants = others.filter(
    (other) => isSame(other) && (other.kind === surest.kind || isTie(surest, other)),
  );
  const rivals = others.filter(
    (other) => !variants.includes(other) && (isTie(surest, other) || arePartiesOfRow(surest, other)),
  );
  if (rivals.length > 0 || surest.kind === null) throw doubtful(judge, [surest, ...rivals]);
  const taken = [surest, ...variants.slice(0, MOST_TOGETHER - 1)].sort(
    (one, other) => other.fitting - one.fitting || one.column - other.column,
  );
  const names = mail.map((reading) => columnLabel(columns, reading.column)).join(', ');
  const because = 'because a website identifies the brand more reliably';
  const aside = `; e-mail addresses (${names}) are ignored, ${because}`;
  const choice = take(judge, taken);
  const rest = others.filter((other) => !taken.includes(other));
  const blanks = explainBlanks(judge, choice.choices, [...rest, ...mail]);
  const sentence = phrase`${choice.sentence}${blanks}${mail.length > 0 ? aside : ''}`;
  return { ...choice, sentence };
}

function isTie(surest: ColumnReading, other: ColumnReading): boolean {
  return surest.score - other.score < MARGIN;
}

/** In this order: later ones fill the gaps of earlier ones. */
function take(
  judge: JudgeInput,
  readings: readonly Pick<ColumnReading, 'column' | 'kind' | 'because'>[],
): Chosen {
  const { columns } = judge;
  const choices = readings.flatMap(({ column, kind: read }) => {
    const kind = judge.kind ?? read;
    return kind === null ? [] : [choiceOf(judge, column, kind)];
  });
  assertHeader(
    judge,
    choices.map(({ column }) => column),
  );
  const parts = choices.map(
    (choice, at) =>
      `${columnLabel(columns, choice.column)} as ${choice.kind}, because ` +
      `${readings[at]?.because}${lookedUpIn(choice)}`,
  );
  const sentence = `identifiers come from column ${parts.join('; where it has none, from ')}`;
  return { choices, named: judge.kind === null ? [] : choices, sentence };
}

function choiceOf({ columns, sample }: JudgeInput, column: number, kind: IdentifierKind): ColumnChoice {
  const areMarkets = kind === 'crypto' && sampleColumn(sample, column).areMarkets;
  return { column, name: columns[column] ?? '', kind, ...(areMarkets && { areMarkets }) };
}

/** What is looked up of cells that are more than an identifier. */
function lookedUpIn({ areMarkets }: ColumnChoice): string {
  return areMarkets ? ', and of each market the coin is looked up' : '';
}

/** Nothing could be read: a kind given for the only column there is leaves no doubt. */
function takeOnly(judge: JudgeInput, ours: readonly number[]): Chosen {
  const open = judge.columns.flatMap((_, column) => (ours.includes(column) ? [] : [column]));
  const [only, ...others] = open;
  if (only === undefined || others.length > 0 || judge.kind === null) {
    throw nothingClear(judge, open, ours.length > 0);
  }
  return take(judge, [{ column: only, kind: judge.kind, because: 'it is the only column' }]);
}

/** All three are written by every run, so together they mark a file as ours. */
const MARKS = ['status', 'identifier', 'fetched_at'] as const;

/** Positions of our key and of the members of its object; none when another wrote them. */
function findOurMembers(columns: readonly string[], key: string): number[] {
  const isOurs = JSON_MARKS.every((mark) => columns.includes(`${key}.${mark}`));
  const isUnderKey = (column: string) => column === key || column.startsWith(`${key}.`);
  return columns.flatMap((column, index) => (isOurs && isUnderKey(column) ? [index] : []));
}

/**
 * Positions of the columns to be replaced; none when the table is not ours, or for an empty prefix.
 * Throws column-ours when there are columns with the prefix and not all of the marks.
 */
function findOurColumns(columns: readonly string[], prefix: string): number[] {
  const prefixed = columns.flatMap((column, index) => (column.startsWith(prefix) ? [index] : []));
  if (prefix === '' || prefixed.length === 0) return [];
  const missing = MARKS.map((mark) => prefix + mark).filter((name) => !columns.includes(name));
  if (missing.length === 0) return prefixed;
  throw new NeverStartError({
    code: 'column-ours',
    what:
      `some columns begin with "${prefix}" like the columns that a run adds, but ` +
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    subject: prefixed.map((index) => columns[index]).join(', '),
    todo: phrase`to keep them, choose another prefix for the added columns, such as ${{
      set: { prefix: prefix === 'enriched_' ? 'added_' : 'enriched_' },
    }}`,
  });
}
