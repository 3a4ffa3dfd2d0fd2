/** The pages of one column of a row group: checked first, then read value by value. */
import type { ColumnMetaData, CompressionCodec } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { compressors } from 'hyparquet-compressors';
import { shortName } from '../../core/terminal-text.js';
import { OverBounds } from '../binary-table.js';
import {
  bitPackedLevels,
  bitWidth,
  bytesFrom,
  hybrid,
  plain,
  TOO_SHORT,
  take,
  type Values,
  valuesOf,
} from './encodings.js';
import type { SchemaNode } from './schema.js';
import { textOrBytes } from './values.js';

/** Bytes of the file, fewer at its end. */
export type Read = (from: number, bytes: number) => Uint8Array;

/** The common size of a page is 1 MiB. */
const MOST_PAGE_BYTES = 256 * 1024 * 1024;
const HEADER_BYTES = 4 * 1024;
/** Its statistics hold values. */
const MOST_HEADER_BYTES = 16 * 1024 * 1024;
/** Old writers left the header of the dictionary out of the size of the column (IMPALA-694). */
const UNCOUNTED_BYTES = 100;

export const NEGATIVE = 'it states a negative count';

type PageHeader = ReturnType<typeof parquetHeader>;

export function startOf({ dictionary_page_offset: first, data_page_offset }: ColumnMetaData): bigint {
  // Some writers state 0 where there is none.
  return first !== undefined && first > 0n && first < data_page_offset ? first : data_page_offset;
}

/** The pages in order, each with the position of its body, until they have all values. */
function* pagesOf(chunk: ColumnMetaData, name: string, read: Read) {
  const counted = Number(startOf(chunk) + chunk.total_compressed_size);
  const end = counted + UNCOUNTED_BYTES;
  const wanted = Number(chunk.num_values);
  let values = 0;
  for (let at = Number(startOf(chunk)); values < wanted && at < counted; ) {
    const { header, length } = readHeader(at, end, read);
    const { compressed_page_size: packed, uncompressed_page_size: unpacked } = header;
    if (!(packed >= 0) || !(unpacked >= 0)) throw new Error(NEGATIVE);
    if (unpacked > MOST_PAGE_BYTES)
      throw new OverBounds('it has a page of more than 256 MiB', 'write it with smaller pages');
    const from = at + length;
    at = from + packed;
    if (at > end) throw new Error('it has a page that is longer than its column');
    const count = countIn(header);
    const distinct = header.dictionary_page_header?.num_values ?? 0;
    if (!(count >= 0) || !(distinct >= 0)) throw new Error(NEGATIVE);
    // A value of a dictionary has at least one byte.
    if (distinct > unpacked) throw new Error('it has a dictionary of more values than bytes');
    values += count;
    yield { header, from, count };
  }
  if (values !== wanted)
    throw new Error(`column '${name}' has pages of ${values} values instead of ${wanted}`);
}

function countIn({ type, data_page_header: v1, data_page_header_v2: v2 }: PageHeader): number {
  if (type === 'DATA_PAGE' && v1 !== undefined) return v1.num_values;
  return type === 'DATA_PAGE_V2' && v2 !== undefined ? v2.num_values : 0;
}

function readHeader(at: number, end: number, read: Read) {
  for (let bytes = HEADER_BYTES; ; bytes *= 16) {
    const { view } = bytesFrom(read(at, Math.min(bytes, end - at)));
    const reader = { view, offset: 0 };
    try {
      return { header: parquetHeader(reader), length: reader.offset };
    } catch (error) {
      // It is longer, unless all was there.
      if (bytes >= Math.min(end - at, MOST_HEADER_BYTES)) throw error;
    }
  }
}

/** Lengths of values that are decoded together. */
const DELTA_BYTES = 16;

/** Bytes that are held at once to read this column. Throws Error if its pages contradict it. */
export function memoryOf(chunk: ColumnMetaData, name: string, read: Read): number {
  let dictionary = 0;
  let most = 0;
  for (const { header, count } of pagesOf(chunk, name, read)) {
    const { type, uncompressed_page_size: unpacked } = header;
    const encoding = (header.data_page_header ?? header.data_page_header_v2)?.encoding ?? '';
    if (type === 'DICTIONARY_PAGE') dictionary = unpacked;
    else most = Math.max(most, unpacked + (encoding.startsWith('DELTA') ? count * DELTA_BYTES : 0));
  }
  return dictionary + most;
}

function unpack(body: Uint8Array, size: number, codec: CompressionCodec): Uint8Array {
  if (codec === 'UNCOMPRESSED') return body;
  // What compressors make of nothing differs.
  if (size === 0) return new Uint8Array();
  const decompress = compressors[codec];
  if (decompress === undefined)
    throw new Error(`its pages are compressed in a way that cannot be read: ${codec}`);
  return decompress(body, size);
}

/** The values of a column in one row group, row by row. */
export class ColumnReader {
  readonly #pages: ReturnType<typeof pagesOf>;
  #dictionary: unknown[] | null = null;
  #left = 0;
  #values: Values = { next: () => null };
  #repetitions = () => 0;
  #definitions = () => 0;
  /** Of a value that is there but was not taken; -1: none is. */
  #waiting = -1;

