/**
 * Names of temporary files beside an output, and the removal of those whose process was killed: they hold rows, and unlike
 * private files they need a name, because they are renamed. A name says target, machine and process, so that nobody
 * removes what somebody else is writing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../core/lifecycle.js';

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
export async function removeStaleTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, from, pid] = /^\.brand-enrich-[0-9a-f]{12}-(.+)-(\d+)-[0-9a-f]{8}\.tmp$/.exec(name) ?? [];
    if (from !== machine() || own.has(name)) continue;
    const isDead = Number(pid) === process.pid || !isRunning(Number(pid));
    if (isDead) await rm(join(folder, name)).catch(() => undefined);
  }
}
