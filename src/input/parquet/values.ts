/**
 * Values of Parquet columns: the stored values, so that they can be written again bit by bit, and
 * their meaning, for every other format.
 */
import type { SchemaElement } from 'hyparquet';
import { isJsonText } from '../../core/json-text.js';
import type { TypedCell } from '../../core/typed-cell.js';

/** JSON of a stored value; values that JSON lacks are objects with one key. */
type Stored =
  | null
  | string
  | number
  | boolean
  | readonly Stored[]
  | { readonly i: string }
  | { readonly b: string }
  | { readonly n: string };

export function packStored(value: unknown): Stored {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return { i: String(value) };
  if (typeof value === 'number') {
    if (Number.isFinite(value) && !Object.is(value, -0)) return value;
    return { n: Object.is(value, -0) ? '-0' : String(value) };
  }
  if (value instanceof Uint8Array) return { b: Buffer.from(value).toString('base64') };
  return (value as readonly unknown[]).map(packStored);
}

export function unpackStored(stored: Stored): unknown {
  if (stored === null || typeof stored !== 'object') return stored;
  if (Array.isArray(stored)) return stored.map(unpackStored);
  if ('i' in stored) return BigInt(stored.i);
  if ('b' in stored) return new Uint8Array(Buffer.from(stored.b, 'base64'));
  return 'n' in stored ? Number(stored.n) : null;
}

/**
 * Whether a stored value is a time that 64 bits of nanoseconds cannot hold: no other integer is
 * larger.
 */
export function isBeyondNanos(stored: unknown): boolean {
  if (Array.isArray(stored)) return stored.some(isBeyondNanos);
  if (typeof stored !== 'object' || stored === null || !('i' in stored)) return false;
  const value = BigInt(String(stored.i));
  return BigInt.asIntN(64, value) !== value;
}

/** The cell of a stored value; it includes the value if the cell alone is not enough. */
export function parquetCell(element: SchemaElement, value: unknown): TypedCell {
  if (value === null) return null;
  const cell = meaningOf(element, value);
  return Object.is(cell, value) ? cell : { p: packStored(value), c: cell };
}

/** Parquet's logical types (LogicalTypes.md); `element` has its annotations. */
function meaningOf(element: SchemaElement, value: unknown): TypedCell {
  const { type, converted_type: converted, logical_type: logical, scale = 0 } = element;
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL')
    return { n: decimalText(integerOf(value), scale) };
  if (value instanceof Uint8Array) return bytesCell(element, value);
  if (typeof value !== 'number' && typeof value !== 'bigint') return null;
  if (converted === 'DATE' || logical?.type === 'DATE') return { t: momentText(BigInt(value) * 86_400n, 0) };
  if (type === 'INT96') return { t: clockText(BigInt(value), 'NANOS') };
  if (logical?.type === 'TIMESTAMP') {
    return { t: clockText(BigInt(value), logical.unit) + (logical.isAdjustedToUTC ? 'Z' : '') };
  }
  if (converted === 'TIMESTAMP_MILLIS') return { t: `${clockText(BigInt(value), 'MILLIS')}Z` };
  if (converted === 'TIMESTAMP_MICROS') return { t: `${clockText(BigInt(value), 'MICROS')}Z` };
  if (logical?.type === 'TIME') return clockText(BigInt(value), logical.unit).slice(11);
  if (converted === 'TIME_MILLIS') return clockText(BigInt(value), 'MILLIS').slice(11);
  if (converted === 'TIME_MICROS') return clockText(BigInt(value), 'MICROS').slice(11);
  if (converted === 'UINT_32' && typeof value === 'number') return value >>> 0;
  if (typeof value === 'bigint') {
    const integer = converted === 'UINT_64' ? BigInt.asUintN(64, value) : value;
    const isSmall = integer >= Number.MIN_SAFE_INTEGER && integer <= Number.MAX_SAFE_INTEGER;
    return isSmall ? Number(integer) : { n: String(integer) };
  }
  if (!Number.isFinite(value)) return String(value);
  // JSON would lose the sign.
  if (Object.is(value, -0)) return { n: '-0' };
  return type === 'FLOAT' ? shortestFloat(value) : value;
}

function bytesCell({ converted_type, logical_type }: SchemaElement, bytes: Uint8Array): TypedCell {
  const hex = Buffer.from(bytes).toString('hex');
  if (converted_type === 'INTERVAL' && bytes.length === 12) return durationText(Buffer.from(bytes));
  if (logical_type?.type === 'FLOAT16' && bytes.length === 2) {
    const half = halfFloat(Buffer.from(bytes).readUInt16LE());
    return Number.isFinite(half) ? half : String(half);
  }
  if (logical_type?.type === 'UUID')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const text = utf8Text(bytes);
  // The annotation is only a claim, and outputs hold the text of JSON as it stands.
  if (text !== null && converted_type === 'JSON') return isJsonText(text) ? { j: text } : text;
  // Bytes without an annotation are text only if they look like it.
  return text === null || /[^\t\n\r\P{Cc}]/u.test(text) ? Buffer.from(bytes).toString('base64') : text;
}

/** Months, days and milliseconds as an ISO 8601 duration: `P1M2DT0.5S`; `PT0S` for none. */
function durationText(bytes: Buffer): string {
  const [months, days, ms] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
  const date = `${months > 0 ? `${months}M` : ''}${days > 0 ? `${days}D` : ''}`;
  const time = ms > 0 || date === '' ? `T${ms / 1_000}S` : '';
  return `P${date}${time}`;
}

/** IEEE 754 half precision. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8Text(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** The text if the bytes are valid UTF-8; otherwise the bytes. */
export function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  return utf8Text(bytes) ?? new Uint8Array(bytes);
}

function integerOf(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(value as number | bigint);
  const hex = Buffer.from(value).toString('hex');
  return BigInt.asIntN(value.length * 8, hex === '' ? 0n : BigInt(`0x${hex}`));
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const sign = unscaled < 0n ? '-' : '';
  if (scale === 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

const PER_SECOND = { MILLIS: 1_000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n };
const FRACTION_DIGITS = { MILLIS: 3, MICROS: 6, NANOS: 9 };

/** `2024-01-15T10:30:00.5`, without trailing zeros. */
function clockText(count: bigint, unit: keyof typeof PER_SECOND): string {
  const per = PER_SECOND[unit];
  const fraction = ((count % per) + per) % per;
  const digits = String(fraction)
    .padStart(FRACTION_DIGITS[unit], '0')
    .replace(/(?<!0)0+$/, '');
  const moment = momentText((count - fraction) / per, 1);
  return digits === '' ? moment : `${moment}.${digits}`;
}

/** `part` 0: only the day; 1: with the time. Outside the calendar: the number. */
function momentText(seconds: bigint, part: 0 | 1): string {
  const date = new Date(Number(seconds) * 1_000);
  if (Number.isNaN(date.getTime())) return String(seconds);
  return part === 0 ? date.toISOString().replace(/T.*/, '') : date.toISOString().replace(/\.\d+Z$/, '');
}

/** The shortest number with the same 32-bit float. */
function shortestFloat(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
