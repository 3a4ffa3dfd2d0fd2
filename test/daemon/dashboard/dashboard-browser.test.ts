/**
 * The dashboard in a real browser: legible in light and dark, on desktop and phone; it refreshes
 * itself and contacts no other host.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { DashboardView } from '../../../src/daemon/dashboard/gather-dashboard.js';
import { DRAWN_SHARE, FIND_ILLEGIBLE } from '../../run/report/legibility.js';
import { hasChromium, launchChromium, NEEDS_CHROMIUM, openWatchedPage } from '../../support/chromium.js';
import { PASSWORD, startDashboard } from './served.js';
import {
  accountParts,
  dashboardData,
  dashboardView,
  emptyView,
  NOW,
  runRecord,
  troubledView,
} from './views.js';

const DESK = { width: 1_280, height: 900 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  async function show(view: DashboardView, options: BrowserContextOptions = {}) {
    const served = await startDashboard({ view });
    const watched = await openWatchedPage(browser, options);
    onTestFinished(() => watched.page.context().close());
    await watched.page.goto(`${served.url}?token=${PASSWORD}`);
    const outside = () => watched.requests.filter((address) => !address.startsWith(served.url));
    return { ...watched, served, outside };
  }

  async function keepPicture(page: Page, name: string) {
    if (!process.env.SCREENSHOTS) return;
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true });
  }

  /** Triggers the refresh that the page does every few seconds. */
  const renew = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

  const looks = (
    [
      ['busy', dashboardView()],
      ['empty', emptyView()],
      ['troubled', troubledView()],
    ] as const
  ).flatMap(([name, view]) =>
    [DESK, PHONE].flatMap((viewport) =>
      (['light', 'dark'] as const).map((scheme) => [name, viewport.width, scheme, view, viewport] as const),
    ),
  );

  it.each(looks)(
    '%s, %i px wide, %s: is legible, logs no error and contacts no other host',
    async (name, width, scheme, view, viewport) => {
      const { page, complaints, outside } = await show(view, { viewport, colorScheme: scheme });
      await keepPicture(page, `${name}-${width}-${scheme}`);
      expect(await page.evaluate<string[]>(FIND_ILLEGIBLE)).toEqual([]);
      expect(complaints).toEqual([]);
      expect(outside()).toEqual([]);
    },
  );

  it.each([
    ['light', DESK],
    ['dark', PHONE],
  ] as const)(
    'the sign-in page, %s, is legible, rejects a wrong password, and signs in and out',
    async (scheme, viewport) => {
      const served = await startDashboard();
      const { page, complaints, requests } = await openWatchedPage(browser, {
        viewport,
        colorScheme: scheme,
      });
      onTestFinished(() => page.context().close());
      await page.goto(served.url);
      await keepPicture(page, `sign-in-${viewport.width}-${scheme}`);
      expect(await page.evaluate<string[]>(FIND_ILLEGIBLE)).toEqual([]);
      expect(complaints).toEqual([]);
      await page.getByLabel('Password of the dashboard').fill('not the password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').textContent()).toBe('Wrong password.');
      await page.getByLabel('Password of the dashboard').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
      expect(page.url()).toBe(served.url);
      expect(requests.filter((address) => !address.startsWith(served.url))).toEqual([]);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Password of the dashboard').waitFor();
      await page.goto(served.url);
      expect(await page.getByLabel('Password of the dashboard').isVisible()).toBe(true);
    },
  );

  it('says that the engine has not answered yet, and shows the data once it has', async () => {
    const { page, served, complaints } = await show(
      dashboardView({ data: null, outageNoticedAt: NOW - 5_000 }),
    );
    expect(await page.evaluate<string[]>(FIND_ILLEGIBLE)).toEqual([]);
    await page.getByText('The engine has not answered yet.').waitFor();
    served.show(dashboardView());
    await renew(page);
    await page.getByText('765 of 1,400 identifiers').waitFor();
    expect(await page.locator('canvas:visible').count()).toBe(3);
    expect(complaints).toEqual([]);
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

  it('draws the gauges and the chart', async () => {
    const { page } = await show(dashboardView(), { viewport: DESK });
    expect(await page.locator('canvas:visible').count()).toBe(3);
    expect(await page.evaluate<number>(DRAWN_SHARE)).toBeGreaterThan(0.05);
    expect(await page.locator('.plain:visible').count()).toBe(0);
  });

  it('shows bars instead of gauges without JavaScript', async () => {
    const { page } = await show(dashboardView(), { viewport: PHONE, javaScriptEnabled: false });
    expect(await page.locator('canvas:visible').count()).toBe(0);
    expect(await page.locator('.plain:visible').count()).toBe(2);
    expect(await page.evaluate<string[]>(FIND_ILLEGIBLE)).toEqual([]);
  });

  it('replaces only what changed, and keeps scroll position, focus and drawings', async () => {
    const { page, served, complaints } = await show(dashboardView(), { viewport: PHONE });
    await page.evaluate(
      "scrollTo(0, 900); window.kept = [document.querySelector('canvas'), document.querySelector('[data-part=schedules]')]",
    );
    const before = await page.evaluate<number>('scrollY');
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
    expect(await page.evaluate<number>('scrollY')).toBe(before);
    expect(await page.evaluate('window.kept.every((element) => element.isConnected)')).toBe(true);
    expect(await page.locator('[data-part=quota] .gauge-number').textContent()).toContain('20,220 of 21,000');
    expect(complaints).toEqual([]);
  });

  it('says how old its data are while the server does not answer, and recovers', async () => {
    const { page, served } = await show(dashboardView(), { viewport: DESK });
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

  it('neither executes nor loads anything that data contains', async () => {
    const attack = `"><script>window.hacked=1</script><img src=https://evil.example/x onerror="window.hacked=1">`;
    const view = troubledView();
    const data = view.data ?? dashboardData();
    const { page, complaints, outside, served } = await show(
      {
        ...view,
        host: attack,
        data: {
          ...data,
          address: attack,
          runs: [runRecord({ label: `${attack}: ${attack}`, status: 'stopped', reason: attack, id: attack })],
          schedules: data.schedules.map((each) => ({
            ...each,
            schedule: {
              ...each.schedule,
              name: attack,
              line: attack,
              tz: attack,
              cron: attack,
              host: attack,
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
          ],
        },
      },
      { viewport: PHONE },
    );
    expect(await page.evaluate<unknown>('window.hacked')).toBeUndefined();
    served.show({ ...view, host: `${attack}2`, data: { ...data, runs: [runRecord({ label: attack })] } });
    const renewed = page.waitForResponse('**/parts');
    await renew(page);
    await (await renewed).finished();
    await page.getByText('for 5 min').first().waitFor();
    expect(await page.evaluate<unknown>('window.hacked')).toBeUndefined();
    expect(complaints).toEqual([]);
    expect(outside()).toEqual([]);
  });
});
