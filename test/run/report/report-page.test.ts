/** The page beside the JSON report: its content, its path, and when there is none. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLAIN_NETWORK } from '../../../src/core/connector.js';
import type { EnrichResult } from '../../../src/run/enrich-file.js';
import { pageDataOf } from '../../../src/run/report/portable-report.js';
import { makeReport } from '../../../src/run/report/report.js';
import type { RankedBrand } from '../../../src/run/report/run-summary.js';
import { writeReportPage } from '../../../src/run/run-file.js';
import { requestFor, resultOf } from '../../commands/results.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const OPTIONS = { isSample: false, network: null, stop: new AbortController().signal };

function ranked(index: number, parts: Partial<RankedBrand> = {}): RankedBrand {
  return {
    index,
    key: `id_${index}`,
    name: `Brand ${index}`,
    domain: null,
    score: 0.5,
    color: null,
    industry: null,
    country: null,
    logoUrl: `https://a.example/${index}.svg?c=key`,
    ...parts,
  };
}

function resultIn(folder: string, parts: Parameters<typeof resultOf>[0] = {}): EnrichResult {
  const result = resultOf(parts);
  const names = {
    ...result.names,
    report: join(folder, 'customers.report.json'),
    reportHtml: join(folder, 'customers.report.html'),
  };
  return { ...result, names };
}

function dataOf(result: EnrichResult, logos = new Map<string, string>()) {
  return pageDataOf(result, makeReport(requestFor(), result, 0), false, logos);
}

describe('the content of the page', () => {
  it('has the best and lowest brands, each once, with embedded logos and never their addresses', () => {
    const best = [ranked(1), ranked(2)];
    const result = resultOf({ facts: { brands: { best, lowest: [ranked(3), ranked(2)] } } });
    const data = dataOf(result, new Map([['https://a.example/3.svg?c=key', 'data:image/png;base64,AA']]));
    expect(data.best).toMatchObject([1, 2].map((at) => ({ name: `Brand ${at}`, logo: null })));
    expect(data.lowest).toMatchObject([{ name: 'Brand 3', logo: 'data:image/png;base64,AA' }]);
    expect(JSON.stringify(data)).not.toContain('a.example');
  });

  it('names and links files, and names standard output', () => {
    const files = dataOf(resultIn('out', { output: 'out/customers.csv' })).files;
    expect(files.map(({ label, href }) => [label, href])).toEqual([
      ['Enriched rows', './customers.csv'],
      ['Report as JSON', './customers.report.json'],
    ]);
    const [piped] = dataOf(resultIn('out', { output: '-' })).files;
    expect(piped).toMatchObject({ name: 'standard output', href: null });
  });

  it('names the errors file, and marks a partial result', () => {
    const data = dataOf(resultOf({ isComplete: false, errors: 'customers.errors.csv' }));
    const labels = ['Enriched rows (partial)', 'Rows without an answer', 'Report as JSON'];
    expect(data.files.map(({ label }) => label)).toEqual(labels);
  });
});

describe('the page', () => {
  it('is written in one step beside the report', async () => {
    const folder = await temporaryFolder();
    const result = resultIn(folder);
    await writeFile(result.names.reportHtml, 'of an earlier run');
    const report = makeReport(requestFor(), result, 0);
    expect(await writeReportPage(result, report, OPTIONS)).toBe(join(folder, 'customers.report.html'));
    expect(await readdir(folder)).toEqual(['customers.report.html']);
    const page = await readFile(join(folder, 'customers.report.html'), 'utf8');
    expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  });

  it('is omitted if the report goes to a device', async () => {
    const { names, ...result } = resultOf();
    const toDevice = { ...result, names: { ...names, report: '/dev/null', reportHtml: '/dev/null.html' } };
    const report = makeReport(requestFor(), toDevice, 0);
    expect(await writeReportPage(toDevice, report, OPTIONS)).toBeNull();
  });

  it('requests no logos for the sample', async () => {
    const folder = await temporaryFolder();
    const facts = { brands: { best: [ranked(1)], lowest: [] } };
    const result = resultIn(folder, { facts });
    const report = makeReport(requestFor(), result, 0);
    await writeReportPage(result, report, { ...OPTIONS, isSample: true, network: PLAIN_NETWORK });
    const page = await readFile(result.names.reportHtml, 'utf8');
    expect(page).toContain('Sample data');
    expect(page).toContain('>B1</text>');
    expect(page).not.toContain('a.example');
  });
});
