/**
 * Symbols that nearly every list of shares or of coins has some of. They show what an unnamed
 * column of codes is, and that a first line is data; they need not be complete. Pure.
 */
import { onceFor } from '../../core/lifecycle.js';

const words = (text: string) => new Set(text.split(/\s+/));

/** Much traded shares and funds. Shorter symbols are words, states and classes too. */
const TICKERS =
  words(`AAPL MSFT NVDA AMZN GOOGL GOOG META TSLA AVGO BRK.B BRK-B BRKB LLY JPM UNH XOM COST PG JNJ ABBV
  BAC NFLX CRM ORCL AMD CVX PEP TMO WMT MRK ADBE ACN LIN MCD CSCO ABT QCOM TXN INTU IBM CAT DHR AMGN PFE
  NOW ISRG DIS CMCSA SPGI UBER AMAT RTX UNP LOW PGR HON NEE BKNG SYK ELV TJX BLK COP LMT VRTX SCHW ETN REGN
  BSX PLD MDT ADP PANW MMC ADI SBUX ANET KLAC BMY GILD LRCX AMT NKE TMUS UPS DUK ICE SHW CME ZTS MCO PYPL
  SNPS CDNS EQIX CMG ITW MCK CVS TGT EOG USB PNC APH BDX MSI CSX NOC ORLY FCX WELL TDG APD FDX MMM MAR HCA
  ADSK AIG SLB SHOP SNOW PLTR COIN SPOT ABNB HOOD RIVN LCID ROKU DDOG CRWD NET MDB TEAM WDAY OKTA TWLO DOCU
  BABA TSM ASML NVO SAP SONY NIO BIDU PDD MELI SPY QQQ VTI VOO IVV VEA VWO BND AGG GLD SCHD VYM VUG ARKK
  IWM DIA XLK DASH EBAY LULU MDLZ GIS HSY KHC WFC INTC MRNA LYFT PINS SNAP RBLX DELL HPQ AXP GME AMC KMI
  OXY PSX VLO`);
const SHORT_TICKERS = words('GS GM BA KO HD MA VZ GE DE MS EA MU PM MO SO WM CI CB CL PH ON ZM');

/** Much traded coins, some by two codes. */
const COINS =
  words(`BTC XBT XXBT ETH XETH USDT USDC BNB XRP XXRP SOL ADA DOGE XDG XXDG TRX TON AVAX SHIB DOT LINK BCH
  NEAR MATIC POL LTC XLTC ICP UNI APT ETC XETC XLM XXLM HBAR FIL ATOM ARB INJ VET MKR GRT AAVE ALGO RNDR
  RENDER THETA FTM IMX STX TIA SEI SUI PEPE BONK WIF FLOKI LDO CRO MNT OKB KAS XMR XXMR QNT EGLD SAND MANA
  AXS APE CHZ FLOW XTZ EOS IOTA MIOTA NEO ZEC XZEC DASH KAVA SNX CRV COMP SUSHI YFI BAT ENJ ZIL RUNE CAKE
  GALA LRC ENS DYDX GMX RPL WBTC DAI BUSD TUSD KSM WAVES QTUM ICX ZRX BTT CELO ROSE ANKR XEM DCR DGB RVN
  LUNA LUNC OP`);

/** Coins whose codes no share has, unlike COMP: of two of them the list is one of coins. */
const ONLY_COINS =
  words(`BTC XBT XXBT ETH XETH USDT USDC BNB XRP XXRP DOGE XDG XXDG SHIB ADA XLM XXLM XMR XXMR HBAR
  DAI WBTC BUSD MATIC PEPE XTZ EOS IOTA AVAX BCH ALGO`);
const LEAST_ONLY_COINS = 2;

/** Currencies of states (ISO 4217), in which lists of shares and coins have their amounts. */
const CURRENCIES =
  words(`USD EUR GBP GBX CHF JPY CNY CNH HKD SGD TWD KRW INR IDR THB MYR PHP VND AUD NZD CAD MXN BRL CLP
  COP ARS PEN SEK NOK DKK ISK PLN CZK HUF RON BGN TRY ILS ZAR AED SAR EGP NGN UAH`);

export function isCurrency(symbol: string): boolean {
  return CURRENCIES.has(symbol);
}

const MARKET = /^([A-Z0-9]+)[-/_]([A-Z]{3,5})$/;
/** Without a sign between them: against a stable coin, or a known coin against something else. */
const STABLE_MARKET = /^([A-Z0-9]{2,}?)(USDT|USDC|BUSD|FDUSD|TUSD)$/;
const OTHER_MARKET = /^([A-Z0-9]{2,}?)(?:USD|EUR|GBP|TRY|BTC|XBT|ETH|BNB)$/;
const STABLE = words('USDT USDC BUSD FDUSD TUSD');

/**
 * The coin of a market, `BTC` of `BTC-USDT`, `BTCUSDT` and `BTC/EUR`; null: it is not one. For
 * columns of markets alone: some coins are written like one (`UNIBTC`, `CRVUSD`).
 */
export function coinOfMarket(symbol: string): string | null {
  const [, traded = '', against = ''] = MARKET.exec(symbol) ?? STABLE_MARKET.exec(symbol) ?? [];
  const isMarket = isCurrency(against) || COINS.has(against) || STABLE.has(against);
  if (isMarket) return isCurrency(traded) ? null : traded;
  const [, known = ''] = OTHER_MARKET.exec(symbol) ?? [];
  return COINS.has(known) ? known : null;
}

