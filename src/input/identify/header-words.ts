/**
 * What a column's name says of its content, in the languages of the files we see. Words are
 * compared without case and accents. `judge-columns.ts` weighs the values.
 */
import type { IdentifierKind } from '../../core/identifier.js';
import { onceFor } from '../../core/lifecycle.js';

/** `symbol`: a ticker or a crypto symbol. `email`: domains behind addresses of people. */
export type HeaderMeaning = 'domain' | 'email' | 'isin' | 'ticker' | 'crypto' | 'symbol' | 'id';

/** The kind to read such a column as, that of most where there are two. */
export function kindOf(meaning: HeaderMeaning): IdentifierKind {
  return meaning === 'email' ? 'domain' : meaning === 'symbol' ? 'ticker' : meaning;
}

interface HeaderReading {
  readonly meaning: HeaderMeaning | null;
  /** 1 when every word fits, 0.6 with a vague one (`link`) or a qualifier (`parent`), else 0. */
  readonly weight: number;
  /** The party that it names, such as `vendor`; null: that of the row. */
  readonly role: string | null;
  /** It names another thing (`logo url`, `linkedin`, `wkn`): never chosen by its values. */
  readonly isForeign: boolean;
}

const words = (text: string) => new Set(splitWords(text));

const DOMAIN =
  words(`website websites web site sites url urls uri domain domains homepage webpage www internet hostname
  host websiteurl websiteaddress webaddress companydomain companywebsite companyurl domainname webseite
  webseiten website webadresse internetadresse internetseite internetauftritt domaene domane siteweb
  siteinternet domaine sitio sitioweb paginaweb dominio sito sitoweb dominioweb webpagina internetadres
  webadres enderecoweb indirizzoweb adresseweb webbplats webbsida hemsida hemsidan hjemmeside webside
  netsted nettside nettsted verkkosivu verkkosivusto kotisivu webova stranka webstranky stranky strona
  stronawww stronainternetowa adreswww internetowa witryna domena weboldal honlap svetaine interneto
  tinklalapis tinklapis puslapis koduleht сайт вебсайт домен sitesi`);
/** In names of words run together (`SITOWEBSCUOLA`). */
const DOMAIN_PARTS =
  /website|webpage|webaddr|sitoweb|siteweb|sitioweb|paginaweb|webseite|homepage|internetseite/;
const DOMAIN_SCRIPTS =
  /网站|网址|域名|網站|網址|網域|ウェブサイト|ホームページ|ドメイン|홈페이지|웹사이트|도메인/;
const VAGUE_DOMAIN = words('link links lien enlace weblink');
const EMAIL = words(`email emails mail mails emailaddress mailaddress emailadresse mailadresse
  correo courriel epost eposta sahkoposti mejl почта posta`);
const EMAIL_SCRIPTS = /邮箱|邮件|郵箱|メール|이메일/;
const ISIN = words('isin isins isincode isinnumber');
const TICKER =
  words(`ticker tickers tickersymbol stocksymbol tickercode emittententicker borsenkurzel boersenkuerzel
  kurzel kuerzel ric bloombergticker`);
const SYMBOL = words('symbol symbols symbole simbolo symbool sembol simbol символ');
const CRYPTO =
  words(`crypto cryptos coin coins token cryptocurrency krypto kryptowahrung kryptowaehrung cripto
  criptomoneda cryptomonnaie altcoin baseasset basecoin`);
const SECURITY = words(`stock stocks equity share shares etf etfs fund security securities aktie aktien accion
  action trading exchange`);
const EXCHANGE = words('nyse nasdaq amex lse xetra euronext tsx asx nse bse tse hkex jse six');
const CODE = words('code codes kod');
const BRAND_ID = words('brandid brandfetchid');
const NEUTRAL =
  words(`company companies customer customers client clients account accounts firm firma firmen name names
  business organization organisation org unternehmen kunde kunden empresa entreprise societe azienda
  cliente primary main official offizielle corporate own our eigene unsere propre propia propio proprio
  address addresses adresse adress direccion indirizzo adres code codes number nummer no nr value the of de
  la du del di e y et und and contact work brand marke marque id`);
