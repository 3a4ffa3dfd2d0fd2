/** Cells with types. The `raw` of such a row is a JSON array of them, written back unchanged. */
import { DAY_MS } from './clock.js';

/** One cell; null when it is empty. */
export type TypedCell =
  | null
  | string
  | number
  | boolean
  /** A number, as text if a double would lose digits; `f` is its place in `CellFormats.codes`. */
  | { readonly n: number | string; readonly f?: number }
  /** Text with a number format (`@` keeps `007` a text when it is edited). */
  | { readonly s: string; readonly f: number }
  /** An error of a formula: `#N/A`. */
  | { readonly e: string }
  /** A moment or a day, ISO 8601. */
  | { readonly t: string }
  /** The address of a web page. */
  | { readonly u: string }
  /** JSON text: a list or an object. */
  | { readonly j: string }
  /** A stored value of a Parquet file (`input/parquet/values.ts`), and the cell that shows it. */
  | { readonly p: unknown; readonly c: TypedCell };

/** The type of a column in formats with types. */
export type ColumnType = 'text' | 'integer' | 'number' | 'boolean' | 'day' | 'moment';

/** The number formats and dates of one table. */
export interface CellFormats {
  /** Number formats as spreadsheets write them; 0 is always `General`. */
  readonly codes: readonly string[];
  /** True if day 0 is 1904-01-01 (workbooks of old Macs), false if it is 1899-12-30. */
  readonly is1904: boolean;
}

/** The formats of tables that have none of their own. */
export const NO_FORMATS: CellFormats = { codes: ['General'], is1904: false };

/** Counts the digits of a number as text, without leading zeros and exponent. Pure. */
export function significantDigits(number: string): number {
  return number.replace(/^-?0*\.?0*|[eE].*|\D/g, '').length;
}

/** Formats that files name by number alone (ECMA-376, 18.8.30); dates vary with the language. */
const BUILT_IN = `1 0 | 2 0.00 | 3 #,##0 | 4 #,##0.00 | 9 0% | 10 0.00% | 11 0.00E+00 | 12 # ?/? |
  13 # ??/?? | 14 mm-dd-yy | 15 d-mmm-yy | 16 d-mmm | 17 mmm-yy | 18 h:mm AM/PM |
  19 h:mm:ss AM/PM | 20 h:mm | 21 h:mm:ss | 22 m/d/yy h:mm | 37 #,##0 ;(#,##0) |
  38 #,##0 ;[Red](#,##0) | 39 #,##0.00;(#,##0.00) | 40 #,##0.00;[Red](#,##0.00) |
  45 mm:ss | 46 [h]:mm:ss | 47 mmss.0 | 48 ##0.0E+0 | 49 @`;
export const BUILT_IN_FORMATS: Readonly<Record<string, string>> = Object.fromEntries(
  BUILT_IN.split(/ \|\s+/).map((each) => each.split(/ (.*)/)),
);

/** Parses the `raw` of a row. */
export function readTyped(raw: string): TypedCell[] {
  return JSON.parse(raw);
}

/** Returns a cell as text: dates in ISO 8601 without a zone, booleans as `TRUE` and `FALSE`. */
export function textOfCell(cell: TypedCell, formats: CellFormats): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return String(cell);
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  if ('s' in cell) return cell.s;
  if ('e' in cell) return cell.e;
  if ('t' in cell) return cell.t;
  if ('u' in cell) return cell.u;
  if ('j' in cell) return cell.j;
  if ('c' in cell) return textOfCell(cell.c, formats);
  return momentOf(cell, formats) ?? String(cell.n);
}

/** Returns a cell as JSON: numbers, booleans, lists and objects as such, anything else as text. */
export function jsonOfCell(cell: TypedCell, formats: CellFormats): string {
  if (cell === null) return 'null';
  // Raw line breaks in JSON stand only between its tokens; a line of JSON must have none.
  if (typeof cell === 'object' && 'j' in cell) return cell.j.replace(/[\r\n]+/g, '');
  if (typeof cell === 'object' && 'c' in cell) return jsonOfCell(cell.c, formats);
  if (typeof cell === 'object' && 'n' in cell && momentOf(cell, formats) === null) {
    return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(String(cell.n))
      ? String(cell.n)
      : JSON.stringify(String(cell.n));
  }
  return JSON.stringify(typeof cell === 'object' ? textOfCell(cell, formats) : cell);
}

