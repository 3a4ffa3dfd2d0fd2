/**
 * Weighs names and sampled values: what each column most probably holds, and how surely. Pure;
 * `choose-columns.ts` decides whether the best reading is good enough to spend money on.
 *
 * score = (0.4 x how well the name fits + 0.6 x share of values that fit) x share of rows that are
 * filled, times 0.7 for tickers and symbols, which no check can confirm.
 */
import type { IdentifierKind } from '../../core/identifier.js';
import { readIsin } from '../../core/isin.js';
import { onceFor } from '../../core/lifecycle.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { type HeaderMeaning, isSecurityCode, readHeader } from './header-words.js';
import { isCertainBrandId, isPossibleBrandId } from './identify-cell.js';
import { identifyDomain } from './identify-domain.js';
import { coinOfMarket, isCurrency, KnownSymbols, nameShares, readBloomberg } from './known-symbols.js';

export interface ColumnReading {
  readonly column: number;
  /** null: a ticker or a crypto symbol, it is unclear which. */
  readonly kind: IdentifierKind | null;
  readonly isMail: boolean;
  /** How well the name fits, 0 to 1; 0 too when only the values do. */
  readonly weight: number;
  /** Whom the name puts the column down to (`vendor`); null: the company of the row. */
  readonly role: string | null;
  /** Share of the rows that have a value, 0 to 1. */
  readonly fill: number;
  /** Different registrable domains per value, 0 to 1. */
  readonly variety: number;
  /** Nearly each value is a page of its own rather than a site. */
  readonly isPages: boolean;
  /** Pages of a few sites, such as job boards. */
  readonly isFewSites: boolean;
  /** The same symbol in every row. */
  readonly isConstant: boolean;
  /** Coins with what they are traded against. */
  readonly areMarkets: boolean;
  /** 0 to 1. */
  readonly score: number;
  /** Sampled values that fit. */
  readonly fitting: number;
  /** "its name and 98 of 100 sampled values fit", for people. */
  readonly because: string;
}

export interface JudgeInput {
  readonly columns: readonly string[];
  /** Cells of some rows. */
  readonly sample: readonly (readonly string[])[];
  /** What the other columns say about a column named `symbol`. */
  readonly context: 'ticker' | 'crypto' | null;
  /** `--kind`: readings of other kinds do not count, and the values need no name beside them. */
  readonly kind: IdentifierKind | null;
  /** Of the input; it may say what its codes are. Absent: without a name. */
  readonly fileName?: string | undefined;
}

/** Without a fitting name this share of the values must fit. */
const SHARE_ALONE = 0.8;
/** With one: what does not fit costs nothing, since it is recognised locally as invalid. */
const SHARE_WITH_NAME = 0.2;
/** A column that the user named needs less to show its kind. */
const SHARE_WHEN_NAMED = 0.5;
/** So many tickers that can be nothing else show that the others of the column are tickers too. */
const LEAST_LISTED = 0.3;
/** Well-known symbols show what a column is though totals and notes stand below it. */
const SHARE_KNOWN = 0.6;
const SYMBOL_WEIGHT = 0.7;
/** A nearly empty column still counts a little. */
const LEAST_FILL = 0.05;

/** Of the columns and the file. */
const namesOf = onceFor(({ columns, fileName = '' }: JudgeInput) => [...columns, fileName]);

/**
 * What one column holds, or null when neither name nor values say it. `isNamed`: the user pointed
 * at this column; only then, or without any row, a name alone says something.
 */
