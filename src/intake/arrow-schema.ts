/**
 * The columns whose Arrow type Parquet itself does not have. Programs built on Arrow keep their
 * schema beside the Parquet one, under `ARROW:schema`: a base64 IPC message, whose flatbuffer is
 * read here (Arrow columnar format, Message.fbs and Schema.fbs).
 */

/** The key of the file's metadata. */
export const ARROW_KEY = 'ARROW:schema';

const TIMESTAMP = 10;
const DURATION = 18;
/** These are what Parquet means by "adjusted to UTC". */
const UTC = /^(UTC|Etc\/UTC|Z|[+-]00:00)$/i;
const MOST_FIELDS = 4096;

/**
 * `"since" (time zone Europe/Berlin, written in UTC)`, for each such column of the root. Empty if
 * the schema cannot be read. Pure.
 */
export function lostArrowTypes(base64: string): string[] {
  try {
    const bytes = Buffer.from(base64, 'base64');
    // The size before the message may follow a marker (`0xFFFFFFFF`).
    const start = bytes.readInt32LE(0) === -1 ? 8 : 4;
    const message = start + bytes.readInt32LE(start);
    const schema = reference(bytes, field(bytes, message, 2));
    const list = schema === null ? null : reference(bytes, field(bytes, schema, 1));
    if (list === null) return [];
    const count = Math.min(bytes.readInt32LE(list), MOST_FIELDS);
    return Array.from({ length: count }, (_, at) => {
      const place = list + 4 * (at + 1);
      return place + bytes.readInt32LE(place);
    }).flatMap((column) => {
      const lost = lostOf(bytes, column);
      const name = textAt(bytes, field(bytes, column, 0)) ?? '';
      return lost === null ? [] : [`"${name}" (${lost})`];
    });
  } catch (error) {
    // An offset beyond the end: it is another program's, and damaged.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function lostOf(bytes: Buffer, column: number): string | null {
  if (field(bytes, column, 4) !== null) return 'dictionary, written as its values';
  const kindAt = field(bytes, column, 2);
  const kind = kindAt === null ? 0 : bytes.readUInt8(kindAt);
  if (kind === DURATION) return 'duration, written as a number';
  const type = reference(bytes, field(bytes, column, 3));
  if (kind !== TIMESTAMP || type === null) return null;
  const zone = textAt(bytes, field(bytes, type, 1));
  return zone === null || UTC.test(zone) ? null : `time zone ${zone}, written in UTC`;
}

/** Where a table has this field; null: absent. */
function field(bytes: Buffer, table: number, index: number): number | null {
  const layout = table - bytes.readInt32LE(table);
  const place = 4 + 2 * index;
  const offset = place < bytes.readUInt16LE(layout) ? bytes.readUInt16LE(layout + place) : 0;
  return offset === 0 ? null : table + offset;
}

function reference(bytes: Buffer, place: number | null): number | null {
  return place === null ? null : place + bytes.readUInt32LE(place);
}

function textAt(bytes: Buffer, place: number | null): string | null {
  const start = reference(bytes, place);
  return start === null ? null : bytes.toString('utf8', start + 4, start + 4 + bytes.readUInt32LE(start));
}
