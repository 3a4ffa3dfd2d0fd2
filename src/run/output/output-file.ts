/** An output: a temporary file, which becomes the target in one step; or a pipe or device. */
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
  /** Where `-` goes; null: `-` is a file of that name. It is not closed. */
  readonly stdout: NodeJS.WritableStream | null;
  /** Absent: a named pipe without a reader is an error at once. */
  readonly waiting?: ReaderWait | undefined;
}

/** Checks a finished file before it gets its name. Not called without one (a pipe, a device). */
type Verify = (path: string) => Promise<void>;

/** Clears temporaries of killed processes. Throws `output-unwritable` and InterruptedError. */
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
      // When the file fails, the compressor only says that it was destroyed.
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
    /** Names the output once `verify` accepts the file. If this throws, nothing changed there. */
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
    /** Forgets the output; after `commit`, or twice, it does nothing. */
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
  /** Makes the written file final, unless `verify`, called with it before that, throws. */
  finish(verify?: Verify): Promise<void>;
  /** Leaves no trace, as far as the place allows. */
  discard(): Promise<void>;
}

/** A stream of the caller, which is neither closed nor taken back. */
function shareStream(stream: NodeJS.WritableStream): Sink {
  /** A reader that left makes the stream emit an error besides failing the write. */
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

/** Opens a place in the file system. A symbolic link is followed, so that it stays one. */
async function openFile(target: string, waiting: ReaderWait | undefined): Promise<Sink> {
  await refuseLinksOfOthers(target);
  const place = await placeOf(target);
  // A pipe of this process has a place that cannot be opened.
  const existing = await stat(target).catch(() => null);
  const isReplaced = existing === null || existing.isFile();
  const folder = dirname(place);
  if (isReplaced) await removeStaleTemporaries(folder);
  const path = isReplaced ? join(folder, temporaryName(basename(place))) : target;
  // Never open to more people than the file that it replaces, from its first byte on.
  const mode = existing === null ? 0o666 : existing.mode & 0o777;
  const flags = isReplaced ? 'wx' : 'w';
  const stream = existing?.isFIFO()
    ? await openPipe(target, waiting)
    : createWriteStream(path, { flags, mode, flush: isReplaced, highWaterMark: 1 << 20 });
  const [descriptor] = stream instanceof Socket ? [] : await once(stream, 'open');
  stream.on('error', () => undefined);
  // By handle: in a folder of others the name may lead elsewhere by now. Some mounts have no modes.
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

/** Waits in the event loop: a thread of Node's that waits is deaf to signals. */
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
    const text = `waiting until somebody reads from the named pipe ${path}`;
    if (looks === 1) waiting.emit({ type: 'notice', text, isWarning: true });
    await wait(LOOK_FOR_READER_MS, undefined, { signal: waiting.stop }).catch(() => undefined);
  }
}

/** Makes the rename durable; systems that cannot open or sync a folder do without. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  if (handle === null) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}

/** In the names of this process. In a container a killed process may have had the same id. */
const OWN = randomBytes(4).toString('hex');
let names = 0;

/** Whose processes can be judged from here: those of this host and, in a container, of its own. */
const PROCESSES = (() => {
  const [host = '', , namespace = ''] = machineIdentity().split(' ');
  return hashOf(`${host} ${namespace}`);
})();

const TEMPORARY = /^\.brand-enrich-[0-9a-f]{12}-([0-9a-f]{12})-(\d+)-\d+-([0-9a-f]{8})\.tmp$/;

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** A free hidden name, with a hash of the target: the longest names leave no room for more. */
export function temporaryName(target: string): string {
  names += 1;
  return `.brand-enrich-${hashOf(target)}-${PROCESSES}-${process.pid}-${names}-${OWN}.tmp`;
}

/** For every target: a nightly job's output name never recurs. What cannot be removed stays. */
async function removeStaleTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, from, pid, owner] = TEMPORARY.exec(name) ?? [];
    if (from !== PROCESSES) continue;
    const isDead = Number(pid) === process.pid ? owner !== OWN : !isRunning(Number(pid));
    if (isDead) await rm(join(folder, name)).catch(() => undefined);
  }
}
