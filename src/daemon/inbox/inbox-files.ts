/**
 * What lies in the inbox, look by look: files that are whole, and links that are refused. Folders are left alone, with
 * a word about it. Taking a file is `job-folder.ts`'s.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Log } from '../../core/log.js';
import { isLeftAlone } from './file-names.js';
import { lookAt } from './job-folder.js';
import { openForWriting } from './open-writers.js';
import { createSettledFiles, type SeenFile } from './settled-files.js';

export interface InboxFiles {
  /** One look, at a moment in milliseconds. Throws errors of the file system. */
  look(now: number): Promise<InboxLook>;
}

interface InboxLook {
  /** Whole files and links, those that have been still for longest first. */
  readonly ready: readonly SeenFile[];
  /** When another look may find more; null: when something changes. */
  readonly nextAt: number | null;
}

const AT_ONCE = 32;

export function createInboxFiles(folder: string, options: { settleMs: number; log: Log }): InboxFiles {
  const { settleMs, log } = options;
  const settled = createSettledFiles(settleMs);
  const limit = pLimit(AT_ONCE);
  const told = new Set<string>();

  function tellOnce(name: string, sentence: string): void {
    if (told.has(name)) return;
    told.add(name);
    log.warn({ file: name }, sentence);
  }

  async function lookAll(): Promise<SeenFile[]> {
    const names = (await readdir(folder)).filter((name) => !isLeftAlone(name));
    const seen = await Promise.all(
      names.map((name) =>
        limit(async () => {
          const file = await lookAt(join(folder, name));
          if (file === 'folder')
            tellOnce(name, 'a folder in the inbox is left alone: put files in, one by one');
          else if (file?.kind === 'other') tellOnce(name, 'this is no file: it is left alone');
          else if (file === null && name.includes('\ufffd'))
            tellOnce(name, 'the name of this file is not UTF-8: rename it, so that it can be opened');
          return file === 'folder' || file?.kind === 'other' ? null : file;
        }),
      ),
    );
    for (const name of told) if (!names.includes(name)) told.delete(name);
    return seen.filter((file) => file !== null);
  }

  return {
    async look(now) {
      const { ready, nextAt } = settled.look(await lookAll(), now);
      const files = ready.filter(({ kind }) => kind === 'file');
      const writing = await openForWriting(files.map(({ name }) => join(folder, name)));
      if (writing.size === 0) return { ready, nextAt };
      const again = now + settleMs;
      return {
        ready: ready.filter(({ name }) => !writing.has(join(folder, name))),
        nextAt: Math.min(nextAt ?? again, again),
      };
    },
  };
}
