import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { siteOf } from '../../../src/run/report/brands-section.js';
import { STYLE } from '../../../src/run/report/kit/page.js';
import type { PageData } from '../../../src/run/report/portable-report.js';
import { renderPage } from '../../../src/run/report/render-page.js';
import type { RunReport } from '../../../src/run/report/report.js';
import {
  brand,
  emptyPage,
  failedPage,
  figures,
  NO_BINS,
  pageData,
  partialPage,
  unmatchedPage,
} from './pages.js';

function textOf(page: string): string {
  const body = page.slice(page.indexOf('<body>')).replace(/<(script|style)>[\s\S]*?<\/\1>/g, '');
  return body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

/** A line for each block; the style sheet is a separate file. `REWRITE_GOLDEN=1` rewrites it. */
it('the page of a run that stopped at its limit matches the golden one', async () => {
  const path = new URL('golden/page.html', import.meta.url);
  const page = renderPage(partialPage())
    .replace(STYLE, '/* style */')
    .replace(/>(?=<(?:body|div|dl|figure|footer|header|h2|li|main|p|section|table|title|tr)\b)/g, '>\n')
    .replace(/sha256-[A-Za-z0-9+/=]+/g, 'sha256-');
  if (process.env.REWRITE_GOLDEN) await writeFile(path, page);
  expect(page).toBe(await readFile(path, 'utf8'));
});

describe('a page shows', () => {
  it.each<[string, string[], Parameters<typeof pageData>[0]?]>([
    ['what the run produced', ['Finished', '52 of 60 rows have a brand', 'customers.csv', '12 s']],
    ['the rest', ['52 of 53 used', 'by others 2', 'Left 1 (1 at extra cost)', 'Quota without overage 50']],
    ['how old its answers are', ['Oldest 14 Mar 2026, 08:05 UTC', 'Newest 15 Mar 2026, 12:00 UTC']],
    ['why lookups failed', ['Failed lookups by cause', 'answered 503 five times 1,200'], failedPage()],
    ['why rows were not asked for', ['the cell is blank 3', '54 http://10.0.0.1/ an IP address']],
    ['that there are no rows', ['The file has no rows'], emptyPage()],
    ['how the file was read', ['Read as CSV, delimiter &#39;,&#39;, utf-8']],
    [
      'how many brands may be other companies',
      ['Names in Company : 12 of 980 compared', 'Their rows are in out.errors.csv , with the name'],
      {
        report: figures({
          files: { output: 'out.csv', errors: 'out.errors.csv' },
          nameMatch: { column: 'Company', compared: 980, low: 12, threshold: 0.75 },
        }),
      },
    ],
    [
      'what changed since the run before',
      [
        'Since 14 Mar 2026, 12:00 UTC New 3 Changed 2 Unchanged 40 Vanished 1 Unknown, lookup failed 1',
        'quality_score 2, name 1 Each brand is in changes.csv',
      ],
      {
        report: figures({
          changes: {
            file: 'changes.csv',
            since: '2026-03-14T12:00:00.000Z',
            ...{ new: 3, changed: 2, unchanged: 40, vanished: 1, failed: 1 },
            fields: { quality_score: 2, name: 1 },
          },
        }),
      },
    ],
    ['that the brands are made up', ['Sample data'], { isSample: true }],
    ['where the files are', ['customers.enriched.csv', 'customers.errors.csv']],
    [
      'how many rows are not listed',
      ['The first 100 of 2,312 rows', '2,212 more are not', '210 more are not shown. All are in customers.e'],
      unmatchedPage(),
    ],
    [
      'that a quota of the settings binds',
      ['3,000 of 3,000 (own limit)', 'Set with quota 3,000', 'Quota of the service 10,000'],
      unmatchedPage(),
    ],
  ])('%s', (_, words, parts = {}) => {
    const text = textOf(renderPage(pageData(parts)));
    for (const each of words) expect(text).toContain(each);
  });

  it.each([
    ['that began during the run', '2026-03-16', true],
    ['that began before', '2026-03-15', false],
    ['without an end', 'none', false],
  ])('a billing period %s', (_, period, isSaid) => {
    const account = { ...(figures().account as NonNullable<RunReport['account']>), period };
    const text = textOf(renderPage(pageData({ report: figures({ account }) })));
    expect(text.includes('A billing period began during the run')).toBe(isSaid);
  });

  it('an unknown quota, and brands without any score', () => {
    const unknown = { period: null, quota: null, limit: null, left: null };
    const account = { ...(figures().account as NonNullable<RunReport['account']>), ...unknown };
    const quality = { poor: 0, acceptable: 0, high: 0, unscored: 3, histogram: NO_BINS };
    const text = textOf(renderPage(pageData({ report: figures({ account, quality }) })));
    expect(text).toContain('The service reports no quota');
    expect(text).toContain('None of the 3 brands has a score');
  });

  it('no cards for scores, quota or ages without lookups', () => {
    const titles = (data: PageData) =>
      [...renderPage(data).matchAll(/<h2 id="([^"]*)"/g)].map(([, id]) => id).join(' ');
    expect(titles(emptyPage())).toBe('outcomes money files');
    expect(titles(pageData())).toBe(
      'outcomes scores best lowest rows-not_found rows-invalid excluded money account ages files',
    );
  });

  it.each([
    ['acme.com', 'https://acme.com/'],
    ['münchen.de', 'https://xn--mnchen-3ya.de/'],
    ['acme', null],
    ['127.0.0.1', null],
    ['acme.com/path', null],
    ['user@acme.com', null],
    ['acme.com:8080', null],
    ['javascript:alert(1).com', null],
    ['', null],
  ])('the domain %j links to %j', (domain, href) => {
    expect(siteOf(domain)).toBe(href);
  });

  it('only brands with a score, in two lists if there are enough', () => {
    expect(textOf(renderPage(pageData({ lowest: [] })))).toContain('Brands by score');
    expect(textOf(renderPage(emptyPage()))).not.toMatch(/Brands by score|Best scores/);
  });

  it('causes by frequency, the twelve most frequent by name', () => {
    const failures = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`cause ${at + 1}.`, at + 1]));
    const text = textOf(renderPage(pageData({ report: figures({ failures }) })));
    expect(text.indexOf('cause 15.')).toBeLessThan(text.indexOf('cause 4.'));
    expect(text).toContain('and 3 more causes with 6 lookups');
  });
});

