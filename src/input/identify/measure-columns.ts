/** Reads each sampled cell once and says what it is; `column-evidence.ts` makes evidence of it. */
import { type IdentifierKind, readIsin } from '../../core/identifier.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { type HeaderWords, readHeader, tableWords } from './header-words.js';
import { identifyDomain, nameInDomain } from './identify-domain.js';
import { coinOfMarket, readBloomberg } from './known-symbols.js';

export interface TableSample {
  readonly columns: readonly string[];
  readonly sample: readonly (readonly string[])[];
  /** The name of the input, which may say what its codes are. */
  readonly fileName?: string | undefined;
}

interface WebCell {
  /** The registrable domain; null at a free mail provider. */
  readonly site: string | null;
  readonly isMail: boolean;
  /** 0 for the site itself, 1 for a part of it, 2 for a page or a file of it. */
  readonly depth: number;
  /** True if the site hosts profiles, shortened addresses or files of others. */
  readonly isShared: boolean;
}

export interface CellReading {
  readonly text: string;
  readonly web: WebCell | null;
  readonly isIsin: boolean;
  readonly isSymbol: boolean;
}

export interface MeasuredColumn {
  readonly column: number;
  readonly name: string;
  readonly header: HeaderWords;
  /** By row; null for a blank cell. */
  readonly cells: readonly (CellReading | null)[];
  readonly filled: readonly CellReading[];
  /** Share of the rows that have a value. */
  readonly fill: number;
}

export interface MeasuredTable {
  readonly columns: readonly MeasuredColumn[];
  readonly rows: number;
  /** What the table is about: points for securities less points for coins, -3 to 3. */
  readonly context: number;
  /** Points for coins alone, from 0. */
  readonly coins: number;
}

/** Measured rows, spread over the sample, because the first rows are often unlike the rest. */
const MOST_ROWS = 200;
/** Rows that are always measured: the names of the columns may be among them. */
export const FIRST_ROWS = 3;

function spread<Row>(rows: readonly Row[]): readonly Row[] {
  const buckets = MOST_ROWS - (FIRST_ROWS - 1);
  const bucket = (at: number) => Math.floor((at * buckets) / Math.max(buckets, rows.length));
  return rows.filter((_, at) => at < FIRST_ROWS || bucket(at) !== bucket(at - 1));
}

/** Measures the columns of a sample, except those at the positions `ignored`. */
export function measureTable(table: TableSample, ignored: readonly number[] = []): MeasuredTable {
  const rows = spread(table.sample);
  const columns = table.columns.flatMap((name, column) => {
    if (ignored.includes(column)) return [];
    const cells = rows.map((row) => readCell(row[column] ?? ''));
    const filled = cells.filter((cell) => cell !== null);
    const fill = share(filled.length, rows.length);
    return [{ column, name, header: readHeader(name), cells, filled, fill }];
  });
  const names = [...columns.map(({ name }) => name), table.fileName ?? ''];
  const { securities, coins } = contextOf(columns, names);
  const context = Math.max(-3, Math.min(3, securities - coins));
  return { columns, rows: rows.length, context, coins };
}

export function share(count: number, of: number): number {
  return of === 0 ? 0 : count / of;
}

export function shareOf<Value>(values: readonly Value[], isIt: (value: Value) => boolean): number {
  return share(values.filter(isIt).length, values.length);
}

/** Symbols as files write them (`BRK B`); long ones in lower case are names (`bitcoin`). */
const SYMBOL_LIKE =
  /^[$^]?[A-Z0-9][A-Z0-9.^&/$=:+*!_~-]{0,23}$|^[A-Z0-9]{1,6} [A-Z0-9]{1,2}$|^[$]?[a-z0-9]{1,5}$/;
/** Longer texts are prose. */
const LONGEST_WEB = 2000;

/** Returns what a cell may be; null for a blank one. Many exports write `0` for nothing. */
export function readCell(cell: string): CellReading | null {
  const text = cleanCell(cell);
  if (text === '0' || skipBlank(text, 'ticker') !== null) return null;
  const isIsin = readIsin(text) !== null;
  const isSymbol = !isIsin && (SYMBOL_LIKE.test(text) || readBloomberg(text) !== null);
  const web = text.includes('.') && text.length < LONGEST_WEB ? readWeb(text) : null;
  return { text, web, isIsin, isSymbol };
}

