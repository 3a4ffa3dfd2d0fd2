/** Collects the evidence for each column and kind, mostly shares. Pure. */
import { commonest, countEach } from '../../core/counter.js';
import type { IdentifierKind } from '../../core/identifier.js';
import { isCertainBrandId, isPossibleBrandId } from './identify-cell.js';
import { coinOfMarket, knownAmong } from './known-symbols.js';
import {
  type CellReading,
  isOtherSecurityCode,
  type MeasuredColumn,
  type MeasuredTable,
  share,
  shareOf,
} from './measure-columns.js';

/** Candidates of a family share weights; web and mail are both domains. */
export type Family = 'web' | 'mail' | 'isin' | 'ticker' | 'crypto';

export interface Candidate {
  readonly column: MeasuredColumn;
  readonly kind: IdentifierKind;
  readonly family: Family;
  readonly evidence: Readonly<Record<string, number>>;
  readonly fitting: readonly CellReading[];
}

/** A column with smaller shares of fitting values is not a candidate. */
const LEAST = { checked: 0.2, symbol: 0.5, coin: 0.7, id: 0.8 } as const;
/** From this many points for coins on, their codes may be long and in lower case. */
const COIN_POINTS = 2;
const COIN_LIKE = /^(?![\d.,-]+$)[\p{L}\p{N}$._+\u20ae-]{1,24}$/u;

/** Returns the candidates of a table. `kind`: the only kind that the user wants, or null. */
export function findCandidates(table: MeasuredTable, kind: IdentifierKind | null = null): Candidate[] {
  const filled = table.columns.filter((column) => column.filled.length > 0);
  const all = filled.flatMap((column) => [...checked(table, column, kind), ...symbols(table, column)]);
  const candidates = ofKind(all, kind);
  const [only, ...others] = table.columns;
  // If the user names the kind, a single column needs no evidence.
  if (candidates.length > 0 || kind === null || only === undefined || others.length > 0) return candidates;
  return [{ column: only, kind, family: 'web', evidence: { alone: 1 }, fitting: [] }];
}

const FAMILY_WORDS = { isin: 'isin', web: 'web', mail: 'mail', ticker: 'symbol', crypto: 'coin' } as const;

/** Returns the candidates by the names of columns alone. */
export function findByName({ columns }: MeasuredTable, kind: IdentifierKind | null = null): Candidate[] {
  const read = (column: MeasuredColumn, family: Family): Candidate => {
    const { [FAMILY_WORDS[family]]: head, otherPage: neg, otherCode } = column.header;
    const evidence = { one: 1, valid: 1, fill: 1, head, neg, otherCode };
    const of = family === 'web' || family === 'mail' ? 'domain' : family;
    return { column, kind: of, family, evidence, fitting: [] };
  };
  const families = Object.keys(FAMILY_WORDS) as Family[];
  const all = columns.flatMap((column) => families.map((family) => read(column, family)));
  return ofKind(all, kind).filter(({ evidence }) => evidence.head !== 0);
}

function ofKind(all: Candidate[], kind: IdentifierKind | null): Candidate[] {
  return kind === null || kind === 'auto' ? all : all.filter((each) => each.kind === kind);
}

