/** The page as HTML text: complete, and safe against its data. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { DashboardView } from '../../src/dashboard/gather-dashboard.js';
import { DASHBOARD_SCRIPT, DASHBOARD_STYLE, renderSignIn } from '../../src/dashboard/plain-pages.js';
import {
  accountParts,
  crowdedView,
  dashboardData,
  dashboardView,
  emptyView,
  hostileView,
  inboxState,
  NOW,
  renderDashboard,
  renderParts,
  runRecord,
  scheduleState,
  troubledView,
  waitingFile,
} from './views.js';

/** A line for each block, style and scripts left out. `REWRITE_GOLDEN=1` rewrites it. */
it('matches the golden page, of a busy engine', async () => {
  const path = new URL('golden/page.html', import.meta.url);
  const page = renderDashboard(dashboardView())
    .html.replace(DASHBOARD_STYLE, '/* style */')
    .replace(DASHBOARD_SCRIPT, '/* script */')
    .replace(/>(?=<(?:body|div|dl|footer|form|header|h2|li|main|p|section|svg|table|title|tr)\b)/g, '>\n');
  if (process.env.REWRITE_GOLDEN) await writeFile(path, page);
  expect(page).toBe(await readFile(path, 'utf8'));
});

it.each<[string, DashboardView, string[]]>([
  [
    'nothing yet',
    emptyView(),
    [
      'Nothing needs your attention.',
      'Drop an Excel, CSV, JSON or Parquet file here',
      'A file that is put into /data/brands/inbox starts by itself.',
      'No files yet. Drop one above.',
      "No schedules. brand-enrich schedule add nightly --cron '0 2 * * *' -- run customers.csv runs a file",
      'Workers None: nothing is looked up until brand-enrich up, run or worker is started.',
      'None yet. Paid answers are stored',
      'The quota is unknown until the service answers.',
      'Nothing extra is paid: brand-enrich stops at the quota.',
    ],
  ],
  [
    'a busy week',
    crowdedView(),
    [
      'customers.csv Running 610 matched for 5\u00a0min',
      'newsletter subscribers (Q4).csv Finished 1,100 matched 3\u00a0h ago not here',
      '19 more files',
      '40 matched 10\u00a0h ago Download result of export 2 of the shop.csv',
      'supplier list 1.csv Failed 1\u00a0h ago Several columns can hold the identifiers: website, mail. Try again',
      'Kunden März.csv Waiting for 2\u00a0h maxRequests 40 is reached for this run.',
      '5 files are sent and not started Removed after a day. See the cost of all Discard all new customers 1.xlsx',
      'new customers 1.xlsx Not started 48\u00a0kB 1\u00a0min ago',
    ],
  ],
  [
    'trouble',
    troubledView(),
    [
      'No answer from the engine since 13:26:46 UTC, 3\u00a0min ago. The figures below are from 13:25:46 UTC,',
      'The service is unavailable: it cannot be reached (connection refused). Work resumes',
      'The service refused further lookups 42\u00a0min ago: the quota is reached.',
      'Cancelled 0 matched 5\u00a0min ago no result',
      'Dead not read 3\u00a0days ago',
      '6,030 of 6,000 used 100 %',
      'beyond the limit 30',
      'The limit is reached; the projection exceeds it by 3,250 lookups.',
      'Waiting for 2\u00a0days The service refuses further requests: its quota is reached',
      '/mnt/gone cannot be read at the moment.',
      'Host offline Next was due Fri 20 Nov, 09:25 Europe/Berlin',
      'Missed Fri 20 Nov, 09:25, 5\u00a0h ago: its machine was offline',
      'Its machine laptop-of-somebody-on-holiday is offline: no run starts until brand-enrich up or schedule',
      'defined on etl-2',
      'Definition missing on etl-1: it never runs. brand-enrich schedule remove planted removes it',
      'Workers Unknown: the server of the engine does not list its sessions.',
    ],
  ],
  [
    'a start',
    dashboardView({ data: null, outageNoticedAt: NOW - 5_000, isSample: true, isStopping: true }),
    [
      'The engine has not answered yet.',
      'Sample data: brands, scores and quota come from the built-in catalogue, and nothing is spent.',
      'This process is stopping: it waits for answers on their way.',
      'There is no data until the engine has answered once.',
    ],
  ],
])('the page of %s says so', (_, view, words) => {
  const text = renderParts(view)
    .replaceAll('&#39;', "'")
    .replace(/<(?!\/?(?:a|code)\b)[^>]*>/g, ' ');
  const shown = text.replace(/<[^>]*>/g, '').replace(/[ \n]+/g, ' ');
  for (const each of words) expect(shown).toContain(each);
});

