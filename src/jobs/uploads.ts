/**
 * Drafts: files that people send to the dashboard, until they are started. Each is the folder of a
 * job from the beginning, below a hidden folder of the watched one, so a start is one rename:
 *
 *   .drafts/<job>/ (file, record)   --start-->   waiting/<name>-<time>/
 *
 * A draft is removed after a day.
 */
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Clock } from '../core/clock.js';
import { assertDiskRoom, CHECK_DISK_EVERY_BYTES } from '../core/disk-room.js';
import { FailFileError, NeverStartError, usageProblem } from '../core/errors.js';
import { makeFolder } from '../core/folders.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import { isPassingFault, lookAt, sideFileOf, uploadName } from './inbox-file.js';
import {
  jobFoldersIn,
  newJobId,
  originalAmong,
  queueJob,
  readNoted,
  writeAnew,
  writeRecord,
} from './job-folder.js';

/** Hidden, so that neither watchers nor people take it for a place of the inbox. */
export const DRAFTS_FOLDER = '.drafts';

/** Two pages may start the same draft. */
const oneAtATime = pLimit(1);

const KEPT_MS = 86_400_000;
const LOOK_MS = 3_600_000;

/** A file that was received completely. */
export interface Upload {
  /** That of its job. */
  readonly id: string;
  /** The watched folder, absolute. */
  readonly root: string;
  readonly folder: string;
  /** Made safe; see `uploadName`. */
  readonly name: string;
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** See `SeenFile`: settings of that folder hold for it. */
  readonly under?: string | undefined;
  /** A name of the dashboard. */
  readonly sentBy?: string | undefined;
  /** It failed in the inbox, and is in its folder there; `changedAt`: as `at`. Absent: sent. */
  readonly failed?: { readonly changedAt: number };
}

export type Uploads = ReturnType<typeof createUploads>;

/** `roots`: the watched folders. `assertRoom`: throws if a disk has no room for so many bytes. */
export function createUploads(
  roots: readonly string[],
  clock: Pick<Clock, 'now'>,
  assertRoom: typeof assertDiskRoom = assertDiskRoom,
) {
  function rootAt(index: number): string {
    const root = roots[index];
    if (root !== undefined) return root;
    const todo = 'reload the page and choose one';
    throw new NeverStartError(usageProblem('there is no such inbox', String(index), todo));
  }

  /** Moves or removes a draft. Throws `NeverStartError` if another request was faster. */
  async function once<T>(upload: Upload, words: DiskWords, act: () => Promise<T>): Promise<T> {
    const gone = () => {
      const what = 'this file was started, discarded, or removed after a day';
      return new NeverStartError(usageProblem(what, upload.name, 'see the runs on the dashboard'));
    };
    return oneAtATime(async () => {
      if ((await lookAt(upload.folder)) === null) throw gone();
      try {
        return await act();
      } catch (error) {
        throw (await lookAt(upload.folder)) === null ? gone() : asDiskError(error, upload.root, words);
      }
    });
  }

  const foldersIn = (root: string) => jobFoldersIn(join(root, DRAFTS_FOLDER));

  /** Removes what is a day old, received or not. */
  async function sweep(): Promise<void> {
    for (const folder of (await Promise.all(roots.map(foldersIn))).flat()) {
      const { mtimeMs = clock.now() } = (await lookAt(folder)) ?? {};
      if (clock.now() - mtimeMs > KEPT_MS) await rm(folder, { recursive: true }).catch(() => undefined);
    }
  }

  async function read(root: string, folder: string): Promise<Upload | null> {
    const record = await readNoted(folder);
    // Without a record it is still being received.
    if (record === null) return null;
    const { id, file, under, sentBy } = record;
    const names: string[] = await readdir(folder).catch(() => []);
    // A start that was killed may have renamed the file, and not its record.
    const name = names.includes(file) ? file : originalAmong(names);
    const path = join(folder, name ?? '');
    const facts = await lookAt(path);
    if (name === null || facts?.kind !== 'file') return null;
    return { id, root, folder, name, under, path, size: facts.size, at: facts.mtimeMs, sentBy };
  }

  /** The newest first. */
  async function list(): Promise<Upload[]> {
    const all = roots.map(async (root) => (await foldersIn(root)).map((folder) => read(root, folder)));
    const found = await Promise.all((await Promise.all(all)).flat());
    return found.filter((each) => each !== null).sort((a, b) => b.at - a.at);
  }

  return {
    roots,
    list,
    /** null: it was started, discarded, or removed after a day. */
    find: async (id: string) => (await list()).find((each) => each.id === id) ?? null,

    /** Removes old uploads now and then until `stop` is called. Never rejects. */
    async begin(): Promise<{ stop: () => void }> {
      await sweep();
      const timer = setInterval(() => void sweep(), LOOK_MS).unref();
      return { stop: () => clearInterval(timer) };
    },
    sweep,

    /** The safe name. Throws where a file of this name and length cannot be received. */
    async check(inbox: number, givenName: string, length: number | null): Promise<string> {
      const root = rootAt(inbox);
      const name = uploadName(givenName);
      await assertRoom([root], length ?? 0).catch((error: unknown) => {
        throw asDiskError(error, root, SEND_AGAIN);
      });
      return name;
    },

    /**
     * Keeps the bytes of `body` as a draft. Whatever goes wrong, nothing stays. Throws
     * `NeverStartError` for a name or inbox that cannot be, `FailFileError` (`disk-low`,
     * `output-unwritable`, `input-changed` when the body ends early), and what `body` throws.
     */
    async receive(
      asked: Pick<Upload, 'under' | 'sentBy'> & { inbox: number; name: string; length: number | null },
      body: AsyncIterable<Uint8Array>,
    ): Promise<Upload> {
      const { inbox, length, under, sentBy } = asked;
      const name = await this.check(inbox, asked.name, length);
      const root = rootAt(inbox);
      const id = newJobId();
      const folder = join(await openPlace(root), id);
      const path = join(folder, name);
      try {
        await mkdir(folder, 0o700);
        const size = await writeBody(path, body, () => assertRoom([root], 0));
        if (length !== null && size !== length) {
          const [what, todo] = ['the file did not arrive whole', 'send the file again'];
          throw new FailFileError({ code: 'input-changed', what, subject: name, todo });
        }
        await writeRecord(folder, { id, run: null, file: name, under, reason: null, parked: null, sentBy });
        return { id, root, folder, name, under, path, size, at: (await lstat(path)).mtimeMs, sentBy };
      } catch (error) {
        await rm(folder, { recursive: true, force: true }).catch(() => undefined);
        throw asDiskError(error, root, SEND_AGAIN);
      }
    },

    /**
     * Starts a draft under this name with its settings. `by`: a name of the dashboard. Throws
     * `NeverStartError` where it has just been started, and `FailFileError` where the disk does not
     * take it; the draft stays then, or goes if `isKept` is false, and the message says which.
     */
    async start(
      upload: Upload,
      name: string,
      settings: Readonly<Record<string, unknown>>,
      by: string,
      isKept = true,
    ): Promise<void> {
      const start = () => startDraft(upload, name, settings, by, clock.now());
      await once(upload, isKept ? START_AGAIN : SEND_AGAIN, start).catch(async (error: unknown) => {
        if (!isKept) await rm(upload.folder, { recursive: true, force: true }).catch(() => undefined);
        throw error;
      });
    },

    /** Throws as `start` does; the upload stays then. */
    discard: (upload: Upload): Promise<void> =>
      once(upload, DISCARD_AGAIN, () => rm(upload.folder, { recursive: true })),
  };
}