function checked({ columns }: MeasuredTable, column: MeasuredColumn, asked: IdentifierKind | null) {
  const { filled, fill, header } = column;
  const candidates: Candidate[] = [];
  type Cells = readonly CellReading[];
  const add = (family: Family, kind: IdentifierKind, fitting: Cells, evidence: Candidate['evidence']) => {
    const valid = share(fitting.length, filled.length);
    if (valid < (kind === 'id' ? LEAST.id : LEAST.checked)) return;
    const all = { one: 1, valid, fill: Math.sqrt(fill), ...evidence };
    candidates.push({ column, kind, family, evidence: all, fitting });
  };
  const isins = filled.filter(({ isIsin }) => isIsin);
  add('isin', 'isin', isins, { head: header.isin, few: fewness(isins.map(({ text }) => text)) });
  const isId = header.id === 1 || asked === 'id' ? isPossibleBrandId : isCertainBrandId;
  const ids = filled.filter(({ text }) => isId(text));
  add('isin', 'id', ids, { head: 1 });

  const mails = filled.filter(({ web }) => web?.isMail);
  const webs = filled.filter(({ web }) => web?.isMail === false);
  const neg = header.otherPage;
  const alone = Number(columns.length === 1);
  if (mails.length > webs.length) {
    const own = mails.flatMap(({ web }) => web?.site ?? []);
    const free = share(mails.length - own.length, mails.length);
    // A single column of addresses needs no header; with free mail a header proves less.
    const bare = alone * shareOf(mails, ({ text }) => !text.includes(' '));
    const head = Math.max(header.mail, header.web, bare) * Math.min(1, 2 * (1 - free));
    add('mail', 'domain', mails, { few: fewness(own), free, head, neg });
    return candidates;
  }
  const sites = webs.map(({ web }) => web?.site ?? '');
  const once = new Set(sites.filter((site) => sites.indexOf(site) === sites.lastIndexOf(site)));
  // A host of other sites, such as github.com, may itself be a customer, but then only once.
  const isOfHost = ({ web }: CellReading) =>
    web?.isShared === true && (web.depth > 0 || !once.has(web.site ?? ''));
  const deep = shareOf(webs, ({ web }) => web?.depth === 2);
  const perPage = share(new Set(sites).size, sites.length);
  const board = webs.length < LEAST_PAGES ? 0 : deep * Math.max(0, 1 - perPage / PAGES_PER_SITE);
  const shared = shareOf(webs, isOfHost);
  const tickerLike = shareOf(webs, ({ text }) => LISTED.test(text)) * (1 - header.web);
  const pages = { few: fewness(sites), board, deep, shared, tickerLike };
  add('web', 'domain', webs, { ...pages, head: header.web, neg, alone });
  return candidates;
}

/** Score of a header that leaves no doubt about its column. */
export const PLAIN = 0.8;
/** With this many pages, and fewer sites per page, a column is of a directory or a job board. */
const LEAST_PAGES = 8;
const PAGES_PER_SITE = 0.25;

/** `SAP.DE`, `AAPL US Equity`, `NYSE:GE`: a symbol with its exchange. */
const LISTED = new RegExp(
  '^[A-Z0-9&-]{1,12}\\.[A-Z]{1,2}$|^[A-Z0-9&.-]{1,12}[: ](?:US|UN|UQ|UW|LN|GR|GY|FP|JP|HK|AU|CN|NA|SW|SM|' +
    'IM)(?: Equity)?$|^(?:NYSE|NASDAQ|LON|ETR|EPA|TSE|ASX|NSE|BOM|BVMF|OTCMKTS|HKG|TYO|FRA|SWX|AMS|BME|BIT|' +
    'STO|HEL|CPH|OSL|TSX|TSXV|CVE)[: ][A-Z0-9.-]+$',
);
/** Symbols of Brazil's exchange, a form that no coin has. */
const B3 = /^[A-Z]{4}(?:3|4|5|6|11|31|32|33|34|35)(?:\.SA|F)?$/i;
/** Codes of China's exchanges, which number their shares in few ranges. */
const CHINA = /^(?:00[0-3]|30[01]|60[0135]|68[89])\d{3}$/;
/** True if the form of a text shows its exchange. */
export function isListed(text: string): boolean {
  return LISTED.test(text) || B3.test(text) || CHINA.test(text);
}

/** Numbers, times, dates, serial numbers. */
const NUMBER_LIKE = /\d{4}|^\d+$|:\d|^[A-Z]?-?\d[\d.,-]*$|^\d{1,2}-[A-Z]{3}-\d|_/i;
/** A word, or a value for yes and no. */
const WORD = /^(?:[a-z]{3,}|[Tt]rue|TRUE|[Ff]alse|FALSE|[Yy]es|YES|[Nn]o|NO|[YyNn])$/;
/** Codes of Asian exchanges, if of one length and nearly all differ, or under a plain header. */
const ASIAN_CODE = /^\d{3,5}[\dA-Z]$/;
const MOSTLY = 0.9;

