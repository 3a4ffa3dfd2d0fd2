/**
 * Tickers as Bloomberg writes them (`AAPL US Equity`, `SAP GY`), with the exchange as a suffix
 * (`SAP.DE`), as lists of other programs have it. Pure.
 */

/** By its codes of exchanges, composite and primary; American shares have no suffix. */
const SUFFIXES = new Map(
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
const WORDS = new Set(['SE', 'NA', 'NO', 'IS', 'UN']);

/** `0005 HK` is `5 HK` there; elsewhere it has four digits. */
const LEAST_DIGITS = 4;

/** The ticker with its exchange; null: it is not written so, or the exchange is not known. */
export function readBloomberg(text: string): string | null {
  const [, code = '', shareClass, exchange = '', equity] = BLOOMBERG.exec(text) ?? [];
  const suffix = SUFFIXES.get(exchange);
  if (suffix === undefined || (equity === undefined && WORDS.has(exchange))) return null;
  const ticker = suffix === '.HK' && /^\d+$/.test(code) ? code.padStart(LEAST_DIGITS, '0') : code;
  const separator = suffix === '' ? '.' : '-';
  return `${ticker}${shareClass === undefined ? '' : separator + shareClass}${suffix}`;
}
