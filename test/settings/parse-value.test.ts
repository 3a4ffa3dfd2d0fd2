import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  baseUrlValue,
  domainValue,
  isLoopbackHost,
  isLoopbackUrl,
  openEngineWarning,
  originValue,
} from '../../src/settings/address-values.js';
import {
  columnChoices,
  delimiterValue,
  encodingValue,
  prefixValue,
  priorityValue,
  rowConditions,
} from '../../src/settings/column-value.js';
import {
  billingPeriod,
  choice,
  count,
  decimal,
  duration,
  errorLimit,
  formatDuration,
  keyValues,
  listOf,
  matchShare,
  Refusal,
  ratePerSecond,
  statuses,
  text,
  type ValueKind,
  yesOrNo,
} from '../../src/settings/parse-value.js';

interface KindTable {
  readonly name: string;
  readonly kind: ValueKind<unknown>;
  /** Read as they are written. */
  readonly kept?: readonly string[];
  readonly read?: Readonly<Record<string, unknown>>;
  readonly wrong: readonly string[];
}

const API = 'https://api.example.com';
const NO_ADDRESSES = [
  ...['', 'api.example.com', 'ftp://api.example.com', 'https://', 'https://user:pw@api.example.com'],
  ...[`${API}/?key=1`, `${API}/#x`],
];

const TABLES: readonly KindTable[] = [
  {
    name: 'a duration',
    kind: duration('1ms', '30d'),
    read: { '500ms': 500, '40s': 40_000, '30d': 2_592_000_000 },
    wrong: ['', '7', '7 d', '7D', '1.5h', '-1s', '0s', '31d', '1h30m', 'd', '7days', ' 7d'],
  },
  {
    name: 'a count',
    kind: count(1, 1_000),
    read: { '1': 1, '0064': 64, '1000': 1_000 },
    wrong: ['', '0', '1001', '1e2', '1_000', '1,000', '+5', '-5', '5.0', '0x10', ' 5', '9'.repeat(20)],
  },
  {
    name: 'an amount',
    kind: decimal('5', 'not negative'),
    kept: ['0', '20', '0.100', '999999999999.999999999'],
    wrong: ['', '.3', '3.', '0,3', '-1', '1e3', '$5', '1 000', '0.1234567891', 'NaN', 'Infinity'],
  },
  { name: 'a price', kind: decimal('0.1', 'positive'), kept: ['0.01'], wrong: ['0', '0.00', '-0.1'] },
  {
    name: 'a rate',
    kind: ratePerSecond,
    read: { '0': 0, '98': 98, '0.5': 0.5 },
    wrong: ['', '-1', '1/s', 'fast', '1e2', '0.0001'],
  },
  {
    name: 'a billing period',
    kind: billingPeriod,
    kept: ['month', 'none'],
    read: { '1': 1, '28': 28 },
    wrong: ['', '0', '29', 'monthly', '1.5', 'Month'],
  },
  {
    name: 'a number of errors',
    kind: errorLimit,
    read: {
      '0': { type: 'count', count: 0 },
      '100': { type: 'count', count: 100 },
      '0.5%': { type: 'percent', percent: 0.5 },
      '100%': { type: 'percent', percent: 100 },
    },
    wrong: ['', '101%', '-1', '%', '5 %', '5.5', 'many'],
  },
  {
    name: 'a share of matches',
    kind: matchShare,
    read: { '0': 0, '0%': 0, '2.5%': 2.5, '100%': 100 },
    wrong: ['', '1', '101%', '-1%', '%', '30 %', '0.3'],
  },
  {
    name: 'a choice',
    kind: choice(['quality', 'none']),
    kept: ['quality'],
    wrong: ['', 'Quality', 'qualty', 'quality '],
  },
  {
    name: 'a switch',
    kind: yesOrNo,
    read: { TRUE: true, '1': true, yes: true, on: true, false: false, '0': false, No: false, off: false },
    wrong: ['', '2', 'y', 'treu'],
  },
  { name: 'a text', kind: text('NAME'), kept: ['team a'], wrong: ['', '  '] },
  {
    name: 'a separator',
    kind: delimiterValue,
    kept: [',', '\t', '§'],
    read: { '\\t': '\t', TAB: '\t' },
    wrong: ['', '"', '\n', ';;', 'comma', '😀'],
  },
  {
    name: 'an encoding',
    kind: encodingValue,
    kept: ['utf-8', 'utf-16be', 'windows-1251'],
    read: {
      'UTF-16LE': 'utf-16le',
      UTF8: 'utf-8',
      'utf-8-sig': 'utf-8',
      latin1: 'iso-8859-1',
      CP1252: 'windows-1252',
    },
    wrong: ['', 'utf-99', 'klingon', 'base64', 'HEX'],
  },
  {
    name: 'a prefix',
    kind: prefixValue,
    kept: ['brand_', 'x.'],
    wrong: ['', 'a,b', '"', '1st', 'a b', '=x'],
  },
  {
    name: 'a base URL',
    kind: baseUrlValue,
    kept: [...['brands', 'nov2', 'v2/x'].map((path) => `${API}/${path}`), 'http://127.0.0.1:8080'],
    read: {
      'https://API.example.com:443/': API,
      [`${API}/base//`]: `${API}/base`,
      [`${API}/V2/`]: API,
      [`${API}/base/v2//`]: `${API}/base`,
      [`${API}/v2/brands/`]: API,
    },
    wrong: [...NO_ADDRESSES, 'https://token@api.example.com', 'http://127.0.0.1:0'],
  },
  {
    name: 'an origin',
    kind: originValue,
    kept: ['http://10.0.0.7:8787', 'https://[fe80::1]:8443'],
    read: { 'https://Brands.example.com:443/': 'https://brands.example.com' },
    wrong: [...NO_ADDRESSES, `${API}/brands`, `${API}:0`],
  },
  {
    name: 'a domain',
    kind: domainValue,
    read: { 'Brand-Service.example': 'brand-service.example' },
    wrong: ['', 'example', 'https://x.example', 'a..b', '-a.example', 'a b.example'],
  },
];