const FILE = /\.(?:png|jpe?g|svg|gif|webp|ico|pdf|xml|rss|zip|csv|json|mp[34])(?:$|[?#])/i;

function readWeb(text: string): WebCell | null {
  const read = identifyDomain(text);
  if (read.type === 'invalid') return null;
  const address = text.replace(/^\[['"\s]*/, '').replace(/^[a-z]+:\/*/i, '');
  const isMail = text.includes('@') && !/^[^@]*[/?#]/.test(address);
  const site = read.type === 'identifier' ? read.identifier.value : null;
  const [host = '', ...path] = isMail ? [address] : address.replace(/[\s,;'"].*$/s, '').split(/[/?#]+/);
  const parts = path.filter((part) => part !== '').length;
  const isPage = parts > 1 || (parts === 1 && (address.includes('?') || FILE.test(address)));
  const isShared = SHARED_HOSTS.has(site ?? '') || SHARED_HOSTS.has(host.toLowerCase());
  return { site, isMail, depth: isPage ? 2 : parts, isShared: !isMail && isShared };
}

/** Returns the company in a cell: `acme` for `acme.com` and `www.acme.de`; null if unclear. */
export function companyOf({ text, web, isIsin, isSymbol }: CellReading, kind: IdentifierKind): string | null {
  if (kind === 'domain') return web?.site == null ? null : nameInDomain(web.site);
  if (kind === 'isin' || kind === 'id') return isIsin || kind === 'id' ? text : null;
  const symbol = text.replace(/\.[A-Z]{1,3}$/, '').toUpperCase();
  return isSymbol ? (coinOfMarket(symbol) ?? symbol) : null;
}

const HOSTS = `linkedin.com facebook.com fb.com twitter.com x.com instagram.com youtube.com youtu.be
  tiktok.com pinterest.com github.com gitlab.com crunchbase.com wikipedia.org wikidata.org archive.org
  google.com goo.gl bit.ly t.me t.co wa.me medium.com vimeo.com flickr.com soundcloud.com spotify.com
  apple.com amazon.com play.google.com reddit.com discord.gg discord.com quora.com glassdoor.com indeed.com
  yelp.com tripadvisor.com trustpilot.com angel.co wellfound.com xing.com vk.com slideshare.net
  speakerdeck.com forms.gle linktr.ee notion.site eventbrite.com meetup.com creativecommons.org schema.org
  w3.org opendatacommons.org imgur.com githubusercontent.com cloudinary.com amazonaws.com cloudfront.net
  doi.org orcid.org arxiv.org justia.com openstreetmap.org ycombinator.com producthunt.com greenhouse.io
  lever.co ashbyhq.com workable.com yahoo.com coingecko.com coinmarketcap.com bloomberg.com reuters.com
  opencorporates.com northdata.de pappers.fr`;
const SHARED_HOSTS = new Set(HOSTS.split(/\s+/));

const EXCHANGES =
  `nyse nasdaq amex lse xetra euronext tsx tsxv tsx-v asx nse bse tse hkex jse six arca bats otc
  b3 bovespa kosdaq kospi konex nms nyq sse szse`.split(/\s+/);
const LEGAL_FORM = new RegExp(
  '(?:^|[\\s,.])(?:inc|corp|corporation|incorporated|plc|ltd|limited|holdings?|etf|reit|trust|s\\.?a|' +
    'n\\.?v|a\\.?g|gmbh|oyj|ab|asa|common stock|on|pn)\\.?(?:$|[\\s,.)])',
  'i',
);
const COIN_NAME = new RegExp(
  'bitcoin|ethereum|tether|solana|dogecoin|cardano|coin\\b|token\\b|chain\\b|swap\\b|' +
    '\\b(?:protocol|finance|dao|inu|network|wrapped|staked)\\b',
  'i',
);

const isCoinName = ({ text, web }: CellReading) => web === null && text.length < 60 && COIN_NAME.test(text);

/** Counts points for securities and for coins, in the names and the other columns. */
function contextOf(columns: readonly MeasuredColumn[], names: readonly string[]) {
  const [ofSecurities, ofCoins] = tableWords(names);
  let securities = Math.min(4, ofSecurities) / 2;
  let coins = Math.min(3, ofCoins);
  for (const { filled } of columns) {
    if (filled.length === 0) continue;
    const of = (isIt: (text: string) => boolean) =>
      shareOf(filled, ({ text }) => text.length < 120 && isIt(text));
    if (of((text) => /^0x[0-9a-f]{40}$/i.test(text)) > 0.5) coins += 3;
    if (shareOf(filled, ({ isIsin }) => isIsin) > 0.5) securities += 2;
    if (of(isOtherSecurityCode) > 0.6) securities += 2;
    if (of((text) => EXCHANGES.includes(text.toLowerCase())) > 0.6) securities += 1.5;
    const legal = of((text) => LEGAL_FORM.test(text));
    if (legal > 0.15) securities += 1 + legal;
    const named = shareOf(filled, isCoinName);
    if (named > 0.12) coins += Math.min(2.5, 1 + 4 * named);
  }
  return { securities, coins };
}

/** True for a CUSIP with its check digit, or a FIGI, which are never looked up. */
export function isOtherSecurityCode(text: string): boolean {
  if (!/^(?=.*\d)[0-9A-Z]{9}$/.test(text)) return /^BBG[0-9A-Z]{9}$/.test(text);
  const doubled = [...text.slice(0, 8)].map((letter, at) => Number.parseInt(letter, 36) * (1 + (at % 2)));
  const sum = doubled.reduce((total, each) => total + Math.floor(each / 10) + (each % 10), 0);
  return (10 - (sum % 10)) % 10 === Number(text[8]);
}
