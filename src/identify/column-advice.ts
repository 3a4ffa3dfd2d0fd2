/**
 * Messages about the choice of columns: how full the chosen ones are, which column would fill their
 * gaps, and what to write when none could be chosen. `choose-columns.ts` decides.
 */
import { NeverStartError } from '../core/errors.js';
import { IDENTIFIER_KINDS, type IdentifierKind } from '../core/identifier.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { type ColumnChoice, columnFlag, columnLabel } from './find-column.js';
import { type HeaderMeaning, isHeaderLike, readHeader } from './header-words.js';
import { identifyDomain } from './identify-domain.js';
import {
  type ColumnReading,
  type ColumnSample,
  isFilled,
  isSymbolLike,
  type JudgeInput,
  judgeColumn,
  sampleColumn,
  sampledRows,
} from './judge-columns.js';

/** Columns that a message lists at most. */
const MOST_SHOWN = 20;
/** Columns that a message advises to read one after the other, at most. */
const MOST_TOGETHER = 3;
/** So many of a column's values must be written like symbols before it is advised to be read so. */
const SYMBOL_SHARE = 0.8;
/** Columns of few different values are classes (countries, currencies), not identifiers. */
const LEAST_VARIETY = 0.5;
const KINDS = `kinds: ${IDENTIFIER_KINDS.join(', ')}`;
const NAMES = 'names of companies cannot be looked up';
const SYMBOL_KINDS = ['ticker', 'crypto'] as const;

/**
 * What remains blank in the chosen columns, and the column that would fill most of it. Empty when
 * nothing is blank.
 */
export function explainBlanks(
  { columns, sample }: JudgeInput,
  choices: readonly Pick<ColumnChoice, 'column' | 'kind'>[],
  others: readonly ColumnReading[],
): string {
  const rows = sampledRows(sample);
  const blank = rows.filter((row) => !choices.some(({ column }) => isFilled(row[column] ?? '')));
  if (blank.length === 0) return '';
  const said = `; ${blank.length} of ${rows.length} sampled rows ${blank.length === 1 ? 'is' : 'are'} blank there`;
  const fallbacks = others
    .flatMap(({ column, kind }) => (kind === null ? [] : [{ column, kind }]))
    .map((other) => ({ ...other, fills: blank.filter((row) => isFilled(row[other.column] ?? '')).length }))
    .sort((one, other) => other.fills - one.fills);
  const [best] = fallbacks;
  if (best === undefined || best.fills === 0) return said;
  const flags = [...choices, best].map(({ column, kind }) => columnFlag(columns, column, kind));
  return `${said}, and ${columnLabel(columns, best.column)} has a value in ${best.fills} of them: ${flags.join(' ')} falls back on it`;
}

/**
 * Nothing was read surely enough. `open`: the columns that could be named. `isOurs`: an earlier run
 * wrote the file, so that some column of it was read before, and what is wrong with it are its
 * values.
 */
export function nothingClear(judge: JudgeInput, open: readonly number[], isOurs: boolean): NeverStartError {
  const { columns, kind } = judge;
  const headerless = findHeaderless(judge, open);
  if (headerless !== null) return headerless;
  const wanted = kind === null || kind === 'auto' ? 'identifiers' : `identifiers of kind ${kind}`;
  const labels = open.slice(0, MOST_SHOWN).map((column) => columnLabel(columns, column));
  const { but, todo } = adviceFor(judge, open, isOurs);
  return new NeverStartError({
    code: 'column-doubtful',
    what: `no column clearly holds ${wanted}${but}`,
    subject: labels.join(', ') + (open.length > MOST_SHOWN ? ' ...' : ''),
    todo,
  });
}

function adviceFor(
  judge: JudgeInput,
  open: readonly number[],
  isOurs: boolean,
): { but: string; todo: string } {
  const { columns, kind } = judge;
  const likely = likelyColumn(judge, open);
  const but = (column: number, doubt: string | null) =>
    doubt === null ? '' : ` (${columnLabel(columns, column)} might, but ${doubt})`;
  if (likely !== null && (isOurs || !likely.isHopeless)) {
    const flag = columnFlag(columns, likely.column, kind ?? likely.kind);
    const correct = likely.isHopeless ? 'correct its values, or ' : '';
    return { but: but(likely.column, likely.doubt), todo: `${correct}name it: ${flag} (${KINDS})` };
  }
  const isAnyKind = kind === null || kind === 'auto';
  const symbols = isAnyKind && likely === null ? findSymbols(judge, open) : null;
  if (symbols !== null) {
    const flags = SYMBOL_KINDS.map((each) => columnFlag(columns, symbols, each));
    return {
      but: but(symbols, 'nothing tells tickers from coins or from other codes'),
      todo: `name it: ${flags.join(' or ')} (${KINDS})`,
    };
  }
  if (isOurs && isAnyKind) {
    return {
      but: '',
      todo: `correct its rows, or name the column that the run which wrote this file read, with --column NAME:KIND (${KINDS})`,
    };
  }
  return {
    but: likely === null ? '' : but(likely.column, likely.doubt),
    todo: isAnyKind
      ? `${NAMES}: add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids, or name the one that holds them with --column NAME:KIND (${KINDS})`
      : `leave --kind ${kind} out to have the kind judged by the values, or name the column with --column NAME:${kind}`,
  };
}