const HOSTILE = `</script><script>alert('x')</script><img src="https://evil.example/a" onerror=alert(1)>"'&`;
const hostile = pageData({
  report: figures({
    run: { id: HOSTILE, service: HOSTILE, isComplete: false, exitCode: 7 },
    rows: { matched: 1, deferred: 1, failed: 1 },
    reason: HOSTILE,
    reasons: { [HOSTILE]: 1 },
    failures: { [HOSTILE]: 1 },
    input: {
      name: HOSTILE,
      sha256: HOSTILE,
      columns: [{ name: HOSTILE, kind: 'domain' }],
      warnings: [HOSTILE],
      examples: [{ line: 1, reason: HOSTILE }],
    },
    next: HOSTILE,
    listed: {
      not_found: [{ line: 1, value: HOSTILE, reason: HOSTILE }],
      failed: [{ line: 2, value: '\u202e=cmd|\u0000', reason: HOSTILE }],
      invalid: [{ line: 3, value: '</td></table><script>', reason: HOSTILE }],
    },
    files: { output: HOSTILE, errors: HOSTILE },
    startedAt: HOSTILE,
    endedAt: HOSTILE,
  }),
  best: [brand({ name: HOSTILE, domain: HOSTILE, color: HOSTILE, logo: HOSTILE })],
  lowest: [brand({ name: HOSTILE, color: '#000"><script>' })],
  files: [{ label: 'Enriched rows', name: HOSTILE, href: `./${encodeURIComponent(HOSTILE)}` }],
});
const page = renderPage(hostile);

it('data on the page creates no element', () => {
  expect(page).not.toContain('<script');
  expect(page).not.toContain('<img');
  expect(page).not.toMatch(/<[^>]*\sonerror/);
});

it.each([pageData(), emptyPage(), failedPage(), partialPage(), unmatchedPage()])(
  'a page with all lists full has less than 40 kB without logos (%#)',
  (data) => {
    expect(Buffer.byteLength(renderPage(data))).toBeLessThan(40_000);
  },
);

describe('the page loads nothing', () => {
  it('contains only links to brands and its own files, the service as text, and names of formats', () => {
    const page = renderPage(pageData());
    const isPressed = (each: string) => /^href="https:\/\/(best|low)-\d\.example\/"$/.test(each);
    const found = page.match(/(?:src|href|action|data|poster)="[^"]*"|url\([^)]*\)|@import/g);
    const addresses = found?.filter((each) => !isPressed(each));
    expect(addresses?.map((each) => each.slice(0, 28))).toEqual([
      'href="#rows-not_found"',
      'href="#rows-invalid"',
      'src="data:image/png;base64,i',
      'href="./customers.enriched.c',
    ]);
  });

  it('has a policy that allows no script and exactly its own style', () => {
    const page = renderPage(pageData());
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(policy.replaceAll('&#39;', "'")).toMatch(
      /^default-src 'none'; script-src 'none'; style-src 'sha256-/,
    );
    expect(policy.replaceAll('&#39;', "'")).toContain(`style-src 'sha256-${hash}';`);
    expect(page).not.toMatch(/\sstyle="|\son[a-z]+="/);
  });
});
