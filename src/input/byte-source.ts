/** Reads the bytes of a file, or of a pipe copied to a temporary file, and unpacks gzip. */
import { type BigIntStats, constants, openSync } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { addAbortSignal, pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InputDiskUse } from '../core/disk-room.js';
import { ConfigError, errorText, RunError, readingStopped } from '../core/errors.js';
import { makeFolder } from '../core/folders.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { phrase } from '../core/phrase.js';
import { openPlainFile, ownDescriptor } from '../core/plain-file.js';
import { openPrivateFile } from '../core/private-file.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import { packingOf } from './binary-signature.js';

export interface OpeningOptions {
  /** `file`: regular files only; `own file`: not through a link either. Absent allows pipes. */
  readonly only?: 'file' | 'own file' | undefined;
  /** Folder for the copy of standard input; created when it is missing. */
  readonly spoolFolder: string;
  /** Read for the path `-`. Absent if it is closed. */
  readonly stdin?: NodeJS.ReadableStream | null;
  /** Ends opening and reading, even of a pipe that sends nothing. */
  readonly stop?: AbortSignal | undefined;
}

/** Opens a file, or a copy of a pipe. Throws `usage-invalid`, and like `keepBytes`. */
export async function openByteSource(
  path: string,
  { stdin = null, spoolFolder, only, stop }: OpeningOptions,
): Promise<ByteSource> {
  const name = path === '-' ? 'stdin' : path;
  try {
    const opened = path === '-' ? stdin : await openPath(path, only);
    if (opened === null) {
      const what = 'standard input is closed';
      const todo = 'pipe a file into the command, or give one';
      throw new ConfigError({ code: 'usage-invalid', what, subject: "input '-'", todo });
    }
    if (!('pipe' in opened)) return await ByteSource.of(name, opened, path, () => opened.close());
    // Closing a pipe to open it again would stop its writer. The reader gets an early error too.
    opened.on('error', () => undefined);
    if (stop !== undefined && opened instanceof Readable) addAbortSignal(stop, opened);
    return await keepBytes(opened, name, spoolFolder);
  } catch (error) {
    throw stop?.aborted ? readingStopped(name) : error;
  }
}

/** Returns a handle for a regular file, a stream for anything else. */
async function openPath(path: string, only: OpeningOptions['only']): Promise<FileHandle | Readable> {
  try {
    if (only !== undefined) return await openPlainFile(path, { followsLinks: only === 'file' });
    const pipe = await openPipe(path);
    if (pipe !== null) return pipe;
    const handle = await open(path, 'r');
    const facts = await handle.stat();
    if (facts.isFile()) return handle;
    if (!facts.isDirectory()) return handle.createReadStream();
    await handle.close();
    throw new Error('it is a folder');
  } catch (error) {
    throw unreadable(path, error, await remedyFor(path, error));
  }
}

async function remedyFor(path: string, error: unknown): Promise<string> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path))
    return 'it is an address, not a file: download it, or pipe it into the command with - as the input';
  if ((await stat(path).catch(() => null))?.isDirectory())
    return 'name a file in it, or use brand-enrich watch for every file of a folder';
  if (!isErrorCode(error, 'ENOENT')) return CHECK_PATH;
  const others = await readdir(dirname(path)).catch(() => []);
  return didYouMean(nearest(basename(path), others), CHECK_PATH);
}

/**
 * Opens a pipe as a stream: a thread of Node's that waits for the writer could not be stopped.
 * Returns null for other files, and on systems where a pipe without a writer looks ended.
 */
