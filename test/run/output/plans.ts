/** Output plans and answers for the tests of this module. */
import type { TableShape } from '../../../src/core/table.js';
import type { AnswerView, OutputPlan } from '../../../src/run/output/output-plan.js';

export const CSV_SHAPE: TableShape = {
  format: 'csv',
  delimiter: ',',
  lineEnd: '\n',
  hasBom: false,
  isGzip: false,
  encoding: 'utf-8',
  columns: ['id', 'website'],
  rawHeader: 'id,website',
};

export const JSON_SHAPE: TableShape = {
  ...CSV_SHAPE,
  format: 'jsonl',
  delimiter: '',
  columns: ['id', 'website'],
  rawHeader: null,
};

export function planFor(changes: Partial<OutputPlan> = {}): OutputPlan {
  const input = changes.input ?? CSV_SHAPE;
  return {
    input,
    format: input.format,
    fields: null,
    prefix: 'brand_',
    outputHeader: true,
    escapeFormulas: 'ours',
    errorsInclude: [],
    minQuality: null,
    replacedColumns: [],
    hasUnreadable: false,
    hasSurplus: false,
    hasShort: false,
    fills: [],
    matchesNames: false,
    allColumns: input.columns,
    ...changes,
  };
}

export const BRAND = {
  id: 'id_acme0001',
  name: 'Acme, Inc.',
  domain: 'acme.example',
  claimed: true,
  description: 'Makes "everything".\nSince 1949.',
  longDescription: null,
  links: [
    { name: 'twitter', url: 'https://twitter.com/acme' },
    { name: 'linkedin', url: 'https://linkedin.com/company/acme' },
  ],
  logos: [
    {
      type: 'icon',
      theme: 'light',
      tags: [],
      formats: [{ src: 'https://assets.example/icon.png', format: 'png', width: 400, height: 400 }],
    },
    {
      type: 'logo',
      theme: 'light',
      tags: ['photographic'],
      formats: [{ src: 'https://assets.example/logo-light.svg', format: 'svg' }],
    },
    {
      type: 'logo',
      theme: 'dark',
      tags: [],
      formats: [
        { src: 'https://assets.example/logo-dark.png', format: 'png', width: 800, height: 200 },
        { src: 'https://assets.example/logo-dark.svg', format: 'svg', width: null, height: null },
      ],
    },
  ],
  colors: [
    { hex: '#111111', type: 'dark', brightness: 17 },
    { hex: '#ff0044', type: 'accent', brightness: 80 },
  ],
  fonts: [{ name: 'Inter', type: 'title', origin: 'google', originId: 'inter', weights: [400, 700] }],
  images: [],
  qualityScore: 0.9,
  company: {
    employees: 1001,
    financialIdentifiers: { isin: ['US0378331005', 'US5949181045'], ticker: ['ACME'] },
    foundedYear: 1949,
    industries: [
      { id: '1', score: 0.4, slug: 'toys', name: 'Toys', emoji: '🧸', parent: null },
      {
        id: '2',
        score: 0.7,
        slug: 'anvils',
        name: 'Anvils',
        emoji: '🔨',
        parent: [{ id: '9', slug: 'metal' }],
      },
    ],
    kind: 'PRIVATELY_HELD',
    location: {
      city: 'Fairfield',
      country: 'United States',
      countryCode: 'US',
      region: 'Americas',
      state: 'NJ',
      subregion: null,
    },
  },
  isNsfw: false,
  urn: 'urn:brand:acme',
};

const FETCHED_AT = Date.UTC(2026, 9, 3, 4, 5, 6, 789);

export const MATCHED: AnswerView = {
  status: 'matched',
  identifier: { kind: 'domain', value: 'acme.example' },
  profile: JSON.stringify(BRAND),
  source: 'api',
  fetchedAt: FETCHED_AT,
  error: null,
};

export const NOT_FOUND: AnswerView = {
  ...MATCHED,
  status: 'not_found',
  identifier: { kind: 'ticker', value: 'ZZZZ' },
  profile: null,
  source: 'stored',
};

export const DEFERRED: AnswerView = {
  status: 'deferred',
  identifier: { kind: 'isin', value: 'US0378331005' },
  profile: null,
  source: null,
  fetchedAt: null,
  error: 'the limit is reached, run again to go on',
};

export const INVALID: AnswerView = {
  ...DEFERRED,
  status: 'invalid',
  identifier: null,
  error: '"localhost" is not a domain',
};
