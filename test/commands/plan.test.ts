/** The text of a plan. */
import { expect, it } from 'vitest';
import { planText } from '../../src/commands/plan.js';
import type { Plan } from '../../src/run/plan-file.js';

const PLAN: Plan = {
  input: {
    name: 'customers.csv',
    sha256: '',
    records: 1_010,
    columns: [{ name: 'website', kind: 'domain' }],
    warnings: [],
    unreadable: 1,
    misfits: 1,
    short: 0,
    long: 0,
    examples: [],
  },
  columns: 'identifiers come from column "website" as domain (as asked)',
  rows: { total: 1_010, asked: 1_003, duplicates: 3, skipped: 4, invalid: 2 },
  reasons: { 'the cell is blank': 3, 'not a domain name': 2, odd: 2 },
  skipReasons: { 'the cell is blank': 3, odd: 1 },
  identifiers: { distinct: 1_000, duplicateRows: 3, byKind: { domain: 1_000 }, stored: null },
  requests: { least: 1_000, most: 1_000 },
  spending: null,
  ways: null,
  priority: null,
  account: null,
  currency: null,
  files: {
    output: 'customers.enriched.csv',
    errors: 'customers.errors.csv',
    report: 'customers.report.json',
  },
};

it('lists reasons below the rows that they explain', () => {
  const lines = planText(PLAN).split('\n');
  const from = lines.findIndex((line) => line.includes('blank or skipped'));
  expect(lines.slice(from, from + 6)).toEqual([
    '  blank or skipped  4',
    '    3 x the cell is blank',
    '    1 x odd',
    '  invalid           3, 1 of them unreadable',
    '    2 x not a domain name',
    '    1 x odd',
  ]);
});