/** The column whose values are written like symbols and differ most, when there is one. */
function findSymbols(judge: JudgeInput, open: readonly number[]): number | null {
  const found = open.flatMap((column) => {
    const variety = varietyOfSymbols(judge, column);
    return variety === null ? [] : [{ column, variety }];
  });
  return found.sort((one, other) => other.variety - one.variety)[0]?.column ?? null;
}

/**
 * How much the values of a column of symbols differ, 0 to 1; null when it seems to hold something
 * else: numbers, words, classes.
 */
function varietyOfSymbols({ sample }: JudgeInput, column: number): number | null {
  const cells = sampledRows(sample)
    .map((row) => cleanCell(row[column] ?? ''))
    .filter(isFilled);
  const symbols = cells.filter((cell) => isSymbolLike(cell) && /[a-z]/i.test(cell));
  if (cells.length === 0 || symbols.length < cells.length * SYMBOL_SHARE) return null;
  const variety = new Set(symbols).size / cells.length;
  return variety < LEAST_VARIETY ? null : variety;
}

/**
 * A list of symbols whose first line was taken for its header: the first symbol would be lost.
 * null: the header reads like one, or the values are no symbols.
 */
export function findHeaderless(judge: JudgeInput, open: readonly number[]): NeverStartError | null {
  const { columns, sample, kind } = judge;
  if (columns.some(isHeaderLike)) return null;
  if (kind === 'domain' || kind === 'isin' || kind === 'id') return null;
  const asked: readonly IdentifierKind[] = kind === null ? SYMBOL_KINDS : [kind];
  // Names of columns are mostly in lower case, symbols are not; in a single column the values show
  // what is usual.
  const isLower = (text: string) => text === text.toLowerCase();
  const column = open.find((each) => {
    const name = cleanCell(columns[each] ?? '');
    if (!isSymbolLike(name) || !/[a-z]/i.test(name) || varietyOfSymbols(judge, each) === null) return false;
    return !isLower(name) || (columns.length === 1 && sample.every((row) => isLower(row[each] ?? '')));
  });
  if (column === undefined) return null;
  const asData = asked.map((each) => `--no-header --kind ${each}`);
  const asHeader = asked.map((each) => columnFlag(columns, column, each));
  return new NeverStartError({
    code: 'column-doubtful',
    what: 'the first line looks like a symbol of the list, not like its header',
    subject: columnLabel(columns, column),
    todo: `say ${asData.join(' or ')} if it is one, or ${asHeader.join(' or ')} if it is the header`,
  });
}

/** Several columns fit alike, or one whose kind nothing tells. */
export function doubtful(
  { columns, sample, kind }: JudgeInput,
  rivals: readonly ColumnReading[],
): NeverStartError {
  const kindsOf = (read: IdentifierKind | null) => (read === null ? SYMBOL_KINDS : [kind ?? read]);
  const flags = rivals.flatMap(({ column, kind: read }) =>
    kindsOf(read).map((each) => columnFlag(columns, column, each)),
  );
  if (rivals.length === 1) {
    return new NeverStartError({
      code: 'column-doubtful',
      what: 'a symbol may be a ticker or a coin',
      subject: rivals.map(({ column }) => columnLabel(columns, column)).join(', '),
      todo: `say which: ${flags.join(' or ')}`,
    });
  }
  const rows = sampledRows(sample).length;
  const fullest = [...rivals].sort((one, other) => other.fitting - one.fitting).slice(0, MOST_TOGETHER);
  const together = fullest.flatMap(({ column, kind: read }) =>
    read === null ? [] : [columnFlag(columns, column, kind ?? read)],
  );
  const all = together.length === 2 ? 'both' : 'all';
  return new NeverStartError({
    code: 'column-doubtful',
    what: 'more than one column could hold the identifiers',
    subject: rivals
      .map(({ column, fitting }) => `${columnLabel(columns, column)} (fits in ${fitting} of ${rows} rows)`)
      .join(', '),
    todo:
      `say which: ${flags.join(' or ')}` +
      (together.length < 2
        ? ''
        : `; or ${all}, a later one where those before it are blank: ${together.join(' ')}`),
  });
}

