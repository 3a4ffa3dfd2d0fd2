/** Cells of a sheet, by their types (ECMA-376, 18.18.11). */
import { cutText } from '../../core/terminal-text.js';
import {
  momentShown,
  serialOfIso,
  significantDigits,
  type TypedCell,
  textOfCell,
} from '../../core/typed-cell.js';
import { MOST_CELL_CHARS, type SharedStrings, unescapeXstring } from './shared-strings.js';
import type { Workbook } from './workbook.js';

interface Cell {
  readonly cell: TypedCell;
  /** Characters of the whole text, which is cut where it is too long for a cell. */
  readonly chars: number;
}

/** `value` is the text of the element; null: an empty cell. */
export function createCells({ formats }: Workbook, strings: SharedStrings | null) {
  const { codes, is1904 } = formats;

  function ofText(whole: string, format: number): Cell | null {
    if (whole === '') return null;
    const text = cutText(whole, MOST_CELL_CHARS);
    return { cell: codes[format] === '@' ? { s: text, f: format } : text, chars: whole.length };
  }

  function ofShared(value: string, format: number): Cell | null {
    const text = strings?.text(Number(value)) ?? null;
    if (text === null) throw new Error(`a cell refers to a text ${value.slice(0, 20)} that is missing`);
    return ofText(text, format);
  }

  function ofNumber(number: number | string, format: number): Cell {
    const own = format === 0 ? {} : { f: format };
    return {
      cell: format === 0 && typeof number === 'number' ? number : { n: number, ...own },
      chars: String(number).length,
    };
  }

  function ofDigits(value: string, format: number): Cell | null {
    const digits = value.trim();
    if (digits === '') return null;
    const number = Number(digits);
    if (!Number.isFinite(number) || digits.length > MOST_CELL_CHARS) return ofText(digits, 0);
    // 17 digits identify a double; a number with more digits was not a double in its source.
    const isDouble = digits.length <= 17 || significantDigits(digits) <= 17 || String(number) === digits;
    return ofNumber(isDouble ? number : digits, format);
  }

  /** A date or time as ISO text, as its serial number where its number format can show that. */
  function ofIso(iso: string, format: number): Cell {
    const time = timeOfDay(iso);
    const shown = momentShown(codes[format] ?? '');
    const isShown = time === null ? shown !== null : shown?.date === false;
    const serial = isShown ? (time ?? serialOfIso(iso, is1904)) : null;
    if (serial !== null) return ofNumber(serial, format);
    return { cell: { t: time === null ? iso : textOfCell({ n: time, f: 1 }, TIMES) }, chars: iso.length };
  }

  return (type: string, value: string, format: number): Cell | null => {
    if (value === '') return null;
    if (value.length > MOST_CELL_CHARS && /^[de]$/.test(type)) return ofText(value, 0);
    switch (type) {
      case 's':
        return ofShared(value, format);
      case 'inlineStr':
      case 'str':
        return ofText(unescapeXstring(value), format);
      case 'b':
        return { cell: /^(?:1|true)$/i.test(value), chars: 1 };
      case 'e':
        return { cell: { e: value }, chars: value.length };
      case 'd':
        return ofIso(value, format);
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
