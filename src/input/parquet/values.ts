/** Interprets values of Parquet columns, and keeps their stored form to write it again. */
import type { SchemaElement } from 'hyparquet';
import { parseFloat16 } from 'hyparquet/src/convert.js';
import { isJsonText } from '../../core/json-text.js';
import { attempt } from '../../core/lifecycle.js';
import type { TypedCell } from '../../core/typed-cell.js';

/** A stored value as JSON; a value that JSON lacks is an object with one key. */
type Stored = null | string | number | boolean | { readonly [kind in 'i' | 'b' | 'n']?: string };

export function packStored(value: unknown): Stored {
  if (typeof value === 'bigint') return { i: String(value) };
  if (value instanceof Uint8Array) return { b: Buffer.from(value).toString('base64') };
  if (typeof value !== 'number') return value as string | boolean | null;
  if (Number.isFinite(value) && !Object.is(value, -0)) return value;
  return { n: Object.is(value, -0) ? '-0' : String(value) };
}

export function unpackStored(stored: Stored): unknown {
  if (stored === null || typeof stored !== 'object') return stored;
  if (stored.i !== undefined) return BigInt(stored.i);
  return stored.b === undefined ? Number(stored.n) : new Uint8Array(Buffer.from(stored.b, 'base64'));
}

const DAY_NANOS = 86_400_000_000_000n;
/** The Julian day of 1970-01-01. */
const JULIAN_DAY = 2_440_588n;

/** Returns a function that decodes valid text, and INT96 as nanoseconds since 1970. */
export function keptValue({ type, type_length, converted_type, logical_type }: SchemaElement) {
  const isText = type === 'BYTE_ARRAY' && (converted_type === 'UTF8' || logical_type?.type === 'STRING');
  return (value: unknown): unknown => {
    if (!(value instanceof Uint8Array)) return value;
    if (isText) return utf8Text(value) ?? value;
    if (type === 'FIXED_LEN_BYTE_ARRAY' && value.length !== type_length)
      throw new Error('it has a value of the wrong length');
    if (type !== 'INT96') return value;
    const view = new DataView(value.buffer, value.byteOffset);
    const nanos = (BigInt(view.getInt32(8, true)) - JULIAN_DAY) * DAY_NANOS + view.getBigInt64(0, true);
    if (BigInt.asIntN(64, nanos / 1_000n) === nanos / 1_000n) return nanos;
    throw new Error('it has a time that is beyond every calendar');
  };
}

/** Returns the cell of a stored value, with the value itself if the cell cannot restore it. */
export function parquetCell(element: SchemaElement, value: unknown): TypedCell {
  if (value === null || value === undefined) return null;
  const cell = meaningOf(element, value);
  return Object.is(cell, value) ? cell : { p: packStored(value), c: cell };
}

/** Interprets a value by the logical type of its element (LogicalTypes.md). */
function meaningOf(element: SchemaElement, value: unknown): TypedCell {
  const { type, converted_type: converted, logical_type: logical, scale = 0 } = element;
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL')
    return { n: decimalText(integerOf(value), scale) };
  if (value instanceof Uint8Array) return bytesCell(element, value);
  if (typeof value !== 'number' && typeof value !== 'bigint') return null;
  if (converted === 'DATE' || logical?.type === 'DATE')
    return { t: momentText(integerOf(value) * 86_400n).replace(/T.*/, '') };
  if (type === 'INT96') return { t: clockText(integerOf(value), 'NANOS') };
  const [kind, unit] =
    logical && 'unit' in logical ? [logical.type, logical.unit] : (converted ?? '').split('_');
  if (unit === 'MILLIS' || unit === 'MICROS' || unit === 'NANOS') {
    const text = clockText(integerOf(value), unit);
    if (kind === 'TIME') return text.slice(11);
    return { t: logical?.type === 'TIMESTAMP' && !logical.isAdjustedToUTC ? text : `${text}Z` };
  }
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
    const half = parseFloat16(bytes) ?? null;
    return Number.isFinite(half) ? half : String(half);
  }
  if (logical_type?.type === 'UUID')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const text = utf8Text(bytes);
  // Outputs contain JSON unchanged, so an annotation is not enough.
  if (text !== null && converted_type === 'JSON') return isJsonText(text) ? { j: text } : text;
  // Bytes without an annotation are text only if they look like it.
  return text === null || /[^\t\n\r\P{Cc}]/u.test(text) ? Buffer.from(bytes).toString('base64') : text;
}

/** Returns months, days and milliseconds as an ISO 8601 duration: `P1M2DT0.5S`. */
function durationText(bytes: Buffer): string {
  const [months, days, ms] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
  const date = `${months > 0 ? `${months}M` : ''}${days > 0 ? `${days}D` : ''}`;
  const time = ms > 0 || date === '' ? `T${ms / 1_000}S` : '';
  return `P${date}${time}`;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const utf8Text = (bytes: Uint8Array): string | null => attempt(() => decoder.decode(bytes), null);

function integerOf(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(value as number | bigint);
  const hex = Buffer.from(value).toString('hex');
  return BigInt.asIntN(value.length * 8, hex === '' ? 0n : BigInt(`0x${hex}`));
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return unscaled < 0n ? `-${text}` : text;
}

const PER_SECOND = { MILLIS: 1_000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n };
const FRACTION_DIGITS = { MILLIS: 3, MICROS: 6, NANOS: 9 };

/** Returns `2024-01-15T10:30:00.5`, without trailing zeros. */
function clockText(count: bigint, unit: keyof typeof PER_SECOND): string {
  const per = PER_SECOND[unit];
  const fraction = ((count % per) + per) % per;
  const digits = String(fraction)
    .padStart(FRACTION_DIGITS[unit], '0')
    .replace(/(?<!0)0+$/, '');
  const moment = momentText((count - fraction) / per);
  return digits === '' ? moment : `${moment}.${digits}`;
}

/** Returns `2024-01-15T10:30:00`, or the number if it is outside the calendar. */
function momentText(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1_000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace(/\.\d+Z$/, '');
}

/** Returns the shortest number with the same 32-bit float. */
function shortestFloat(value: number): number {
  const shortIn = (digits: number) => Number(value.toPrecision(digits));
  return shortIn([6, 7, 8].find((digits) => Math.fround(shortIn(digits)) === value) ?? 17);
}
