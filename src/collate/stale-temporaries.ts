/**
 * Names of temporary files beside an output, and the removal of those whose process was killed. A name says target,
 * machine and process, so that nobody removes what somebody else is writing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** The target stands in it as a hash, since a name of the greatest length leaves no room for more. */
function nameStart(target: string): string {
  const hash = createHash('sha256').update(target).digest('hex').slice(0, 12);
  const machine = hostname()
    .replace(/[^A-Za-z0-9]/g, '_')
    .slice(0, 60);
  return `.brand-enrich-${hash}-${machine}-`;
}

/** A name that is free and hidden: `.brand-enrich-0f3a5c7e9b1d-host-4711-9f3a77c2.tmp`. */
export function temporaryName(target: string): string {
  return `${nameStart(target)}${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
}

/** Removes temporary files of this target that a dead process of this machine left. What cannot be removed stays. */
export async function removeStaleTemporaries(folder: string, target: string): Promise<void> {
  const start = nameStart(target);
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(start)) continue;
    const pid = /^(\d+)-[0-9a-f]{8}\.tmp$/.exec(name.slice(start.length))?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name)).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
