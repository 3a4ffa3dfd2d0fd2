/** Reads the parts of a ZIP archive, and refuses those that unpack to too much. */
import { pipeline, type Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { crc32, createInflateRaw } from 'node:zlib';
import { type Entry, fromFd, type ZipFile } from 'yauzl';
import { shortName } from '../core/terminal-text.js';
import { MOST_RATIO, OverBounds } from './binary-table.js';

const MOST_PARTS = 10_000;
/** Parts up to this size may have any ratio. */
const SMALL_BYTES = 256 * 1024 * 1024;
/** The most that all parts together may unpack to. */
const MOST_BYTES = 64 * 1024 * 1024 * 1024;

/** The code of deflate (APPNOTE, 4.4.5). */
const DEFLATED = 8;
/** Zlib's default of 16 KiB takes a third longer. */
const CHUNK_BYTES = 64 * 1024;

const SPLIT = 'split it into several smaller files';

const openFd = promisify<number, object, ZipFile>(fromFd);

/** A ZIP archive in an open file, which the caller closes. Parts are files, never folders. */
export class ZipArchive {
  #unpacked = 0;
  readonly #alike: ReadonlyMap<string, Entry>;

  private constructor(
    readonly name: string,
    private readonly zip: ZipFile,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {
    this.#alike = new Map([...entries].map(([part, entry]) => [part.toLowerCase(), entry]));
  }

  static async of(name: string, fd: number): Promise<ZipArchive> {
    const entries = new Map<string, Entry>();
    const opening = openFd(fd, { lazyEntries: true, autoClose: false });
    const zip = await opening.catch((error: NodeJS.ErrnoException) => {
      // Errors of yauzl have no code, and are about bytes of the format.
      throw error.code === undefined ? new Error('its ZIP archive is cut off or damaged') : error;
    });
    for await (const entry of zip.eachEntry()) {
      if (entries.size === MOST_PARTS) throw new Error(`it has more than ${MOST_PARTS} parts`);
      if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
    }
    return new ZipArchive(name, zip, entries);
  }

  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  has(part: string): boolean {
    return this.#find(part) !== undefined;
  }

  /** Finds a part in any case and with or without a first `/` (ECMA-376, part 2). */
  #find(part: string): Entry | undefined {
    return this.entries.get(part) ?? this.#alike.get(part.replace(/^\//, '').toLowerCase());
  }

  /** Yields unpacked bytes. Throws Error for a damaged or locked part, and for a ZIP bomb. */
  async *read(part: string): AsyncGenerator<Buffer> {
    const entry = this.#find(part);
    if (entry === undefined) throw new Error(`its part ${shortName(part)} is missing`);
    assertBounds(entry);
    const packed: Readable = await this.zip.openReadStreamPromise(entry, { decodeFileData: false });
    const stream = entry.compressionMethod === 0 ? packed : createInflateRaw({ chunkSize: CHUNK_BYTES });
    if (stream !== packed) pipeline(packed, stream as Transform, () => undefined);
    let size = 0;
    let sum = 0;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        size += chunk.length;
        sum = crc32(chunk, sum);
        this.#unpacked += chunk.length;
        if (this.#unpacked > MOST_BYTES) throw new OverBounds('it unpacks to more than 64 GiB', SPLIT);
        if (size > entry.uncompressedSize) break;
        yield chunk;
      }
      if (size !== entry.uncompressedSize || sum !== entry.crc32)
        throw new Error(`its part ${shortName(part)} does not match its size or checksum`);
    } finally {
      packed.destroy();
      stream.destroy();
    }
  }
}

function assertBounds({ fileName, compressedSize, uncompressedSize, ...entry }: Entry): void {
  const shown = shortName(fileName);
  if ((entry.generalPurposeBitFlag & 1) === 1) throw new Error(`its part ${shown} has a password`);
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== DEFLATED)
    throw new Error(`its part ${shown} has an unknown compression method`);
  const isBomb = uncompressedSize > SMALL_BYTES && uncompressedSize > compressedSize * MOST_RATIO;
  if (uncompressedSize > MOST_BYTES)
    throw new OverBounds(`its part ${shown} unpacks to more than 64 GiB`, SPLIT);
  if (!isBomb) return;
  const unpacked = `${Math.round(uncompressedSize / 1_048_576)} MiB`;
  const packed = `${Math.ceil(compressedSize / 1024)} KiB`;
  throw new Error(`its part ${shown} would unpack to ${unpacked} from ${packed}`);
}
