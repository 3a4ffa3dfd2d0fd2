/**
 * Files that people send to the dashboard, until they are started: each in a hidden folder of its
 * own in the watched folder, so that a start is a rename within one file system.
 *
 *   .uploads/<host>-<pid>-<id>/<name>   --start-->   inbox/<name>, after inbox/<name>.json
 *
 * They belong to the process that received them. Its next start removes them, and a day does.
 */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { assertDiskRoom, CHECK_DISK_EVERY_BYTES } from '../core/disk-room.js';
import { FailFileError, NeverStartError, usageProblem } from '../core/errors.js';
import { isRunning } from '../core/lifecycle.js';
import { makeFolder } from '../core/make-folder.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import { isPassingFault, isSideFile, numberedName, uploadName } from './inbox-file.js';
import { newJobId } from './job-folder.js';
import { placeInInbox } from './placed-files.js';

/** Hidden, so that neither watchers nor people take it for a place of the inbox. */
export const UPLOADS_FOLDER = '.uploads';

/** The settings of a file that is being started, beside it. */
const SETTINGS = '.settings';
const KEPT_MS = 86_400_000;
const LOOK_MS = 3_600_000;
/** A start writes its settings at once after it has made their file in the folder. */
const START_TAKES_MS = 10_000;

/** A file that was received completely. */
export interface Upload {
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
  const known = new Map<string, Upload>();

  function rootAt(index: number): string {
    const root = roots[index];
    if (root !== undefined) return root;
    throw new NeverStartError(
      usageProblem('there is no such inbox', String(index), 'reload the page and choose one'),
    );
  }

  async function drop({ id, folder }: Pick<Upload, 'id' | 'folder'>): Promise<void> {
    known.delete(id);
    await rm(folder, { recursive: true, force: true });
  }

  /** Takes an upload off the list for what is done with it: no other request finds it meanwhile. */
  async function once<T>(upload: Upload, words: DiskWords, act: () => Promise<T>): Promise<T> {
    if (!known.delete(upload.id)) {
      const what = 'this file was started, discarded, or removed after a day';
      throw new NeverStartError(usageProblem(what, upload.name, 'see the runs on the dashboard'));
    }
    try {
      return await act();
    } catch (error) {
      known.set(upload.id, upload);
      throw asDiskError(error, upload.root, words);
    }
  }

  /** Removes what is a day old; `isStart`: and what earlier processes of this machine left. */
  async function sweep(isStart: boolean): Promise<void> {
    for (const root of roots) {
      const place = join(root, UPLOADS_FOLDER);
      for (const name of await readdir(place).catch(() => [])) {
        const folder = join(place, name);
        const facts = await lstat(folder).catch(() => null);
        const owner = /^(.+)-(\d+)-[0-9a-f]{24}$/.exec(name);
        if (owner === null || facts === null || !facts.isDirectory()) continue;
        const [, host, pid] = owner;
        // In a container every process may have the same number.
        const isLeft =
          isStart && host === hostName() && (Number(pid) === process.pid || !isRunning(Number(pid)));
        if (!isLeft && clock.now() - facts.mtimeMs <= KEPT_MS) continue;
        await removeLoneSettings(root, folder).catch(() => undefined);
        await drop({ id: name.slice(-24), folder }).catch(() => undefined);
      }
    }
  }

