/**
 * The three places that an output can go: a file that is replaced in one step, a device or pipe that is written as it
 * is, and a stream that belongs to somebody else. Gathering small writes and the words of errors are `output-file.ts`'s.
 */
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { placeOf } from './output-place.js';
import { removeStaleTemporaries, temporaryName } from './stale-temporaries.js';

/** Looks at a finished file before it gets its name. Not asked where there is no such file (a pipe, a device). */
export type Verify = (path: string) => Promise<void>;

export interface Sink {
  /** Resolves when the bytes were taken over. */
  write(bytes: Buffer): Promise<void>;
  /** Makes final what was written, unless `verify`, which is handed the file before that, throws. */
  commit(verify?: Verify): Promise<void>;
  /** Leaves no trace, as far as the place allows. */
  discard(): Promise<void>;
}

/** Opens a place in the file system. A symbolic link is followed, so that it stays one. */
export async function openFileSink(target: string, gzip: boolean): Promise<Sink> {
  const path = await placeOf(target);
  const existing = await stat(path).catch(() => null);
  if (existing !== null && !existing.isFile()) return writeDirectly(path, gzip);

  const folder = dirname(path);
  await removeStaleTemporaries(folder);
  const temporary = join(folder, temporaryName(basename(path)));
  // Never open to more people than the file that it replaces, from its first byte on.
  const handle = await open(temporary, 'wx', existing === null ? 0o666 : existing.mode & 0o777);
  if (existing !== null) await handle.chmod(existing.mode & 0o777).catch(() => undefined);
  const writer = streamTo(handle, gzip);
  const discard = async () => {
    await writer.stop();
    await handle.close();
    await rm(temporary, { force: true });
  };
  return {
    write: writer.write,
    async commit(verify) {
      try {
        await writer.end();
        await handle.sync();
        await verify?.(temporary);
        await rename(temporary, path);
      } catch (error) {
        await discard().catch(() => undefined);
        throw error;
      }
      await handle.close();
      await syncFolder(folder);
    },
    discard,
  };
}

async function writeDirectly(path: string, gzip: boolean): Promise<Sink> {
  const handle = await open(path, 'w');
  const writer = streamTo(handle, gzip);
  return {
    write: writer.write,
    async commit() {
      await writer.end();
      await handle.close();
    },
    async discard() {
      await writer.stop();
      await handle.close();
    },
  };
}

/** A stream that is not ours: it is neither closed nor taken back. */
export function openSharedSink(stream: NodeJS.WritableStream, gzip: boolean): Sink {
  const source = gzip ? createGzip() : null;
  const done = source === null ? null : pipeline(source, stream, { end: false });
  done?.catch(() => undefined);
  /** A reader that left makes the stream emit an error besides failing the write. */
  const onError = () => undefined;
  stream.on('error', onError);
  return {
    write: (bytes) => writeTo(source ?? stream, bytes, done),
    async commit() {
      source?.end();
      await done;
      await writeTo(stream, Buffer.alloc(0), null);
      stream.off('error', onError);
    },
    async discard() {
      source?.destroy();
    },
  };
}

interface HandleWriter {
  write(bytes: Buffer): Promise<void>;
  /** Resolves when everything is handed to the system. */
  end(): Promise<void>;
  stop(): Promise<void>;
}

function streamTo(handle: FileHandle, gzip: boolean): HandleWriter {
  const file = writableTo(handle);
  const gzipper = gzip ? createGzip() : null;
  const source = gzipper ?? file;
  const done = gzipper === null ? finished(file) : pipeline(gzipper, file);
  done.catch(() => undefined);
  return {
    write: (bytes) => writeTo(source, bytes, done),
    async end() {
      source.end();
      await done;
    },
    async stop() {
      source.destroy();
      file.destroy();
      await done.catch(() => undefined);
    },
  };
}

/** Node's own stream on a handle either closes the handle, which is too early for `sync`, or never ends. */
function writableTo(handle: FileHandle): Writable {
  return new Writable({
    highWaterMark: 1 << 20,
    async write(bytes: Buffer, _encoding, callback) {
      try {
        let written = 0;
        while (written < bytes.length) {
          written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten;
        }
        callback();
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}

/** When a later stream fails, `done` tells why; the stream that is written to only tells that it was destroyed. */
async function writeTo(
  stream: NodeJS.WritableStream,
  bytes: Buffer,
  done: Promise<void> | null,
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    await done;
    throw error;
  }
}

/** Makes the rename durable; systems that cannot open or sync a folder do without. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  if (handle === null) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}