export function judgeColumn(input: JudgeInput, column: number, isNamed: boolean): ColumnReading | null {
  const { meaning, weight, role, isForeign } = readHeader(input.columns[column] ?? '');
  const sample = sampleColumn(input.sample, column);
  const { filled, variety, isPages, isFewSites, isConstant, areMarkets } = sample;
  const rows = input.sample.length;
  const fill = rows === 0 ? 1 : Math.max(LEAST_FILL, filled / rows);
  if (filled === 0 && rows > 0 && !isNamed) return null;
  const alone = isNamed ? SHARE_WHEN_NAMED : SHARE_ALONE;
  const readings: ColumnReading[] = [];
  const leastOf = (isByName: boolean, least = alone) => (isByName ? SHARE_WITH_NAME : least);
  const read = (
    kind: ColumnReading['kind'],
    fitting: number,
    isByName: boolean,
    least = leastOf(isByName),
  ) => {
    const share = filled === 0 ? 0 : fitting / filled;
    const isSymbol = kind === 'ticker' || kind === 'crypto' || kind === null;
    const named = isByName ? weight : 0;
    const score = (0.4 * named + 0.6 * share) * fill * (isSymbol ? SYMBOL_WEIGHT : 1);
    const isMail = kind === 'domain' && (filled === 0 ? meaning === 'email' : sample.emails * 2 > fitting);
    const values = `${fitting} of ${filled} sampled values fit`;
    const because =
      filled === 0 ? 'its name fits (no sampled values)' : isByName ? `its name and ${values}` : values;
    const isEnough = filled === 0 || share >= least;
    if (!isEnough || score === 0) return;
    const looks = { fill, variety, isPages, isFewSites, isConstant, areMarkets };
    readings.push({ column, kind, isMail, weight: named, role, ...looks, score, fitting, because });
  };

  read('isin', sample.isins, meaning === 'isin');
  const isId = meaning === 'id';
  read('id', sample.certainIds, isId);
  if (isId || input.kind === 'id') read('id', sample.possibleIds, isId, leastOf(isId, SHARE_ALONE));

  const isWeb = meaning === 'domain' || meaning === 'email';
  // In capitals with a short suffix, only the name (or --kind) makes it a domain, not a ticker.
  const isSettled = isWeb || input.kind === 'domain';
  const domains = sample.domains + sample.emails + (isSettled ? sample.tickerOrDomains : 0);
  const isPassedOver = !isNamed && (isForeign || sample.isOneSite);
  if ((isWeb || meaning === null) && !isPassedOver) read('domain', domains, isWeb);

  const known = sample.known.kind(filled);
  const isCode =
    meaning === null &&
    isSecurityCode(input.columns[column] ?? '', namesOf(input), () => nameShares(input.sample));
  const isSymbol = isCode || meaning === 'ticker' || meaning === 'crypto' || meaning === 'symbol';
  const wanted = input.kind === 'ticker' || input.kind === 'crypto' ? input.kind : null;
  const surest = () => readings.sort((one, other) => other.score - one.score)[0] ?? null;
  if (sample.areCurrencies && !isNamed) return surest();
  const mayBeMarkets = isSymbol || wanted === 'crypto' || (meaning === null && !isForeign);
  if (areMarkets && mayBeMarkets && wanted !== 'ticker') read('crypto', sample.symbols, isSymbol, alone);
  else if (isSymbol || wanted !== null) {
    const isByName = isSymbol && (wanted === null || meaning === wanted || meaning === 'symbol');
    const context = input.context ?? known ?? (nameShares(input.sample) ? 'ticker' : null);
    const kind = isCode ? 'ticker' : (symbolKind(meaning, context) ?? known);
    const symbols = sample.symbols - (kind === 'crypto' ? sample.numbers : 0);
    read(wanted ?? kind, wanted === null ? symbols : sample.symbols, isByName, alone);
  } else if (meaning === null && !isForeign && sample.listed >= filled * LEAST_LISTED) {
    read('ticker', sample.listed + sample.tickerOrDomains, false);
  } else if (meaning === null && !isForeign && known !== null)
    read(known, sample.symbols, false, SHARE_KNOWN);
  return surest();
}

/** Lists of coins call their symbols tickers too: beside their words "ticker" is a doubt. */
function symbolKind(meaning: HeaderMeaning | null, context: JudgeInput['context']): JudgeInput['context'] {
  if (meaning === 'crypto') return 'crypto';
  if (meaning === 'ticker') return context === 'crypto' ? null : 'ticker';
  return context;
}

/** The readings of all columns but `passedOver`, of the wanted kind if any, the surest first. */
export function judgeColumns(input: JudgeInput, passedOver: readonly number[]): ColumnReading[] {
  return input.columns
    .flatMap((_, column) => (passedOver.includes(column) ? [] : (judgeColumn(input, column, false) ?? [])))
    .filter(({ kind }) => input.kind === null || input.kind === 'auto' || kind === input.kind)
    .sort((one, other) => other.score - one.score || one.column - other.column);
}

