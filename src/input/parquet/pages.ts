/** Reads the values of one column of a row group, page by page. */
import type { ColumnMetaData, DataPageHeader, Encoding, PageHeader } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { decompressPage, readDataPage } from 'hyparquet/src/datapage.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { compressors } from 'hyparquet-compressors';
import { shortName } from '../../core/terminal-text.js';
import { type BinaryFile, OverBounds, readAt } from '../binary-table.js';
import { type SchemaNode, startOf } from './footer.js';
import { keptValue } from './values.js';

/** The common size of a page is 1 MiB. */
const MOST_PAGE_BYTES = 256 * 1024 * 1024;
/** The most memory for the open pages of a row group. */
const MOST_HELD_BYTES = 512 * 1024 * 1024;
const HEADER_BYTES = 4 * 1024;
/** A header has values in its statistics, which may be long. */
const MOST_HEADER_BYTES = 16 * 1024 * 1024;
/** Old writers left the header of the dictionary out of the size of the column (IMPALA-694). */
const UNCOUNTED_BYTES = 100;
/** Bytes for each value of a page: its levels and its place in the dictionary. */
const DECODED_BYTES = 6;
/** Bytes for each value that is a view of its page. */
const VIEW_BYTES = 128;

const OUT_OF_RANGE = 'one of its pages has a number out of range';

function readerOf({ buffer, byteOffset, byteLength }: Uint8Array) {
  return { view: new DataView(buffer, byteOffset, byteLength), offset: 0 };
}

export class ColumnReader {
  readonly #pages = this.#walk();
  #dictionary: readonly unknown[] | null = null;
  #count = 0;
  #at = 0;
  #value = (): unknown => null;
  #repetitions = new Uint8Array();
  #definitions = new Uint8Array();

  /** `held`: bytes of the open pages of all columns. */
  constructor(
    private readonly chunk: ColumnMetaData,
    private readonly leaf: SchemaNode,
    private readonly input: BinaryFile,
    private readonly held: { bytes: number },
  ) {}

  /** Returns the repetition level of the next value; -1 after the last. */
  repetition(): number {
    return this.#hasMore() ? (this.#repetitions[this.#at] ?? 0) : -1;
  }

  definition(): number {
    return this.#hasMore() ? (this.#definitions[this.#at] ?? 0) : -1;
  }

  /** Returns the next value, or null if it or a list or group around it is missing. */
  next(): unknown {
    if (!this.#hasMore()) throw new Error('it has fewer rows than its footer states');
    return (this.#definitions[this.#at++] ?? 0) === this.leaf.definition ? this.#value() : null;
  }

  #hasMore(): boolean {
    while (this.#at === this.#count) if (this.#pages.next().done) return false;
    return true;
  }

  *#walk(): Generator<void> {
    const { chunk, held, input } = this;
    const counted = startOf(chunk) + Number(chunk.total_compressed_size);
    const end = counted + UNCOUNTED_BYTES;
    let left = Number(chunk.num_values);
    let dictionary = 0;
    let own = 0;
    for (let at = startOf(chunk); left > 0 && at < counted; ) {
      const { header, from } = this.#headerAt(at, end);
      const { uncompressed_page_size: size, compressed_page_size: packed } = header;
      const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: words } = header;
      const count = (words ?? v1 ?? v2)?.num_values ?? 0;
      at = from + packed;
      if (!(Math.min(packed, size, count) >= 0)) throw new Error('it states a negative count');
      if (at > end) throw new Error('it has a page that is longer than its column');
      const areViews = /^DELTA_(LENGTH_)?BYTE_ARRAY$/.test((v1 ?? v2)?.encoding ?? '');
      const each = areViews ? VIEW_BYTES : DECODED_BYTES;
      if (words) dictionary = size;
      held.bytes -= own;
      own = dictionary + (words ? 0 : size + count * each);
      held.bytes += own;
      if (size > MOST_PAGE_BYTES || held.bytes > MOST_HELD_BYTES)
        throw new OverBounds('its pages are too long', 'write it with pages of at most 1 MiB');
      const stored = readAt(input, from, packed);
      // A value of a dictionary has at least one byte.
      if (words && (this.#dictionary !== null || count > size)) throw new Error('it has a wrong dictionary');
      if (words) {
        const next = this.#valuesIn(this.#unpack(stored, size), 'PLAIN', count);
        this.#dictionary = Array.from({ length: count }, next);
      } else if (count > 0) {
        left -= count;
        this.#open(header, count, stored);
        yield;
      }
    }
    const column = shortName(this.leaf.element.name);
    if (left !== 0) throw new Error(`column '${column}' does not have as many values as it states`);
  }

  #headerAt(at: number, end: number) {
    for (let bytes = HEADER_BYTES; ; bytes *= 16) {
      const reader = readerOf(readAt(this.input, at, Math.min(bytes, end - at)));
      try {
        return { header: parquetHeader(reader), from: at + reader.offset };
      } catch (error) {
        // The header may be longer than what was read.
        if (bytes >= Math.min(end - at, MOST_HEADER_BYTES)) throw error;
      }
    }
  }

  #unpack(body: Uint8Array, size: number, isPacked = true): Uint8Array {
    // Compressors differ in what they make of nothing.
    if (size === 0) return new Uint8Array();
    return decompressPage(body, size, isPacked ? this.chunk.codec : 'UNCOMPRESSED', compressors);
  }