type KnownKind = 'ticker' | 'crypto';

/** Counts known symbols among values. */
export class KnownSymbols {
  readonly #seen = { ticker: new Set<string>(), crypto: new Set<string>() };
  readonly #counts = { ticker: 0, crypto: 0 };

  add(value: string): void {
    const ticker = value.replace(/\.[A-Z]{2}$/, '');
    if (TICKERS.has(ticker)) this.#note('ticker', ticker);
    // Exchanges write coins in lower case too.
    const coin = value === value.toLowerCase() ? value.toUpperCase() : value;
    if (COINS.has(coin)) this.#note('crypto', coin);
  }

  #note(kind: KnownKind, value: string): void {
    this.#counts[kind] += 1;
    this.#seen[kind].add(value);
  }

  /** Whether all of so many values are coins whose codes nothing else has. */
  areCoins(values: number): boolean {
    return this.#counts.crypto === values && [...this.#seen.crypto].every((value) => ONLY_COINS.has(value));
  }

  /** The kind of so many values, most of which need not be known; null: they show none. */
  kind(values: number): KnownKind | null {
    const { ticker, crypto } = this.#counts;
    const kind = ticker > crypto ? 'ticker' : 'crypto';
    const other = kind === 'ticker' ? crypto : ticker;
    const onlyCoins = [...this.#seen.crypto].filter((value) => ONLY_COINS.has(value)).length;
    if (kind === 'crypto' && onlyCoins < LEAST_ONLY_COINS) return null;
    const isEnough = this.#seen[kind].size >= LEAST_DIFFERENT && this.#counts[kind] >= values * LEAST_SHARE;
    return isEnough && other < this.#counts[kind] / 2 ? kind : null;
  }
}

const LEAST_DIFFERENT = 4;
const LEAST_SHARE = 0.3;

/** Whether a first line with this cell above these values is data. */
export function isKnownAbove(first: string, values: readonly string[]): boolean {
  const text = first.trim();
  if (!TICKERS.has(text) && !COINS.has(text) && !SHORT_TICKERS.has(text)) return false;
  const known = new KnownSymbols();
  const filled = values.map((value) => value.trim()).filter((value) => value !== '');
  for (const value of filled) known.add(value);
  return known.kind(filled.length) !== null;
}

/** Words in names of listed companies, and classes of their shares. */
const COMPANY = new RegExp(
  '(?:^|[\\s,.])(?:inc|corp|corporation|incorporated|plc|ltd|limited|holdings?|etf|stocks?|equity|' +
    'common stock|aktien?)(?:$|[\\s,.)])',
  'i',
);

/** Whether the rows name companies with their legal forms, or shares: then a symbol is a ticker. */
export const nameShares = onceFor((rows: readonly (readonly string[])[]): boolean => {
  const named = rows.filter((row) => row.some((cell) => cell.length < 200 && COMPANY.test(cell)));
  return named.length > 0 && named.length >= rows.length * LEAST_SHARE;
});

/** Bloomberg's codes of exchanges, composite and primary; American shares have no suffix. */
const EXCHANGES = new Map(
  Object.entries({
    '': 'US UN UW UQ UA UR UP UF',
    '.AS': 'NA',
    '.AX': 'AU AT',
    '.BR': 'BB',
    '.CO': 'DC',
    '.DE': 'GR GY',
    '.HE': 'FH',
    '.HK': 'HK',
    '.JO': 'SJ',
    '.KS': 'KS KP',
    '.L': 'LN',
    '.LS': 'PL',
    '.MC': 'SM SQ',
    '.MI': 'IM',
    '.MX': 'MM',
    '.NS': 'IS',
    '.OL': 'NO',
    '.PA': 'FP',
    '.SA': 'BZ BS',
    '.SI': 'SP',
    '.ST': 'SS',
    '.SW': 'SW SE VX',
    '.T': 'JP JT',
    '.TO': 'CN CT',
    '.TW': 'TT',
    '.VI': 'AV',
    '.WA': 'PW',
  }).flatMap(([suffix, codes]) => codes.split(' ').map((code) => [code, suffix] as const)),
);
const BLOOMBERG = /^([A-Z0-9]{1,8})(?:\/([A-Z]))? ([A-Z]{2})( E(?:quity|QUITY))?$/;
/** Behind a name or a ticker these are something else (`BASF SE`, `WELLS FARGO NA`, `REI UN`). */
const NAME_ENDS = new Set(['SE', 'NA', 'NO', 'IS', 'UN']);

/** `0005 HK` is `5 HK` there; elsewhere it has four digits. */
const LEAST_DIGITS = 4;

/**
 * Returns a ticker with its exchange as a suffix (`SAP.DE`) for one of Bloomberg (`SAP GY`,
 * `AAPL US Equity`), or null for other texts and unknown exchanges.
 */
export function readBloomberg(text: string): string | null {
  const [, code = '', shareClass, exchange = '', equity] = BLOOMBERG.exec(text) ?? [];
  const suffix = EXCHANGES.get(exchange);
  if (suffix === undefined || (equity === undefined && NAME_ENDS.has(exchange))) return null;
  const ticker = suffix === '.HK' && /^\d+$/.test(code) ? code.padStart(LEAST_DIGITS, '0') : code;
  const separator = suffix === '' ? '.' : '-';
  return `${ticker}${shareClass === undefined ? '' : separator + shareClass}${suffix}`;
}
