/** Finds evidence in the name of a column, in many languages; it decides nothing alone. */

/** Evidence, each piece from 0 to 1. */
export interface HeaderWords {
  /** 1 for names of websites, 0.5 for `url` and `link`. */
  readonly web: number;
  readonly mail: number;
  readonly isin: number;
  readonly id: number;
  /** 1 for `ticker`, 0.9 for `symbol`, less for words that other codes have too. */
  readonly symbol: number;
  readonly coin: number;
  /** 1 for the name of another thing that has addresses: a source, a logo, a profile. */
  readonly otherPage: number;
  /** 1 for the name of another thing written like a symbol: a class, a country, a number. */
  readonly otherCode: number;
}

/** Returns lower-case words without accents, with a blank between them; splits `camelCase`. */
function plain(name: string): string {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Stems of up to `whole` letters match words, or beginnings with `*`; longer ones, any part. */
function stems(text: string, whole = 3): RegExp {
  const parts = text.split(/\s+/).map((written) => {
    const stem = plain(written);
    if (!/^[a-z]+$/.test(stem) || stem.length > whole) return stem;
    return `(?<![^ ])${stem}${written.endsWith('*') ? '' : 's?(?![^ ])'}`;
  });
  return new RegExp(parts.join('|'), 'g');
}

const WEBSITE =
  stems(`web* www* site sito sitio domain doman domein domen domin homepag internet host seite hemsida
  hjemmesid netsted nettside kotisiv verkkosiv stran* stron* witryna honlap weboldal svetain tinklal puslap
  koduleht сайт домен 网站 网址 域名 網站 網址 網域 ウェブ ホームページ ドメイン 홈페이지 웹사이트 도메인`);
const LINK = stems('url* uri* link lien enlace');
const MAIL = stems('mail correo courriel epost sahkoposti pastas почта 邮 郵 メール 이메일');
const BRAND_ID = stems('brandid brandfetchid');
const OTHER_PAGE =
  stems(`source quelle fuente fonte bron kilde ref referenc citation cite logo image img photo foto picture
  bild avatar icon thumb job career karriere vacan apply hiring profil linkedin twitter facebook instagram
  youtube tiktok github crunchbase wiki social licen rss feed pdf download map listing permalink news
  article api type register verif coingecko slide video ficha review file attachment redirect callback spec
  hosted parent registrar`);
const OTHER_CODE = stems(`acronym abbrev short iata icao country state region province type status class
  categor unit grade lang cusip sedol wkn figi name city date time zip post phone price amount sku size
  level version series group index label note gender rank id uuid cif vat number no nr`);
const COIN = stems('coin token crypto');
/** Words for symbols, with their worth as evidence. */
const SYMBOL = [
  [1, 'ticker stocksymbol stockcode securitycode tradingsymbol ric 종목코드'],
  [0.9, 'symbol simbol sembol symbool символ asxcode bsecode nsecode jsecode sgxcode jpxcode hkexcode'],
  [0.8, 'instrument kurzel papel mnemonic nemotecnico nemonico nemo scrip コード 代码 代碼 代號 코드'],
  [0.6, 'acao acoes coin token crypto securityid'],
  [0.5, 'codigo code kod stock asset ativo'],
].map(([worth, text]) => [Number(worth), stems(String(text), Number(worth) < 0.9 ? 20 : 3)] as const);

const SECURITY_TABLE = stems(`sector industr exchange share weight dividend etf stock cusip isin sedol equit
  nifty bovespa portfolio holding setor acao pe eps listing compan nse bse asx b3 instrument fund position
  securit branche aktie nyse nasdaq 銘柄 証券 종목 股票 证券 證券 상장`);
const COIN_TABLE =
  stems(`coin token crypto blockchain contract decimal chain* chainid circulating binance wallet erc20 mint
  supply algorithm mineable cmc defi dex`);

/** Names that programs put around a record (`_source.website` in Elasticsearch). */
const ENVELOPE = /^(?:_source|profile|companyProfile|company_profile|document)\.(?=.)/;

/** Returns the evidence in a name. */
export function readHeader(name: string): HeaderWords {
  // An address is data, not a name.
  const words = name.includes('://') ? '' : withPairs(name.replace(ENVELOPE, ''));
  const says = (stem: RegExp) => Number(words.search(stem) >= 0);
  return {
    web: says(WEBSITE) || says(LINK) / 2,
    mail: says(MAIL),
    isin: Number(/(?<![^ ])isin/.test(words)),
    id: says(BRAND_ID),
    symbol: SYMBOL.find(([, stem]) => words.search(stem) >= 0)?.[0] ?? 0,
    coin: says(COIN),
    otherPage: says(OTHER_PAGE),
    otherCode: says(OTHER_CODE),
  };
}

/** Adds each pair of words as one word: `web site` may also be written `website`. */
function withPairs(name: string): string {
  const words = plain(name).split(' ');
  return [...words, ...words.slice(1).map((word, at) => `${words[at]}${word}`)].join(' ');
}

/** True if a text has words of a name, and so is not a value. */
export function isHeaderLike(name: string): boolean {
  return [...Object.values(readHeader(name)), ...tableWords([name])].some((weight) => weight > 0);
}

/** Counts the different words in names that belong to tables of securities and of coins. */
export function tableWords(names: readonly string[]): readonly [securities: number, coins: number] {
  const all = names.map(withPairs).join(' ');
  return [SECURITY_TABLE, COIN_TABLE].map((stem) => new Set(all.match(stem) ?? []).size) as [number, number];
}
