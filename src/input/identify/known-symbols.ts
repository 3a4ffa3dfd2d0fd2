/** Well-known symbols, some of which are in nearly every list of shares or coins. Pure. */
const words = (text: string) => new Set(text.split(/\s+/));

/** Frequently traded shares and funds. Shorter symbols may be words, states or classes. */
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

/** Frequently traded coins, some with two codes. */
const COINS =
  words(`BTC XBT XXBT ETH XETH USDT USDC BNB XRP XXRP SOL ADA DOGE XDG XXDG TRX TON AVAX SHIB DOT LINK BCH
  NEAR MATIC POL LTC XLTC ICP UNI APT ETC XETC XLM XXLM HBAR FIL ATOM ARB INJ VET MKR GRT AAVE ALGO RNDR
  RENDER THETA FTM IMX STX TIA SEI SUI PEPE BONK WIF FLOKI LDO CRO MNT OKB KAS XMR XXMR QNT EGLD SAND MANA
  AXS APE CHZ FLOW XTZ EOS IOTA MIOTA NEO ZEC XZEC DASH KAVA SNX CRV COMP SUSHI YFI BAT ENJ ZIL RUNE CAKE
  GALA LRC ENS DYDX GMX RPL WBTC DAI BUSD TUSD KSM WAVES QTUM ICX ZRX BTT CELO ROSE ANKR XEM DCR DGB RVN
  LUNA LUNC OP`);

/** Coins whose codes no share has; COMP is also a share. */
const ONLY_COINS =
  words(`BTC XBT XXBT ETH XETH USDT USDC BNB XRP XXRP DOGE XDG XXDG SHIB ADA XLM XXLM XMR XXMR HBAR
  DAI WBTC BUSD MATIC PEPE XTZ EOS IOTA AVAX BCH ALGO`);

/** Currencies of states (ISO 4217), in which lists of shares and coins have their amounts. */
const CURRENCIES =
  words(`USD EUR GBP GBX CHF JPY CNY CNH HKD SGD TWD KRW INR IDR THB MYR PHP VND AUD NZD CAD MXN BRL CLP
  COP ARS PEN SEK NOK DKK ISK PLN CZK HUF RON BGN TRY ILS ZAR AED SAR EGP NGN UAH`);

/** Exchanges, whose names are often beside symbols. */
const VENUES =
  words(`NYSE NASDAQ AMEX ARCA NYSEARCA BATS OTC LSE AIM TSX TSXV ASX NZX NSE BSE HKEX HKG SEHK SGX SSE SZSE
  TSE JPX KRX KOSPI KOSDAQ TWSE SET IDX KLSE XETRA ETR FRA EPA AMS SWX STO GPW PSX JSE BVMF BMV MOEX`);

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const isRegion = (code: string) => /^[A-Z]{2}$/.test(code) && regions.of(code) !== undefined;
const MARKET = /^([A-Z0-9]+)[-/_]([A-Z]{3,5})$/;
/** Markets without a separator: of any coin in a stable coin, or of a known coin in another one. */
const STABLE_MARKET = /^([A-Z0-9]{2,}?)(USDT|USDC|BUSD|FDUSD|TUSD)$/;
const OTHER_MARKET = /^([A-Z0-9]{2,}?)(?:USD|EUR|GBP|TRY|BTC|XBT|ETH|BNB)$/;
const STABLE = words('USDT USDC BUSD FDUSD TUSD');

/**
 * Returns the coin of a market, `BTC` for `BTC-USDT`, `BTCUSDT` and `BTC/EUR`, or null. Only for
 * columns of markets, because some coins look like one (`UNIBTC`, `CRVUSD`).
 */
export function coinOfMarket(symbol: string): string | null {
  const [, traded = '', against = ''] = MARKET.exec(symbol) ?? STABLE_MARKET.exec(symbol) ?? [];
  const isMarket = CURRENCIES.has(against) || COINS.has(against) || STABLE.has(against);
  if (isMarket) return CURRENCIES.has(traded) ? null : traded;
  const [, known = ''] = OTHER_MARKET.exec(symbol) ?? [];
  return COINS.has(known) ? known : null;
}

/** Returns the shares of known tickers, coins and closed sets of codes in symbols, from 0 to 1. */
export function knownAmong(symbols: ReadonlySet<string>) {
  const share = (isIt: (symbol: string) => boolean) =>
    [...symbols].filter(isIt).length / Math.max(1, symbols.size);
  return {
    tickers: share((symbol) => TICKERS.has(symbol.replace(/^[$^]|\.[A-Z]{1,2}$/g, '')) && !COINS.has(symbol)),
    coins: share((symbol) => COINS.has(symbol)),
    areSurelyCoins: [...symbols].filter((symbol) => ONLY_COINS.has(symbol)).length > 1,
    closed: Math.max(
      share((each) => CURRENCIES.has(each)),
      share((each) => VENUES.has(each)),
      share(isRegion),
    ),
  };
}

/** The least number and share of known symbols that are not chance. */
const LEAST_DIFFERENT = 4;
const LEAST_SHARE = 0.3;

/** True if a first line with this cell above these values is data. */
export function isKnownAbove(first: string, values: readonly string[]): boolean {
  const text = first.trim();
  if (!TICKERS.has(text) && !COINS.has(text) && !SHORT_TICKERS.has(text)) return false;
  const symbols = new Set(values.map((value) => value.trim()).filter((value) => value !== ''));
  const { tickers, coins, areSurelyCoins } = knownAmong(symbols);
  const known = tickers > coins || areSurelyCoins ? Math.max(tickers, coins) : 0;
  return known >= LEAST_SHARE && Math.round(known * symbols.size) >= LEAST_DIFFERENT;
}

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
/** Codes that mean something else after a name (`BASF SE`, `WELLS FARGO NA`, `REI UN`). */
const NAME_ENDS = new Set(['SE', 'NA', 'NO', 'IS', 'UN']);

/** `0005 HK` is `5 HK` there; elsewhere it has four digits. */
const LEAST_DIGITS = 4;

/** Returns `SAP.DE` for Bloomberg's `SAP GY` or `SAP GY Equity`, or null for any other text. */
export function readBloomberg(text: string): string | null {
  const [, code = '', shareClass, exchange = '', equity] = BLOOMBERG.exec(text) ?? [];
  const suffix = EXCHANGES.get(exchange);
  if (suffix === undefined || (equity === undefined && NAME_ENDS.has(exchange))) return null;
  const ticker = suffix === '.HK' && /^\d+$/.test(code) ? code.padStart(LEAST_DIGITS, '0') : code;
  const separator = suffix === '' ? '.' : '-';
  return `${ticker}${shareClass === undefined ? '' : separator + shareClass}${suffix}`;
}
