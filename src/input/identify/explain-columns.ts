/** Says why a column was taken, or asks for one: cause, three candidates, a setting. */
import { ConfigError } from '../../core/errors.js';
import { IDENTIFIER_KINDS, type Identifier, type IdentifierKind, KIND_WORDS } from '../../core/identifier.js';
import { joinPhrases, type Phrase, phrase, type Remedy } from '../../core/phrase.js';
import { sayRowReason } from '../../core/row-reason.js';
import { firstOf } from '../../core/terminal-text.js';
import { type Candidate, findByName, findCandidates, isListed, PLAIN } from './column-evidence.js';
import { WEIGHTS } from './column-weights.js';
import { type Decision, DOUBTS, type Doubt, LEAST_NAMED, type Scored, scored } from './decide-columns.js';
import { type ColumnChoice, columnLabel, columnRequest, columnSetting } from './find-column.js';
import { isHeaderLike, readHeader } from './header-words.js';
import { CHECKED_KINDS, identifyCell } from './identify-cell.js';
import { FIRST_ROWS, type MeasuredColumn, type MeasuredTable, readCell, shareOf } from './measure-columns.js';

/** Facts for messages: the names of all columns, and the columns that may be chosen. */
export interface Facts {
  readonly columns: readonly string[];
  /** The lines of the first rows; empty if they cannot be skipped. */
  readonly lines: readonly number[];
  readonly table: MeasuredTable;
  readonly kind: IdentifierKind | null;
}

const MOST_SHOWN = 20;
const MOST_CANDIDATES = 3;
/** Share of the values that must have a kind's shape before it is suggested. */
const MOSTLY = 0.8;
/** A column with a smaller share of different values has classes, not identifiers. */
const LEAST_VARIETY = 0.7;
/** Without `auto`, which looks up nothing if no value shows its kind. */
const KINDS = `kinds: ${IDENTIFIER_KINDS.filter((kind) => kind !== 'auto').join(', ')}`;
const NAMES = 'company names cannot be looked up';
const ADD_COLUMN = 'add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids';
const SYMBOL_KINDS = ['ticker', 'crypto'] as const;

const percent = (x: number) => `${Math.round(100 * x)} %`;
/** Words for evidence; no other evidence is mentioned. */
const SAID: Readonly<Record<string, (x: number, of: Candidate) => string>> = {
  head: (_, { evidence: { neg = 0, otherCode = 0 } }) => (neg + otherCode > 0 ? '' : 'its name says so'),
  listed: (x) => `${percent(x)} show their exchange`,
  known: () => 'well-known tickers are among them',
  coins: () => 'well-known coins are among them',
  markets: (x) => `${percent(x)} are markets of coins`,
  context: (x, { kind }) => `the table is about ${(x > 0) === (kind === 'ticker') ? 'securities' : 'coins'}`,
  few: (_, { fitting: all }) => `only ${new Set(all.map((it) => it.web?.site ?? it.text)).size} different`,
  shared: (x) => `${percent(x)} are on sites that host others`,
  deep: (x) => `${percent(x)} are single pages`,
  free: (x) => `${percent(x)} are at free e-mail providers`,
  neg: () => 'its name says something else',
  otherCode: () => 'its name says something else',
  closed: (x) => `${percent(x)} are codes of countries, currencies or exchanges`,
  codes: (x) => `${percent(x)} are numbers`,
  wordy: (x) => `${percent(x)} are words`,
  alone: () => 'it is the only column',
};
/** The least weight of evidence that is mentioned, and the most pieces. */
const [LEAST_SAID, MOST_SAID] = [0.5, 2];

/** Describes the strongest evidence of a candidate. `isFor`: only what speaks for it. */
export function evidenceInWords(of: Candidate, isFor = false): string {
  const { evidence, family, column, kind } = of;
  const filled = column.filled.length;
  if (filled === 0) return isFor ? 'its name says so' : 'all of its sampled cells are blank or like NA';
  const isSymbol = family === 'ticker' || family === 'crypto';
  const like = isSymbol ? 'written like ' : '';
  const words = family === 'mail' ? 'e-mail addresses' : like + KIND_WORDS[kind];
  const other = column.filled.find(({ web }) => web === null && kind === 'domain' && !isFor);
  const fault = other && identifyCell(other.text, kind);
  const others = fault?.type === 'invalid' ? ` (others: ${sayRowReason(fault.reason)})` : '';
  const terms = Object.entries(evidence)
    .map(([name, x]) => ({ say: SAID[name], x, weight: (WEIGHTS[family]?.[name] ?? 0) * x }))
    .filter(({ say, weight }) => say !== undefined && (isFor ? weight : Math.abs(weight)) > LEAST_SAID)
    .sort((one, other) => Math.abs(other.weight) - Math.abs(one.weight))
    .map(({ say, x }) => say?.(x, of) ?? '');
  const said = [...new Set(terms)].filter((term) => term !== '').slice(0, MOST_SAID);
  const counted = `${of.fitting.length} of ${filled} sampled values are ${words}${others}`;
  return [counted, ...said].join(', ');
}