it('says the outcomes of a run in words to who does not see its bar', () => {
  expect(renderParts(dashboardView())).toContain(
    'role="img" aria-label="610 matched, 120 already stored, 31 not found, 4 failed, 635 left"',
  );
});

it('marks a start and a reached quota for style and script', () => {
  expect(renderParts(dashboardView({ data: null }))).toContain('data-empty="true"');
  expect(renderParts(troubledView())).toContain('<p class="banner bad">The service refused');
});

it('has its sections in the order in which people look for them, machines last and folded', () => {
  const page = renderParts(crowdedView());
  const headings = [...page.matchAll(/<h2[^>]*>([^<]+)/g)].map(([, text]) => text?.trim());
  const expected = 'Enrich a file, Files, Quota and extra cost, End of the period, Schedules, Technical';
  expect(headings.join(', ')).toBe(expected);
  const technical = page.slice(page.indexOf('<details class="card technical"'));
  for (const words of ['Queue', 'Workers', 'Stored answers', 'redis://queue.internal'])
    expect(technical).toContain(words);
});

it('folds all schedules but three, those first that a person should look at', () => {
  const shownOf = (count: number) => {
    const schedules = Array.from({ length: count }, (_, at) =>
      scheduleState({ schedule: { name: `s-${at}` }, isHostOffline: at === 3 }),
    );
    const page = renderParts(dashboardView({ data: dashboardData({ schedules }) }));
    const parts = page.slice(page.indexOf('data-part="schedules"')).split('<details id="more-schedules"');
    return parts.map((part) => [...part.matchAll(/<bdi>(s-\d)/g)].map(([, name]) => name).join(' '));
  };
  expect(shownOf(3)).toEqual(['s-0 s-1 s-2']);
  expect(shownOf(5)).toEqual(['s-3 s-0 s-1', 's-2 s-4']);
});

it('folds all runs but five, and never one that is at work', () => {
  const shownOf = (count: number, live: number) => {
    const runs = Array.from({ length: count }, (_, at) =>
      runRecord({ id: `r-${at}`, status: at < live ? 'running' : 'completed' }),
    );
    const page = renderParts(dashboardView({ data: dashboardData({ runs, inboxes: [] }) }));
    const [first = '', older = ''] = page.split('<details id="more-files"');
    return [first, older].map((part) => part.split('<li class="run">').length - 1);
  };
  expect(shownOf(2, 0)).toEqual([2, 0]);
  expect(shownOf(9, 1)).toEqual([5, 4]);
  expect(shownOf(9, 7)).toEqual([7, 2]);
});

it('leaves out what has nothing to show: a projection, files, a column', () => {
  const { runs, ...schedule } = scheduleState();
  const unbilled = runs.map(({ billed: _, ...run }) => run);
  const data = dashboardData({
    projection: null,
    inboxes: [],
    schedules: [scheduleState({ ...schedule, runs: unbilled })],
  });
  const page = renderParts(dashboardView({ data }));
  expect(page).not.toMatch(/End of the period|<th[^>]*>Billed/);
  expect(renderParts(dashboardView())).toMatch(/<th[^>]*>Billed/);
});

const PARTS = /data-part="([a-z]+)"/g;
const partsOf = (text: string) => [...text.matchAll(PARTS)].map(([, name]) => name).sort();

it('has the same parts whatever the data, so that each can be replaced on refresh', () => {
  const busy = partsOf(renderParts(dashboardView()));
  expect(new Set(busy).size).toBe(busy.length);
  expect(partsOf(renderParts(emptyView()))).toEqual(busy);
  expect(partsOf(renderParts(troubledView()))).toEqual(busy);
  const nameless = dashboardData({ account: null, ledger: null, budget: null, queue: null });
  expect(partsOf(renderParts(dashboardView({ data: nameless })))).toEqual(busy);
});

it('names settings instead of flags, except in commands', () => {
  const silent = accountParts({ quota: 20, held: 3, quotaCap: 10 });
  const runs = [
    runRecord({ settings: { maxRequests: 1 }, tally: { requests: 1 } }),
    runRecord({ paused: { by: 'ada', at: 1 } }),
  ];
  const closed = 'this setting is not allowed in an inbox: x; the administrator of the inbox sets baseUrl';
  const inboxes = [inboxState({ closed, waiting: [waitingFile('limit')] })];
  const data = dashboardData({ ...silent, runs, inboxes, storeNow: NOW + 40_000 });
  const views = [dashboardView(), troubledView(), dashboardView({ data })];
  for (const view of views) {
    const text = renderParts(view).replace(/<code>.*?<\/code>|<[^>]+>/g, '');
    expect(text.match(/.{30}-\u2060?-\u2060?[a-z].{10}|brand-enrich (?:pause|resume).*/g)).toBeNull();
  }
});

