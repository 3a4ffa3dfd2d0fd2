/**
 * Messages about the choice of columns: how full the chosen ones are, which column would fill their
 * gaps, and what to write when none could be chosen. `choose-columns.ts` decides.
 */
import { NeverStartError } from '../../core/errors.js';
import { IDENTIFIER_KINDS, type IdentifierKind, KIND_WORDS } from '../../core/identifier.js';
import { joinPhrases, type Phrase, phrase, type Remedy } from '../../core/phrase.js';
import { sayRowReason } from '../../core/row-reason.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { type ColumnChoice, columnLabel, columnRequest, columnSetting } from './find-column.js';
import { isHeaderLike, isNeverSymbol, kindOf, readHeader } from './header-words.js';
import { CHECKED_KINDS, identifyCell } from './identify-cell.js';
import {
  type ColumnReading,
  isFilled,
  isSymbolLike,
  type JudgeInput,
  judgeColumn,
  sampleColumn,
} from './judge-columns.js';

/** Columns that a message lists at most. */
const MOST_SHOWN = 20;
/** Columns that are read one after the other without being asked for, at most. */
export const MOST_TOGETHER = 3;
/** So many of a column's values must be written like what it is advised to be read as. */
const ADVISED_SHARE = 0.8;
/** Without a letter, or with a time or a serial number (`INV-2024-001`), but for `1332.T`. */
const CODE = /^[^a-z]*$|\d:\d|^(?!\d{3,6}\.[a-z]+$).*(?:\d{3}|\d[^a-z]\d)/i;
/** Columns of few different values are classes (countries, currencies), not identifiers. */
const LEAST_VARIETY = 0.7;
/** Not `auto`: where no value shows its kind, it would look up nothing. */
const KINDS = `kinds: ${IDENTIFIER_KINDS.filter((kind) => kind !== 'auto').join(', ')}`;
const NAMES = 'company names cannot be looked up';
const ADD_COLUMN = 'add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids';
const SYMBOL_KINDS = ['ticker', 'crypto'] as const;

function inDoubt(what: string, subject: string, todo: Phrase, hasNoIdentifiers = false) {
  return new NeverStartError({ code: 'column-doubtful', what, subject, todo, hasNoIdentifiers });
}

/** One column as each of the kinds. */
function asEach(columns: readonly string[], column: number, kinds: readonly IdentifierKind[]): Phrase {
  return joinPhrases(
    kinds.map((kind) => columnSetting(columns, column, kind)),
    ' or ',
  );
}

/** Several columns, later ones as fallbacks. */
function inTurn(columns: readonly { readonly set: { readonly column: string } }[]): Remedy {
  return { set: { column: columns.map(({ set }) => set.column) } };
}

/** The blank rows in the chosen columns, and the column that would fill most of them. */
export function explainBlanks(
  { columns, sample }: JudgeInput,
  choices: readonly Pick<ColumnChoice, 'column' | 'kind'>[],
  others: readonly ColumnReading[],
): Phrase {
  // In a column of tickers NA is one.
  const isBlank = (cell: string, kind: IdentifierKind) => skipBlank(cleanCell(cell), kind) !== null;
  const blank = sample.filter((row) => choices.every(({ column, kind }) => isBlank(row[column] ?? '', kind)));
  if (blank.length === 0) return '';
  const blankRows =
    `; ${blank.length} of ${sample.length} sampled rows ${blank.length === 1 ? 'is' : 'are'} blank ` +
    'there';
  const [best] = others
    .flatMap(({ column, kind }) => (kind === null ? [] : [{ column, kind }]))
    .map((other) => ({ ...other, fills: blank.filter((row) => isFilled(row[other.column] ?? '')).length }))
    .sort((one, other) => other.fills - one.fills);
  if (best === undefined || best.fills === 0) return blankRows;
  const together = [...choices, best].map(({ column, kind }) => columnSetting(columns, column, kind));
  return phrase`${blankRows}, and ${columnLabel(columns, best.column)} has a value in ${
    best.fills
  } of them: ${inTurn(together)} adds it as a fallback`;
}

