/** The card of a plan that offers fields of the brand for the columns of the file. */
import { expect, it } from 'vitest';
import { CELL_FIELDS, findUnknownField } from '../../src/brand-api/known-fields.js';
import { FillCard } from '../../src/dashboard/upload-fills.js';
import type { Found } from '../../src/dashboard/upload-start.js';
import { choiceOf } from '../../src/jobs/plan-upload.js';
import { planFills } from '../../src/run/output/fill.js';
import { htmlOf } from '../../src/run/report/kit/page.js';
import type { Scan } from '../../src/run/scan/scan.js';
import { fillRequests } from '../../src/settings/column-value.js';
import { Refusal } from '../../src/settings/parse-value.js';
import { CSV_SHAPE, planFor } from '../run/output/plans.js';

const COLUMNS = ['website', 'Land', 'Land', 'a=b', 'brand_name', 'two\nlines', 'brand', 'brand.error'];

/** Renders the card for an address. With null for `settings`, the plan is refused. */
function cardOf(
  address: string,
  settings: { fill?: object[]; fillOver?: object[]; fills?: object } | null = {},
  names: readonly string[] = COLUMNS,
): string {
  const { fill = [], fillOver = [], fills = null } = settings ?? {};
  const found = { chosen: [{ column: 0 }], plan: { fills }, settings: { prefix: 'brand_', fill, fillOver } };
  return htmlOf(
    FillCard({
      choice: choiceOf(new URLSearchParams(address)),
      columns: names.map((name) => ({ name, values: [] })),
      found: settings === null ? null : (found as unknown as Found),
    }),
  );
}

/** Reads an attribute as a browser does, which replaces what no page can hold. */
function textOf(attribute: string): string {
  const plain = attribute.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"');
  const text = plain.replaceAll('&#39;', "'").replaceAll('&amp;', '&').replaceAll('\0', '\ufffd');
  return Buffer.from(text)
    .toString()
    .replace(/\r\n?|\n/g, '\r\n');
}

/** What a browser would send of the card as it stands, as a choice. */
function sentBy(html: string): object {
  const sent = new URLSearchParams();
  for (const [, name = '', value = ''] of html.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g))
    sent.append(name, value);
  for (const [, options = ''] of html.matchAll(/<select[^>]* name="fill"[^>]*>(.*?)<\/select>/gs))
    sent.append('fill', /value="([^"]*)" selected/.exec(options)?.[1] ?? '');
  if (/type="checkbox" [^>]*checked/.test(html)) sent.append('fill-over', '1');
  return choiceOf(sent);
}

it('the card offers the columns of the user that are not looked up, the unclear ones by position', () => {
  const html = cardOf('');
  const labels = [...html.matchAll(/<label for="(fill-\d)">([^<]*)</g)].map(([, ...parts]) => parts);
  expect(labels).toEqual([
    ['fill-2', 'Land'],
    ['fill-3', 'Land'],
    ['fill-4', 'a=b'],
    ['fill-6', 'two\nlines'],
  ]);
  for (const value of ['position:2=country', 'position:3=employees', 'position:4=city', 'position:6=country'])
    expect(html).toContain(`<option value="${value}">`);
  expect(html).not.toMatch(/value="[^"]*=(?:status|duplicate_of|company|logos\.formats)"/);
  expect(html).toContain('<details id="fills" class="folded"><summary>');
});

it('what the card sends of any name is that column, or is refused', () => {
  const hostile = ['a.b', 'a="b', '"', "'", '<script>', '&amp;', 'x'.repeat(300), '', ' ', 'Twice', 'Twice'];
  const odd = [
    'two\nlines',
    ' City ',
    'city',
    'CITY',
    '3',
    'position:4',
    'a:domain',
    'a',
    'x',
    '\0',
    '\ud800',
  ];
  const more = ['a,b', 'é', 'é'.normalize('NFD'), '\t', '\ufeffa', '\u200b', '=SUM(A1)', '__proto__', 'a\rb'];
  const columns = ['website', ...hostile, ...odd, ...more];
  const html = cardOf('', {}, columns);
  const sent = [...html.matchAll(/<option value="([^"]*=country)">/g)].map(([, value = '']) => textOf(value));
  expect(sent).toHaveLength(columns.length - 1);
  const scan = { chosen: { choices: [{ column: 0 }] }, counts: { long: 0 } } as unknown as Scan;
  const plan = planFor({ input: { ...CSV_SHAPE, columns } });
  const meant = sent.map((value) => {
    const { fill = [] } = choiceOf(new URLSearchParams([['fill', value]]));
    const requests = fillRequests.parse([fill].flat());
    if (requests instanceof Refusal) return value;
    return planFills(plan, { fill: requests, fillOver: [] }, scan).fills.map(({ at, isNew }) => [at, isNew]);
  });
  expect(meant).toEqual(sent.map((_, nth) => [[nth + 1, false]]));
});

it('the card offers each meaning once', () => {
  const fields = CELL_FIELDS.map((field) => field.replace(/.*\.|_/g, '').toLowerCase());
  expect(fields).toEqual([...new Set(fields)]);
  for (const field of CELL_FIELDS) expect(findUnknownField(field, 'brand_')).toBeNull();
});

it.each([
  ['fill=position%3A2%3Dcountry', { fill: ['position:2=country'] }],
  ['fill=position%3A2%3Dlogos.icon.svg', { fill: ['position:2=logos.icon.svg'] }],
  ['fillOver=position%3A2%3Dcountry', { fillOver: ['position:2=country'] }],
  // Columns that the file does not have, and two lists at once.
  ['fill=New%3Dcountry', { fill: ['New=country'] }],
  [
    'fill=position%3A2%3Dcountry&fillOver=position%3A3%3Dcity',
    { fill: ['position:2=country'], fillOver: ['position:3=city'] },
  ],
])('an unchanged card sends what was chosen: %s', (address, choice) => {
  expect(sentBy(cardOf(address))).toEqual(choice);
});

it('the switch moves all columns to those that are overwritten', () => {
  const fields = new URLSearchParams('fill=A%3Dcity&fill=&fill=B%3Dname&fillOver=C%3Did&fill-over=1');
  expect(choiceOf(fields)).toEqual({ fillOver: ['C=id', 'A=city', 'B=name'] });
  expect(choiceOf(new URLSearchParams('fill=&fill-over=1'))).toEqual({});
});

it('the card of a refused plan is open; that of an inbox with columns of its own says so', () => {
  expect(cardOf('fill=website%3Ddomain', null)).toContain('<details id="fills" class="folded" open');
  const counts = { column: 'Land', field: 'founded_year', filled: 1_200, kept: 3, differing: 4 };
  const ofInbox = cardOf('', { fill: [{}], fills: { columns: [counts] } });
  expect(ofInbox).toContain('<bdi>Land</bdi> from founded year: 1,200 filled, 3 agree, 4 differ<');
  expect(ofInbox).toContain('Cells that differ stay.');
  expect(ofInbox).toContain('Settings of the inbox or of this file name these columns.');
  expect(ofInbox).not.toContain('<select');
});

it('a file with thousands of columns gets forty choices, and keeps the others that were chosen', () => {
  const names = ['website', ...Array.from({ length: 9_000 }, (_, at) => `c${at}`)];
  const html = cardOf('fill=c8000%3Dcity', {}, names);
  expect(html.match(/<select/g)).toHaveLength(40);
  expect(html).toContain('8,960 other columns not shown.');
  expect(sentBy(html)).toEqual({ fill: ['c8000=city'] });
  expect(html.length).toBeLessThan(200_000);
});