it.each([
  ['tried', 'Tried'],
  ['limit', 'Waiting'],
  [null, 'Stopped'],
] as const)('a stopped run whose file waits for %s is %s', (why, word) => {
  const run = runRecord({ job: 'j-1', owner: 'j-1', status: 'stopped', tally: { stored: 7 } });
  const waiting = why === null ? [] : [waitingFile(why, { job: 'j-1' })];
  const data = dashboardData({ runs: [run], inboxes: [inboxState({ waiting })] });
  const page = renderParts(dashboardView({ data }));
  const [row = ''] = /<li class="run">.*?<\/li>/s.exec(page) ?? [];
  expect(row).toContain(`<span class="state warn">${word}</span>`);
  // Of stored answers alone it is not known how many are brands.
  expect(row).toContain('>7 stored<');
});

const ofInbox = { job: 'j-1', owner: 'j-1' };
const done = { status: 'completed' } as const;
it.each<[string, Parameters<typeof runRecord>[0], string | null, string]>([
  ['here', { ...ofInbox, ...done }, 'output', 'Download result of customers.csv'],
  ['here, so far', { ...ofInbox, status: 'stopped' }, 'partial', 'Partial result of customers.csv'],
  ['nowhere yet', ofInbox, null, 'no result yet'],
  ['elsewhere', { ...ofInbox, ...done }, null, 'not here'],
  ['nowhere, as it was cancelled', { ...ofInbox, status: 'cancelled' }, null, 'no result'],
])('the last cell of a run says where its result is: %s', (_, parts, result, words) => {
  const run = runRecord({ tally: { matched: 5 }, ...parts });
  const results = new Map(result === null ? [] : [[run.id, result as 'output']]);
  const page = renderParts(dashboardView({ data: dashboardData({ runs: [run], results, inboxes: [] }) }));
  const [, cell = ''] = /<span class="run-end">(.*?)<\/span>(?:<\/li>|<p)/s.exec(page) ?? [];
  expect(cell.replace(/<[^>]*>/g, '')).toBe(words);
});

it('offers to resume what is paused, with and without a run; a schedule is resumed in its own section', () => {
  const order = { by: 'ada@office', at: NOW };
  const pauses = [
    { ...order, owner: 'j-1', label: { host: 'etl-1', name: 'read.csv' }, run: null },
    { ...order, owner: 'j-2', label: { host: 'etl-1', name: 'begun.csv' }, run: 'r-2' },
    { ...order, owner: 'schedule:q/nightly', label: { host: null, name: 'nightly' }, run: null },
    { ...order, owner: 'schedule:q/hourly', label: { host: 'etl-1', name: 'hourly.csv' }, run: 'r-4' },
  ];
  const { html } = renderDashboard(dashboardView({ data: dashboardData({ pauses }) }));
  const offered = [...html.matchAll(/action="\/pauses\/resume".*?name="owner" value="([^"]+)"/g)];
  expect(offered.map(([, owner]) => owner)).toEqual(['j-1', 'j-2']);
});

describe('the security policy', () => {
  const pages = [renderDashboard(dashboardView()), renderSignIn('/', 'wrong')];

  it.each(pages)('allows exactly the scripts and the style of the page', ({ html, policy }) => {
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const inside = (tag: string) =>
      [...html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, 'g'))].map(([, text]) =>
        hash(text ?? ''),
      );
    const allowed = [...policy.matchAll(/'sha256-[^']+'/g)].map(([text]) => text);
    expect([...inside('script'), ...inside('style')].sort()).toEqual(allowed.sort());
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });

  it.each(pages)('allows nothing from other hosts', ({ html }) => {
    const body = html.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '');
    const addresses = [...body.matchAll(/\b(?:href|src|action)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.filter((address) => !/^(#|\/(?!\/)|data:)/.test(address ?? ''))).toEqual([]);
    expect(body).not.toMatch(/ style="| on[a-z]+="/);
  });
});

it('escapes all data', () => {
  const page = renderParts(hostileView(`</script><script>alert(1)</script>"'<img src=x>`));
  expect(page).not.toContain('<script');
  expect(page).not.toContain('<img');
});