  #open(header: PageHeader, count: number, stored: Uint8Array): void {
    const { data_page_header: v1, data_page_header_v2: v2, uncompressed_page_size: size } = header;
    const { repetition, definition } = this.leaf;
    const body = v2 ? stored : this.#unpack(stored, size);
    const bytes = readerOf(body);
    const levels = (most: number, encoding?: Encoding, length?: number) => {
      const all = new Uint8Array(most > 0 ? count : 0);
      if (most === 0) return all;
      if (encoding === 'BIT_PACKED') throw new Error('its levels have an obsolete encoding');
      readRleBitPackedHybrid(bytes, 32 - Math.clz32(most), all, length);
      if (all.some((level) => level > most)) throw new Error(OUT_OF_RANGE);
      return all;
    };
    const { repetition_levels_byte_length: first = 0, definition_levels_byte_length: second = 0 } = v2 ?? {};
    this.#repetitions = levels(repetition, v1?.repetition_level_encoding, v2 && first);
    this.#definitions = levels(definition, v1?.definition_level_encoding, v2 && second);
    const there = definition > 0 ? this.#definitions.filter((level) => level === definition).length : count;
    const rest = body.subarray(v2 ? first + second : bytes.offset);
    const values = v2 ? this.#unpack(rest, size - first - second, v2.is_compressed) : rest;
    this.#value = this.#valuesIn(values, (v1 ?? v2)?.encoding, there);
    [this.#count, this.#at] = [count, 0];
  }

  #valuesIn(page: Uint8Array, encoding: Encoding | undefined, count: number): () => unknown {
    const { element } = this.leaf;
    const dictionary = this.#dictionary;
    // Copy the page, because hyparquet reads beyond the end of a view.
    const body = new Uint8Array(page);
    const bytes = readerOf(body);
    const { type, type_length } = element.type === 'INT96' ? INT96_ELEMENT : element;
    const kept = keptValue(element);
    let at = 0;
    // Pages of nulls may have no bytes for values.
    if (count === 0) return () => null;
    const isBits = encoding === 'RLE' && type === 'BOOLEAN';
    if (isBits || encoding?.endsWith('_DICTIONARY')) {
      const width = isBits ? 1 : bytes.view.getUint8(bytes.offset++);
      // hyparquet reads 32 bits at once, and a number may begin at any of the first eight.
      if (width > 24) throw new Error(OUT_OF_RANGE);
      const numbers = new Uint32Array(count);
      if (width > 0) readRleBitPackedHybrid(bytes, width, numbers, isBits ? undefined : 0);
      if (isBits) return () => numbers[at++] === 1;
      const most = dictionary?.length ?? 0;
      if (numbers.some((number) => number >= most)) throw new Error(OUT_OF_RANGE);
      return () => dictionary?.[numbers[at++] ?? 0];
    }
    if (encoding === undefined || type === undefined || !READ.test(`${encoding} ${type}`))
      throw new Error(`it has values of type ${type} in the encoding ${encoding}`);
    // Make one view at a time: all together would take far more memory than the page.
    if (encoding === 'PLAIN' && type.endsWith('BYTE_ARRAY'))
      return () => {
        const prefix = type === 'BYTE_ARRAY' ? 4 : 0;
        const size = prefix > 0 ? bytes.view.getUint32(at, true) : (type_length ?? 0);
        at += prefix + size;
        return kept(new Uint8Array(body.buffer, at - size, size));
      };
    const header = { num_values: count, encoding } as DataPageHeader;
    const decoder = { type, element: { ...element, type_length }, schemaPath: [] as unknown };
    const { dataPage } = readDataPage(body, header, decoder as Decoder);
    return () => kept(dataPage[at++]);
  }
}

type Decoder = Parameters<typeof readDataPage>[2];

const INT96_ELEMENT = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12 } as const;

/** Encodings and types that hyparquet decodes correctly. */
const READ = /^(PLAIN|BYTE_STREAM_SPLIT) |^DELTA_(BINARY_PACKED INT|(LENGTH_)?BYTE_ARRAY [BF]\w+Y$)/;
