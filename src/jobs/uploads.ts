/** Receives files as drafts: folders in a hidden place, for a day or until `startFile`. */
import { chmod, lstat, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { assertDiskRoom, CHECK_DISK_EVERY_BYTES } from '../core/disk-room.js';
import { ConfigError, RunError, usageProblem } from '../core/errors.js';
import { makeFolder } from '../core/folders.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import { isPassingFault, lookAt, uploadName } from './inbox-file.js';
import { unfit } from './inbox-folders.js';
import { DRAFTS_FOLDER, type JobRecord, jobFoldersIn, newJobId, writeRecord } from './job-folder.js';

const KEPT_MS = 86_400_000;
const LOOK_MS = 3_600_000;

export type Uploads = ReturnType<typeof createUploads>;

/** Creates the drafts of the watched folders `roots`. `assertRoom` throws if a disk is too full. */
export function createUploads(
  roots: readonly string[],
  clock: Pick<Clock, 'now'>,
  assertRoom: typeof assertDiskRoom = assertDiskRoom,
) {
  function rootAt(index: number): string {
    const root = roots[index];
    if (root !== undefined) return root;
    const todo = 'reload the page and choose one';
    throw new ConfigError(usageProblem('there is no such inbox', String(index), todo));
  }

  const foldersIn = (root: string) => jobFoldersIn(join(root, DRAFTS_FOLDER));

  async function sweep(): Promise<void> {
    for (const folder of (await Promise.all(roots.map(foldersIn))).flat()) {
      const { mtimeMs = clock.now() } = (await lookAt(folder)) ?? {};
      if (clock.now() - mtimeMs > KEPT_MS) await rm(folder, { recursive: true }).catch(() => undefined);
    }
  }

  return {
    roots,

    /** Removes old uploads now and then until `stop` is called. Never rejects. */
    async begin(): Promise<{ stop: () => void }> {
      await sweep();
      const timer = setInterval(() => void sweep(), LOOK_MS).unref();
      return { stop: () => clearInterval(timer) };
    },
    sweep,

    /** Returns the safe name. Throws if a file of this name and length cannot be received. */
    async check(inbox: number, givenName: string, length: number | null): Promise<string> {
      const root = rootAt(inbox);
      const name = uploadName(givenName);
      try {
        await assertRoom([root], length ?? 0);
      } catch (error) {
        throw asDiskError(error, root);
      }
      return name;
    },

    /**
     * Keeps a body as a draft. Throws `ConfigError` for a wrong name or inbox, `RunError` for a
     * short body or a faulty disk, and what `body` throws.
     */
    async receive(
      asked: Pick<JobRecord, 'under' | 'sentBy'> & { inbox: number; name: string; length: number | null },
      body: AsyncIterable<Uint8Array>,
    ) {
      const { inbox, length, under, sentBy } = asked;
      const file = await this.check(inbox, asked.name, length);
      const root = rootAt(inbox);
      const id = newJobId();
      const folder = join(await openPlace(root), id);
      const path = join(folder, file);
      try {
        await mkdir(folder, 0o700);
        const size = await writeBody(path, body, () => assertRoom([root], 0));
        if (length !== null && size !== length) {
          const [what, todo] = ['the file did not arrive whole', 'send the file again'];
          throw new RunError({ code: 'input-changed', what, subject: file, todo });
        }
        await writeRecord(folder, { id, run: null, file, under, reason: null, parked: null, sentBy });
        return { id, root, place: 'drafts' as const, folder, file, size };
      } catch (error) {
        await rm(folder, { recursive: true, force: true }).catch(() => undefined);
        throw asDiskError(error, root);
      }
    },
  };
}

async function openPlace(root: string): Promise<string> {
  const place = join(root, DRAFTS_FOLDER);
  const todo = `allow this user to write to the folder, or remove ${place}`;
  try {
    makeFolder(place, 0o700);
  } catch (error) {
    throw unfit(place, systemWords(error), todo, error);
  }
  const [facts, { dev }] = await Promise.all([lstat(place), lstat(root)]);
  if (!facts.isDirectory()) throw unfit(place, 'it is not a folder', todo);
  if (facts.dev !== dev) throw unfit(place, 'it is on another file system', todo);
  if (facts.uid !== (process.getuid?.() ?? facts.uid)) throw unfit(place, 'it belongs to another user', todo);
  await chmod(place, 0o700);
  return place;
}

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

/** Returns faults of the disk with advice for senders, who cannot choose another one. */
function asDiskError(error: unknown, root: string): unknown {
  const isLow = error instanceof RunError && error.code === 'disk-low';
  const isFull = isLow || isErrorCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG');
  const isGone = isErrorCode(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG');
  if (!isFull && !isGone && !isPassingFault(error)) return error;
  const what = 'the file cannot be stored now';
  const subject = isLow ? error.subject : `${root} (${systemWords(error)})`;
  const cure = isFull ? 'free disk space' : 'look at that folder';
  const todo = `ask the administrator of the inbox to ${cure}, then send it again`;
  const code = isFull ? 'disk-low' : 'output-unwritable';
  return new RunError({ code, what, subject, todo, cause: error });
}
