/**
 * The bytes of an input: a file, or standard input and pipes copied to a temporary file,
 * decompressed when they are gzip. Read as often as asked, always the file that was opened. What
 * the bytes mean is not known here.
 */
import { constants, openSync } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FailFileError, InterruptedError, NeverStartError } from '../core/errors.js';
import { openPlainFile, ownDescriptor } from '../core/plain-file.js';
import { openPrivateFile, type PrivateFile } from '../core/private-file.js';
import { systemWords } from '../core/system-error.js';
import type { IntakeOptions } from './input.js';

export interface ByteSource {
  /** The path, or `stdin`. */
  readonly name: string;
  readonly isGzip: boolean;
  /** Decompressed bytes from the start. A chunk is valid until the next one is asked for. */
  read(): AsyncIterable<Buffer>;
  /** Throws `input-changed` when the file is not what it was at opening. */
  assertUnchanged(): Promise<void>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 256 * 1024;

type OpeningOptions = Pick<IntakeOptions, 'spoolFolder' | 'only' | 'stop'>;

/**
 * Opens a path, or standard input for `-`. Throws `input-missing`, `disk-low`, `usage-invalid`,
 * `interrupted`.
 */
export async function openByteSource(
  path: string,
  stdin: NodeJS.ReadableStream | null,
  options: OpeningOptions,
): Promise<ByteSource> {
  try {
    return await openBytes(path, stdin, options);
  } catch (error) {
    throw options.stop?.aborted ? readingStopped(path === '-' ? 'stdin' : path) : error;
  }
}

async function openBytes(
  path: string,
  stdin: NodeJS.ReadableStream | null,
  { spoolFolder, only, stop }: OpeningOptions,
): Promise<ByteSource> {
  if (path === '-') {
    if (stdin === null) {
      throw new NeverStartError({
        code: 'usage-invalid',
        what: 'there is no standard input to read',
        subject: "input '-'",
        todo: 'pipe a file in, or name one',
      });
    }
    return spoolSource(stdin, 'stdin');
  }
  let stream: Readable;
  try {
    const pipe = only === undefined ? await openPipe(path) : null;
    if (pipe === null) {
      const handle = await (only === undefined
        ? open(path, 'r')
        : openPlainFile(path, { followsLinks: only === 'file' }));
      const facts = await handle.stat();
      if (facts.isFile()) return await createByteSource(path, handle, path, () => handle.close());
      if (facts.isDirectory()) {
        await handle.close();
        throw new Error('it is a folder');
      }
      stream = handle.createReadStream();
    } else {
      stream = pipe;
    }
  } catch (error) {
    throw unreadable(path, error, 'check the path and its permissions');
  }
  // A pipe must not be closed and opened again: its writer would be stopped.
  return spoolSource(stream, path);

  async function spoolSource(chunks: NodeJS.ReadableStream, name: string): Promise<ByteSource> {
    // It may fail before anybody reads; the reader gets the error then.
    chunks.on('error', () => undefined);
    if (stop !== undefined && chunks instanceof Readable) addAbortSignal(stop, chunks);
    const { handle, drop } = await spoolStream(chunks, name, spoolFolder);
    return createByteSource(name, handle, null, drop);
  }
}

/**
 * A pipe as a stream, which leaves the waiting for its writer and his words to the event loop: a
 * thread of Node's that waits for others cannot be told to stop, and even the end of the process
 * waits for it. null for what is no pipe, and for named pipes of systems that do not tell a pipe
 * without a writer yet from one whose writer is gone.
 */
async function openPipe(path: string): Promise<Readable | null> {
  const own = ownDescriptor(path);
  if (own === null && process.platform !== 'linux') return null;
  const facts = await stat(path);
  if (!facts.isFIFO()) return null;
  const fd = own ?? openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

async function createByteSource(
  name: string,
  handle: FileHandle,
  path: string | null,
  close: () => Promise<void>,
): Promise<ByteSource> {
  const atOpening = await handle.stat({ bigint: true });
  const magic = Buffer.alloc(2);
  await handle.read(magic, 0, 2, 0);
  const isGzip = magic[0] === 0x1f && magic[1] === 0x8b;
  let isOpen = true;

  return {
    name,
    isGzip,
    read: () => (isGzip ? readGzip(handle, name) : readPlain(handle, name)),
    async assertUnchanged() {
      // A spooled input has no path: it is ours alone.
      const facts =
        path === null
          ? await handle.stat({ bigint: true })
          : await stat(path, { bigint: true }).catch(() => null);
      const isSame =
        facts !== null &&
        facts.size === atOpening.size &&
        facts.mtimeNs === atOpening.mtimeNs &&
        facts.ino === atOpening.ino;
      if (!isSame) throw inputChanged(name);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await close();
    },
  };
}

export function inputChanged(name: string): FailFileError {
  return new FailFileError({
    code: 'input-changed',
    subject: name,
    todo: 'run again once nothing writes to it; answers that were paid for are kept',
  });
}

/** A signal came before the input was read to its end. */
export function readingStopped(name: string): InterruptedError {
  return new InterruptedError({
    code: 'interrupted',
    subject: name,
    todo: 'nothing was spent or written; run again',
  });
}

function unreadable(name: string, error: unknown, todo: string): FailFileError {
  return new FailFileError({
    code: 'input-missing',
    subject: `${name} (${systemWords(error)})`,
    todo,
    cause: error,
  });
}

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
  const compressed = Readable.from(copies(readPlain(handle, name)), { objectMode: false });
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  compressed.on('error', (error) => gunzip.destroy(error));
  compressed.pipe(gunzip);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof FailFileError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new FailFileError({
      code: 'input-missing',
      what: 'the gzip data is damaged or cut off',
      subject: `${name} (${reason})`,
      todo: 'fetch or make the file again',
      cause: error,
    });
  } finally {
    compressed.destroy();
    gunzip.destroy();
  }
}

/** A stream keeps several chunks at once, so each must own its memory. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

/**
 * @param name what is read, for messages
 * @returns the open file, to be dropped by the caller
 * Throws `disk-low` when the disk is full, `output-unwritable` when the folder cannot be used,
 * `input-missing` when reading fails.
 */
async function spoolStream(
  chunks: AsyncIterable<Buffer | string>,
  name: string,
  folder: string,
): Promise<PrivateFile> {
  let file: PrivateFile;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    file = await openPrivateFile(folder, 'input');
  } catch (error) {
    throw new FailFileError({
      code: 'output-unwritable',
      what: 'the input cannot be kept while it is processed',
      subject: folder,
      todo: 'make the folder writable or name another one with --state',
      cause: error,
    });
  }
  try {
    for await (const chunk of chunks) {
      await append(file.handle, Buffer.from(chunk), folder);
    }
    return file;
  } catch (error) {
    await file.drop();
    if (error instanceof FailFileError) throw error;
    throw new FailFileError({
      code: 'input-missing',
      what: 'the input broke off while it was read',
      subject: name,
      todo: 'run again, or save it to a file first',
      cause: error,
    });
  }
}

async function append(handle: FileHandle, bytes: Buffer, folder: string): Promise<void> {
  try {
    await handle.appendFile(bytes);
  } catch (error) {
    throw new FailFileError({
      code: 'disk-low',
      what: 'the input cannot be kept while it is processed',
      subject: folder,
      todo: 'free disk space or name another folder with --state',
      cause: error,
    });
  }
}