describe.each(TABLES)('$name', ({ kind, kept = [], read = {}, wrong }) => {
  it.each([...kept.map((each) => [each, each] as const), ...Object.entries(read)])(
    'reads %j',
    (seen, value) => {
      expect(kind.parse([seen])).toEqual(value);
    },
  );
  it.each(wrong)('refuses %j and shows a valid example', (seen) => {
    const parsed = kind.parse([seen]);
    expect(parsed).toBeInstanceOf(Refusal);
    expect(parsed).toMatchObject({ write: expect.stringMatching(/./) });
  });
});

it.each([
  ['embedded', null],
  ['redis://127.0.0.1:6379', null],
  ['redis://localhost', null],
  ['redis://[::1]:6379', null],
  ['rediss://:pw@queue.internal', null],
  ['redis://queue.internal:6379', 'a password and TLS'],
  ['redis://:pw@queue.internal', 'TLS'],
  ['rediss://queue.internal', 'a password'],
  ['rediss://user@queue.internal', 'a password'],
  ['postgres://localhost/db', null],
  ['postgres:///db?host=/var/run/postgresql', null],
  ['postgres://%2Fvar%2Frun/db', null],
  ['postgres://u:pw@db.internal/db', 'TLS'],
  ['postgres://u:pw@db.internal/db?sslmode=disable', 'TLS'],
  ['postgresql://u:pw@db.internal/db?sslmode=verify-full', null],
  ['postgres://u:pw@db.internal/db?sslrootcert=/ca.pem', null],
])('an engine on another host: %s lacks %s', (address, lacks) => {
  const warning = openEngineWarning(address);
  if (lacks === null) expect(warning).toBeNull();
  else expect(warning).toMatch(new RegExp(`another host without ${lacks}: .*; (use rediss|add sslmode)`));
  expect(warning ?? '').not.toContain('pw@');
});

