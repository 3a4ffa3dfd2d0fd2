/**
 * Weighs names and sampled values: what each column most probably holds, and how surely. Pure;
 * `choose-columns.ts` decides whether the best reading is good enough to spend money on.
 *
 * score = (0.4 x how well the name fits + 0.6 x share of values that fit) x share of rows that are
 * filled, times 0.7 for tickers and symbols, which no check can confirm.
 */
import type { IdentifierKind } from '../core/identifier.js';
import { readIsin } from '../core/isin.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { type HeaderMeaning, readHeader } from './header-words.js';
import { isCertainBrandId, isPossibleBrandId } from './identify-cell.js';
import { identifyDomain } from './identify-domain.js';

export interface ColumnReading {
  readonly column: number;
  /** null: a ticker or a crypto symbol, nothing tells which. */
  readonly kind: IdentifierKind | null;
  readonly isMail: boolean;
  /** 0 to 1. */
  readonly score: number;
  /** Sampled values that fit. */
  readonly fitting: number;
  /** "its name and 98 of 100 sampled values say so", for people. */
  readonly because: string;
}

export interface JudgeInput {
  readonly columns: readonly string[];
  readonly sample: readonly (readonly string[])[];
  /** What the other columns say about a column named `symbol`. */
  readonly context: 'ticker' | 'crypto' | null;
  /** `--kind`: readings of other kinds do not count, and the values need no name beside them. */
  readonly kind: IdentifierKind | null;
}

/** Without a fitting name this share of the values must fit. */
const SHARE_ALONE = 0.8;
/** With one: what does not fit costs nothing, since it is recognised locally as invalid. */
const SHARE_WITH_NAME = 0.2;
/** A column that the user named needs less to show its kind. */
const SHARE_WHEN_NAMED = 0.5;
const SYMBOL_WEIGHT = 0.7;
/** A nearly empty column still counts a little. */
const LEAST_FILL = 0.05;

/**
 * What one column holds, or null when neither name nor values say it. `isNamed`: the user pointed
 * at this column; only then, or when there is no row at all, a name alone says something.
 */
export function judgeColumn(input: JudgeInput, column: number, isNamed: boolean): ColumnReading | null {
  const header = readHeader(input.columns[column] ?? '');
  const sample = sampleColumn(input.sample, column);
  if (sample.filled === 0 && sample.rows > 0 && !isNamed) return null;
  const alone = isNamed ? SHARE_WHEN_NAMED : SHARE_ALONE;
  const isPassedOver = !isNamed && (header.isForeign || sample.isOneSite);
  const readings = [
    readChecked('isin', 'isin', sample.isins, alone),
    readChecked('id', 'id', sample.certainIds, alone),
    header.meaning === 'id' || input.kind === 'id'
      ? readChecked('id', 'id', sample.possibleIds, SHARE_ALONE)
      : null,
    isPassedOver ? null : readDomain(),
    readSymbol(),
  ];
  return readings.reduce(
    (best, reading) => ((reading?.score ?? 0) > (best?.score ?? 0) ? reading : best),
    null,
  );

  function readChecked(
    kind: 'isin' | 'id',
    meaning: string,
    fitting: number,
    least: number,
  ): ColumnReading | null {
    const isByName = header.meaning === meaning;
    const isEnough =
      sample.filled === 0 ? isByName : fitting / sample.filled >= (isByName ? SHARE_WITH_NAME : least);
    return isEnough ? reading(kind, fitting, isByName) : null;
  }

  function readDomain(): ColumnReading | null {
    const isByName = header.meaning === 'domain' || header.meaning === 'email';
    if (!isByName && header.meaning !== null) return null;
    // In capitals with a short suffix, only the name (or --kind) makes it a domain rather than a
    // ticker.
    const isSettled = isByName || input.kind === 'domain';
    const fitting = sample.domains + sample.emails + (isSettled ? sample.tickerOrDomains : 0);
    const isEnough =
      sample.filled === 0 ? isByName : fitting / sample.filled >= (isByName ? SHARE_WITH_NAME : alone);
    const isMail = sample.filled === 0 ? header.meaning === 'email' : sample.emails * 2 > fitting;
    return isEnough ? { ...reading('domain', fitting, isByName), isMail } : null;
  }

  function readSymbol(): ColumnReading | null {
    const { meaning } = header;
    const isSymbol = meaning === 'ticker' || meaning === 'crypto' || meaning === 'symbol';
    const wanted = input.kind === 'ticker' || input.kind === 'crypto' ? input.kind : null;
    if (!isSymbol && wanted === null) return null;
    const isEnough = sample.filled === 0 ? isSymbol : sample.symbols / sample.filled >= alone;
    if (!isEnough) return null;
    const isByName = isSymbol && (wanted === null || meaning === wanted || meaning === 'symbol');
    const read = reading(wanted ?? symbolKind(meaning), sample.symbols, isByName);
    return { ...read, score: read.score * SYMBOL_WEIGHT };
  }

  /**
   * Lists of coins call their symbols tickers too, so "ticker" beside words of that world is a
   * doubt.
   */
  function symbolKind(meaning: HeaderMeaning | null): 'ticker' | 'crypto' | null {
    if (meaning === 'crypto') return 'crypto';
    if (meaning === 'ticker') return input.context === 'crypto' ? null : 'ticker';
    return input.context;
  }

  function reading(kind: IdentifierKind | null, fitting: number, isByName: boolean): ColumnReading {
    const share = sample.filled === 0 ? 0 : fitting / sample.filled;
    const fill = sample.rows === 0 ? 1 : Math.max(LEAST_FILL, sample.filled / sample.rows);
    const score = (0.4 * (isByName ? header.weight : 0) + 0.6 * share) * fill;
    return { column, kind, isMail: false, score, fitting, because: explain(isByName, fitting, sample) };
  }
}

