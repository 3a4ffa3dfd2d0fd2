/** A ZIP archive in an open file: its parts, and the bytes of each, within bounds. */
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type Entry, fromFd, type ZipFile } from 'yauzl';
import { BrandEnrichError, errorText, FailFileError } from '../core/errors.js';

const MOST_PARTS = 10_000;
/** Deflate reaches 1,032:1 with one repeated byte; sheets of empty cells stay below 300:1. */
const MOST_RATIO = 500;
/** Smaller parts are not checked. */
const SMALL_BYTES = 256 * 1024 * 1024;
const MOST_BYTES = 32 * 1024 * 1024 * 1024;

const openFd = promisify<number, object, ZipFile>(fromFd);

/** Part names with `/`, without folders. The caller closes the file. */
export class ZipArchive {
  private constructor(
    /** Of the file, for messages. */
    readonly name: string,
    private readonly zip: ZipFile,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  /** Throws `input-binary` for a damaged archive. */
  static async of(name: string, fd: number): Promise<ZipArchive> {
    const entries = new Map<string, Entry>();
    try {
      const zip = await openFd(fd, { lazyEntries: true, autoClose: false });
      for await (const entry of zip.eachEntry()) {
        if (entries.size === MOST_PARTS) throw new Error(`it has more than ${MOST_PARTS} parts`);
        if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
      }
      return new ZipArchive(name, zip, entries);
    } catch (error) {
      throw damaged(name, error);
    }
  }

  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  has(part: string): boolean {
    return this.entries.has(part);
  }

  /** Unpacked bytes. Throws `input-binary` for a damaged, locked or too strongly packed part. */
  async *read(part: string): AsyncGenerator<Buffer> {
    let stream: Readable | null = null;
    try {
      const entry = this.entries.get(part);
      if (entry === undefined) throw new Error(`its part ${part} is missing`);
      assertBounds(entry);
      stream = await this.zip.openReadStreamPromise(entry);
      for await (const chunk of stream) yield chunk;
    } catch (error) {
      throw damaged(this.name, error);
    } finally {
      stream?.destroy();
    }
  }
}

/** yauzl checks a part against the size in its entry. */
function assertBounds({ fileName, compressedSize, uncompressedSize, ...entry }: Entry): void {
  if ((entry.generalPurposeBitFlag & 1) === 1) throw new Error(`its part ${fileName} has a password`);
  const isBomb = uncompressedSize > SMALL_BYTES && uncompressedSize > compressedSize * MOST_RATIO;
  if (!isBomb && uncompressedSize <= MOST_BYTES) return;
  const size = `${Math.round(uncompressedSize / 1_048_576)} MiB out of ${Math.ceil(compressedSize / 1024)} KiB`;
  throw new Error(`its part ${fileName} would unpack to ${size}`);
}

/** A file is intact, and has more of something than is read. */
export class OverBounds extends Error {
  constructor(
    message: string,
    /** How to get below the bound. */
    readonly todo: string,
  ) {
    super(message);
  }
}

/** `input-binary` with the cause in the message; one of our errors stays. */
export function damaged(name: string, cause: unknown): BrandEnrichError {
  if (cause instanceof BrandEnrichError) return cause;
  const isOver = cause instanceof OverBounds;
  return new FailFileError({
    code: 'input-binary',
    what: isOver ? 'the file is too large to be read' : 'the file is damaged, or has another format',
    subject: `${name} (${errorText(cause)})`,
    todo: isOver
      ? cause.todo
      : 'open it in the program that made it, save it again, or save it as CSV (UTF-8)',
    cause,
  });
}
