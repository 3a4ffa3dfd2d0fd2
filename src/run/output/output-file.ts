/** An output: a temporary file that becomes the target in one step, or a pipe or device. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants, createWriteStream, fchmodSync, openSync } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { InterruptedError } from '../../core/errors.js';
import { attempt, isRunning } from '../../core/lifecycle.js';
import { machineIdentity } from '../../core/process-identity.js';
import { isErrorCode } from '../../core/system-error.js';
import { KEPT, placeOf, refuseLinksOfOthers, writeFailure } from './output-names.js';

/** Small writes are gathered up to this many characters or bytes. */
const GATHER = 128 * 1024;

/** How to wait for the reader of a named pipe. */
export interface ReaderWait {
  readonly stop: AbortSignal;
  readonly emit: (notice: { type: 'notice'; text: string; isWarning: true }) => void;
}

export interface OutputOptions {
  readonly gzip: boolean;
  readonly bom: boolean;
  /** The stream for `-`, which stays open; null if `-` is a file of that name. */
  readonly stdout: NodeJS.WritableStream | null;
  /** Absent to fail at once on a named pipe without a reader. */
  readonly waiting?: ReaderWait | undefined;
}

/** Checks a finished file before it gets its name; not called for a pipe or device. */
type Verify = (path: string) => Promise<void>;

/** Opens an output; clears files of killed processes. Throws RunError and InterruptedError. */
export async function createOutput(target: string, { gzip, bom, stdout, waiting }: OutputOptions) {
  const fail = (error: unknown) => Promise.reject(writeFailure(target, error));
  const isShared = target === '-' && stdout !== null;
  const sink = isShared ? shareStream(stdout) : await openFile(target, waiting).catch(fail);
  const zipper = gzip ? createGzip() : null;
  const source = zipper ?? sink.stream;
  const zipped = zipper && pipeline(zipper, sink.stream, { end: !isShared });
  zipped?.catch(() => undefined);
  let gathered = bom ? '\ufeff' : '';
  let isOpen = true;

  async function send(bytes: Buffer): Promise<void> {
    if (!isOpen) throw new Error(`written after its end: ${target}`);
    try {
      await writeTo(source, bytes);
    } catch (error) {
      // The error of the file says more than that of the compressor, which it destroyed.
      await zipped?.catch(fail);
      await fail(error);
    }
  }

  async function flush(): Promise<void> {
    const bytes = Buffer.from(gathered);
    gathered = '';
    if (bytes.length > 0) await send(bytes);
  }

  return {
    /** Writes UTF-8. Resolves when ready for more. Throws RunError `output-unwritable`. */
    async write(chunk: Buffer | string): Promise<void> {
      if (typeof chunk === 'string') {
        gathered += chunk;
        if (gathered.length >= GATHER) await flush();
      } else {
        await flush();
        await send(chunk);
      }
    },
    /** Names the output once `verify` accepts the file. If it throws, the target is unchanged. */
    async commit(verify?: Verify): Promise<void> {
      await flush();
      if (!isOpen) return;
      isOpen = false;
      try {
        if (zipper !== null || !isShared) source.end();
        await zipped;
        await sink.finish(verify);
      } catch (error) {
        await sink.discard().catch(() => undefined);
        throw writeFailure(target, error);
      }
    },
    /** Discards the output; does nothing after `commit` or a first call. */
    async discard(): Promise<void> {
      if (!isOpen) return;
      isOpen = false;
      gathered = '';
      zipper?.destroy();
      await sink.discard().catch(() => undefined);
    },
  };
}

/** Writes a text file in one step. Throws RunError `output-unwritable`. */
export async function writeText(path: string, text: string, waiting?: ReaderWait): Promise<void> {
  const output = await createOutput(path, { gzip: false, bom: false, stdout: null, waiting });
  try {
    await output.write(text);
    await output.commit();
  } finally {
    await output.discard();
  }
}