/** Counts the rows that are blank in the chosen columns, and offers a column that fills some. */
export function explainBlanks(
  { columns, table }: Facts,
  choices: readonly ColumnChoice[],
  other: Scored | null,
) {
  const taken = table.columns.filter(({ column }) => choices.some((choice) => choice.column === column));
  const rows = Array.from({ length: table.rows }, (_, row) => row);
  const blank = rows.filter((row) => taken.every(({ cells }) => cells[row] === null));
  if (blank.length === 0) return '';
  const are = blank.length === 1 ? 'is' : 'are';
  const blankRows = `; ${blank.length} of ${table.rows} sampled rows ${are} blank there`;
  const filled = other === null ? 0 : blank.filter((row) => other.column.cells[row] !== null).length;
  if (other === null || filled === 0) return blankRows;
  const together = [...choices, { column: other.column.column, kind: other.kind }].map(
    ({ column, kind }) => columnSetting(columns, column, kind).set.column,
  );
  return phrase`${blankRows}, and ${columnLabel(columns, other.column.column)} has a value in ${
    filled
  } of them: ${{ set: { column: together } }} adds it as a fallback`;
}

function inDoubt(what: string, subject: string, todo: Phrase, hasNoIdentifiers = false) {
  return new ConfigError({ code: 'column-doubtful', what, subject, todo, hasNoIdentifiers });
}

function asEach(columns: readonly string[], column: number, kinds: readonly IdentifierKind[]): Phrase {
  const settings = kinds.map((kind) => columnSetting(columns, column, kind));
  return joinPhrases(settings, ' or ');
}

/** Returns the question for the column. `isOurs`: true if an earlier run added columns. */
export function question(seen: Facts, decision: Decision, isOurs: boolean): ConfigError {
  const { doubt } = decision;
  // If nothing is likely, a column named after a logo or a source is not worth a question.
  const others = decision.others.filter(({ evidence }) => doubt !== 'nothing' || !evidence.neg);
  const { columns, table, kind } = seen;
  const asked = kind === 'auto' ? null : kind;
  assertHeader(seen, table.columns);
  for (const each of asked !== null || others.length > 1 ? [] : table.columns) assertOneKind(columns, each);
  const isNothing = doubt === 'nothing' && others.length === 0;
  const read = findCandidates(table).map(({ column }) => column);
  const isNew = ({ column, evidence }: Candidate) => !evidence.neg && !read.includes(column);
  const named = scored(findByName(table, kind)).filter(isNew);
  const shown = isNothing ? named.slice(0, 1) : others.slice(0, MOST_CANDIDATES);
  const label = ({ column }: MeasuredColumn) => columnLabel(columns, column);
  const said = shown.map((each) => `${label(each.column)} as ${each.kind} (${evidenceInWords(each)})`);
  const listed = firstOf(table.columns.slice(0, MOST_SHOWN + 1).map(label), MOST_SHOWN);
  const what = DOUBTS[doubt ?? 'nothing'] + (isNothing && asked !== null ? ` of kind ${asked}` : '');
  return inDoubt(what, said.join('; ') || listed, whatToDo(seen, doubt, shown, isOurs), isNothing);
}

function whatToDo({ columns, kind }: Facts, doubt: Doubt | null, shown: readonly Scored[], isOurs: boolean) {
  const [first] = shown;
  const isAny = kind === null || kind === 'auto';
  if (first === undefined || !isOffered(first)) {
    const named = { choose: 'column', example: `NAME:${isAny ? 'KIND' : kind}` };
    const naming = phrase`name the column that holds them with ${named} (${KINDS})`;
    if (isAny) return phrase`${isOurs ? 'correct its rows' : `${NAMES}: ${ADD_COLUMN}`}, or ${naming}`;
    return phrase`${{ unset: 'kind' }} to detect the kind from the values, or name the column with ${named}`;
  }
  const settingOf = (each: Candidate) => columnSetting(columns, each.column.column, kind ?? each.kind);
  if (doubt === 'kind') return phrase`choose one: ${asEach(columns, first.column.column, SYMBOL_KINDS)}`;
  const settings = shown.map(settingOf);
  if (settings.length < 2 || (doubt !== 'several' && doubt !== 'parties'))
    return phrase`use ${settingOf(first)} if that is right (${KINDS})`;
  const together = { set: { column: settings.map(({ set }) => set.column) } };
  return phrase`choose one: ${joinPhrases(settings, ' or ')}; or use later ones as fallbacks: ${together}`;
}

/** True if the user may mean it: probable or named so, with fitting values or no values at all. */
function isOffered({ score, evidence, fitting, column }: Scored): boolean {
  const isNamed = (evidence.head ?? 0) > 0 && !evidence.neg && !evidence.otherCode;
  return (isNamed || score > LEAST_NAMED) && (fitting.length > 0 || column.filled.length === 0);
}

