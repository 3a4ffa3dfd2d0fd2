/** Billed answers are stored: one that prevented an output would prevent it on every rerun. */
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type { Brand } from '../../../src/brand-api/brand.js';
import { fieldAt } from '../../../src/run/output/brand-fields.js';
import { createRenderer } from '../../../src/run/output/render.js';
import { createRunSummary } from '../../../src/run/report/run-summary.js';
import { CASES, sampleOf } from '../../support/properties.js';
import { BRAND, MATCHED, planFor } from './plans.js';

/** Several times the depth that the stack allows. */
const DEEP = 50_000;
const arrays = `${'['.repeat(DEEP)}"at the bottom"${']'.repeat(DEEP)}`;
const objects = `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`;
const mixed = `${'[{"formats":'.repeat(DEEP)}null${'}]'.repeat(DEEP)}`;
const wide = `[${'0,'.repeat(400_000)}0]`;

/** JSON texts for the value of any field. */
const VALUES: Readonly<Record<string, string>> = {
  'arrays 50,000 deep': arrays,
  'objects 50,000 deep': objects,
  'both in turns': mixed,
  'an array of 400,000': wide,
  'a number beyond all numbers': '1e999',
  'a number with 5,000 digits': '9'.repeat(5_000),
  'the least number': '-5e-324',
  'lone surrogates': '"\\ud800 and \\udfff"',
  'a NUL': '"a\\u0000b"',
  'every control character': '"\\u0001\\u0002\\r\\n\\t\\u001b[2J\\u007f\\u0085\\u2028\\u202e"',
  'quotes and delimiters': '"\\",\\"\\"\\n;\\t"',
  'a text of a million characters': `"${'x'.repeat(1_000_000)}"`,
  'keys of the language':
    '{"__proto__":{"name":"x"},"constructor":1,"toString":2,"hasOwnProperty":3,"length":-1}',
  'an array of such keys': '[{"__proto__":[],"name":{"toString":1}},{"src":{"valueOf":null}}]',
  'a boolean': 'true',
  null: 'null',
  'an empty object': '{}',
  'an empty array': '[]',
};

const FIELDS = [...Object.keys(BRAND), 'tags', '__proto__'];
const PATHS = [
  ...FIELDS,
  'logos.icon.svg',
  'logos.0.tags',
  'company.location.city',
  'company.industries.parent',
  'links.twitter',
  'tags.0.0.0',
  'constructor.name',
];

const cases = Object.entries(VALUES).map(([name, value], at) => [name, value, sampleOf(FIELDS, at)] as const);
describe.each(cases)('%s in any field', CASES, (_, value, fields) => {
  it.each(fields)('%s: every output is written, one row each', (field) => {
    const profile = `${JSON.stringify({ ...BRAND, [field]: undefined }).slice(0, -1)},${JSON.stringify(field)}:${value}}`;
    const view = { ...MATCHED, profile, brand: JSON.parse(profile) as Brand };
    for (const paths of [null, PATHS]) {
      const renderer = createRenderer(planFor({ fields: paths }));
      const csv = (renderer.header() ?? '') + renderer.row('1,acme.example', renderer.answer(view), null);
      const [header, row, ...more] = parse(csv);
      expect(more).toEqual([]);
      expect(row?.length).toBe(header?.length);
    }
    const lines = createRenderer(planFor({ format: 'jsonl' }));
    const line = lines.row('1,acme.example', lines.answer(view), null);
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(line).toContain(value);

    const summary = createRunSummary();
    const noted = { status: 'matched', index: 0, identifier: 'domain:acme.example', score: 0.5 } as const;
    summary.noteAnswer({ ...noted, fetchedAt: 0, source: 'api', brand: view.brand, retryLater: false });
    expect(JSON.stringify(summary.facts.brands).length).toBeLessThan(3_000_000);
  });
});

describe('a value nested deeper than the stack allows', () => {
  it('is found by its path', () => {
    expect(fieldAt(JSON.parse(`{"tags":${arrays}}`), 'tags')).toBe('at the bottom');
  });

  it('is left out of a cell', () => {
    expect(fieldAt(JSON.parse(`{"tags":[${objects}]}`), 'tags')).toBe('');
  });
});
