/** The dashboard in a real browser: legible in every look, and it contacts no other host. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { clockText } from '../../src/core/figures.js';
import type { Action } from '../../src/dashboard/actions.js';
import type { DashboardView } from '../../src/dashboard/gather-dashboard.js';
import { LONG } from '../e2e/commands.js';
import { FIND_ILLEGIBLE } from '../run/report/legibility.js';
import { DESK, keepPicture, lookEverywhere, PHONE } from '../support/accessibility.js';
import { chromiumOfFile, hasChromium, NEEDS_CHROMIUM } from '../support/chromium.js';
import { LINK_TOKEN, PASSWORD, startDashboard } from './served.js';
import {
  accountParts,
  crowdedView,
  dashboardData,
  dashboardView,
  emptyView,
  NOW,
  runRecord,
  troubledView,
} from './views.js';

/** What has the focus, where, and whether one sees it; null if nothing of the page has it. */
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

describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, () => {
  const openPage = chromiumOfFile();

  async function show(view: DashboardView, how: BrowserContextOptions = {}, actions: readonly Action[] = []) {
    const served = await startDashboard({ view, actions });
    const watched = await openPage(how);
    await watched.page.goto(`${served.url}?token=${LINK_TOKEN}&name=Ada`);
    const outside = () => watched.requests.filter((address) => !address.startsWith(served.url));
    return { ...watched, served, outside };
  }

  /** Triggers the refresh that the page does every few seconds. */
  const renew = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

  /** Opens all that is folded, from outside to inside. */
  const openAll = (page: Page) =>
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");

  describe.each([
    ['busy', dashboardView(), ['long']],
    ['empty', emptyView(), ['long']],
    ['crowded', crowdedView(), []],
    ['troubled', troubledView(), ['long']],
  ] as const)('%s', (name, view, tags) => {
    it('is legible in every look, logs no error, asks no other host', { tags: [...tags] }, async () => {
      const { page, complaints, outside } = await show(view);
      await lookEverywhere(page, `${name}-folded`);
      await openAll(page);
      await lookEverywhere(page, name);
      expect(complaints).toEqual([]);
      expect(outside()).toEqual([]);
    });
  });

  it('the page with a question is legible in every look, and goes on or back by keyboard', LONG, async () => {
    const done: string[] = [];
    const { page, served } = await show(dashboardView(), {}, [
      {
        path: '/schedules/:id/run',
        ask: async ({ id }) => ({ title: `Run ${id} now?`, lines: ['It can cost money.'], yes: 'Run now' }),
        async carryOut({ id }) {
          done.push(id);
          return { path: '/', sentence: `${id} runs now.` };
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
    expect([page.url(), done]).toEqual([`${served.url}#schedules`, ['nightly']]);
  });

  it.each([true, false])('the focus stays near what was pressed, script: %s', LONG, async (hasScript) => {
    const order = { by: 'Ada', at: NOW };
    const { schedules } = dashboardData();
    let isPaused = false;
    let { ledger } = accountParts({});
    let quiet = {};
    const viewOf = () => {
      const paused = (name: string) => (isPaused && name === 'weekly-funds' ? order : null);
      const shown = schedules.map((each) => ({ ...each, paused: paused(each.name) }));
      return dashboardView({ data: dashboardData({ ledger, schedules: shown, ...quiet }) });
    };
    const press = (path: string, change: () => void): Action => ({
      path,
      async carryOut() {
        change();
        served.show(viewOf());
        return { path: '/', sentence: 'It is done.' };
      },
    });
    const { page, served } = await show(viewOf(), { javaScriptEnabled: hasScript, viewport: PHONE }, [
      press('/schedules/:id/pause', () => {
        isPaused = true;
      }),
      press('/pause', () => {
        ({ ledger } = accountParts({ isPaused: true }));
      }),
      press('/files/:id/dismiss', () => {
        quiet = { runs: [], inboxes: [] };
      }),
    ]);
    const focused = () =>
      page.evaluate<{ name: string; isSeen: boolean }>(`(() => {
          const { tagName, textContent } = document.activeElement;
          const { top, bottom } = document.activeElement.getBoundingClientRect();
          return { name: tagName === 'BUTTON' ? textContent : tagName, isSeen: top >= 0 && bottom <= innerHeight };
        })()`);
    await page.getByRole('button', { name: 'Pause', exact: true }).last().press('Enter');
    const said = page.getByRole('status').getByText('It is done.');
    await said.waitFor();
    await page.waitForLoadState();
    // What says that it is done is seen at that place, too.
    expect((await said.boundingBox())?.y).toBeLessThan(PHONE.height / 2);
    // Without a script, the next Tab goes on from the section.
    if (!hasScript) await page.keyboard.press('Tab');
    await expect.poll(focused).toEqual({ name: hasScript ? 'Resume' : 'Run now', isSeen: true });
    if (!hasScript) return;
    await page.getByRole('button', { name: 'Pause all spending' }).press('Enter');
    await page.getByRole('button', { name: 'Resume spending' }).waitFor();
    await expect.poll(focused).toEqual({ name: 'Resume spending', isSeen: true });
    // Where nothing is left to press, what the address leads to has the focus.
    quiet = {
      runs: [],
      inboxes: [],
      failed: crowdedView().data?.failed.map(({ files }) => ({
        count: 1,
        cancelled: 0,
        files: files.slice(0, 1),
      })),
    };
    served.show(viewOf());
    await page.goto(served.url);
    await page.getByRole('button', { name: 'Dismiss' }).press('Enter');
    await page.getByText('No files yet').waitFor();
    await expect.poll(focused).toEqual({ name: 'H2', isSeen: true });
  });

  it.each(['light', 'dark'] as const)(
    'an empty box looks as if one could check it: %s',
    { tags: ['long'] },
    async (colorScheme) => {
      const { page, complaints } = await show(dashboardView(), { colorScheme });
      const boxOf = (state: string) => `<input type="checkbox" ${state} aria-label="a">`;
      const boxes = ['', 'checked', 'disabled'].map(boxOf);
      await page
        .locator('main')
        .evaluate(
          (main, html) => main.insertAdjacentHTML('afterbegin', html),
          `<form class="card choices">${boxes.join('')}<input type="number" aria-label="b"></form>`,
        );
      const seen = await page.evaluate<{ ground: string; border: number; opacity: string }[]>(`(() => {
      const luminance = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const card = luminance(getComputedStyle(document.querySelector('form.choices.card')).backgroundColor);
      return [...document.querySelectorAll('form.choices.card input')].map((each) => {
        const { backgroundColor, borderColor, opacity } = getComputedStyle(each);
        const [low, high] = [card, luminance(borderColor)].sort((x, y) => x - y);
        return { ground: backgroundColor, border: (high + 0.05) / (low + 0.05), opacity };
      });
    })()`);
      const [empty, checked, disabled, field] = seen;
      expect(empty?.ground).toBe(field?.ground);
      expect(checked?.ground).not.toBe(empty?.ground);
      expect(empty?.border).toBeGreaterThanOrEqual(3);
      expect([empty?.opacity, disabled?.opacity]).toEqual(['1', '0.45']);
      await keepPicture(page, `boxes-${colorScheme}`);
      expect(complaints).toEqual([]);
    },
  );

  it('the first Tab leads past the head of the page', { tags: ['long'] }, async () => {
    const { page } = await show(dashboardView());
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('upload-file');
  });

  it('the sign-in page is legible in every look, rejects a wrong password, and signs in and out', async () => {
    const served = await startDashboard();
    const { page, complaints, requests } = await openPage();
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

  it('refreshes every few seconds, but not while the page is hidden', LONG, async () => {
    const { page, requests, served } = await show(dashboardView());
    await page.clock.install();
    await page.goto(served.url);
    const asked = () => requests.filter((address) => address === served.url).length;
    const before = asked();
    await page.clock.runFor(5_000);
    expect(asked()).toBe(before + 1);
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true })");
    await page.clock.runFor(20_000);
    expect(asked()).toBe(before + 1);
  });

  it('on a phone a file is sent first, and the Tab key follows what is seen', LONG, async () => {
    const { page } = await show(dashboardView(), { viewport: PHONE });
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
    expect(headings.slice(0, 3)).toEqual(['Enrich a file', 'Files', 'Quota and extra cost']);
    const stops: { name: string; top: number; left: number; hasOutline: boolean }[] = [];
    for (;;) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate<(typeof stops)[number] | null>(FOCUSED);
      if (stop === null) break;
      stops.push(stop);
    }
    expect(stops.map(({ name }) => name)).toEqual([
      'Skip to the content',
      'Pause all spending',
      '1 file waits for your decision',
      '',
      'customers.csv',
      'Kunden März.csv',
      'Raise its cap: Kunden März.csv',
      'newsletter subscribers (Q4).csv',
      'partners.csv',
      'funds.csv',
      'Run now',
      'Pause',
      'Last 2 runs',
      'Pause',
      'Technical queue, workers, stored answers, engine',
      'Sign out',
    ]);
    expect(stops.filter(({ hasOutline }) => !hasOutline)).toEqual([]);
    const seen = [...stops].sort((a, b) => (Math.abs(a.top - b.top) > 12 ? a.top - b.top : a.left - b.left));
    expect(stops).toEqual(seen);
  });

  it('shows at once on a desk what needs a person, where to drop a file, and files', LONG, async () => {
    const { page } = await show(crowdedView(), { viewport: DESK });
    for (const id of ['upload-card', 'files']) {
      const card = await page.locator(`section[aria-labelledby=${id}]`).boundingBox();
      expect((card?.y ?? 0) + (card?.height ?? 9_999), id).toBeLessThanOrEqual(DESK.height);
    }
    expect(await page.getByRole('link', { name: '5 files failed' }).isVisible()).toBe(true);
    expect(await page.getByRole('link', { name: /^export 1 / }).isVisible()).toBe(true);
    expect(await page.getByRole('link', { name: /^export 2 / }).isVisible()).toBe(false);
    await page.getByText('19 more files').click();
    expect(await page.getByRole('link', { name: /^export 14 / }).isVisible()).toBe(true);
    // A line each: the name, the bar and the result stand beside each other.
    const lines = await page
      .locator('.run:not(:has(.why))')
      .evaluateAll((runs) => runs.slice(0, 5).map((run) => run.getBoundingClientRect().height));
    expect(Math.max(...lines)).toBeLessThan(40);
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
    const account = accountParts({ quota: 20_000, sent: 19_000, others: 1_220 });
    const runs = [runRecord({ tally: { matched: 1_399, requests: 1_399, billed: 1_399 } })];
    served.show(dashboardView({ data: dashboardData({ ...account, runs }) }));
    await renew(page);
    await page.getByText('1,399 matched').last().waitFor();
    // The runs above are fewer now; what one looks at stays where it is.
    expect(Math.abs((await top()) - before)).toBeLessThan(2);
    expect(await page.evaluate('window.kept.isConnected')).toBe(true);
    expect(await page.locator('[data-part=account] .lead').first().textContent()).toContain(
      '20,220 of 21,000',
    );
    await page.locator('.schedules summary').click();
    await page.getByRole('button', { name: 'Run now' }).focus();
    await renewed(1);
    expect(await page.evaluate('window.kept.isConnected')).toBe(false);
    expect(await focused()).toMatchObject({ name: 'Run now' });
    expect(await page.locator('table.history').isVisible()).toBe(true);
    await page.locator('.schedules summary').focus();
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
    await page.getByRole('button', { name: 'Sign out' }).focus();
    await renewed(4);
    expect(await page.getByLabel('name').inputValue()).toBe('half a na');
    expect(await page.locator('[data-part=files]').textContent()).toContain('4 matched');
    // Emptied, it is in nobody's way.
    await page.getByLabel('name').fill('');
    await page.getByRole('button', { name: 'Sign out' }).focus();
    await renewed(5);
    expect(await page.getByLabel('name').count()).toBe(0);
    // What had the focus is gone: the next Tab goes on from there.
    await page.getByRole('button', { name: 'Run now' }).focus();
    const schedules = dashboardData().schedules.map((each) => ({ ...each, isRunning: true }));
    served.show(dashboardView({ data: dashboardData({ schedules }) }));
    await renew(page);
    await page.getByRole('button', { name: 'Run now' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    expect(await focused()).toMatchObject({ name: 'Pause' });
    expect(complaints).toEqual([]);
  });

  it('says that there are no data yet, or no newer ones, and shows them later', LONG, async () => {
    const { page, served, complaints } = await show(
      dashboardView({ data: null, outageNoticedAt: NOW - 5_000 }),
    );
    expect(await page.evaluate<string[]>(FIND_ILLEGIBLE)).toEqual([]);
    await page.getByText('The engine has not answered yet.').waitFor();
    served.show(dashboardView());
    await renew(page);
    await page.getByText('610 matched').last().waitFor();
    expect(await page.locator('.pair .bar').isVisible()).toBe(true);
    expect(complaints).toEqual([]);
    await page.route(served.url, (route) => route.abort());
    await renew(page);
    await page.getByText('brand-enrich does not answer').waitFor();
    expect(await page.getByText('customers.csv').first().isVisible()).toBe(true);
    served.show(dashboardView({ data: dashboardData({ runs: [], inboxes: [] }) }));
    await page.unroute(served.url);
    await renew(page);
    await page.getByText('No files yet').waitFor();
    expect(await page.getByText('brand-enrich does not answer').isVisible()).toBe(false);
  });
});