/**
 * Nothing was read surely enough. `open`: the columns that could be named. `isOurs`: an earlier run
 * wrote the file, so that some column was read before, and its values are what is wrong.
 */
export function nothingClear(judge: JudgeInput, open: readonly number[], isOurs: boolean): NeverStartError {
  assertHeader(judge, open);
  const { columns, kind } = judge;
  const wanted = kind === null || kind === 'auto' ? 'identifiers' : `identifiers of kind ${kind}`;
  const labels = open.slice(0, MOST_SHOWN).map((column) => columnLabel(columns, column));
  const subject = labels.join(', ') + (open.length > MOST_SHOWN ? ' ...' : '');
  const { but, todo } = adviceFor(judge, open, isOurs);
  return inDoubt(`no column clearly holds ${wanted}${but}`, subject, todo, but === '');
}

function adviceFor(judge: JudgeInput, open: readonly number[], isOurs: boolean) {
  const { columns, kind } = judge;
  const mixed = kind === null || kind === 'auto' ? findMixed(judge, open) : undefined;
  if (mixed !== undefined) {
    const but = ` (${columnLabel(columns, mixed.column)} has ${mixed.words})`;
    return { but, todo: readByShape(columns, mixed.column) };
  }
  const likely = likelyColumn(judge, open);
  const butFor = (column: number, doubt: string) => ` (${columnLabel(columns, column)} might, but ${doubt})`;
  const but = likely === null || likely.doubt === null ? '' : butFor(likely.column, likely.doubt);
  if (likely !== null && (isOurs || !likely.isHopeless)) {
    const setting = columnSetting(columns, likely.column, kind ?? likely.kind);
    const correct = likely.isHopeless ? 'correct its values, or ' : '';
    return { but, todo: phrase`${correct}use ${setting} (${KINDS})` };
  }
  const isAnyKind = kind === null || kind === 'auto';
  const symbols = isAnyKind && likely === null ? findSymbols(judge, open) : undefined;
  if (symbols !== undefined) {
    const todo = phrase`use ${asEach(columns, symbols, SYMBOL_KINDS)} (${KINDS})`;
    return { but: butFor(symbols, 'its values may be tickers, coins or other codes'), todo };
  }
  const naming = phrase`with ${{ choose: 'column', example: 'NAME:KIND' }} (${KINDS})`;
  if (isOurs && isAnyKind) {
    const todo = phrase`correct its rows, or name the column that the earlier run used, ${naming}`;
    return { but, todo };
  }
  return {
    but,
    todo: isAnyKind
      ? phrase`${NAMES}: ${ADD_COLUMN}, or name the column that holds them ${naming}`
      : phrase`${{ unset: 'kind' }} to detect the kind from the values, or name the column with ${{
          choose: 'column',
          example: `NAME:${kind}`,
        }}`,
  };
}

function readByShape(columns: readonly string[], column: number): Phrase {
  return phrase`use ${columnSetting(columns, column, 'auto')}, which reads each value by its shape`;
}

/** The first column of identifiers of several kinds, and what these are, when there is one. */
function findMixed(judge: JudgeInput, open: readonly number[]) {
  return open.flatMap((column) => {
    const words = kindsOfMixed(judge, column);
    return words === null ? [] : [{ column, words }];
  })[0];
}

/** "domains and symbols"; null for a column of one kind, `likely` for one, or of other values. */
export function kindsOfMixed(
  { columns, sample }: JudgeInput,
  column: number,
  likely: IdentifierKind | null = null,
): string | null {
  if (readHeader(columns[column] ?? '').isForeign) return null;
  const cells = sample.map((row) => cleanCell(row[column] ?? '')).filter(isFilled);
  const found = cells.flatMap((cell) => {
    const read = identifyCell(cell, 'auto');
    return read.type === 'identifier' ? [read.identifier] : [];
  });
  const isMostly = found.length >= cells.length * ADVISED_SHARE;
  // A host with a short suffix stays open; it may also be a ticker with its exchange.
  const fitting = found.filter(
    ({ kind, value }) => kind === likely || (kind === 'auto' && value.includes('.')),
  );
  const isOfOne = likely !== null && fitting.length >= found.length * ADVISED_SHARE;
  if (!isMostly || isOfOne || new Set(cells).size < cells.length * LEAST_VARIETY) return null;
  const words = found.map(({ kind, value }) => {
    if (kind === 'auto') return /[a-z]/.test(value) ? KIND_WORDS.domain : 'symbols';
    return KIND_WORDS[kind];
  });
  const different = [...new Set(words)];
  return different.length < 2 ? null : `${different.slice(0, -1).join(', ')} and ${different.at(-1)}`;
}

