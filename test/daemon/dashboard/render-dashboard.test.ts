/** The page as HTML text: complete, and safe against its data. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { DASHBOARD_SCRIPT } from '../../../src/daemon/dashboard/dashboard-script.js';
import type { DashboardView } from '../../../src/daemon/dashboard/gather-dashboard.js';
import { renderSignIn } from '../../../src/daemon/dashboard/plain-pages.js';
import { renderDashboard, renderParts } from '../../../src/daemon/dashboard/render-dashboard.js';
import { UPLOAD_SCRIPT } from '../../../src/daemon/dashboard/upload-script.js';
import { STYLE } from '../../../src/run/report/page-style.js';
import {
  accountParts,
  dashboardData,
  dashboardView,
  emptyView,
  NOW,
  runRecord,
  troubledView,
  VIEWER,
} from './views.js';

const LIBRARY = 'var Chart = null;';

/** Style sheet and script are separate files. `REWRITE_GOLDEN=1` rewrites them. */
it.each<[string, DashboardView]>([
  ['busy', dashboardView()],
  ['empty', emptyView()],
  ['troubled', troubledView()],
  ['starting', dashboardView({ data: null, outageNoticedAt: NOW - 5_000, isSample: true, isStopping: true })],
])('matches the golden page of a dashboard that is %s', async (name, view) => {
  const path = new URL(`golden/${name}.html`, import.meta.url);
  const page = renderDashboard(view, VIEWER, LIBRARY)
    .html.replace(STYLE, '/* style */')
    .replace(DASHBOARD_SCRIPT, '/* script */')
    .replace(UPLOAD_SCRIPT, '/* upload script */');
  if (process.env.REWRITE_GOLDEN) await writeFile(path, page);
  expect(page).toBe(await readFile(path, 'utf8'));
});

const PARTS = /data-part="([a-z]+)"/g;
const partsOf = (text: string) => [...text.matchAll(PARTS)].map(([, name]) => name).sort();

it('has the same parts whatever the data, so that each can be replaced on refresh', () => {
  const busy = partsOf(renderParts(dashboardView(), VIEWER));
  expect(new Set(busy).size).toBe(busy.length);
  expect(partsOf(renderParts(emptyView(), VIEWER))).toEqual(busy);
  expect(partsOf(renderParts(troubledView(), VIEWER))).toEqual(busy);
  const nameless = dashboardData({ account: null, ledger: null, limit: null, budget: null, queue: null });
  expect(partsOf(renderParts(dashboardView({ data: nameless }), VIEWER))).toEqual(busy);
});

it('names settings instead of flags, except in commands', () => {
  const silent = accountParts({ quota: 20, held: 3, quotaCap: 10 });
  const runs = [
    runRecord({ settings: { maxRequests: 1 }, tally: { requests: 1 } }),
    runRecord({ isPaused: true }),
  ];
  const closed = 'this setting is not allowed in an inbox: x; the administrator of the inbox sets --base-url';
  const inboxes = dashboardData().inboxes.map((each) => ({ ...each, closed }));
  const views = [
    dashboardView(),
    troubledView(),
    dashboardView({ data: dashboardData({ ...silent, runs, inboxes, storeNow: NOW + 40_000 }) }),
  ];
  for (const view of views) {
    const text = renderParts(view, VIEWER).replace(/<code>.*?<\/code>|<[^>]+>/g, '');
    expect(text.match(/.{30}-\u2060?-\u2060?[a-z].{10}|brand-enrich (?:pause|resume).*/g)).toBeNull();
  }
});

describe('the security policy', () => {
  const pages = [renderDashboard(dashboardView(), VIEWER, LIBRARY), renderSignIn('/', 'wrong')];

  it.each(pages)('allows exactly the scripts and the style of the page', ({ html, policy }) => {
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const inside = (tag: string) =>
      [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map(([, text]) =>
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
    expect(addresses.filter((address) => !/^(\/(?!\/)|data:)/.test(address ?? ''))).toEqual([]);
    expect(body).not.toMatch(/ style="| on[a-z]+="/);
  });
});

it('escapes all data', () => {
  const attack = `</script><script>alert(1)</script>"'<img src=x>`;
  const data = dashboardData();
  const page = renderParts(
    {
      ...dashboardView(),
      host: attack,
      data: {
        ...data,
        address: attack,
        account: attack,
        runs: data.runs.map((run) => ({
          ...run,
          status: 'stopped' as const,
          label: attack,
          reason: attack,
          id: attack,
        })),
        schedules: data.schedules.map((each) => ({
          ...each,
          isHostAway: true,
          schedule: {
            ...each.schedule,
            name: attack,
            line: attack,
            host: attack,
            cron: attack,
            tz: attack,
          },
        })),
        inboxes: [
          {
            folder: attack,
            closed: null,
            queued: [],
            inProgress: [],
            waiting: [{ file: attack, folder: attack, since: 1, reason: attack }],
          },
          { folder: attack, closed: null, queued: [], inProgress: [], waiting: [] },
          { folder: attack, closed: null, queued: [], inProgress: [], waiting: null },
        ],
      },
    },
    VIEWER,
  );
  expect(page).not.toContain('<script');
  expect(page).not.toContain('<img');
});
