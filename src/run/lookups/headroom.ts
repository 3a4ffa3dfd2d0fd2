/**
 * Room for answers: nothing is bought that could not be kept.
 */
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { FailFileError } from '../../core/errors.js';
import type { Engine } from '../../engine/engine.js';
import type { OutputNames } from '../output/output-names.js';

const LEAST_DISK_BYTES = 200 * 1024 * 1024;
const LEAST_ENGINE_SHARE = 0.1;

/** Throws FailFileError `disk-low` when a folder of this run has less than 200 MB left. */
export async function assertDiskRoom(spoolFolder: string, names: OutputNames): Promise<void> {
  const folders = new Set([
    spoolFolder,
    ...(names.complete === '-' ? [] : [dirname(resolve(names.complete))]),
  ]);
  for (const folder of folders) {
    const { bavail, bsize } = await statfs(folder).catch(() => ({
      bavail: Number.MAX_SAFE_INTEGER,
      bsize: 1,
    }));
    const left = bavail * bsize;
    if (left >= LEAST_DISK_BYTES) continue;
    throw new FailFileError({
      code: 'disk-low',
      subject: `${folder} has ${Math.floor(left / 1_048_576)} MB left`,
      todo: 'make room for at least 200 MB (or move it: --state, -o), then run again',
    });
  }
}

/** Throws FailFileError `engine-unfit` when the engine has less than a tenth of its memory left. */
export async function assertEngineRoom(engine: Engine): Promise<void> {
  const free = await engine.freeMemory();
  if (free === null || free >= LEAST_ENGINE_SHARE) return;
  throw new FailFileError({
    code: 'engine-unfit',
    what: 'the engine has too little memory left to keep paid answers',
    subject: `${engine.address}, ${Math.floor(free * 100)} % free`,
    todo: 'raise its maxmemory or purge old answers (`brand-enrich outcomes purge --older-than 7d`), then run again',
  });
}