/** Returns the ISO text of a number with a format for dates or times; null for other formats. */
function momentOf(cell: { readonly n: number | string; readonly f?: number }, formats: CellFormats) {
  const shown = momentShown(formats.codes[cell.f ?? 0] ?? '');
  return shown === null ? null : isoOfSerial(Number(cell.n), shown, formats.is1904);
}

interface MomentShown {
  readonly date: boolean;
  readonly time: boolean;
}

const shownByCode = new Map<string, MomentShown | null>();

/** Returns whether a number format shows date and time; null if it shows a number or a duration. */
export function momentShown(code: string): MomentShown | null {
  const cached = shownByCode.get(code);
  if (cached !== undefined) return cached;
  // Quoted texts, escapes, padding, colours and conditions say nothing about dates.
  const [first = ''] = code
    .replace(/AM\/PM|A\/P/gi, 'h')
    .replace(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*(?:\]|$)/gi, '')
    .split(';');
  const isLength = /\[[hms]+\]/i.test(first);
  const isOther = isLength || /general|[#?]|^0|@/i.test(first);
  const time = /[hs]/i.test(first);
  const date = /[yd]|m/i.test(time ? first.replace(/m/gi, (m, at) => (isMinute(first, at) ? '' : m)) : first);
  const shown = isOther || (!time && !date) ? null : { date, time };
  if (shownByCode.size < 1_000) shownByCode.set(code, shown);
  return shown;
}

/** True if the `m` at this position means minutes: after hours or before seconds. */
function isMinute(code: string, at: number): boolean {
  return /h[^a-z]*m*$/i.test(code.slice(0, at)) || /^m+[^a-z]*s/i.test(code.slice(at));
}

/** Days from 1899-12-30 and 1904-01-01 to 1970-01-01. */
const EPOCH_DAYS = { from1900: 25_569, from1904: 24_107 };
/** The day after 9999-12-31, the last one of a spreadsheet. */
const LAST_SERIAL = 2_958_466;

/** Returns the date of a serial number; null outside a spreadsheet, where 60 is 1900-02-29. */
function isoOfSerial(serial: number, { date, time }: MomentShown, is1904: boolean): string | null {
  if (!(serial >= 0 && serial < LAST_SERIAL)) return null;
  const isLeapBug = !is1904 && serial < 61;
  const day = Math.floor(serial);
  const shifted = isLeapBug && day < 60 ? serial + 1 : serial;
  const ms = Math.round((shifted - (is1904 ? EPOCH_DAYS.from1904 : EPOCH_DAYS.from1900)) * DAY_MS);
  const [whole = '', clock = ''] = new Date(ms).toISOString().slice(0, 23).split('T');
  const seconds = clock.replace(/\.000$/, '');
  if (!date && day === 0) return seconds;
  const dayText = isLeapBug && day === 60 ? '1900-02-29' : whole;
  return time || seconds !== '00:00:00' ? `${dayText}T${seconds}` : dayText;
}

/** Returns the serial number of an ISO text, zones converted to UTC; null if it can have none. */
export function serialOfIso(iso: string, is1904: boolean): number | null {
  if (!/^\d{4}-\d\d-\d\d/.test(iso)) return null;
  const zoned = /\d(?:Z|[+-]\d\d:?\d\d)$/.test(iso) || !iso.includes('T') ? iso : `${iso}Z`;
  const days = Date.parse(zoned) / DAY_MS + (is1904 ? EPOCH_DAYS.from1904 : EPOCH_DAYS.from1900);
  const serial = !is1904 && days < 61 ? days - 1 : days;
  return serial >= (is1904 ? 0 : 1) && serial < LAST_SERIAL ? serial : null;
}
