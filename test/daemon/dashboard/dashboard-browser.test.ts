/**
 * The dashboard in a real browser: legible in light and dark, on desktop and phone; it refreshes
 * itself and contacts no other host.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clockText } from '../../../src/core/figures.js';
import type { Action } from '../../../src/daemon/dashboard/actions.js';
import type { DashboardView } from '../../../src/daemon/dashboard/gather-dashboard.js';
import { FIND_ILLEGIBLE } from '../../run/report/legibility.js';
import { findBarriers } from '../../support/accessibility.js';
import { hasChromium, launchChromium, NEEDS_CHROMIUM, openWatchedPage } from '../../support/chromium.js';
import { LINK_TOKEN, PASSWORD, startDashboard } from './served.js';
import {
  accountParts,
  dashboardData,
  dashboardView,
  emptyView,
  NOW,
  runRecord,
  troubledView,
} from './views.js';

/** What has the focus, where it stands, and whether one sees it; null: nothing of the page. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const { top, left } = element.getBoundingClientRect();
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  return {
    name: element.textContent.trim(), top: top + scrollY, left,
    hasOutline: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
  };
})()`;

const DESK = { width: 1_280, height: 900 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  async function show(
    view: DashboardView,
    options: BrowserContextOptions = {},
    actions: readonly Action[] = [],
  ) {
    const served = await startDashboard({ view, actions });
    const watched = await openWatchedPage(browser, options);
    onTestFinished(() => watched.page.context().close());
    await watched.page.goto(`${served.url}?token=${LINK_TOKEN}&name=Ada`);
    const outside = () => watched.requests.filter((address) => !address.startsWith(served.url));
    return { ...watched, served, outside };
  }

  async function keepPicture(page: Page, name: string) {
    if (!process.env.SCREENSHOTS) return;
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true });
  }

  /** Triggers the refresh that the page does every few seconds. */
  const renew = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

  /** Desk and phone, light and dark: legible, without barriers. */
  async function lookEverywhere(page: Page, name: string) {
    for (const viewport of [DESK, PHONE]) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const look = `${name}-${viewport.width}-${colorScheme}`;
        await keepPicture(page, look);
        expect(await page.evaluate<string[]>(FIND_ILLEGIBLE), look).toEqual([]);
        expect(await findBarriers(page), look).toEqual([]);
      }
    }
  }

  it.each([
    ['busy', dashboardView()],
    ['empty', emptyView()],
    ['troubled', troubledView()],
  ] as const)(
    '%s: is legible in every look, logs no error and contacts no other host',
    async (name, view) => {
      const { page, complaints, outside } = await show(view);
      for (const closed of await page.locator('summary').all()) await closed.click();
      await lookEverywhere(page, name);
      expect(complaints).toEqual([]);
      expect(outside()).toEqual([]);
    },
  );

  it('the page with a question is legible in every look, and goes on or back by keyboard', async () => {
    const done: string[] = [];
    const { page, served } = await show(dashboardView(), {}, [
      {
        path: '/schedules/:name/run',
        ask: async ({ params }) => ({
          title: `Run ${params.name} now?`,
          lines: ['It can cost money.'],
          yes: 'Run now',
        }),
        async carryOut({ params: { name = '' } }) {
          done.push(name);
          return { path: '/', sentence: `${name} runs now.` };
        },
      },
    ]);
    await page.getByRole('button', { name: 'Run now' }).press('Enter');
    await page.getByRole('heading', { name: 'Run nightly now?' }).waitFor();
    await lookEverywhere(page, 'question');
    await page.getByRole('link', { name: 'Back' }).press('Enter');
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    expect(done).toEqual([]);
    await page.getByRole('button', { name: 'Run now' }).press('Enter');
    await page.getByRole('heading', { name: 'Run nightly now?' }).waitFor();
    // The button has the focus.
    await page.keyboard.press('Enter');
    await page.getByText('nightly runs now.').waitFor();
    expect([page.url(), done]).toEqual([served.url, ['nightly']]);
  });

  it('the sign-in page is legible in every look, rejects a wrong password, and signs in and out', async () => {
    const served = await startDashboard();
    const { page, complaints, requests } = await openWatchedPage(browser);
    onTestFinished(() => page.context().close());
    await page.goto(served.url);
    await lookEverywhere(page, 'sign-in');
    expect(complaints).toEqual([]);
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Password of the dashboard').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('Wrong password.');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Password of the dashboard').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    await page.getByText('Signed in as Ada').waitFor();
    expect(page.url()).toBe(served.url);
    expect(requests.filter((address) => !address.startsWith(served.url))).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password of the dashboard').waitFor();
    await page.goto(served.url);
    expect(await page.getByLabel('Password of the dashboard').isVisible()).toBe(true);
  });

  it('refreshes every few seconds, but not while the page is hidden', async () => {
    const { page, requests, served } = await show(dashboardView());
    await page.clock.install();
    await page.goto(served.url);
    const asked = () => requests.filter((address) => address.endsWith('/parts')).length;
    const before = asked();
    await page.clock.runFor(5_000);
    expect(asked()).toBe(before + 1);
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true })");
    await page.clock.runFor(20_000);
    expect(asked()).toBe(before + 1);
  });

  it('shows the account and its days without JavaScript', async () => {
    const { page } = await show(dashboardView(), { viewport: PHONE, javaScriptEnabled: false });
    const chart = page.getByRole('img', { name: /^Requests used in this period by day/ });
    const [plot, used, projected] = await Promise.all(
      ['svg', '.used', '.projected'].map((each) => chart.locator(each).boundingBox()),
    );
    // The projection goes on and up from the line of the days to the end.
    const right = ({ x = 0, width = 0 } = {}) => x + width;
    expect(Math.abs(right(used ?? {}) - (projected?.x ?? 9))).toBeLessThan(3);
    expect(Math.abs(right(projected ?? {}) - right(plot ?? {}))).toBeLessThan(3);
    expect(projected?.y).toBeLessThan(used?.y ?? 0);
    const bar = await page.locator('.account-bar').boundingBox();
    expect(bar?.width).toBeGreaterThan(300);
    expect(await page.evaluate<string[]>(FIND_ILLEGIBLE)).toEqual([]);
  });

  it('shows runs first on a phone, and the Tab key follows what is seen', async () => {
    const { page } = await show(dashboardView(), { viewport: PHONE });
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
    expect(headings.slice(0, 3)).toEqual(['Runs', 'Enrich a file', 'Quota and overage']);
    const stops: { name: string; top: number; left: number; hasOutline: boolean }[] = [];
    for (;;) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate<(typeof stops)[number] | null>(FOCUSED);
      if (stop === null) break;
      stops.push(stop);
    }
    expect(stops.map(({ name }) => name)).toEqual([
      'Queue',
      'JSON',
      'customers.csv',
      'newsletter subscribers (Q4).csv',
      'partners.csv',
      'funds.csv',
      'Pause all spending',
      '',
      'Send and see the cost',
      'Files of Kunden März.csv',
      'Run now',
      'Pause',
      'Last 2 runs',
      'Pause',
      'Show the queue',
      'Sign out',
    ]);
    expect(stops.filter(({ hasOutline }) => !hasOutline)).toEqual([]);
    const seen = [...stops].sort((a, b) => (Math.abs(a.top - b.top) > 12 ? a.top - b.top : a.left - b.left));
    expect(stops).toEqual(seen);
  });

  it('replaces only what changed, and keeps the place, the focus, open details and half-filled forms', async () => {
    const { page, served, complaints } = await show(dashboardView(), { viewport: PHONE });
    /** Refreshes to the data of so many hours later. */
    const renewed = async (hours: number) => {
      const at = NOW + hours * 3_600_000;
      const runs = [runRecord({ tally: { matched: hours } })];
      served.show(dashboardView({ data: dashboardData({ at, runs }) }));
      await renew(page);
      await page.locator('[data-part=stand]', { hasText: clockText(at) }).waitFor();
    };
    const focused = () => page.evaluate<{ name: string } | null>(FOCUSED);
    await page.evaluate(
      "window.kept = document.querySelector('[data-part=schedules]'); window.kept.scrollIntoView()",
    );
    const top = () =>
      page.locator('[data-part=schedules]').evaluate((part) => part.getBoundingClientRect().top);
    const before = await top();
    served.show(
      dashboardView({
        data: dashboardData({
          ...accountParts({ quota: 20_000, sent: 19_000, others: 1_220 }),
          runs: [runRecord({ tally: { matched: 1_399, requests: 1_399, billed: 1_399 } })],
        }),
      }),
    );
    await renew(page);
    await page.getByText('1,399 of 1,400 identifiers').waitFor();
    // The runs above are fewer now; what one looks at stays where it is.
    expect(Math.abs((await top()) - before)).toBeLessThan(2);
    expect(await page.evaluate('window.kept.isConnected')).toBe(true);
    expect(await page.locator('[data-part=quota] .lead').textContent()).toContain('20,220 of 21,000');
    await page.locator('summary').click();
    await page.getByRole('button', { name: 'Run now' }).focus();
    await renewed(1);
    expect(await page.evaluate('window.kept.isConnected')).toBe(false);
    expect(await focused()).toMatchObject({ name: 'Run now' });
    expect(await page.locator('table.history').isVisible()).toBe(true);
    await page.locator('summary').focus();
    await renewed(2);
    expect(await focused()).toMatchObject({ name: 'Last 2 runs' });
    await page.getByRole('link', { name: 'Fri 20 Nov, 02:00' }).first().focus();
    await renewed(3);
    expect(await focused()).toMatchObject({ name: 'Fri 20 Nov, 02:00' });
    // A form that is being filled in: the part stays, the others are renewed.
    await page.evaluate(`(() => {
      const form = document.querySelector('[data-part=schedules] form');
      form.insertAdjacentHTML('beforeend', '<input aria-label="name"><select aria-label="kind"><option>a<option>b</select>');
    })()`);
    await page.getByLabel('name').fill('half a na');
    await page.getByRole('link', { name: 'JSON' }).focus();
    await renewed(4);
    expect(await page.getByLabel('name').inputValue()).toBe('half a na');
    expect(await page.locator('[data-part=runs]').textContent()).toContain('4 of 1,400 identifiers');
    // Emptied, it is in nobody's way.
    await page.getByLabel('name').fill('');
    await page.getByRole('link', { name: 'JSON' }).focus();
    await renewed(5);
    expect(await page.getByLabel('name').count()).toBe(0);
    // What had the focus is gone: the next Tab goes on from there.
    await page.getByRole('button', { name: 'Run now' }).focus();
    const data = dashboardData();
    served.show(
      dashboardView({
        data: { ...data, schedules: data.schedules.map((each) => ({ ...each, isRunning: true })) },
      }),
    );
    await renew(page);
    await page.getByRole('button', { name: 'Run now' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    expect(await focused()).toMatchObject({ name: 'Pause' });
    expect(complaints).toEqual([]);
  });

  it('says that there are no data yet or no newer ones, and shows them once there are', async () => {
    const { page, served, complaints } = await show(
      dashboardView({ data: null, outageNoticedAt: NOW - 5_000 }),
    );
    expect(await page.evaluate<string[]>(FIND_ILLEGIBLE)).toEqual([]);
    await page.getByText('The engine has not answered yet.').waitFor();
    served.show(dashboardView());
    await renew(page);
    await page.getByText('765 of 1,400 identifiers').waitFor();
    expect(await page.locator('.chart').isVisible()).toBe(true);
    expect(complaints).toEqual([]);
    await page.route('**/parts', (route) => route.abort());
    await renew(page);
    await page.getByText('brand-enrich does not answer').waitFor();
    expect(await page.getByText('customers.csv').first().isVisible()).toBe(true);
    served.show(dashboardView({ data: dashboardData({ runs: [] }) }));
    await page.unroute('**/parts');
    await renew(page);
    await page.getByText('No runs yet').waitFor();
    expect(await page.getByText('brand-enrich does not answer').isVisible()).toBe(false);
  });
});
