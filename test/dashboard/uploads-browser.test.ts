/** Sending a file from the page in a real browser: dropped, refused, cut off, without script. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createFileFinder } from '../../src/jobs/find-files.js';
import { createUploads } from '../../src/jobs/uploads.js';
import { LONG } from '../e2e/commands.js';
import { chromiumOfFile, hasChromium, NEEDS_CHROMIUM } from '../support/chromium.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { LINK_TOKEN, startDashboard, uploadPages } from './served.js';
import { dashboardView } from './views.js';

/** Drags files over the page and drops them, as their names and texts say. */
const DROP = `(files) => {
  const dataTransfer = new DataTransfer();
  for (const [name, text] of files) dataTransfer.items.add(new File([text], name));
  for (const type of ['dragenter', 'dragover', 'drop'])
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
}`;

describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, () => {
  const openPage = chromiumOfFile();

  async function open(options: BrowserContextOptions = {}) {
    const folder = await temporaryFolder();
    const roots = ['customers', 'securities'].map((name) => join(folder, name));
    for (const root of roots) await mkdir(join(root, 'inbox'), { recursive: true });
    const uploads = createUploads(roots, { now: () => Date.now() });
    const served = await startDashboard({
      addPages: uploadPages(uploads),
      view: dashboardView({ uploads: { roots, received: [] } }),
    });
    const { page } = await openPage(options);
    // There is no plan in this test.
    await page.route('**/files/*', (route) =>
      route.request().method() === 'GET' ? route.fulfill({ body: 'OPENED' }) : route.continue(),
    );
    await page.goto(`${served.url}?token=${LINK_TOKEN}&name=Ada`);
    return { page, drafts: createFileFinder(roots).listDrafts, roots };
  }

  const drop = (page: Page, files: readonly (readonly [string, string])[]) =>
    page.evaluate(`(${DROP})(${JSON.stringify(files)})`);

  it('says why a dropped file is refused; another goes to the chosen inbox', LONG, async () => {
    const { page, drafts, roots } = await open();
    await page.getByLabel('Inbox', { exact: true }).selectOption('1');
    const alert = page.getByRole('alert');
    await drop(page, [['list.csv.part', 'x']]);
    await expect.poll(() => alert.textContent()).toContain('rename the file');
    await page.route('**/uploads/check?*', (route) => route.abort());
    await drop(page, [['list.csv', 'x']]);
    await expect.poll(() => alert.textContent()).toContain('The connection was lost');
    await page.unroute('**/uploads/check?*');
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await drop(page, [['list.csv', 'x']]);
    await expect.poll(() => alert.textContent()).toContain('Your session has ended');
    await page.context().addCookies(cookies);
    await page.route('**/uploads?*', (route) => route.abort());
    await drop(page, [['list.csv', 'x']]);
    await expect.poll(() => alert.textContent()).toContain('The connection was lost');
    expect(await drafts()).toEqual([]);
    await page.unroute('**/uploads?*');
    await drop(page, [['Kunden März.csv', 'website\nacme.com\n']]);
    await page.getByText('OPENED').waitFor();
    const [upload] = await drafts();
    expect(upload).toMatchObject({ file: 'Kunden März.csv', root: roots[1], size: 17 });
    expect(page.url()).toContain(`/files/${upload?.id}`);
  });

  it('sends several files, and goes on to their list; one that is refused stops none', LONG, async () => {
    const { page, drafts } = await open();
    const names = async () => (await drafts()).map(({ file }) => file);
    await drop(page, [
      ['a.csv', 'x'],
      ['b.csv.part', 'y'],
      ['c.csv', 'z'],
    ]);
    const alert = page.getByRole('alert');
    await expect.poll(() => alert.textContent()).toMatch(/^b\.csv\.part: .*rename the file/);
    expect(await names()).toEqual(['c.csv', 'a.csv']);
    await page.evaluate('window.isOld = true');
    await page
      .getByLabel('or choose files')
      .setInputFiles(
        ['d.csv', 'e.csv'].map((name) => ({ name, mimeType: 'text/csv', buffer: Buffer.from('x') })),
      );
    await expect.poll(() => page.evaluate('window.isOld ?? false')).toBe(false);
    expect(page.url()).toMatch(/\/#sent$/);
    expect(await names()).toEqual(['e.csv', 'd.csv', 'c.csv', 'a.csv']);
  });

  it('says without JavaScript where else to put the file', LONG, async () => {
    const { page, roots } = await open({ javaScriptEnabled: false });
    expect(await page.locator('#upload').isVisible()).toBe(false);
    expect(await page.locator('#upload + noscript p').textContent()).toContain(
      `needs JavaScript. Without it, put the file into ${roots[0]}/inbox`,
    );
  });
});
