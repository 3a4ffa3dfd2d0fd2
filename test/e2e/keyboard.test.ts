/** A file's life by the keys alone on a narrow page: no button leaves the focus on nothing. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { PHONE } from '../support/accessibility.js';
import { chromiumOfFile, hasChromium, NEEDS_CHROMIUM } from '../support/chromium.js';
import { quickEngine } from '../support/engines.js';
import { domainList } from '../support/scene.js';
import { LONG } from './commands.js';
import { dashboardUrl, signInOn, startUpHere } from './start-up.js';

const SOON = { timeout: 30_000 };
const FOCUSED = `(({ tagName, id, textContent }) => [tagName, id, textContent.trim()].join(' ').trim())(
  document.activeElement)`;

/** Moves the focus to this by Tab, and presses it; the page that comes fits, and has the focus. */
async function press(page: Page, name: string): Promise<void> {
  for (let tabs = 0; !(await page.evaluate<string>(FOCUSED)).startsWith(name); tabs += 1) {
    expect(tabs, name).toBeLessThan(90);
    await page.keyboard.press('Tab');
  }
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  await expect.poll(() => page.evaluate<string>(FOCUSED), { message: name }).not.toMatch(/^BODY/);
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), name).toBe(0);
}

describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, LONG, () => {
  const openPage = chromiumOfFile();

  test('a file is started, paused, resumed, cancelled and tried again', async () => {
    const scene = await createInboxScene(await quickEngine(), { latencyMs: 1_500 });
    const { meter, options } = scene.service;
    const url = dashboardUrl(await startUpHere(scene, { concurrency: 2 }));
    const { page, complaints } = await openPage({ viewport: PHONE });
    const file = await scene.write('list.csv', domainList(60));
    page.on('filechooser', (chooser) => void chooser.setFiles(file));
    await signInOn(page, url);
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    await press(page, 'INPUT upload-file');
    await page.getByRole('heading', { name: 'What it costs' }).waitFor();
    await press(page, 'BUTTON  website');
    await press(page, 'BUTTON  Start');
    expect(await page.evaluate(FOCUSED)).toBe('H1  list.csv');
    await scene.service.until(({ billed }) => billed > 2);
    for (const [label, question] of [
      ['Pause', ''],
      ['Resume', 'Resume'],
      ['Cancel', 'Cancel the run'],
    ] as const) {
      await page.getByRole('button', { name: label }).first().waitFor(SOON);
      await press(page, `BUTTON  ${label}`);
      if (question !== '') await press(page, `BUTTON  ${question}`);
    }
    options.latencyMs = 0;
    await scene.until('failed', 1);
    await page.getByRole('button', { name: 'Try again' }).waitFor(SOON);
    await press(page, 'BUTTON  Try again');
    await press(page, 'BUTTON  Try again');
    await scene.until('done', 1);
    expect([complaints, meter.mostBilledOnce()]).toEqual([[], 1]);
  });
});
