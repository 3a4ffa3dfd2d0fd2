/** Cells of a sheet as the JSON of `TypedCell`, by their types (ECMA-376, 18.18.11). */

import { cutText } from '../../core/terminal-text.js';
import { momentShown, serialOfIso, significantDigits, textOfCell } from '../../core/typed-cell.js';
import type { SharedStrings } from './shared-strings.js';
import type { Workbook } from './workbook.js';
import { MOST_CELL_CHARS, unescapeXstring } from './xml-text.js';

interface Cell {
  readonly json: string;
  /** Only its beginning is kept. */
  readonly isCut: boolean;
}

/** `value` is the text of the element; null: an empty cell. */
export function createCells({ formats }: Workbook, strings: SharedStrings | null) {
  const { codes, is1904 } = formats;

  function ofText(whole: string, format: number): Cell | null {
    if (whole === '') return null;
    const text = cutText(whole, MOST_CELL_CHARS);
    return { json: ofJson(JSON.stringify(text), format), isCut: text.length < whole.length };
  }

  /** `json`: of the text. */
  const ofJson = (json: string, format: number) =>
    codes[format] === '@' ? `{"s":${json},"f":${format}}` : json;

  function ofShared(value: string, format: number): Cell | null {
    const index = Number(value);
    const json = strings?.json(index) ?? null;
    if (json === null) throw new Error(`a cell refers to a text ${value.slice(0, 20)} that is missing`);
    return json === '""' ? null : { json: ofJson(json, format), isCut: strings?.isCut(index) ?? false };
  }

  /** `json`: of the number. */
  const ofNumber = (json: string, format: number): Cell => ({
    json: format === 0 ? json : `{"n":${json},"f":${format}}`,
    isCut: false,
  });

  function ofDigits(value: string, format: number): Cell | null {
    const digits = value.trim();
    if (digits === '') return null;
    const number = Number(digits);
    if (!Number.isFinite(number) || digits.length > MOST_CELL_CHARS) return ofText(digits, 0);
    const text = String(number);
    // 17 digits identify a double; a number with more digits was not a double in its source.
    if (digits.length <= 17 || significantDigits(digits) <= 17 || text === digits)
      return ofNumber(text, format);
    const json = JSON.stringify(digits);
    return format === 0 ? { json: `{"n":${json}}`, isCut: false } : ofNumber(json, format);
  }

  /** A date or time as ISO text, as its serial number where its number format can show that. */
  function ofIso(iso: string, format: number): Cell {
    const time = timeOfDay(iso);
    const shown = momentShown(codes[format] ?? '');
    const isShown = time === null ? shown !== null : shown?.date === false;
    const serial = isShown ? (time ?? serialOfIso(iso, is1904)) : null;
    if (serial !== null) return ofNumber(String(serial), format);
    const text = time === null ? iso : textOfCell({ n: time, f: 1 }, TIMES);
    return { json: `{"t":${JSON.stringify(text)}}`, isCut: false };
  }

  return (type: string, value: string, format: number): Cell | null => {
    if (value.length > MOST_CELL_CHARS && /^[de]$/.test(type)) return ofText(value, 0);
    switch (type) {
      case 'n':
        return ofDigits(value, format);
      case 's':
        return value === '' ? null : ofShared(value, format);
      case 'inlineStr':
      case 'str':
        return ofText(unescapeXstring(value), format);
      case 'b':
        return value === '' ? null : { json: String(/^(?:1|true)$/i.test(value)), isCut: false };
      case 'e':
        return value === '' ? null : { json: `{"e":${JSON.stringify(value)}}`, isCut: false };
      case 'd':
        return value === '' ? null : ofIso(value, format);
      default:
        return ofDigits(value, format);
    }
  };
}

const TIMES = { codes: ['General', 'hh:mm:ss'], is1904: false };

/** `10:30`, `T10:30:15.25`: as part of a day; null: another text. Pure. */
function timeOfDay(iso: string): number | null {
  const [, hours, minutes, seconds = 0] = /^T?(\d\d):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?$/.exec(iso) ?? [];
  if (hours === undefined || Number(hours) > 23) return null;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400;
}