describe('list values', () => {
  it.each([
    [['a:b:isin'], [{ name: 'a:b', kind: 'isin' }]],
    [['price:usd'], [{ name: 'price:usd', kind: null }]],
    [[':domain'], [{ name: ':domain', kind: null }]],
    [['a:'], [{ name: 'a:', kind: null }]],
    [['website:url'], [{ name: 'website:url', kind: null }]],
    [['3:auto'], [{ name: '3', kind: 'auto' }]],
    [['position:3:auto'], [{ name: 'position:3', kind: 'auto' }]],
    [['id'], [{ name: 'id', kind: null }]],
    [[], []],
  ])('reads the columns %j', (texts, value) => {
    expect(columnChoices.parse(texts)).toEqual(value);
    const site = { name: 'website', kind: 'domain' };
    expect(columnChoices.parse(['website:domain', ...texts])).toEqual([site, ...value]);
  });

  it('recognises a misspelt kind and suggests the right one', () => {
    expect(columnChoices.parse(['website:domian'])).toMatchObject({ nearest: 'website:domain' });
    expect(columnChoices.parse(['URL:Domain'])).toMatchObject({ nearest: 'URL:domain' });
  });

  it('reads statuses and their classes', () => {
    expect(statuses.parse(['204', '5XX', ' 402 ', '4xx'])).toEqual(['204', '5xx', '402', '4xx']);
  });

  it.each(['99', '600', '2xx', '6xx', '', '20', 'ok', '200'])('refuses the status %j', (seen) => {
    expect(statuses.parse(['204', seen])).toBeInstanceOf(Refusal);
  });

  it('refuses an empty entry in a list of names', () => {
    expect(listOf('LIST', 'a,b').parse(['a', ' b '])).toEqual(['a', 'b']);
    expect(listOf('LIST', 'a,b').parse(['a', '', 'b'])).toBeInstanceOf(Refusal);
  });

  it('keeps faults as written and refuses those without a value', () => {
    expect(keyValues.parse(['latency=100ms', '503=10%'])).toEqual(['latency=100ms', '503=10%']);
    for (const seen of ['latency', '=1', 'a=', 'a b=1'])
      expect(keyValues.parse([seen])).toBeInstanceOf(Refusal);
  });
});

describe('a priority column', () => {
  it.each([
    ['revenue', { name: 'revenue', direction: 'desc' }],
    ['revenue:desc', { name: 'revenue', direction: 'desc' }],
    ['revenue:asc', { name: 'revenue', direction: 'asc' }],
    ['price:eur', { name: 'price:eur', direction: 'desc' }],
    ['price:eur:asc', { name: 'price:eur', direction: 'asc' }],
    ['3:asc', { name: '3', direction: 'asc' }],
  ])('reads %j as %j', (seen, value) => {
    expect(priorityValue.parse([seen])).toEqual(value);
  });

  it.each([
    ['country=DE', { column: 'country', wants: 'value', value: 'DE' }],
    ['size=a=b:blank', { column: 'size', wants: 'value', value: 'a=b:blank' }],
    ['site:url:blank', { column: 'site:url', wants: 'blank', value: '' }],
    ['website:filled', { column: 'website', wants: 'filled', value: '' }],
  ])('reads the condition %j', (seen, value) => {
    expect(rowConditions.parse([seen])).toEqual([value]);
  });

  it.each<[string, ValueKind<unknown>, string | undefined]>([
    ['', priorityValue, undefined],
    [' :asc', priorityValue, undefined],
    ['revenue:DESC', priorityValue, 'revenue:desc'],
    ['revenue:des', priorityValue, 'revenue:desc'],
    ['country', rowConditions, undefined],
    ['country=', rowConditions, 'country:blank'],
    ['=DE', rowConditions, undefined],
    ['country:blnk', rowConditions, 'country:blank'],
    [':filled', rowConditions, undefined],
  ])('refuses %j', (seen, kind, nearest) => {
    const parsed = kind.parse([seen]);
    expect(parsed).toBeInstanceOf(Refusal);
    expect(parsed).toMatchObject({ nearest });
  });
});

it('durations: survive a round trip through their shortest text', () => {
  const kind = duration('0s', '99999999d');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 11 }), (ms) => {
      expect(kind.parse([formatDuration(ms)])).toBe(ms);
    }),
  );
});

const LOOPBACK = ['localhost', 'a.LOCALHOST', '127.0.0.1', '127.255.0.9', '[::1]'];
const OTHER_HOSTS = [
  ...['0.0.0.0', '[::]', '10.0.0.1', '127.example.com', '127.0.0.1.example', 'localhost.example'],
  'notlocalhost',
];
it.each([
  ...LOOPBACK.map((host) => [host, true] as const),
  ...OTHER_HOSTS.map((host) => [host, false] as const),
])('loopback: %s: %s', (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
  expect(isLoopbackHost(host.replace(/[[\]]/g, ''))).toBe(expected);
  expect(isLoopbackUrl(`http://${host}:8080/x`)).toBe(expected);
});
