import { expect, it } from 'vitest';
import { planText } from '../../src/commands/plan.js';
import type { RowReason } from '../../src/core/row-reason.js';
import type { Plan } from '../../src/run/plan-file.js';
import { counterOf } from '../support/counter.js';

const PLAN: Plan = {
  input: {
    name: 'customers.csv',
    sha256: '',
    records: 1_010,
    columns: [{ name: 'website', kind: 'domain' }],
    detected: "CSV, delimiter ',', utf-8",
    where: null,
    warnings: [],
    unreadable: 1,
    misfits: 1,
    short: 0,
    long: 0,
    examples: [],
  },
  leftOut: { linesAbove: 0, sheets: [] },
  columns: 'identifiers come from column "website" as domain (as asked)',
  rows: { total: 1_010, asked: 1_003, duplicates: 3, skipped: 4, invalid: 2 },
  invalid: [],
  reasons: {
    skipped: counterOf<RowReason>([
      [{ code: 'free_mail' }, 1],
      [{ code: 'blank' }, 3],
    ]),
    invalid: counterOf<RowReason>([
      [{ code: 'nul' }, 1],
      [{ code: 'not_domain' }, 2],
    ]),
  },
  identifiers: { distinct: 1_000, duplicateRows: 3, byKind: { domain: 1_000 }, stored: null },
  requests: { least: 1_000, most: 1_000 },
  spending: null,
  cap: null,
  fills: null,
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
    '    1 x an address at a free e-mail provider',
    '  invalid           3, 1 of them unreadable',
    '    2 x not a domain name',
    '    1 x a NUL character',
  ]);
});

it('lists the lines and sheets that no output has on one line', () => {
  const lineOf = (leftOut: Plan['leftOut']) =>
    planText({ ...PLAN, leftOut })
      .split('\n')
      .find((line) => line.startsWith('not in the output'));
  expect(lineOf({ linesAbove: 0, sheets: [] })).toBeUndefined();
  expect(lineOf({ linesAbove: 1, sheets: [] })).toBe('not in the output   line 1, above the table');
  expect(lineOf({ linesAbove: 4, sheets: ['Cover', 'Old'] })).toBe(
    "not in the output   lines 1 to 4, above the table; the other sheets: 'Cover', 'Old'",
  );
});

it.each([
  [120, '  selected          120 with country=DE and note:filled'],
  [0, '  selected          none: no row has country=DE and note:filled'],
])('says that %i rows are selected', (rows, line) => {
  const where = { conditions: ['country=DE', 'note:filled'], rows };
  expect(planText({ ...PLAN, input: { ...PLAN.input, where } }).split('\n')).toContain(line);
});