  return {
    roots,
    /** The newest first. */
    list: (): Upload[] => [...known.values()].reverse(),
    /** null: it was started, discarded, or removed after a day. */
    find: (id: string): Upload | null => known.get(id) ?? null,

    /** Removes old uploads now and then until `stop` is called. Never rejects. */
    async begin(): Promise<{ stop: () => void }> {
      await sweep(true);
      const timer = setInterval(() => void sweep(false), LOOK_MS);
      timer.unref();
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
     * Keeps the bytes of `body` as a file. Whatever goes wrong, nothing stays. Throws
     * `NeverStartError` for a name or inbox that cannot be, `FailFileError` (`disk-low`,
     * `output-unwritable`, `input-changed` when the body ends early), and what `body` throws.
     */
    async receive(
      asked: Pick<Upload, 'under'> & { inbox: number; name: string; length: number | null },
      body: AsyncIterable<Uint8Array>,
    ): Promise<Upload> {
      const { inbox, length, under } = asked;
      const name = await this.check(inbox, asked.name, length);
      const root = rootAt(inbox);
      const id = randomBytes(12).toString('hex');
      const folder = join(await openPlace(root), `${hostName()}-${process.pid}-${id}`);
      const path = join(folder, name);
      try {
        await mkdir(folder, 0o700);
        const size = await writeBody(path, body, () => assertRoom([root], 0));
        if (length !== null && size !== length) {
          const todo = 'send the file again';
          throw new FailFileError({
            code: 'input-changed',
            what: 'the file did not arrive whole',
            subject: name,
            todo,
          });
        }
        const upload = { id, root, folder, name, under, path, size, at: clock.now() };
        known.set(id, upload);
        return upload;
      } catch (error) {
        await drop({ id, folder }).catch(() => undefined);
        throw asDiskError(error, root, SEND_AGAIN);
      }
    },

    /**
     * Moves it into the inbox, after its settings, and never over another file; its name there.
     * `wanted`: the name to try first. `job`: the id that it gets. Throws `NeverStartError` where
     * it has just been started, and `FailFileError` where the disk does not take it; the upload
     * stays then, or goes if `isKept` is false, and the message says which.
     */
    async start(
      upload: Upload,
      wanted: string,
      settings: Readonly<Record<string, unknown>>,
      job = newJobId(),
      isKept = true,
    ): Promise<string> {
      const words = isKept ? START_AGAIN : SEND_AGAIN;
      const name = await once(upload, words, () => moveIn(upload, wanted, settings, job)).catch(
        async (error: unknown) => {
          if (!isKept) await drop(upload).catch(() => undefined);
          throw error;
        },
      );
      // It is in the inbox, whatever becomes of its folder: a share keeps that while a plan reads.
      await drop(upload).catch(() => undefined);
      return name;
    },

    /** Throws as `start` does; the upload stays then. */
    discard: (upload: Upload): Promise<void> => once(upload, DISCARD_AGAIN, () => drop(upload)),
  };
}

const SEND_AGAIN = ['the file cannot be stored now', 'send it again'] as const;
const START_AGAIN = ['the file cannot be started now, and is kept', 'start it again'] as const;
const DISCARD_AGAIN = ['the file cannot be removed now', 'discard it again'] as const;

/** Retries with the next name until file and settings are both placed. */
async function moveIn(
  { root, under, folder, path }: Upload,
  wanted: string,
  settings: Readonly<Record<string, unknown>>,
  id: string,
): Promise<string> {
  const side = join(folder, SETTINGS);
  // As readable as the folder: people put their own files there too.
  const mode = (await lstat(join(root, 'inbox', under ?? ''))).mode & 0o666;
  for (let number = 1; ; number += 1) {
    const name = numberedName(wanted, number);
    // Made anew, so that its time is that of the folder: see `START_TAKES_MS`.
    await rm(side, { force: true });
    await writeFile(side, `${JSON.stringify(settings)}\n`, { flag: 'wx', flush: true });
    await Promise.all([chmod(side, mode), chmod(path, mode)]);
    if ((await placeInInbox(root, { name, under, from: path, side, id })) === 'placed') return name;
  }
}

/**
 * Removes the settings in the inbox of a start that was killed before it moved the file there.
 * While both names of the settings exist, they are one file; so are both names of the file.
 */
async function removeLoneSettings(root: string, folder: string): Promise<void> {
  const { ino, dev, nlink, mtimeMs } = await lstat(join(folder, SETTINGS));
  // A person who wrote over them since has made them their own.
  if (mtimeMs - (await lstat(folder)).mtimeMs > START_TAKES_MS) return;
  const others = (await readdir(folder)).filter((name) => name !== SETTINGS);
  const isMoved = async (name: string) => (await lstat(join(folder, name))).nlink > 1;
  if (nlink < 2 || others.length !== 1 || (await isMoved(others[0] ?? ''))) return;
  const inbox = join(root, 'inbox');
  for (const name of (await readdir(inbox)).filter(isSideFile)) {
    const facts = await lstat(join(inbox, name));
    if (facts.ino === ino && facts.dev === dev) await rm(join(inbox, name));
  }
}

/** Letters, digits and `-` only, so that the parts of a folder's name can be told apart. */
function hostName(): string {
  return hostname()
    .replaceAll(/[^A-Za-z0-9-]/g, '-')
    .slice(0, 40);
}

/** The hidden folder, ours alone. */
async function openPlace(root: string): Promise<string> {
  const place = join(root, UPLOADS_FOLDER);
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
  return new FailFileError({
    code: isFull ? 'disk-low' : 'output-unwritable',
    what,
    subject,
    todo,
    cause: error,
  });
}
