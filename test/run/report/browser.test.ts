/** The report page in a real browser, opened from disk. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { PageData } from '../../../src/run/report/portable-report.js';
import { renderPage } from '../../../src/run/report/render-page.js';
import { LONG } from '../../e2e/commands.js';
import { DESK, lookEverywhere, PHONE } from '../../support/accessibility.js';
import { chromiumOfFile, hasChromium, NEEDS_CHROMIUM } from '../../support/chromium.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { FIND_ILLEGIBLE } from './legibility.js';
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

/** Their width between the margins of the style sheet, at 96 dots per inch. */
const PAPERS = [
  ['A4', 703],
  ['Letter', 725],
] as const;
const SHEETS_AT_MOST: Readonly<Record<string, number>> = {
  complete: 4,
  empty: 2,
  failed: 5,
  partial: 5,
  unmatched: 12,
};
describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, () => {
  const openPage = chromiumOfFile();

  async function show(data: PageData, options: BrowserContextOptions = {}) {
    const path = join(await temporaryFolder(), 'report.html');
    await writeFile(path, renderPage(data));
    const address = pathToFileURL(path).href;
    const watched = await openPage(options);
    await watched.page.goto(address);
    return { ...watched, address };
  }

  const pages: [string, PageData][] = [
    ['complete', pageData({ isSample: true })],
    ['empty', emptyPage()],
    ['failed', failedPage()],
    ['partial', partialPage()],
    ['unmatched', unmatchedPage()],
  ];
  for (const [name, data] of pages)
    it(
      `${name}: is legible and accessible in every look, logs no error and loads nothing`,
      { tags: name === 'complete' ? [] : ['long'] },
      () => isFitToRead(name, data),
    );

  async function isFitToRead(name: string, data: PageData): Promise<void> {
    const { page, complaints, requests, address } = await show(data);
    await lookEverywhere(page, name);
    expect(complaints).toEqual([]);
    expect(requests).toEqual([address]);
  }

  it('the page draws a labelled histogram with a table, without a script', LONG, async () => {
    for (const viewport of [DESK, PHONE]) {
      const { page } = await show(pageData(), { viewport, javaScriptEnabled: false });
      const chart = page.getByRole('img', { name: /37 high, 9 acceptable, 4 poor/ });
      expect(await chart.isVisible()).toBe(true);
      const bars = await chart.locator('rect').all();
      expect(bars).toHaveLength(9);
      const { height: all = 0, width = 0 } = (await chart.locator('.ticks').boundingBox()) ?? {};
      const { height: whole = 0 } = (await chart.boundingBox()) ?? {};
      expect(all).toBeGreaterThan(whole * 0.6);
      const last = await bars.at(-1)?.boundingBox();
      // 22 of a scale to 25.
      expect(Math.abs((last?.height ?? 0) - (all * 22) / 25)).toBeLessThan(1);
      expect(last?.width).toBeGreaterThan(width / 2);
      expect(await bars.at(-1)?.textContent()).toBe('Score 0.93 to 1.00: 22 brands');
      const row = page.getByRole('row', { name: '0.93 to 1.00' });
      expect(await row.isVisible()).toBe(false);
      await page.getByText('The chart as a table').click();
      expect(await row.getByRole('cell').textContent()).toBe('22');
    }
  });

  it('a keyboard reaches rows from outcomes, and the page prints in light colours', async () => {
    const { page, complaints } = await show(pageData(), { viewport: DESK, colorScheme: 'dark' });
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    expect(await focused()).toBe('Not found');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#rows-not_found$/);
    await page.keyboard.press('Tab');
    expect(await focused()).toMatch(/^3 rows: the service has no such brand/);
    const row = page.getByRole('cell', { name: 'brand-0.example' });
    expect(await row.isVisible()).toBe(true);
    await page.keyboard.press('Enter');
    await row.waitFor({ state: 'hidden' });
    const ground = "getComputedStyle(document.querySelector('.card')).backgroundColor";
    expect(await page.evaluate<string>(ground)).toBe('rgb(27, 30, 36)');
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate<string>(ground)).toBe('rgb(255, 255, 255)');
    await page.emulateMedia({ media: 'screen' });
    expect(await page.evaluate<string>(ground)).toBe('rgb(27, 30, 36)');
    expect(complaints).toEqual([]);
  });

  describe.each(PAPERS)('%s paper', { tags: ['long'] }, (format, width) => {
    it.each(pages)('holds the page of a run that is %s', async (name, data) => {
      const { page } = await show(data, { viewport: { width, height: 900 } });
      await page.emulateMedia({ media: 'print' });
      expect(await page.evaluate<string[]>(FIND_ILLEGIBLE)).toEqual([]);
      const pdf = await page.pdf({ format });
      if (process.env.SCREENSHOTS)
        await writeFile(join(process.env.SCREENSHOTS, `${name}-${format}.pdf`), pdf);
      const sheets = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      expect(sheets).toBeGreaterThan(0);
      expect(sheets).toBeLessThanOrEqual(SHEETS_AT_MOST[name] ?? 0);
    });
  });

  it('a name gets the width that industry and country leave', async () => {
    const long = brand({ name: 'Deutsche Wasserfreunde und Segler', country: 'Chad' });
    const { page } = await show(pageData({ best: [{ ...long, industry: null }] }), { viewport: DESK });
    const cut = '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)';
    expect(await page.evaluate<number>(`${cut}(document.querySelector('#best + ol .brand-name'))`)).toBe(0);
  });

  it.each([1, 1_000_000])('the page draws %d brands alone', LONG, async (count) => {
    const histogram = NO_BINS.with(14, count);
    const quality = { poor: 0, acceptable: 0, high: count, unscored: 0, histogram };
    const { page, complaints } = await show(pageData({ report: figures({ quality }) }), { viewport: PHONE });
    const { height = 0 } = (await page.locator('.chart .ticks').boundingBox()) ?? {};
    const bar = await page.locator('.chart rect').boundingBox();
    expect(Math.abs((bar?.height ?? 0) - height)).toBeLessThan(1);
    expect(complaints).toEqual([]);
  });
});