function explain(isByName: boolean, fitting: number, { filled }: ColumnSample): string {
  const values = `${fitting} of ${filled} sampled values`;
  if (filled === 0) return 'its name says so (no sampled value)';
  return isByName ? `its name and ${values} say so` : `${values} say so`;
}

/**
 * The readings of all columns but `passedOver`, of the wanted kind if there is one, the surest
 * first.
 */
export function judgeColumns(input: JudgeInput, passedOver: readonly number[]): ColumnReading[] {
  return input.columns
    .flatMap((_, column) => (passedOver.includes(column) ? [] : [judgeColumn(input, column, false)]))
    .filter((reading): reading is ColumnReading => reading !== null)
    .filter(({ kind }) => input.kind === null || input.kind === 'auto' || kind === input.kind)
    .sort((one, other) => other.score - one.score || one.column - other.column);
}

/** Enough for a choice; more would only cost time. */
const MOST_ROWS = 1000;
/** `SAP.DE`, `7203.T`: a ticker with its exchange or a domain in capitals. */
const TICKER_OR_DOMAIN = /^[A-Z0-9]{1,6}\.[A-Z]{1,2}$/;
/**
 * Tickers and symbols as files hold them: no sentence. With its exchange one may be long
 * (`BSANTANDER.SN`, `OTCMKTS:NSRGY`), and a share class may stand behind a blank (`BRK B`). In
 * lower case only very short ones, since longer ones are names (`bitcoin`).
 */
const SYMBOL_LIKE =
  /^[$^]?[A-Z0-9][A-Z0-9.^&/$=:+*!_~-]{0,23}$|^[A-Z0-9]{1,6} [A-Z0-9]{1,2}$|^[$]?[a-z0-9]{1,5}$/;

/** How many sampled values ... */
export interface ColumnSample {
  readonly rows: number;
  /** ... are neither blank nor a placeholder. */
  readonly filled: number;
  /** ... are domains or web addresses and nothing else. */
  readonly domains: number;
  /** ... are domains by their letters and tickers by their looks. */
  readonly tickerOrDomains: number;
  /** ... are e-mail addresses. */
  readonly emails: number;
  readonly isins: number;
  readonly certainIds: number;
  readonly possibleIds: number;
  /** ... look like tickers or crypto symbols, as many short words do. An ISIN is none. */
  readonly symbols: number;
  /** Many different addresses, all at one domain: pages of one site, such as profiles. */
  readonly isOneSite: boolean;
}

/** Whether a cleaned cell is written as tickers and crypto symbols are. */
export function isSymbolLike(cleaned: string): boolean {
  return SYMBOL_LIKE.test(cleaned);
}

/** Whether a cell of one of the first rows holds something, whatever it is. */
export function isFilled(cell: string): boolean {
  return skipBlank(cleanCell(cell), 'domain') === null;
}

/** The rows that a choice of columns looks at. */
export function sampledRows<T>(rows: readonly T[]): readonly T[] {
  return rows.slice(0, MOST_ROWS);
}

export function sampleColumn(rows: readonly (readonly string[])[], column: number): ColumnSample {
  const counts = {
    filled: 0,
    domains: 0,
    tickerOrDomains: 0,
    emails: 0,
    isins: 0,
    certainIds: 0,
    possibleIds: 0,
    symbols: 0,
  };
  const texts = new Set<string>();
  const sites = new Set<string>();
  const sampled = Math.min(rows.length, MOST_ROWS);
  for (let index = 0; index < sampled; index += 1) {
    const cleaned = cleanCell(rows[index]?.[column] ?? '');
    if (skipBlank(cleaned, 'domain') !== null) continue;
    counts.filled += 1;
    if (readIsin(cleaned) !== null) counts.isins += 1;
    else if (isSymbolLike(cleaned)) counts.symbols += 1;
    if (isCertainBrandId(cleaned)) counts.certainIds += 1;
    if (isPossibleBrandId(cleaned)) counts.possibleIds += 1;
    if (!cleaned.includes('.')) continue;
    const domain = identifyDomain(cleaned);
    if (domain.type === 'invalid') continue;
    texts.add(cleaned);
    sites.add(domain.type === 'identifier' ? domain.identifier.value : '');
    if (cleaned.includes('@') && !cleaned.includes('/')) counts.emails += 1;
    else if (TICKER_OR_DOMAIN.test(cleaned)) counts.tickerOrDomains += 1;
    else counts.domains += 1;
  }
  return { rows: sampled, ...counts, isOneSite: texts.size >= 5 && sites.size === 1 && counts.emails === 0 };
}
