/** Bull Board in a real browser: the way back to the dashboard, and its workers. */
import { hostname } from 'node:os';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { createQueueBoard } from '../../../src/daemon/dashboard/queue-board.js';
import { openEngine } from '../../../src/engine/open-engine.js';
import { hasChromium, launchChromium, NEEDS_CHROMIUM, openWatchedPage } from '../../support/chromium.js';
import { redisEngine } from '../../support/engines.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { LINK_TOKEN, startDashboard } from './served.js';

describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, () => {
  const under = redisEngine();
  let browser: Browser;
  beforeAll(async () => {
    await under.start();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await under.stop();
  });

  it('leads back to the dashboard, on a desk and on a phone, and shows its workers on a desk', async () => {
    const folder = await temporaryFolder();
    const { BRAND_ENRICH_ENGINE: address = '' } = under.env(folder);
    const engine = await openEngine({ engine: address, stateFolder: folder, log: silentLog() });
    onTestFinished(() => engine.close());
    const queue = engine.openQueue('lookups-test');
    onTestFinished(() => queue.close());
    const worker = engine.openWorker('lookups-test', async () => undefined, 1);
    onTestFinished(() => worker.close());
    await worker.waitUntilReady();
    const shown = [{ queue, title: 'Lookups', description: 'chunks' }];
    const served = await startDashboard({
      openBoard: async () => createQueueBoard(shown, (reason) => expect.unreachable(reason)),
    });
    const { page, complaints, requests } = await openWatchedPage(browser);
    onTestFinished(() => page.context().close());
    await page.goto(`${served.url}?token=${LINK_TOKEN}&name=Ada`);
    for (const viewport of [
      { width: 1_280, height: 900 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(viewport);
      await page.getByRole('link', { name: 'Queue', exact: true }).click();
      await page.getByText('Lookups').first().waitFor();
      await page.goto(`${served.url}queue/queue/lookups-test`);
      await page.getByText('No latest jobs').waitFor();
      await page.keyboard.press('Tab');
      const focused = await page.evaluate<string>('document.activeElement.textContent');
      expect(focused).toBe('← Back to the dashboard');
      // Its phone layout has no such button; the dashboard itself lists workers too.
      if (viewport.width > 600) {
        await page.getByRole('button', { name: 'Queue info' }).click();
        await page.getByText('Connected workers').click();
        await page.getByText(`${hostname()}, process ${process.pid}`).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      await page.getByRole('link', { name: 'Back to the dashboard' }).click();
      await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
      expect(page.url()).toBe(served.url);
    }
    expect(complaints).toEqual([]);
    expect(requests.filter((each) => !each.startsWith(served.url))).toEqual([]);
  });
});
