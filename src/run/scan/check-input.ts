/**
 * A look at the beginning of an input before an engine is opened for it, which may take seconds: a wrong path, a file
 * that is no table and columns that are not there are told at once. The whole file is read by `survey.ts` later.
 */
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { openInput } from '../../intake/open-input.js';
import type { EnrichRequest } from '../enrich-request.js';
import { chooseFrom } from './survey.js';

/** Throws what opening the input and choosing its columns throw. Standard input and pipes can be read only once: they are left alone. */
export async function checkInput(
  { input: path, intake, survey }: Pick<EnrichRequest, 'input' | 'intake' | 'survey'>,
  stop: AbortSignal,
): Promise<void> {
  if (path === '-') return;
  const facts = await stat(path).catch(() => null);
  if (facts !== null && !facts.isFile() && !facts.isDirectory()) return;
  const input = await openInput(path, null, { ...intake, spoolFolder: tmpdir(), stop });
  try {
    chooseFrom(input, survey);
  } finally {
    await input.close();
  }
}
