/** Spool files for one test. */
import { onTestFinished } from 'vitest';
import { Answers } from '../../src/run/lookups/answers.js';
import { IdentifierSpool } from '../../src/run/scan/identifier-spool.js';
import { SpoolFile } from '../../src/run/scan/spool-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

export async function openSpool(name = 'spool'): Promise<SpoolFile> {
  const file = new SpoolFile(await temporaryFolder(), name, 'list.csv');
  onTestFinished(() => file.close());
  return file;
}

/** A scan that wants `b0.com`, `b1.com` and so on, so many. */
export async function scanWanting(count: number) {
  const answers = new Answers(await openSpool('answers'));
  const identifiers = new IdentifierSpool(await openSpool('identifiers'));
  for (let index = 0; index < count; index += 1) {
    identifiers.add(`domain:b${index}.com`);
    answers.want(index);
  }
  return { identifiers, answers, priorities: null };
}