function symbols({ columns, context, coins }: MeasuredTable, column: MeasuredColumn): Candidate[] {
  const { filled, fill, header } = column;
  const fitting = filled.filter(({ isSymbol }) => isSymbol);
  const valid = share(fitting.length, filled.length);
  const isCoinLike = ({ text, web, isIsin }: CellReading) => web === null && !isIsin && COIN_LIKE.test(text);
  const validCoins = coins < COIN_POINTS ? valid : shareOf(filled, isCoinLike);
  const isEnough = valid >= LEAST.symbol || (validCoins >= LEAST.coin && valid > LEAST.checked);
  if (!isEnough || fitting.length === 0) return [];
  const texts = fitting.map(({ text }) => text);
  const different = new Set(texts);
  const upper = new Set([...different].map((text) => text.toUpperCase()));
  const of = (isIt: (text: string) => boolean) => shareOf(texts, isIt);
  const traded = texts.flatMap((text) => coinOfMarket(text.toUpperCase()) ?? []);
  const knownTraded = knownAmong(new Set(traded)).coins;
  // Other goods have prices in dollars too (`A1K-USD`).
  const isKnown = knownTraded >= 0.1 || of((text) => /USD[TC]$/i.test(text)) > MOSTLY;
  const markets = !isKnown ? 0 : share(traded.length, texts.length);
  const known = knownAmong(markets > 0.5 ? new Set(traded) : upper);
  // A price history repeats one symbol in all rows, under a plain header, without other codes.
  const other = columns.find((each) => each.header.symbol > 0 && each !== column);
  const isHistory = header.symbol >= PLAIN && other === undefined;
  const futures = of((text) => /=[FX]$|^\^/.test(text));
  const areCoins = known.areSurelyCoins || markets > 0.5;
  const { length = 0 } = texts[0] ?? '';
  const fitCodes = of((text) => text.length === length && ASIAN_CODE.test(text)) >= MOSTLY;
  const areDifferent = texts.length > 4 && different.size >= texts.length * 0.95;
  const areCodes = fitCodes && (areDifferent || header.symbol === 1);
  const both = {
    one: 1,
    fill: Math.sqrt(fill),
    few: texts.length < 4 || isHistory ? 0 : Math.max(0, shareOfCommonest(texts) - 0.5) * 2,
    lettered: of((text) => /[A-Z]/i.test(text)),
    closed: Math.max(known.closed, futures),
    other: of(isOtherSecurityCode),
    codes: areCodes ? 0 : of((text) => NUMBER_LIKE.test(text) && !isListed(text)),
    fixed: Number(areCodes),
    otherCode: Math.max(header.otherCode, header.web, header.mail),
    head: header.symbol,
    coinHead: header.coin,
    // In a column named for websites a suffix is not an exchange.
    listed: of(isListed) * (1 - header.web),
    alone: Number(columns.length === 1),
    coins: areCoins ? Math.min(1, known.coins * 3) : 0,
    markets,
    /** Share of coins whose codes are codes of shares too. */
    ambiguous: areCoins || known.coins < known.tickers ? 0 : known.coins,
  };
  // A single known ticker may be chance.
  const tickers = Math.min(1, known.tickers * 3, (known.tickers * different.size) / 2);
  const isWord = ({ text, web }: CellReading) => WORD.test(text) || (web !== null && !LISTED.test(text));
  const ticker = { ...both, valid, known: tickers, context, wordy: shareOf(fitting, isWord) };
  const crypto = {
    ...both,
    valid: Math.max(valid, validCoins),
    known: areCoins ? 0 : tickers,
    context: -context,
  };
  return [
    { column, kind: 'ticker', family: 'ticker', evidence: ticker, fitting },
    { column, kind: 'crypto', family: 'crypto', evidence: crypto, fitting },
  ];
}

function shareOfCommonest(values: readonly string[]): number {
  return (commonest(countEach(values))?.[1] ?? 0) / values.length;
}

/** Returns 0 if enough values differ, 1 if all are equal, between for few values in many rows. */
function fewness(values: readonly string[]): number {
  if (values.length === 0) return 1;
  const different = new Set(values).size;
  if (values.length < 4) return Number(different === 1 && values.length > 1);
  const scarce = 1 - different / (0.25 * Math.min(values.length, 40));
  return Math.max(0, scarce, 2 * shareOfCommonest(values) - 1);
}
