/**
 * The report page as a user gets it: after partial and complete runs, named in the summary, without
 * secrets.
 */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { embeddedEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';

test('a run that stops at its limit says so in its page; the next run replaces the page', async () => {
  const scene = await createScene(embeddedEngine(), { quota: 20 });
  await scene.write('list.csv', domainList(30));
  const page = () => readFile(scene.path('list.report.html'), 'utf8');

  const first = await scene.run(['run', 'list.csv']);
  expect(first.code, first.stderr).toBe(7);
  expect(first.stderr).toContain('report: list.report.html and list.report.json');
  const partial = await page();
  expect(partial).toContain('>Partial</span>');
  expect(partial).toMatch(
    /So far, \d+ of 30 rows have a brand \([^)]*10 not looked up yet\); 20 requests were billed\./,
  );
  expect(partial).toContain('href="./list.enriched.partial.csv"');
  expect(partial).not.toContain(scene.token);

  scene.service.options.quota = 100;
  const second = await scene.run(['run', 'list.csv']);
  expect(second.code, second.stderr).toBe(0);
  const complete = await page();
  expect(complete).toContain('>Complete</span>');
  expect(complete).toContain('href="./list.enriched.csv"');
  expect(complete).not.toContain(scene.token);
  const { quality, rows } = (await readReport(scene.path('list.report.json'))) as unknown as {
    quality: Record<'poor' | 'acceptable' | 'high' | 'unscored', number> & { histogram: number[] };
    rows: { matched: number };
  };
  const binned = quality.histogram.reduce((sum, count) => sum + count, 0);
  expect(quality.histogram).toHaveLength(15);
  expect(binned).toBe(quality.poor + quality.acceptable + quality.high);
  expect(binned + quality.unscored).toBe(rows.matched);
});
