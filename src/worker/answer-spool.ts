/**
 * Keeps paid answers that the engine cannot take in private, synced files for the next start. Each
 * engine has its own folder, so that answers never reach another engine.
 */
import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '../core/folders.js';
import type { NewOutcome } from '../core/outcome.js';
import { RULES } from '../ledger/rules.js';

const SUFFIX = '.answers';
const PARTIAL = '.answers.part';
/** The writer of an older partial file was killed. */
const WRITTEN_WITHIN_MS = 60_000;
const RECORD_AT_ONCE = 200;

type SpoolLine = Omit<NewOutcome, 'packed'> & { readonly packed: string | null };

export function spoolFolderOf(spool: string, engineId: string): string {
  return join(spool, engineId);
}

/** Writes answers to a new private file in `folder` and returns its path. */
export async function spoolAnswers(folder: string, outcomes: readonly NewOutcome[]): Promise<string> {
  makePrivateFolder(folder);
  const stem = join(folder, `${Date.now()}-${randomBytes(6).toString('hex')}`);
  const lines = outcomes.map((outcome) =>
    JSON.stringify({ ...outcome, packed: outcome.packed?.toString('base64') ?? null } satisfies SpoolLine),
  );
  const file = await open(stem + PARTIAL, 'wx', 0o600);
  try {
    await file.writeFile(`${lines.join('\n')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  // Only whole files get this name.
  await rename(stem + PARTIAL, stem + SUFFIX);
  return stem + SUFFIX;
}

/**
 * Records all spooled answers, with their age, removes each file, and returns their number. If
 * several processes do so, each answer is recorded at least once.
 */
export async function recordSpooled(
  folder: string,
  record: (outcomes: readonly NewOutcome[]) => Promise<unknown>,
  now = Date.now(),
): Promise<number> {
  let count = 0;
  for (const { path, at } of await spooledFiles(folder, now)) {
    // Files are written as soon as the engine has refused their answers.
    const writtenAgoMs = Math.max(0, Math.round(now - at));
    const outcomes = (await readAnswers(path)).map((outcome) => ({
      ...outcome,
      ageMs: writtenAgoMs + (outcome.ageMs ?? 0),
    }));
    for (let from = 0; from < outcomes.length; from += RECORD_AT_ONCE) {
      await record(outcomes.slice(from, from + RECORD_AT_ONCE));
    }
    count += outcomes.length;
    await rm(path, { force: true });
  }
  return count;
}

export interface SpooledAnswers {
  readonly engine: string;
  readonly folder: string;
  readonly answers: number;
  /** When the oldest file was written. */
  readonly since: number;
}

/** Lists the answers under `spool`, of all engines. */
export async function listSpooled(spool: string, now: number): Promise<SpooledAnswers[]> {
  const spooled: SpooledAnswers[] = [];
  for (const { engine, folder } of await foldersOf(spool)) {
    const files = await spooledFiles(folder, now);
    const answers = await Promise.all(files.map(({ path }) => readAnswers(path)));
    const since = Math.min(...files.map(({ at }) => at));
    if (files.length > 0) spooled.push({ engine, folder, answers: answers.flat().length, since });
  }
  return spooled;
}

/** Removes files older than 30 days, the longest that answers may be stored, of all engines. */
export async function purgeSpooled(spool: string, now: number): Promise<void> {
  for (const { folder } of await foldersOf(spool)) {
    for (const { path, at } of await spooledFiles(folder, now)) {
      if (now - at > RULES.answersKeptMs) await rm(path, { force: true });
    }
  }
}

async function foldersOf(spool: string): Promise<Pick<SpooledAnswers, 'engine' | 'folder'>[]> {
  const engines = (await entriesOf(spool)).filter((entry) => entry.isDirectory());
  return engines.map(({ name }) => ({ engine: name, folder: spoolFolderOf(spool, name) }));
}

/** Returns this user's whole files, and those of killed writers, oldest first. */
async function spooledFiles(folder: string, now: number) {
  const files: { path: string; at: number }[] = [];
  for (const entry of (await entriesOf(folder)).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const isPartial = entry.name.endsWith(PARTIAL);
    if (!entry.isFile() || !(isPartial || entry.name.endsWith(SUFFIX))) continue;
    const path = join(folder, entry.name);
    const facts = await lstat(path).catch(() => null);
    if (facts === null || facts.uid !== (process.getuid?.() ?? facts.uid)) continue;
    const at = facts.mtimeMs;
    if (isPartial && Math.abs(now - at) < WRITTEN_WITHIN_MS) continue;
    files.push({ path, at });
  }
  return files;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

/** Returns no answers if another process has just recorded the file. */
async function readAnswers(path: string): Promise<NewOutcome[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap(readLine);
}

/** Skips lines that a crash cut off, and the end of a file. */
function readLine(line: string): NewOutcome[] {
  try {
    const parsed = JSON.parse(line) as SpoolLine;
    return [{ ...parsed, packed: parsed.packed === null ? null : Buffer.from(parsed.packed, 'base64') }];
  } catch {
    return [];
  }
}
