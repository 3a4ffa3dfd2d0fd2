/**
 * The bytes of an input: a file, or standard input and pipes kept in a file of our own, decompressed when they
 * are gzip. Read as often as asked, always the file that was opened. What the bytes mean is not known here.
 */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FailFileError, NeverStartError } from '../errors.js';
import { openPlainFile } from '../plain-file.js';
import { systemWords } from '../system-error.js';
import type { IntakeOptions } from './input.js';
import { spoolStream } from './spool-stream.js';

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

/** Opens a path, or standard input for `-`. Throws `input-missing`, `disk-low`, `usage-invalid`. */
export async function openByteSource(
  path: string,
  stdin: NodeJS.ReadableStream | null,
  { spoolFolder, only }: Pick<IntakeOptions, 'spoolFolder' | 'only'>,
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
    const { handle, drop } = await spoolStream(stdin, 'stdin', spoolFolder);
    return createByteSource('stdin', handle, null, drop);
  }
  let handle: FileHandle;
  try {
    handle = await (only === undefined
      ? open(path, 'r')
      : openPlainFile(path, { followsLinks: only === 'file' }));
    const facts = await handle.stat();
    if (facts.isFile()) return await createByteSource(path, handle, path, () => handle.close());
    if (facts.isDirectory()) {
      await handle.close();
      throw new Error('it is a folder');
    }
  } catch (error) {
    throw unreadable(path, error, 'check the path and its permissions');
  }
  // A pipe must not be closed and opened again: its writer would be stopped.
  const stream = handle.createReadStream();
  const spooled = await spoolStream(stream, path, spoolFolder);
  return createByteSource(path, spooled.handle, null, spooled.drop);
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
      throw unreadable(name, error, 'check the disk it lies on');
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