async function openPipe(path: string): Promise<Readable | null> {
  const own = ownDescriptor(path);
  if (own === null && process.platform !== 'linux') return null;
  const facts = await stat(path);
  if (!facts.isFIFO()) return null;
  const fd = own ?? openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

export class ByteSource {
  #isOpen = true;

  private constructor(
    readonly name: string,
    /** Detected from the first bytes. */
    readonly packing: ReturnType<typeof packingOf>,
    private readonly handle: FileHandle,
    /** Null for a copied pipe. */
    private readonly path: string | null,
    private readonly atOpening: BigIntStats,
    private readonly end: () => Promise<void>,
  ) {}

  static async of(name: string, handle: FileHandle, path: string | null, end: () => Promise<void>) {
    try {
      const atOpening = await handle.stat({ bigint: true });
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
      const packing = packingOf(buffer.subarray(0, bytesRead));
      return new ByteSource(name, packing, handle, path, atOpening, end);
    } catch (error) {
      throw unreadable(name, error, CHECK_PATH);
    }
  }

  get isGzip(): boolean {
    return this.packing === 'gzip';
  }

  /** Reads decompressed bytes from the start. A chunk is valid until the next one is requested. */
  read(): AsyncIterable<Buffer> {
    return this.isGzip ? readGzip(this.handle, this.name) : readPlain(this.handle, this.name);
  }

  /** For readers with random access; valid until `close`. */
  get descriptor(): number {
    return this.handle.fd;
  }

  /** Throws `input-changed` if the file was changed, replaced or removed since it was opened. */
  async assertUnchanged(): Promise<void> {
    const options = { bigint: true } as const;
    const reading = this.path === null ? this.handle.stat(options) : stat(this.path, options);
    const facts = await reading.catch(() => null);
    if (facts === null)
      throw inputChanged(this.name, 'the input was moved or removed while it was processed');
    const { size, mtimeNs, ino } = this.atOpening;
    if (facts.size !== size || facts.mtimeNs !== mtimeNs || facts.ino !== ino) throw inputChanged(this.name);
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.end();
  }
}

export function inputChanged(subject: string, what?: string): RunError {
  const todo = 'run again when no program writes to it; paid answers are stored';
  return new RunError({ code: 'input-changed', ...(what && { what }), subject, todo });
}

function unreadable(name: string, cause: unknown, todo: string): RunError {
  const subject = `${name} (${systemWords(cause)})`;
  return new RunError({ code: 'input-missing', subject, todo, cause });
}

const CHECK_PATH = 'check the path and its permissions';
const CHUNK_BYTES = 256 * 1024;

async function* readPlain(handle: FileHandle, name: string): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let position = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position).catch((error: unknown) => {
      throw unreadable(name, error, 'check its disk');
    });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* readGzip(handle: FileHandle, name: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  pipeline(copies(readPlain(handle, name)), gunzip, () => undefined);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof RunError) throw error;
    const what = 'the gzip data is damaged or cut off';
    const subject = `${name} (${errorText(error)})`;
    const todo = 'download or create the file again';
    throw new RunError({ code: 'input-missing', what, subject, todo, cause: error });
  }
}

/** A stream keeps several chunks at once, so each must own its memory. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

/** Copies a stream into `folder`. Throws `input-missing`, `output-unwritable`, `disk-low`. */
export async function keepBytes(
  chunks: AsyncIterable<Buffer | string>,
  name: string,
  folder: string,
): Promise<ByteSource> {
  const what = 'standard input cannot be stored while it is processed';
  const openSpool = async () => {
    makeFolder(folder, 0o700);
    return openPrivateFile(folder, 'input');
  };
  const file = await openSpool().catch((cause: unknown) => {
    const todo = phrase`make the folder writable or use another one with ${{ setting: 'state' }}`;
    const subject = `${folder} (${systemWords(cause)})`;
    throw new RunError({ code: 'output-unwritable', what, subject, todo, cause });
  });
  const kept = new InputDiskUse(name, folder);
  const drop = async () => {
    kept.release();
    await file.drop();
  };
  try {
    for await (const chunk of chunks) {
      kept.add(chunk.length);
      await file.handle.appendFile(Buffer.from(chunk)).catch((cause: unknown) => {
        const todo = phrase`free disk space or use another folder with ${{ setting: 'state' }}`;
        throw new RunError({ code: 'disk-low', what, subject: folder, todo, cause });
      });
    }
  } catch (error) {
    await drop();
    if (error instanceof RunError) throw error;
    const broken = 'the input ended with an error';
    const todo = 'run again, or save the input to a file first';
    throw new RunError({ code: 'input-missing', what: broken, subject: name, todo, cause: error });
  }
  return ByteSource.of(name, file.handle, null, drop);
}
