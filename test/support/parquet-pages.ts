/** Parquet files of any schema and pages, also such that no library writes. */
import type { FileMetaData, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';

type Header = Parameters<typeof writePageHeader>[1];
type Chunk = NonNullable<FileMetaData['row_groups'][number]['columns'][number]['meta_data']>;

export interface Page {
  readonly header: Header;
  readonly body: Uint8Array;
}

export interface Column {
  readonly pages: readonly Page[];
  /** Of the column's metadata. */
  readonly chunk?: Partial<Chunk>;
}

export const group = (name: string, num_children: number, some: Partial<SchemaElement> = {}) => ({
  name,
  repetition_type: 'REQUIRED' as const,
  num_children,
  ...some,
});

export const leaf = (name: string, more: Partial<SchemaElement> = {}): SchemaElement => ({
  name,
  type: 'INT32',
  repetition_type: 'REQUIRED',
  ...more,
});

export const SITE = leaf('website', { type: 'BYTE_ARRAY', converted_type: 'UTF8' });

/** A file with these columns; `groups`: the number of rows, and the pages of each stored column. */
export function parquetFile(
  columns: readonly SchemaElement[],
  groups: readonly { readonly rows: number; readonly columns: readonly Column[] }[],
): Buffer {
  const writer = new ByteWriter();
  writer.appendUint32(0x31524150);
  const schema = [group('root', 0), ...columns];
  const leaves: { path: string[]; type: NonNullable<SchemaElement['type']> }[] = [];
  let at = 1;
  const walk = (path: readonly string[]): void => {
    const { name, type, num_children = 0 } = schema[at++] as SchemaElement;
    if (type !== undefined) leaves.push({ path: [...path, name], type });
    for (let each = 0; each < num_children; each += 1) walk([...path, name]);
  };
  let top = 0;
  for (; at < schema.length; top += 1) walk([]);
  schema[0] = group('root', top);
  const row_groups = groups.map(({ rows, columns: chunks }) => ({
    num_rows: BigInt(rows),
    total_byte_size: 1_000n,
    columns: chunks.map(({ pages, chunk }, index) => {
      const start = writer.offset;
      let first: number | undefined;
      let values = 0;
      for (const { header, body } of pages) {
        if (header.type !== 'DICTIONARY_PAGE') first ??= writer.offset;
        values += (header.data_page_header ?? header.data_page_header_v2)?.num_values ?? 0;
        writePageHeader(writer, header);
        writer.appendBytes(body);
      }
      const { path = [], type = 'INT32' } = leaves[index] ?? {};
      const meta_data: Chunk = {
        type,
        encodings: ['PLAIN'],
        path_in_schema: path,
        codec: 'UNCOMPRESSED',
        num_values: BigInt(values),
        total_uncompressed_size: BigInt(writer.offset - start),
        total_compressed_size: BigInt(writer.offset - start),
        data_page_offset: BigInt(first ?? start),
        ...(first !== undefined && first > start && { dictionary_page_offset: BigInt(start) }),
        ...chunk,
      };
      return { file_offset: BigInt(start), meta_data };
    }),
  }));
  const num_rows = row_groups.reduce((sum, each) => sum + each.num_rows, 0n);
  const metadata = { version: 2, schema, num_rows, row_groups, created_by: 'test' };
  writeMetadata(writer, metadata as unknown as FileMetaData);
  writer.appendUint32(0x31524150);
  return Buffer.from(writer.getBytes());
}

export const int32s = (...values: readonly number[]): Buffer =>
  Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32LE(value);
      return bytes;
    }),
  );

export const texts = (...values: readonly string[]): Buffer =>
  Buffer.concat(values.flatMap((value) => [int32s(Buffer.byteLength(value)), Buffer.from(value)]));

/** Days since 1970-01-01, and nanoseconds of the day. */
export const int96 = (day: number, nanos: bigint): Buffer => {
  const bytes = Buffer.alloc(12);
  bytes.writeBigInt64LE(nanos);
  bytes.writeInt32LE(day + 2_440_588, 8);
  return bytes;
};

interface Levels {
  /** The highest level, and the levels. */
  readonly repetitions?: readonly [most: number, levels: readonly number[]];
  readonly definitions?: readonly [most: number, levels: readonly number[]];
}

function levelBytes(levels: readonly [number, readonly number[]] | undefined): Buffer {
  if (levels === undefined) return Buffer.alloc(0);
  const writer = new ByteWriter();
  writeRleBitPackedHybrid(writer, [...levels[1]], 32 - Math.clz32(levels[0]));
  return Buffer.from(writer.getBytes());
}

/** A page of version 1. */
export function page1(count: number, values: Uint8Array, levels: Levels = {}, encoding = 'PLAIN'): Page {
  const parts = [levels.repetitions, levels.definitions].flatMap((each) => {
    const bytes = levelBytes(each);
    return each === undefined ? [] : [int32s(bytes.length), bytes];
  });
  const body = Buffer.concat([...parts, values]);
  return {
    header: {
      type: 'DATA_PAGE',
      uncompressed_page_size: body.length,
      compressed_page_size: body.length,
      data_page_header: {
        num_values: count,
        encoding: encoding as 'PLAIN',
        definition_level_encoding: 'RLE',
        repetition_level_encoding: 'RLE',
      },
    },
    body,
  };
}

/** A page of version 2. */
export function page2(rows: number, values: Uint8Array, levels: Levels = {}, isPacked = false): Page {
  const repetitions = levelBytes(levels.repetitions);
  const definitions = levelBytes(levels.definitions);
  const [most = 0, all = []] = levels.definitions ?? [];
  const packed = isPacked && values.length > 0 ? snappyCompress(values) : values;
  const size = repetitions.length + definitions.length;
  return {
    header: {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: size + values.length,
      compressed_page_size: size + packed.length,
      data_page_header_v2: {
        num_values: levels.definitions?.[1].length ?? rows,
        num_nulls: all.filter((level) => level < most).length,
        num_rows: rows,
        encoding: 'PLAIN',
        definition_levels_byte_length: definitions.length,
        repetition_levels_byte_length: repetitions.length,
        is_compressed: isPacked,
      },
    },
    body: Buffer.concat([repetitions, definitions, packed]),
  };
}

export function dictionaryPage(count: number, body: Uint8Array): Page {
  return {
    header: {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: body.length,
      compressed_page_size: body.length,
      dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
    },
    body,
  };
}