/** The column whose values are written like symbols and differ most, when there is one. */
function findSymbols(judge: JudgeInput, open: readonly number[]): number | undefined {
  return open
    .filter((column) => !isIndex(judge, column, open))
    .map((column) => ({ column, variety: varietyOfSymbols(judge, column) }))
    .filter(({ variety }) => variety > 0)
    .sort((one, other) => other.variety - one.variety)[0]?.column;
}

/** The index that a data frame writes as a column without a name, beside its values' own column. */
function isIndex({ columns, sample }: JudgeInput, column: number, open: readonly number[]): boolean {
  if (!/^(?:unnamed: \d+|index)?$/i.test((columns[column] ?? '').trim())) return false;
  return open.some((other) => other !== column && sample.every((row) => row[other] === row[column]));
}

/** How much the symbols of a column differ, up to 1; 0 for numbers, words, classes, codes. */
function varietyOfSymbols({ columns, sample }: JudgeInput, column: number): number {
  if (isNeverSymbol(columns[column] ?? '')) return 0;
  const cells = sample.map((row) => cleanCell(row[column] ?? '')).filter(isFilled);
  // Letters alone in pairs are countries and states.
  if (cells.every((cell) => /^\p{L}{2}$/u.test(cell))) return 0;
  const symbols = cells.filter((cell) => isSymbolLike(cell) && !CODE.test(cell));
  if (cells.length === 0 || symbols.length < cells.length * ADVISED_SHARE) return 0;
  const variety = new Set(symbols).size / cells.length;
  return variety < LEAST_VARIETY ? 0 : variety;
}

/** Throws column-doubtful where a header is the first symbol of a list, which would be lost. */
export function assertHeader(judge: JudgeInput, open: readonly number[]): void {
  const { columns, sample, kind } = judge;
  if (columns.some(isHeaderLike) || (kind !== null && CHECKED_KINDS.has(kind))) return;
  // Names of columns are mostly in lower case, symbols are not; in a single column the values show
  // what is usual.
  const isLower = (text: string) => text === text.toLowerCase();
  const column = open.find((each) => {
    const name = cleanCell(columns[each] ?? '');
    if (!isSymbolLike(name) || !/[a-z]/i.test(name) || varietyOfSymbols(judge, each) === 0) return false;
    return !isLower(name) || (columns.length === 1 && sample.every((row) => isLower(row[each] ?? '')));
  });
  if (column === undefined) return;
  const asked = kind === null ? SYMBOL_KINDS : [kind];
  const asData = asked.map((each) => ({ set: { header: false, kind: each } }));
  throw inDoubt(
    'the first line looks like a symbol, not like a header',
    columnLabel(columns, column),
    phrase`use ${joinPhrases(asData, ' or ')} if it is data, or ${asEach(
      columns,
      column,
      asked,
    )} if it is the header`,
  );
}

/** Several columns fit equally well, or the kind of the only one is unclear. */
export function doubtful(judge: JudgeInput, rivals: readonly ColumnReading[]): NeverStartError {
  const { columns, sample, kind } = judge;
  const each = rivals.map(({ column, kind: read }) =>
    asEach(columns, column, read === null ? SYMBOL_KINDS : [kind ?? read]),
  );
  const labels = rivals.map(({ column, fitting }) => {
    const label = columnLabel(columns, column);
    return rivals.length === 1 ? label : `${label} (${fitting} of ${sample.length} rows fit)`;
  });
  const one = phrase`choose one: ${joinPhrases(each, ' or ')}`;
  if (rivals.length === 1) return inDoubt('a symbol may be a ticker or a coin', labels.join(), one);
  const fullest = [...rivals].sort((one, other) => other.fitting - one.fitting).slice(0, MOST_TOGETHER);
  const together = fullest.flatMap(({ column, kind: read }) =>
    read === null ? [] : [columnSetting(columns, column, kind ?? read)],
  );
  const all = together.length === 2 ? 'both' : 'all';
  const ifBlank = phrase`${one}; or ${all}, with later columns as fallbacks: ${inTurn(together)}`;
  return inDoubt(
    'more than one column could hold the identifiers',
    labels.join(', '),
    together.length < 2 ? one : ifBlank,
  );
}