const FOREIGN =
  words(`logo logos image images img photo foto picture avatar icon favicon banner thumbnail video linkedin
  twitter facebook fb instagram youtube tiktok xing github crunchbase wikipedia wikidata wiki pinterest
  social glassdoor kununu trustpilot tripadvisor wellfound angellist producthunt bluesky mastodon telegram
  whatsapp job jobs career careers karriere stellen stellenangebote vacancy vacancies hiring emploi emplois
  carriere carrieres empleo empleos trabajo lavoro vacature vacatures praca darbas fuente fonte bron zrodlo
  saltinis kalla bild bilder imagen immagine afbeelding obraz nuotrauka karte carte mapa mappa kaart
  zemelapis osm openstreetmap coordinates koordinaten noticias noticia nouvelles actualites notizie nieuws
  aktualnosci naujienos review reviews profile profil tracking referrer referer referral utm unsubscribe
  invoice document pdf attachment terms privacy api source quelle redirect callback webhook article news
  rss feed map maps download wkn cusip sedol valor valoren figi lei cik vat password ip login username`);
/** Parties of a row: two columns of different ones name different companies. */
const ROLES = words(`customer client kunde vendor supplier lieferant fournisseur proveedor fornitore parent
  mutter subsidiary tochter agency agentur partner reseller distributor competitor investor owner buyer
  seller publisher sponsor broker manufacturer hersteller advertiser merchant acquirer target employer
  school`);
/** People of the user's own firm, whose addresses say nothing about the row. */
const STAFF =
  words(`assignee assigned creator created createdby updated updatedby modified modifiedby author reporter
  accountowner leadowner dealowner contactowner companyowner recordowner ownerid salesrep accountmanager`);
/** \`owner.email\` in a document or behind a join, unlike the owner of a shop. */
const OWNER_MEMBER = /(?:^|[.→])\s*owner\s*[.→]/i;
const CRYPTO_CONTEXT = words(`blockchain circulating coin coins token crypto cryptocurrency coingecko
  coinmarketcap mcap cryptos cryptocurrencies binance kraken coinbase`);
const TICKER_CONTEXT = words(`stock sector exchange isin cusip sedol wkn figi security gics dividend etf
  fund issuer shares eps pe cik company industry ipo branche sektor secteur sector settore borse boerse
  gewichtung stocks equities equity aktien actions acciones azioni etfs dax mdax sdax cac ftse nikkei topix
  sp russell msci nyse nasdaq amex lse xetra euronext tsx asx nse bse tse hkex jse six`);

/** Columns of codes, classes and amounts, whose values may look like symbols. */
const NEVER_SYMBOL =
  words(`date dates time timestamp created updated modified year month week day quarter datum zeit jahr
  fecha annee data ano country countries land pays pais paese kraj salis iso iso2 iso3 state states region
  province bundesland city stadt ort ville ciudad zip plz postcode postal phone tel telefon fax amount
  price cost revenue sales total sum value betrag preis umsatz montant prix importe precio currency wahrung
  devise moneda valuta category type class status stage state group segment size level rank position row
  line batch cohort gender sex language lang locale timezone sku vat tax ein duns commune gemeinde
  municipio libelle siren siret krs nip hrb number no nr uuid guid hash key version grade rating score tier
  owner team tag tags`);

/** Codes of securities; in other lists those of goods. */
const SECURITY_CODES =
  words(`stockcode securitycode securitiescode sharecode localcode issuecode instrumentcode
  証券コード 銘柄コード 股票代码 股票代碼 证券代码 證券代號 종목코드 단축코드`);
const LISTING =
  words(`isin isins weight weighting gewichtung constituents listed listing listings issuer lot hsi hkex
  jpx topix nikkei ibov ibovespa krx twse`);
/** Those of the exchange of Brazil. */
const CERTAIN_CODES = words('codigodenegociacao codigonegociacao');
const BARE_CODES = words('code codigo codice kod instrument コード 代码 代碼 코드');
const SHARE_NAMES = words(
  'acao acoes endeks hisse ltp 銘柄名 銘柄 证券简称 股票名称 股票名稱 종목명 證券名稱',
);
/** Of what is held; goods have none of these. */
const HELD = words('held holding holdings gain dividend');

/**
 * Whether a column has an exchange's codes, as the names of the others and of the file show.
 * `nameShares`: the rows name companies with their legal forms.
 */
