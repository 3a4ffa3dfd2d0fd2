/** Logs to a file, so that a test can see which lines are written. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.js';

export async function temporaryLog(): Promise<string> {
  return join(await temporaryFolder(), 'log.jsonl');
}

export async function readLog(path: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