/**
 * The kind of a column named without one is unclear: `mixed`, the kinds of its values, of which
 * `likely` was read; else with `isSymbol` ticker or coin.
 */
export function kindUnclear(
  { columns }: Pick<JudgeInput, 'columns'>,
  column: number,
  seen: {
    readonly mixed: string | null;
    readonly likely: IdentifierKind | null;
    readonly isSymbol: boolean;
  },
): NeverStartError {
  const { mixed, likely, isSymbol } = seen;
  if (mixed !== null) {
    const byShape = readByShape(columns, column);
    const todo =
      likely === null ? byShape : phrase`${byShape}, or ${asEach(columns, column, [likely])} for those alone`;
    return inDoubt(`this column has ${mixed}`, columnLabel(columns, column), todo);
  }
  const { name } = columnRequest(columns, column, 'auto');
  const withKind = { choose: 'column', example: `${name}:KIND` };
  return inDoubt(
    'neither name nor values show which kind of identifier this column holds',
    columnLabel(columns, column),
    isSymbol
      ? phrase`use ${asEach(columns, column, SYMBOL_KINDS)}`
      : phrase`name another column, or give the kind: ${withKind} (${KINDS}); ${NAMES}`,
  );
}

/** By values and name together, else by name; null when neither says anything. */
function likelyColumn(judge: JudgeInput, open: readonly number[]) {
  const wanted = judge.kind === 'auto' ? null : judge.kind;
  const candidates = open.flatMap((column) => {
    const { isForeign, meaning, weight } = readHeader(judge.columns[column] ?? '');
    const reading = judgeColumn(judge, column, true);
    const kind = reading?.kind ?? (meaning === null ? null : kindOf(meaning));
    if (isForeign || kind === null || (wanted !== null && kind !== wanted)) return [];
    return [{ column, kind, likelihood: (reading?.score ?? 0) + weight }];
  });
  const [best] = candidates.sort((one, other) => other.likelihood - one.likelihood);
  return best === undefined ? null : { ...best, ...doubtOf(judge, best.column, best.kind) };
}

/**
 * Why a column was not taken unasked, for people, without its values; null when that has no words.
 * `isHopeless`: not one sampled value is of the kind, so naming the column would not help.
 */
function doubtOf({ sample }: JudgeInput, column: number, kind: IdentifierKind) {
  const counts = sampleColumn(sample, column);
  const { filled } = counts;
  if (filled === 0) {
    const doubt = sample.length > 0 ? 'all of its sampled cells are blank, or NA and the like' : null;
    return { doubt, isHopeless: false };
  }
  if (kind === 'domain' && counts.isOneSite) {
    return { doubt: 'all of its sampled values belong to one domain', isHopeless: false };
  }
  const fitting = {
    domain: counts.domains + counts.emails + counts.tickerOrDomains,
    isin: counts.isins,
    id: counts.possibleIds,
    ticker: counts.symbols,
    crypto: counts.symbols,
    auto: counts.symbols,
  }[kind];
  const words = `${kind === 'ticker' || kind === 'crypto' ? 'written like ' : ''}${KIND_WORDS[kind]}`;
  const [fault] = kind === 'domain' ? sample.flatMap((row) => faultOf(row[column] ?? '')) : [];
  const others = fault === undefined ? '' : `; others: ${fault}`;
  const doubt = `${fitting} of its ${filled} sampled values are ${words}${others}`;
  return { doubt, isHopeless: fitting === 0 };
}

function faultOf(cell: string): string[] {
  const read = identifyCell(cell, 'domain');
  return read.type === 'invalid' ? [sayRowReason(read.reason)] : [];
}
