/** Barriers that axe-core finds on a page, and targets that a finger misses. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

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
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return [
    ...(await page.evaluate<string[]>(FIND_VIOLATIONS)),
    ...(await page.evaluate<string[]>(FIND_SMALL)),
  ];
}