function writeTo(stream: NodeJS.WritableStream, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

interface Sink {
  readonly stream: NodeJS.WritableStream;
  /** Calls `verify` with the file, and makes the file final unless that throws. */
  finish(verify?: Verify): Promise<void>;
  /** Removes what was written, as far as the target allows. */
  discard(): Promise<void>;
}

/** Returns a sink for a stream of the caller, which is not closed. */
function shareStream(stream: NodeJS.WritableStream): Sink {
  /** After its reader left, a stream emits an error besides the one of the write. */
  const onError = () => undefined;
  stream.on('error', onError);
  return {
    stream,
    async finish() {
      await writeTo(stream, Buffer.alloc(0));
      stream.off('error', onError);
    },
    discard: async () => undefined,
  };
}

/** Opens a path of the file system; follows a symbolic link, so that it stays one. */
async function openFile(target: string, waiting: ReaderWait | undefined): Promise<Sink> {
  await refuseLinksOfOthers(target);
  const place = await placeOf(target);
  // Uses `target`, because the resolved place of a pipe of this process cannot be opened.
  const existing = await stat(target).catch(() => null);
  const isReplaced = existing === null || existing.isFile();
  const folder = dirname(place);
  if (isReplaced) await removeStaleTemporaries(folder);
  const path = isReplaced ? join(folder, temporaryName(basename(place))) : target;
  // From its first byte on, nobody may read it who may not read the file that it replaces.
  const mode = existing === null ? 0o666 : existing.mode & 0o777;
  const flags = isReplaced ? 'wx' : 'w';
  const stream = existing?.isFIFO()
    ? await openPipe(target, waiting)
    : createWriteStream(path, { flags, mode, flush: isReplaced, highWaterMark: 1 << 20 });
  const [descriptor] = stream instanceof Socket ? [] : await once(stream, 'open');
  stream.on('error', () => undefined);
  // By handle, because others may have replaced the name. Some mounts have no modes.
  if (isReplaced && existing !== null) attempt(() => fchmodSync(descriptor, mode), undefined);
  return {
    stream,
    async finish(verify) {
      await finished(stream);
      if (!isReplaced) return;
      await verify?.(path);
      await rename(path, place);
      await syncFolder(folder);
    },
    async discard() {
      stream.destroy();
      await finished(stream).catch(() => undefined);
      if (isReplaced) await rm(path, { force: true });
    },
  };
}

const LOOK_FOR_READER_MS = 100;

/** Polls for a reader, because a blocking open in a thread of Node could not be interrupted. */
async function openPipe(path: string, waiting: ReaderWait | undefined): Promise<Socket> {
  for (let looks = 0; ; looks += 1) {
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new Socket({ fd, readable: false, writable: true });
    } catch (error) {
      if (!isErrorCode(error, 'ENXIO') || waiting === undefined) throw error;
    }
    if (waiting.stop.aborted) {
      const what = 'stopped while nobody read from a named pipe';
      throw new InterruptedError({ code: 'interrupted', what, subject: path, todo: KEPT });
    }
    const text = `waiting for a reader of the named pipe ${path}`;
    if (looks === 1) waiting.emit({ type: 'notice', text, isWarning: true });
    await wait(LOOK_FOR_READER_MS, undefined, { signal: waiting.stop }).catch(() => undefined);
  }
}

/** Makes the rename durable, if the system can open and sync a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  if (handle === null) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}

/** Part of this process's names: in a container a killed process may have had the same id. */
const OWN = randomBytes(4).toString('hex');
let names = 0;

/** The processes that this one can judge: those of this host and of its container. */
const PROCESSES = (() => {
  const [host = '', , namespace = ''] = machineIdentity().split(' ');
  return hashOf(`${host} ${namespace}`);
})();

const TEMPORARY = /^\.brand-enrich-[0-9a-f]{12}-([0-9a-f]{12})-(\d+)-\d+-([0-9a-f]{8})\.tmp$/;

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Returns a new hidden name. It has a hash of the target, whose name may be too long to add to. */
export function temporaryName(target: string): string {
  names += 1;
  return `.brand-enrich-${hashOf(target)}-${PROCESSES}-${process.pid}-${names}-${OWN}.tmp`;
}

/** Removes those of all targets, because the output of a nightly job may never recur. */
async function removeStaleTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, from, pid, owner] = TEMPORARY.exec(name) ?? [];
    if (from !== PROCESSES) continue;
    const isDead = Number(pid) === process.pid ? owner !== OWN : !isRunning(Number(pid));
    if (isDead) await rm(join(folder, name)).catch(() => undefined);
  }
}