  constructor(
    private readonly chunk: ColumnMetaData,
    private readonly leaf: SchemaNode,
    private readonly read: Read,
  ) {
    this.#pages = pagesOf(chunk, shortName(leaf.element.name), read);
  }

  /** The next row of a column without lists. */
  value(): unknown {
    if (!this.#hasMore()) throw new Error('it has fewer rows than its footer states');
    return this.#next(this.#definitions());
  }

  /** The next row: repetition level, definition level and value of each, until `most`. */
  row(most: number): unknown[] {
    const entries: unknown[] = [];
    if (this.#waiting < 0) this.#look();
    if (this.#waiting !== 0) throw new Error('its rows do not begin where its footer says');
    do {
      const repetition = this.#waiting;
      const definition = this.#definitions();
      const value = this.#next(definition);
      if (entries.length < most) entries.push(repetition, definition, value);
      this.#look();
    } while (this.#waiting > 0);
    return entries;
  }

  /** Throws Error if there are more rows. */
  end(): void {
    if (this.#waiting >= 0 || this.#hasMore()) throw new Error('it has more rows than its footer states');
  }

  #look(): void {
    this.#waiting = this.#hasMore() ? this.#repetitions() : -1;
  }

  #next(definition: number): unknown {
    this.#left -= 1;
    return definition === this.leaf.definition ? this.#values.next() : null;
  }

  #hasMore(): boolean {
    while (this.#left === 0) {
      this.#values.end?.();
      const { value: page, done } = this.#pages.next();
      if (done) return false;
      if (page.header.type === 'DICTIONARY_PAGE') this.#dictionary = this.#readDictionary(page);
      else if (page.count > 0) this.#open(page);
    }
    return true;
  }

  #body({ header, from }: { header: PageHeader; from: number }, levels = 0, isPacked = true): Uint8Array {
    const { compressed_page_size: packed, uncompressed_page_size: unpacked } = header;
    const stored = this.read(from, packed);
    if (stored.length !== packed || levels > packed) throw new Error(TOO_SHORT);
    const codec = isPacked ? this.chunk.codec : 'UNCOMPRESSED';
    const body = unpack(stored.subarray(levels), unpacked - levels, codec);
    if (body.length !== unpacked - levels)
      throw new Error('one of its pages has another length than it states');
    return body;
  }

  #readDictionary(page: { header: PageHeader; from: number }): unknown[] {
    const { num_values = 0, encoding = '' } = page.header.dictionary_page_header ?? {};
    const isPlain = encoding === 'PLAIN' || encoding === 'PLAIN_DICTIONARY';
    if (this.#dictionary !== null || !isPlain || this.leaf.element.type === 'BOOLEAN')
      throw new Error('it has a dictionary that cannot be one');
    const bytes = bytesFrom(this.#body(page));
    return Array.from({ length: num_values }, () => this.#meant(plain(bytes, this.leaf.element)));
  }

  #open(page: { header: PageHeader; from: number; count: number }): void {
    const { data_page_header: v1, data_page_header_v2: v2 } = page.header;
    const { repetition, definition, element } = this.leaf;
    this.#left = page.count;
    let bytes = bytesFrom(new Uint8Array());
    let encoding = '';
    if (v1 !== undefined) {
      bytes = bytesFrom(this.#body(page));
      const levels = (most: number, how: string | undefined) => {
        if (most === 0) return () => 0;
        const width = bitWidth(most);
        if (how === 'BIT_PACKED') return bitPackedLevels(bytes, width, page.count, most);
        bytes.at += 4;
        const length = bytes.view.getUint32(bytes.at - 4, true);
        return hybrid(bytesFrom(take(bytes, length)), width, most);
      };
      this.#repetitions = levels(repetition, v1.repetition_level_encoding);
      this.#definitions = levels(definition, v1.definition_level_encoding);
      encoding = v1.encoding;
    } else if (v2 !== undefined) {
      const { repetition_levels_byte_length: first, definition_levels_byte_length: second } = v2;
      if (v2.num_nulls < 0 || v2.num_nulls > page.count || v2.num_rows < 0) throw new Error(NEGATIVE);
      const stored = bytesFrom(this.read(page.from, page.header.compressed_page_size));
      this.#repetitions = hybrid(bytesFrom(take(stored, first)), bitWidth(repetition), repetition);
      this.#definitions = hybrid(bytesFrom(take(stored, second)), bitWidth(definition), definition);
      bytes = bytesFrom(this.#body(page, first + second, v2.is_compressed !== false));
      encoding = v2.encoding;
    }
    const isMeant = encoding.endsWith('DICTIONARY') || !isText(this.leaf);
    // A page of nulls may have no bytes for values.
    let values: Values | null = null;
    this.#values = {
      next: () => {
        values ??= valuesOf(encoding, bytes, element, this.#dictionary, page.count);
        return isMeant ? values.next() : this.#meant(values.next());
      },
      end: () => values?.end?.(),
    };
  }

  #meant(value: unknown): unknown {
    return isText(this.leaf) ? textOrBytes(value as Uint8Array) : value;
  }
}

function isText({ element: { type, converted_type, logical_type } }: SchemaNode): boolean {
  return type === 'BYTE_ARRAY' && (converted_type === 'UTF8' || logical_type?.type === 'STRING');
}
