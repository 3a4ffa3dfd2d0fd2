/**
 * Where paid answers wait when the engine cannot take them: one private file per worker, synced to disk, which
 * the next start brings in. Used only in trouble; the outcome store is the place of answers.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewOutcome } from '../outcomes/store.js';

const SUFFIX = '.answers';

interface SpoolLine extends Omit<NewOutcome, 'packed'> {
  readonly packed: string | null;
}

/** Writes the answers to a file of their own in `folder`, readable by the owner alone. Returns its path. */
export async function spoolAnswers(folder: string, outcomes: readonly NewOutcome[]): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${Date.now()}-${randomBytes(6).toString('hex')}${SUFFIX}`);
  const lines = outcomes.map((outcome) =>
    JSON.stringify({ ...outcome, packed: outcome.packed?.toString('base64') ?? null } satisfies SpoolLine),
  );
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${lines.join('\n')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return path;
}

/** Hands every spooled answer to `record`, file by file, and removes a file once it is recorded. How many answers there were. */
export async function bringInAnswers(
  folder: string,
  record: (outcomes: readonly NewOutcome[]) => Promise<void>,
): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  let count = 0;
  for (const name of names.filter((each) => each.endsWith(SUFFIX)).sort()) {
    const path = join(folder, name);
    const outcomes = (await readFile(path, 'utf8')).split('\n').flatMap(readLine);
    for (let from = 0; from < outcomes.length; from += 200) await record(outcomes.slice(from, from + 200));
    count += outcomes.length;
    await rm(path);
  }
  return count;
}

/** A line that was cut off by a crash in mid-write is no answer. */
function readLine(line: string): NewOutcome[] {
  if (line === '') return [];
  try {
    const parsed = JSON.parse(line) as SpoolLine;
    return [{ ...parsed, packed: parsed.packed === null ? null : Buffer.from(parsed.packed, 'base64') }];
  } catch {
    return [];
  }
}
