/** Spool files for one test. */
import { onTestFinished } from 'vitest';
import { SpoolFile } from '../../src/run/scan/spool-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

export async function openSpool(name = 'spool'): Promise<SpoolFile> {
  const file = new SpoolFile(await temporaryFolder(), name, 'list.csv');
  onTestFinished(() => file.close());
  return file;
}
