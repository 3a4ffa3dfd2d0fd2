/** Real files, scanned: what a run knows of its input before it sends anything. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createReleasers } from '../../src/core/lifecycle.js';
import { readTable } from '../../src/input/read-table.js';
import { type ScanOptions, scanInput } from '../../src/run/scan/scan.js';
import type { Settings } from '../../src/settings/settings.js';
import { settingsWith } from '../support/default-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

export type Scanned = Awaited<ReturnType<typeof scanText>>;

/**
 * `options` as on the command line; the only default is `--ragged invalid`, because one odd row is
 * more than 5 % of the short files of these tests.
 */
export async function scanText(
  text: string | Buffer,
  options: Partial<ScanOptions & Settings> & { name?: string; stop?: AbortSignal } = {},
) {
  const { name = 'customers.csv', ...some } = options;
  const settings = settingsWith({ ragged: 'invalid', ...some });
  const folder = await temporaryFolder();
  const path = join(folder, name);
  await writeFile(path, text);
  const releasers = createReleasers();
  onTestFinished(() => releasers.releaseAll());
  const table = await readTable(path, settings, { spoolFolder: folder, stop: some.stop });
  const { input } = table;
  releasers.push(() => input.close());
  const scan = await scanInput(table, settings, { folder, onRows: () => undefined, ...some }, releasers);
  /** Texts of the identifiers, by their numbers. */
  const texts = [...scan.identifiers.batches()].flatMap((batch) => batch.texts);
  return { scan, input, folder, texts };
}
