/**
 * The browser build of Chart.js, for pages that carry it inside themselves.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Minified, as text; it defines `Chart`. It lies beside the entry that the package gives to Node. */
export async function readChartLibrary(): Promise<string> {
  const entry = require.resolve('chart.js');
  return await readFile(join(dirname(entry), 'chart.umd.min.js'), 'utf8');
}