/**
 * A column was named without its kind, and nothing tells it. `isSymbol`: but that it holds tickers
 * or coins.
 */
export function kindUnclear({ columns }: JudgeInput, column: number, isSymbol: boolean): NeverStartError {
  const flags = SYMBOL_KINDS.map((kind) => columnFlag(columns, column, kind));
  const anyKind = columnFlag(columns, column, 'auto').replace(/:auto('?)$/, ':KIND$1');
  return new NeverStartError({
    code: 'column-doubtful',
    what: 'neither name nor values say which kind of identifier this column holds',
    subject: columnLabel(columns, column),
    todo: isSymbol
      ? `say it: ${flags.join(' or ')}`
      : `name another column, or say the kind: ${anyKind} (${KINDS}); ${NAMES}`,
  });
}

interface LikelyColumn {
  readonly column: number;
  readonly kind: IdentifierKind;
  /** Why it was not taken unasked, for people, without its values; null when that has no words. */
  readonly doubt: string | null;
  /** Not one sampled value is of the kind: naming the column would help nobody. */
  readonly isHopeless: boolean;
}

const KIND_OF: Readonly<Record<HeaderMeaning, IdentifierKind>> = {
  domain: 'domain',
  email: 'domain',
  isin: 'isin',
  ticker: 'ticker',
  symbol: 'ticker',
  crypto: 'crypto',
  id: 'id',
};

/**
 * `open`: the columns that may be suggested. By values and name together, else by name; null when
 * neither says anything.
 */
function likelyColumn(judge: JudgeInput, open: readonly number[]): LikelyColumn | null {
  const wanted = judge.kind === 'auto' ? null : judge.kind;
  const candidates = open.flatMap((column) => {
    const header = readHeader(judge.columns[column] ?? '');
    if (header.isForeign) return [];
    const reading = judgeColumn(judge, column, true);
    const named = header.meaning === null ? null : KIND_OF[header.meaning];
    const kind = reading?.kind ?? named;
    if (kind === null || (wanted !== null && kind !== wanted)) return [];
    return [{ column, kind, likelihood: (reading?.score ?? 0) + header.weight }];
  });
  const best = candidates.sort((one, other) => other.likelihood - one.likelihood)[0];
  return best === undefined ? null : { ...best, ...doubtOf(judge, best.column, best.kind) };
}

const WORDS: Readonly<Record<IdentifierKind, string>> = {
  domain: 'domains',
  isin: 'ISINs',
  ticker: 'written like tickers',
  crypto: 'written like crypto symbols',
  id: 'brand ids',
  auto: 'identifiers',
};

function doubtOf(
  { sample }: JudgeInput,
  column: number,
  kind: IdentifierKind,
): Pick<LikelyColumn, 'doubt' | 'isHopeless'> {
  const counts = sampleColumn(sample, column);
  const { isOneSite, rows, filled } = counts;
  if (filled === 0) {
    return { doubt: rows > 0 ? 'none of its sampled cells holds a value' : null, isHopeless: false };
  }
  if (kind === 'domain' && isOneSite) {
    return { doubt: 'its sampled values all belong to one and the same domain', isHopeless: false };
  }
  const fitting = fittingOf(counts, kind);
  const example = kind === 'domain' ? sample.map((row) => firstFault(row[column] ?? '')).find(Boolean) : null;
  const others = example ? `; others: ${example}` : '';
  return {
    doubt: `${fitting} of its ${filled} sampled values are ${WORDS[kind]}${others}`,
    isHopeless: fitting === 0,
  };
}

function fittingOf(counts: ColumnSample, kind: IdentifierKind): number {
  switch (kind) {
    case 'domain':
      return counts.domains + counts.emails + counts.tickerOrDomains;
    case 'isin':
      return counts.isins;
    case 'id':
      return counts.possibleIds;
    default:
      return counts.symbols;
  }
}

function firstFault(cell: string): string | null {
  const cleaned = cleanCell(cell);
  if (skipBlank(cleaned, 'domain') !== null) return null;
  const read = identifyDomain(cleaned);
  return read.type === 'invalid' ? read.reason : null;
}
