/**
 * One output. Everything goes to a temporary file beside the target, and `commit` makes it the target
 * in one step, when it is safely on disk. Until then the target is what it was, however the process
 * ends. `-` and what is no regular file (a pipe, a device) are written directly: there is nothing to
 * replace.
 *
 * open --write*--> open --commit--> committed      fsync, rename, fsync of the folder
 * \----discard--> discarded     the temporary file is removed
 */

import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isRunning } from '../../core/lifecycle.js';
import { placeOf, writeFailure } from './output-names.js';

/** Small writes are gathered up to this many characters or bytes. */
const GATHER = 128 * 1024;
const BOM = '\ufeff';

export interface OutputOptions {
  readonly gzip: boolean;
  /** Begin with a byte order mark. */
  readonly bom: boolean;
  /** Where `-` goes; null: `-` is a file of that name. It is not closed. */
  readonly stdout: NodeJS.WritableStream | null;
}

export interface Output {
  /** Text is written as UTF-8. Resolves when more may be written. Throws FailFileError `output-unwritable`. */
  write(chunk: Buffer | string): Promise<void>;
  /**
   * Puts the output under its name. `verify` is handed the path of the finished file before that; what it throws is
   * thrown on. Throws FailFileError `output-unwritable`. Whenever it throws, nothing has changed under the name.
   */
  commit(verify?: Verify): Promise<void>;
  /** Forgets the output; after `commit`, or twice, it does nothing. */
  discard(): Promise<void>;
}

/**
 * Opens an output. Nothing appears under the target's name before `commit`. Temporary files that a killed process of
 * this machine left for the same target are removed.
 * @throws FailFileError `output-unwritable`.
 */
export async function createOutput(target: string, options: OutputOptions): Promise<Output> {
  const { stdout, gzip } = options;
  let sink: Sink | null;
  try {
    sink =
      target === '-' && stdout !== null ? openSharedSink(stdout, gzip) : await openFileSink(target, gzip);
  } catch (error) {
    throw writeFailure(target, error);
  }
  let gathered = options.bom ? BOM : '';

  async function send(bytes: Buffer): Promise<void> {
    if (sink === null) throw new Error(`written after its end: ${target}`);
    try {
      await sink.write(bytes);
    } catch (error) {
      throw writeFailure(target, error);
    }
  }

  async function flush(): Promise<void> {
    if (gathered === '') return;
    const bytes = Buffer.from(gathered);
    gathered = '';
    await send(bytes);
  }

  return {
    async write(chunk) {
      if (typeof chunk === 'string') {
        gathered += chunk;
        if (gathered.length >= GATHER) await flush();
      } else {
        await flush();
        await send(chunk);
      }
    },
    async commit(verify) {
      await flush();
      const committed = sink;
      sink = null;
      try {
        await committed?.commit(verify);
      } catch (error) {
        throw writeFailure(target, error);
      }
    },
    async discard() {
      const discarded = sink;
      sink = null;
      gathered = '';
      await discarded?.discard().catch(() => undefined);
    },
  };
}

/** Looks at a finished file before it gets its name. Not asked where there is no such file (a pipe, a device). */
type Verify = (path: string) => Promise<void>;

interface Sink {
  /** Resolves when the bytes were taken over. */
  write(bytes: Buffer): Promise<void>;
  /** Makes final what was written, unless `verify`, which is handed the file before that, throws. */
  commit(verify?: Verify): Promise<void>;
  /** Leaves no trace, as far as the place allows. */
  discard(): Promise<void>;
}

/** Opens a place in the file system. A symbolic link is followed, so that it stays one. */
async function openFileSink(target: string, gzip: boolean): Promise<Sink> {
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
function openSharedSink(stream: NodeJS.WritableStream, gzip: boolean): Sink {
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

/** What this process has named. In a container a killed process had the number that this one has. */
const own = new Set<string>();

/** The target stands in it as a hash, since a name of the greatest length leaves no room for more. */
function nameStart(target: string): string {
  return `.brand-enrich-${createHash('sha256').update(target).digest('hex').slice(0, 12)}-${machine()}-`;
}

function machine(): string {
  return hostname()
    .replace(/[^A-Za-z0-9]/g, '_')
    .slice(0, 60);
}

/** A name that is free and hidden: `.brand-enrich-0f3a5c7e9b1d-host-4711-9f3a77c2.tmp`. */
export function temporaryName(target: string): string {
  const name = `${nameStart(target)}${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  own.add(name);
  return name;
}

/**
 * Removes temporary files that dead processes of this machine left in a folder, whatever they were to become: the
 * output of a nightly job has a name that never comes again. What cannot be removed stays.
 */
async function removeStaleTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, from, pid] = /^\.brand-enrich-[0-9a-f]{12}-(.+)-(\d+)-[0-9a-f]{8}\.tmp$/.exec(name) ?? [];
    if (from !== machine() || own.has(name)) continue;
    const isDead = Number(pid) === process.pid || !isRunning(Number(pid));
    if (isDead) await rm(join(folder, name)).catch(() => undefined);
  }
}