/** `SAP.DE`, `7203.T`: a ticker with its exchange or a domain in capitals. */
const TICKER_OR_DOMAIN = /^[A-Z0-9]{1,6}\.[A-Z]{1,2}$/;
/** `1332.T`, `0700.HK`: a number with an exchange. Shorter ones number paragraphs (`1.A`). */
const NUMBERED_TICKER = /^\d{3,6}\.[A-Z]{1,2}$/;
/** More than a site: `acme.com/jobs/7`. */
const PAGE = /^(?:\w+:\/\/)?[^/?#]+[/?#]+[^/?#]/;
/** So many equal symbols name what the whole list is about, such as a fund. */
const LEAST_EQUAL = 5;
/** From this share of values on a column is one of pages. */
const MOSTLY = 0.8;
/** Pages of fewer sites than this share of the values are a directory's or a job board's. */
const FEW_SITES = 0.05;
/**
 * Tickers and symbols as files hold them: not sentences. With its exchange one may be long
 * (`BSANTANDER.SN`, `OTCMKTS:NSRGY`), and a share class may stand behind a blank (`BRK B`). In
 * lower case only very short ones, since longer ones are names (`bitcoin`).
 */
const SYMBOL_LIKE =
  /^[$^]?[A-Z0-9][A-Z0-9.^&/$=:+*!_~-]{0,23}$|^[A-Z0-9]{1,6} [A-Z0-9]{1,2}$|^[$]?[a-z0-9]{1,5}$/;

/** Whether a cleaned cell is written as tickers and crypto symbols are. */
export function isSymbolLike(cleaned: string): boolean {
  return SYMBOL_LIKE.test(cleaned) || readBloomberg(cleaned) !== null;
}

/** Whether a cell is not blank. */
export function isFilled(cell: string): boolean {
  return skipBlank(cleanCell(cell), 'domain') === null;
}

/** How many sampled values ... */
export function sampleColumn(rows: readonly (readonly string[])[], column: number) {
  const counts = {
    /** ... are neither blank nor a placeholder. */
    filled: 0,
    /** ... are domains or web addresses and nothing else. */
    domains: 0,
    /** ... are domains by their letters and tickers by their looks. */
    tickerOrDomains: 0,
    /** ... are tickers with an exchange and cannot be domains. */
    listed: 0,
    emails: 0,
    isins: 0,
    certainIds: 0,
    possibleIds: 0,
    /** ... look like tickers or crypto symbols, as many short words do; ISINs apart. */
    symbols: 0,
    /** ... of these are numbers, as tickers of Asia are and coins are not. */
    numbers: 0,
  };
  const texts = new Set<string>();
  const sites = new Set<string>();
  const known = new KnownSymbols();
  const symbols = new Set<string>();
  let currencies = 0;
  let markets = 0;
  const coins = new KnownSymbols();
  let pages = 0;
  for (const row of rows) {
    const cleaned = cleanCell(row[column] ?? '');
    if (skipBlank(cleaned, 'domain') !== null) continue;
    counts.filled += 1;
    if (readIsin(cleaned) !== null) counts.isins += 1;
    else if (isSymbolLike(cleaned)) {
      const symbol = readBloomberg(cleaned) ?? cleaned;
      counts.symbols += 1;
      if (/^\d+$/.test(cleaned)) counts.numbers += 1;
      symbols.add(cleaned);
      if (isCurrency(cleaned)) currencies += 1;
      const coin = coinOfMarket(cleaned.toUpperCase());
      if (coin !== null) {
        markets += 1;
        coins.add(coin);
      }
      known.add(symbol);
    }
    if (isCertainBrandId(cleaned)) counts.certainIds += 1;
    if (isPossibleBrandId(cleaned)) counts.possibleIds += 1;
    if (!cleaned.includes('.')) continue;
    const domain = identifyDomain(cleaned);
    const isTicker = TICKER_OR_DOMAIN.test(cleaned);
    if (isTicker && (domain.type === 'invalid' || NUMBERED_TICKER.test(cleaned))) counts.listed += 1;
    if (domain.type === 'invalid') continue;
    texts.add(cleaned);
    if (PAGE.test(cleaned)) pages += 1;
    sites.add(domain.type === 'identifier' ? domain.identifier.value : '');
    if (cleaned.includes('@') && !cleaned.includes('/')) counts.emails += 1;
    else if (!isTicker) counts.domains += 1;
    else if (!NUMBERED_TICKER.test(cleaned)) counts.tickerOrDomains += 1;
  }
  /** Many different addresses, all at one domain: pages of one site, such as profiles. */
  const isOneSite = texts.size >= 5 && sites.size === 1 && counts.emails === 0;
  const values = counts.domains + counts.emails + counts.tickerOrDomains;
  const isPages = counts.emails === 0 && Math.min(pages, texts.size) > values * MOSTLY;
  const variety = values === 0 ? 0 : sites.size / values;
  const isMostly = (count: number) => counts.symbols > 0 && count >= counts.symbols * MOSTLY;
  const isConstant = symbols.size === 1 && counts.symbols >= LEAST_EQUAL;
  return {
    ...counts,
    known,
    areCurrencies: isMostly(currencies),
    areMarkets: isMostly(markets) && (coins.kind(markets) === 'crypto' || coins.areCoins(markets)),
    isConstant,
    isOneSite,
    isPages,
    isFewSites: isPages && variety <= FEW_SITES,
    variety,
  };
}