export function isSecurityCode(name: string, names: readonly string[], nameShares: () => boolean): boolean {
  const code = splitWords(name).join('');
  if (CERTAIN_CODES.has(code)) return true;
  const others = wordsOf(names);
  if (SECURITY_CODES.has(code)) return others.some((word) => LISTING.has(word) || SHARE_NAMES.has(word));
  const areShares = (word: string) => SHARE_NAMES.has(word) || (HELD.has(word) && nameShares());
  return BARE_CODES.has(code) && others.some(areShares);
}

/** Of all columns together; each of them asks. */
const wordsOf = onceFor((names: readonly string[]) => [...new Set(names.flatMap(splitWords))]);

/** Lower-case words without accents; `camelCase`, `snake_case` and `kebab-case` are parted. */
function splitWords(name: string): string[] {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** What programs put around a record (`_source.website` in Elasticsearch). */
const ENVELOPE = /^(?:_source|profile|companyProfile|company_profile|document)\.(?=.)/;

export function readHeader(name: string): HeaderReading {
  const parts = splitWords(name.replace(ENVELOPE, ''));
  const pairs = parts.slice(1).map((part, index) => `${parts[index]}${part}`);
  const has = (set: ReadonlySet<string>) => [...parts, ...pairs].some((word) => set.has(word));
  const named = meaningOf(name, has);
  const isStaff = named === 'email' && (has(STAFF) || OWNER_MEMBER.test(name));
  const isForeign = has(FOREIGN) || isStaff;
  const meaning = isForeign && !has(ISIN) ? null : named;
  const role = parts.find((part) => ROLES.has(part)) ?? null;
  if (meaning === null) return { meaning, weight: 0, role, isForeign };
  const isVague = !has(DOMAIN) && has(VAGUE_DOMAIN);
  const isWhole = parts.every((part, index) =>
    [part, pairs[index], pairs[index - 1]].some((word) => word !== undefined && MEANINGFUL.has(word)),
  );
  const isScript = DOMAIN_SCRIPTS.test(name) || EMAIL_SCRIPTS.test(name);
  return { meaning, weight: (isWhole || isScript) && !isVague ? 1 : 0.6, role, isForeign: false };
}

function meaningOf(name: string, has: (set: ReadonlySet<string>) => boolean): HeaderMeaning | null {
  if (has(ISIN)) return 'isin';
  if (has(BRAND_ID)) return 'id';
  if (has(CRYPTO)) return 'crypto';
  const isListed = has(EXCHANGE) && has(CODE);
  if (has(TICKER) || isListed || (has(SYMBOL) && has(SECURITY))) return 'ticker';
  if (has(SYMBOL)) return 'symbol';
  // "E-mail domain" is a domain; "web mail" is mail.
  const isMail = has(EMAIL) || EMAIL_SCRIPTS.test(name) || /e-?mail/i.test(name);
  if (isMail && !/dom[aä]/i.test(name)) return 'email';
  const isDomain = has(DOMAIN) || has(VAGUE_DOMAIN) || DOMAIN_SCRIPTS.test(name);
  return isDomain || DOMAIN_PARTS.test(name.toLowerCase()) ? 'domain' : null;
}

const NAMES = [DOMAIN, VAGUE_DOMAIN, EMAIL, ISIN, TICKER, SYMBOL, CRYPTO, SECURITY, BRAND_ID, NEUTRAL];
const MEANINGFUL = new Set(NAMES.flatMap((set) => [...set]));
/** Words that columns are called by. */
const KNOWN = [MEANINGFUL, FOREIGN, CRYPTO_CONTEXT, TICKER_CONTEXT];

/** Whether some word of a name is one that columns are called by, so that it is not a value. */
export function isHeaderLike(name: string): boolean {
  return splitWords(name).some((word) => KNOWN.some((set) => set.has(word)));
}

/** Whether a name says that its values are no symbols, whatever they look like. */
export function isNeverSymbol(name: string): boolean {
  const parts = splitWords(name);
  return parts.some((part) => NEVER_SYMBOL.has(part) || FOREIGN.has(part));
}

/** The kind of a column named `symbol`, by the names of columns and file; null when unclear. */
export function symbolContext(names: readonly string[]): 'ticker' | 'crypto' | null {
  const all = names.flatMap(splitWords).map((word) => word.replace(/(?<!\d)\d+$/, ''));
  const isCrypto = all.some((word) => CRYPTO_CONTEXT.has(word));
  const isTicker = all.some((word) => TICKER_CONTEXT.has(word));
  return isCrypto === isTicker ? null : isCrypto ? 'crypto' : 'ticker';
}
