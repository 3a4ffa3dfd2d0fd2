/** The rows of a result on the page of its file. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import {
  createResultRows,
  doubtfulFirst,
  type ResultRow,
  rowReader,
} from '../../src/dashboard/result-rows.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { foundFile } from './views.js';

const CSV = 'company,brand_status,brand_kind,brand_identifier,brand_name,brand_domain,brand_quality_score';

test.each([
  ['a brand of the same site', 'Acme,matched,domain,acme.com,Acme,acme.com,0.8', true],
  ['a brand of a subdomain', 'Acme,matched,domain,shop.acme.com,Acme,acme.com,0.8', true],
  ['a brand of another site', 'Acme,matched,domain,acme.com,Zeta,zeta.com,0.8', false],
  ['a brand of its name and another site', 'Acme,matched,domain,acme.de,ACME Inc.,acme.com,0.8', true],
  ['a brand of an ISIN', 'Acme,matched,isin,US0378331005,Apple,apple.com,0.8', false],
  ['no brand', 'Acme,not_found,domain,acme.com,,,', null],
])('%s fits, or not', (_, line, fits) => {
  const row = rowReader(CSV.split(','))?.(line.split(','));
  expect(row).toMatchObject({ own: 'Acme', fits, identifier: line.split(',')[3] });
});

test('without a name in the row nothing shows whether the brand of another site fits', () => {
  const read = rowReader(CSV.replace('company', 'no').split(','));
  expect(read?.('7,matched,domain,acme.de,Acme,acme.com,0.8'.split(','))?.fits).toBeNull();
});

test('names that were compared decide whether a brand fits', () => {
  const read = rowReader([...CSV.split(','), 'brand_name_match']);
  const line = (match: string) => ['A', 'matched', 'domain', 'acme.com', 'Acme', 'acme.com', '0.8', match];
  expect([read?.(line('0.9'))?.fits, read?.(line('0.4'))?.fits]).toEqual([true, false]);
});

test.each([
  ['JSON', 'brand.', ['id', 'firm', 'brand', 'brand.status', 'brand.identifier', 'brand.profile.name']],
  ['no prefix', '', ['id', 'firm', 'status', 'identifier', 'name']],
  ['another prefix', 'b_', ['id', 'firm', 'b_status', 'b_identifier', 'b_name']],
])('the columns of a result with %s are known', (_, prefix, columns) => {
  const cells = columns.map((name) => (name === `${prefix}status` ? 'matched' : name));
  const brand = columns.at(-1);
  expect(rowReader(columns)?.(cells)).toMatchObject({ own: 'firm', status: 'matched', brand });
});

test('a file that is no result, and a row without a status, are not shown', () => {
  expect(rowReader(['company', 'status'])).toBeNull();
  expect(rowReader(CSV.split(','))?.(['Acme', 'whatever'])).toBeNull();
});

test('doubtful brands come first, and of a trial before them what was not found', () => {
  const row = (own: string, parts: Partial<ResultRow>): ResultRow => ({
    ...{ own, status: 'matched', identifier: '', brand: '', domain: '', score: 0.9, color: '' },
    ...{ fits: true, error: '', ...parts },
  });
  const missing = row('missing', { status: 'not_found', score: null, fits: null });
  const rows = [row('good', {}), missing, row('poor', { score: 0.1 }), row('other', { fits: false })];
  const names = (isTrial: boolean) => doubtfulFirst(rows, isTrial).map(({ own }) => own);
  expect(names(false)).toEqual(['other', 'poor', 'good', 'missing']);
  expect(names(true)).toEqual(['missing', 'other', 'poor', 'good']);
});

it('is read from the file, by status, in time', async () => {
  const folder = await temporaryFolder();
  const lines = Array.from({ length: 3_000 }, (_, at) =>
    at % 2 === 0
      ? `C${at},matched,domain,c${at}.com,C${at},c${at}.com,0.9`
      : `C${at},not_found,domain,c${at}.com,,,`,
  );
  const name = 'list.enriched.csv';
  await writeFile(join(folder, name), [CSV, ...lines, ''].join('\n'));
  const { read } = createResultRows(async () => folder, new AbortController().signal);
  const file = foundFile({ folder, place: 'done', files: [{ name, type: 'output', size: 1 }] });
  const found = await read(file, 'not_found');
  expect(found?.length).toBe(1_000);
  expect(found?.[0]).toMatchObject({ own: 'C1', status: 'not_found' });
  expect((await read(file, null))?.length).toBe(1_000);
  await writeFile(join(folder, name), 'no result\n');
  expect(await read({ ...file, files: [{ name, type: 'output', size: 2 }] }, null)).toBeNull();
});
