import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { BRAND } from '../../src/brand-api/brand.js';
import { SCHEMA_NAMES, schemaText } from '../../src/commands/schema.js';
import { DOCUMENTS } from '../../src/run/documents.js';
import { parseConfigFile } from '../../src/settings/load-settings.js';
import { faultsOf } from '../support/schemas.js';

const names = Object.keys(DOCUMENTS);

it('lists documents and files, and suggests the nearest name for an unknown one', () => {
  expect(() => schemaText('reprot')).toThrow('no such document: "reprot"; did you mean report?');
  expect(schemaText('').match(/^\S+ {2,}\S.*$/gm)).toHaveLength(SCHEMA_NAMES.length);
});

it('finds wrong fields in a document', () => {
  expect(faultsOf('cancel', { version: 1, cancelled: 'r-1' })).toEqual([]);
  expect(faultsOf('cancel', { version: 1, cancelled: 'r-1', epoch: 'x' })).toEqual([
    expect.stringMatching(/epoch/),
  ]);
  expect(faultsOf('cancel', { version: 2, cancelled: 7 })).toHaveLength(2);
});

it.each(names)('the schema of %s requires a version and allows fields of later versions', (name) => {
  expect(faultsOf(name, {})).toContainEqual(expect.stringContaining('"version"'));
  const text = schemaText(name);
  expect(JSON.parse(text)).toMatchObject({ title: name, properties: { version: { const: 1 } } });
  expect(text).not.toContain('"additionalProperties": false');
});

it('the schema of a profile accepts sample brands and missing fields, and refuses wrong ones', async () => {
  const catalogue = await readFile(new URL('../../fixtures/catalogue.jsonl', import.meta.url), 'utf8');
  const brands = catalogue.split('\n').filter((line) => line !== '');
  expect(brands.length).toBeGreaterThan(20);
  for (const line of brands) expect(faultsOf('profile', JSON.parse(line).brand)).toEqual([]);
  expect(faultsOf('profile', Object.fromEntries(Object.keys(BRAND).map((key) => [key, null])))).toEqual([]);
  expect(faultsOf('profile', { qualityScore: 'high', company: { location: { city: 7 } } })).toHaveLength(2);
  expect(schemaText('profile')).not.toContain('additionalProperties');
});

it('the schema of the key brand accepts the rows that a run writes', async () => {
  const golden = ['default', 'from-csv', 'customers.enriched', 'customers.errors'].map((name) =>
    readFile(new URL(`../run/output/golden/${name}.jsonl`, import.meta.url), 'utf8'),
  );
  const rows = (await Promise.all(golden)).flatMap((text) => text.split('\n')).filter((line) => line !== '');
  expect(rows.length).toBeGreaterThan(10);
  const faults = rows.flatMap((line) => faultsOf('brand', JSON.parse(line).brand));
  // A service may add fields to a profile.
  expect(faults.filter((fault) => !/^brand\/profile.*additional/.test(fault))).toEqual([]);
  expect(faultsOf('brand', { status: 'found' })).not.toEqual([]);
});

it('the schema of the config file accepts and refuses the same files as the program', () => {
  const { values } = parseConfigFile(
    'a.json',
    `{ "$schema": "./schema.json", "baseUrl": "https://api.example.com", "column": "website:domain",
       "fields": ["name", "domain"], "maxAge": "7d", "overageBudget": 12.5, "maxErrors": "5%", "refresh": true,
       "allowNsfw": false, "plan": "paid", "sheet": 2, "sort": null, "period": 15,
       "schedules": [{ "name": "nightly", "cron": "0 2 * * *", "run": "customers.csv" }] }`,
  );
  expect(faultsOf('config-file', values)).toEqual([]);
  for (const wrong of [
    { token: 'x' },
    { maxage: '7d' },
    { sort: 'name' },
    { maxAge: 7 },
    { refresh: 'perhaps' },
    { schedules: [{ name: 'nightly' }] },
  ])
    expect(faultsOf('config-file', wrong)).not.toEqual([]);
});
