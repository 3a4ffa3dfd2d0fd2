/** Real files, scanned: what a run knows of its input before it sends anything. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createReleasers } from '../../src/core/lifecycle.js';
import type { Ragged } from '../../src/core/table.js';
import { openInput } from '../../src/formats/open-input.js';
import type { Input } from '../../src/intake/input.js';
import { type ColumnOptions, chooseFrom } from '../../src/run/scan/open-table.js';
import { type Scan, type ScanOptions, scanInput } from '../../src/run/scan/scan.js';
import { temporaryFolder } from '../support/temporary-folder.js';

export interface Scanned {
  readonly scan: Scan;
  readonly input: Input;
  readonly folder: string;
  /** Texts of the identifiers, by their numbers. */
  readonly texts: readonly string[];
}

/**
 * `options` as on the command line; the only default is `--ragged invalid`, because one odd row is
 * more than 5 % of the short files of these tests.
 */
export async function scanText(
  text: string | Buffer,
  options: Partial<ScanOptions & ColumnOptions> & {
    name?: string;
    limit?: number;
    ragged?: Ragged | null;
  } = {},
): Promise<Scanned> {
  const { name = 'customers.csv', limit = null, ragged = 'invalid', ...some } = options;
  const folder = await temporaryFolder();
  const path = join(folder, name);
  await writeFile(path, text);
  const releasers = createReleasers();
  onTestFinished(() => releasers.releaseAll());
  const intake = { hasHeader: true, skipLines: 0, limit, spoolFolder: folder, ...(ragged && { ragged }) };
  const input = await openInput(path, null, intake);
  releasers.push(() => input.close());
  const columns = { requested: [], kind: null, prefix: 'brand_', ...some };
  const scan = await scanInput(
    { input, ...chooseFrom(input, columns) },
    {
      waterfall: false,
      prefix: 'brand_',
      folder,
      stop: new AbortController().signal,
      onRows: () => undefined,
      ...some,
    },
    releasers,
  );
  const texts = [...scan.identifiers.batches()].flatMap((batch) => batch.texts);
  return { scan, input, folder, texts };
}
