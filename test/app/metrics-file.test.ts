import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type EndedRun, metricsText, writeMetricsFile } from '../../src/app/metrics.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const REPORT = {
  run: { isComplete: true },
  seconds: 1.5,
  rows: { matched: 3, not_found: 1, failed: 0, deferred: 0, invalid: 2, skipped: 0 },
  requests: { sent: 5, billed: 4, unreported: 1, overage: 2, overageCost: '0.2', savedByStored: 9 },
  account: { limit: 100, left: null },
} as unknown as NonNullable<EndedRun['report']>;

const ENDED: EndedRun = { input: 'a "b".csv', exitCode: 0, endedAt: 1_700_000_000_500, report: REPORT };

it('the file has our metrics, each with the input, without unknown values', async () => {
  const lines = (await metricsText(ENDED, null)).trimEnd().split('\n');
  const values = lines.filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of values)
    expect(line).toMatch(/^brand_enrich_run_\w+\{input="a \\"b\\".csv"[^}]*\} [\d.e+]+$/);
  expect(values.map((line) => line.replace('input="a \\"b\\".csv"', ''))).toEqual(
    expect.arrayContaining([
      'brand_enrich_run_end_timestamp_seconds{} 1700000000.5',
      'brand_enrich_run_last_complete_timestamp_seconds{} 1700000000.5',
      'brand_enrich_run_exit_code{} 0',
      'brand_enrich_run_rows{,status="invalid"} 2',
      'brand_enrich_run_requests{,type="unreported"} 1',
      'brand_enrich_run_overage_cost{} 0.2',
      'brand_enrich_run_limit{} 100',
    ]),
  );
  expect(values.join()).not.toContain('limit_left');
});

it('the file keeps the time of the last complete run, and is replaced in one step', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'nightly.prom');
  await writeMetricsFile(path, ENDED);
  await writeMetricsFile(path, { ...ENDED, exitCode: 5, endedAt: 1_700_000_900_000, report: null });
  const text = await readFile(path, 'utf8');
  expect(text).toContain(
    'brand_enrich_run_last_complete_timestamp_seconds{input="a \\"b\\".csv"} 1700000000.5',
  );
  expect(text).toMatch(/exit_code\{[^}]*\} 5\n/);
  expect(text).not.toContain('brand_enrich_run_rows');
  expect(await readdir(folder)).toEqual(['nightly.prom']);
});

it('a file that cannot be written throws, and leaves only the earlier one', async () => {
  const folder = join(await temporaryFolder(), 'textfiles');
  await mkdir(folder);
  await writeFile(join(folder, 'x.prom'), 'earlier\n');
  await mkdir(join(folder, 'y.prom'));
  await expect(writeMetricsFile(join(folder, 'y.prom'), ENDED)).rejects.toThrow();
  await expect(writeMetricsFile(join(folder, 'gone', 'x.prom'), ENDED)).rejects.toThrow();
  expect((await readdir(folder)).sort()).toEqual(['x.prom', 'y.prom']);
});
