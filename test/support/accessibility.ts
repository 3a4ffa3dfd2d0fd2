/** Barriers that axe-core finds on a page, targets that a finger misses, and text that is cut. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FIND_ILLEGIBLE } from '../run/report/legibility.js';

export const DESK = { width: 1_280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** The least width and height of a target (Web Content Accessibility Guidelines 2.2, 2.5.8). */
const LEAST_PX = 24;

/** Links inside a sentence may be as low as its lines. */
const FIND_SMALL = `[...document.querySelectorAll('a, button, summary, input:not([type=hidden]), select')]
  .filter((each) => each.checkVisibility() && !each.closest('p.note, p.empty, p.why, .files'))
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < ${LEAST_PX} || height < ${LEAST_PX})
  .map(([each, { width, height }]) => 'target of ' + Math.round(width) + ' x ' + Math.round(height) + ': ' + each.textContent.trim())`;

const FIND_VIOLATIONS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(
  ({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target.join(' '), failureSummary].join(': '))
))`;

/** One sentence each; empty: none. Runs in the page's world, which its policy does not concern. */
async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return [
    ...(await page.evaluate<string[]>(FIND_VIOLATIONS)),
    ...(await page.evaluate<string[]>(FIND_SMALL)),
  ];
}

/** Throws unless the page is legible, no wider than its window, and without barriers. */
export async function expectReadable(page: Page, look?: string): Promise<void> {
  expect(await page.evaluate<string[]>(FIND_ILLEGIBLE), look).toEqual([]);
  expect(await findBarriers(page), look).toEqual([]);
}

/** Keeps a picture of the whole page if `SCREENSHOTS` names a folder. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Throws unless the page is readable on desk and phone, light and dark. */
export async function lookEverywhere(page: Page, name: string): Promise<void> {
  for (const viewport of [DESK, PHONE]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const look = `${name}-${viewport.width}-${colorScheme}`;
      await keepPicture(page, look);
      // Barriers other than contrast depend on the width alone.
      if ((viewport === DESK) === (colorScheme === 'light')) await expectReadable(page, look);
      else expect(await page.evaluate<string[]>(FIND_ILLEGIBLE), look).toEqual([]);
    }
  }
}