const SEND_AGAIN = ['the file cannot be stored now', 'send it again'] as const;
const START_AGAIN = ['the file cannot be started now, and is kept', 'start it again'] as const;
const DISCARD_AGAIN = ['the file cannot be removed now', 'discard it again'] as const;

async function startDraft(
  { id, root, folder, under, path, sentBy }: Upload,
  name: string,
  settings: Readonly<Record<string, unknown>>,
  startedBy: string,
  now: number,
): Promise<void> {
  const record = { id, run: null, file: name, under, reason: null, parked: null, sentBy, startedBy };
  const named = join(folder, name);
  await writeAnew(sideFileOf(named), `${JSON.stringify(settings)}\n`);
  // The record names the file at any moment: without its name the draft would be lost.
  await rename(path, named);
  await writeRecord(folder, record);
  // As readable as the inbox: people put their own files there too.
  const { mode } = await lstat(join(root, 'inbox'));
  await Promise.all([sideFileOf(named), named].map((each) => chmod(each, mode & 0o666)));
  await chmod(folder, mode & 0o777);
  await queueJob(root, folder, record, 'It is started as soon as there is room for it.', now);
}

/** The hidden folder, ours alone. */
async function openPlace(root: string): Promise<string> {
  const place = join(root, DRAFTS_FOLDER);
  const unfit = (why: string, cause?: unknown) => {
    const what = 'uploaded files cannot be stored';
    const todo = `allow this user to write to the folder, or remove ${place}`;
    return new FailFileError({ code: 'output-unwritable', what, subject: `${place} (${why})`, todo, cause });
  };
  try {
    makeFolder(place, 0o700);
  } catch (error) {
    throw unfit(systemWords(error), error);
  }
  const [facts, { dev }] = await Promise.all([lstat(place), lstat(root)]);
  if (!facts.isDirectory()) throw unfit('it is not a folder');
  if (facts.dev !== dev) throw unfit('it is on another file system');
  if (facts.uid !== (process.getuid?.() ?? facts.uid)) throw unfit('it belongs to another user');
  await chmod(place, 0o700);
  return place;
}

/** Bytes written, to the disk. Holds one chunk at a time. */
async function writeBody(
  path: string,
  body: AsyncIterable<Uint8Array>,
  assertRoom: () => Promise<void>,
): Promise<number> {
  const handle = await open(path, 'wx', 0o600);
  try {
    let size = 0;
    let checkAt = CHECK_DISK_EVERY_BYTES;
    for await (const chunk of body) {
      await handle.appendFile(chunk);
      size += chunk.length;
      if (size < checkAt) continue;
      checkAt = size + CHECK_DISK_EVERY_BYTES;
      await assertRoom();
    }
    await handle.sync();
    return size;
  } finally {
    await handle.close();
  }
}

/** What is said of a disk that does not take a file, and what to do when it does again. */
type DiskWords = readonly [what: string, again: string];

/** People who send files cannot choose another disk. Other errors are as they were. */
function asDiskError(error: unknown, root: string, [what, again]: DiskWords): unknown {
  const isLow = error instanceof FailFileError && error.code === 'disk-low';
  const isFull = isLow || isErrorCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG');
  const isGone = isErrorCode(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG');
  if (!isFull && !isGone && !isPassingFault(error)) return error;
  const subject = isLow ? error.subject : `${root} (${systemWords(error)})`;
  const cure = isFull ? 'free disk space' : 'look at that folder';
  const todo = `ask the administrator of the inbox to ${cure}, then ${again}`;
  const code = isFull ? 'disk-low' : 'output-unwritable';
  return new FailFileError({ code, what, subject, todo, cause: error });
}