/** Throws column-doubtful for a column of several kinds, unless most values are of `likely`. */
export function assertOneKind(
  columns: readonly string[],
  { column, header, filled }: MeasuredColumn,
  likely: IdentifierKind | null = null,
): void {
  const identifiers = filled.flatMap(({ text }) => {
    const read = identifyCell(text, 'auto');
    return read.type === 'identifier' ? [read.identifier] : [];
  });
  // A host with a short suffix may also be a ticker with its exchange.
  const isOpen = ({ kind, value }: Identifier) => kind === 'auto' && value.includes('.');
  const isLikely = (each: Identifier) => each.kind === likely || isOpen(each);
  const isOfOne = likely !== null && shareOf(identifiers, isLikely) >= MOSTLY;
  const different = new Set(filled.map(({ text }) => text)).size;
  const areFew = identifiers.length < filled.length * MOSTLY || different < filled.length * LEAST_VARIETY;
  const wordOf = ({ kind, value }: Identifier) =>
    kind !== 'auto' ? KIND_WORDS[kind] : /[a-z]/.test(value) ? KIND_WORDS.domain : 'symbols';
  const kinds = [...new Set(identifiers.map(wordOf))];
  if (header.otherPage > 0 || areFew || isOfOne || kinds.length < 2) return;
  const byShape = phrase`use ${columnSetting(columns, column, 'auto')}, which reads each value by its shape`;
  const todo =
    likely === null ? byShape : phrase`${byShape}, or ${asEach(columns, column, [likely])} for those alone`;
  const what = `this column has ${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)}`;
  throw inDoubt(what, columnLabel(columns, column), todo);
}

function isIdentifierName(text: string): boolean {
  const { web, mail, isin, id, symbol } = readHeader(text);
  return text.length <= LONGEST_NAME && Math.max(web, mail, isin, id, symbol) >= PLAIN;
}
const LONGEST_NAME = 30;

/** Throws column-doubtful for a title above the names, and a header that is the first symbol. */
export function assertHeader({ columns, lines, table, kind }: Facts, open: readonly MeasuredColumn[]): void {
  for (let row = 0; row < FIRST_ROWS; row += 1) {
    const textOf = ({ cells: { [row]: cell } }: MeasuredColumn) => (cell?.web === null ? cell.text : '');
    const filled = table.columns.filter(({ cells }) => cells[row] != null);
    const isNamed = shareOf(filled, (each) => isHeaderLike(textOf(each))) >= 0.5;
    const isBelow = (each: MeasuredColumn) => isIdentifierName(textOf(each)) && !isIdentifierName(each.name);
    const found = isNamed ? open.find(isBelow) : undefined;
    if (found === undefined) continue;
    const subject = `"${textOf(found)}" in column ${columnLabel(columns, found.column)}`;
    const line = lines[row];
    const skip =
      line === undefined ? { choose: 'skipLines', example: 'N' } : { set: { skipLines: line - 1 } };
    const todo = phrase`if so, skip the lines above it with ${skip}`;
    throw inDoubt('the names of the columns seem to be below a title', subject, todo);
  }
  if (columns.some(isHeaderLike) || (kind !== null && CHECKED_KINDS.has(kind))) return;
  // Unlike symbols, names of columns are mostly in lower case; a single column shows its habit.
  const isLower = (text: string) => text === text.toLowerCase();
  const first = open.find((column) => {
    const { name, filled } = column;
    const isSymbol = readCell(name)?.isSymbol === true && (/[a-z]/i.test(name) || isListed(name));
    const [below] = findCandidates({ ...table, columns: [column] }, 'ticker');
    const { valid = 0, closed = 0, codes = 0 } = below?.evidence ?? {};
    if (!isSymbol || valid < MOSTLY || closed >= MOSTLY || codes > 1 - MOSTLY) return false;
    if (new Set(filled.map(({ text }) => text)).size < filled.length * LEAST_VARIETY) return false;
    const isUsual = columns.length === 1 && filled.every(({ text }) => isLower(text));
    return !isLower(name) || isListed(name) || isUsual;
  });
  if (first === undefined) return;
  const asked = kind === null ? SYMBOL_KINDS : [kind];
  const asData: Remedy[] = asked.map((each) => ({ set: { header: false, kind: each } }));
  const asHeader = asEach(columns, first.column, asked);
  throw inDoubt(
    'the first line looks like a symbol, not like a header',
    columnLabel(columns, first.column),
    phrase`use ${joinPhrases(asData, ' or ')} if it is data, or ${asHeader} if it is the header`,
  );
}

/** Returns the error for a requested column whose kind is unclear. */
export function kindUnclear(columns: readonly string[], { column, header }: MeasuredColumn) {
  const { name } = columnRequest(columns, column, 'auto');
  const withKind = { choose: 'column', example: `${name}:KIND` };
  const what = 'neither name nor values show which kind of identifier this column holds';
  const asSymbol = phrase`use ${asEach(columns, column, SYMBOL_KINDS)}`;
  const another = phrase`name another column, or give the kind: ${withKind} (${KINDS}); ${NAMES}`;
  return inDoubt(what, columnLabel(columns, column), header.symbol > 0 ? asSymbol : another);
}
