/** The pictures of the README that show the sample data. Needs Chromium and `script`. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchChromium } from './chromium.js';
import { startCli } from './cli.js';
import { freePort } from './free-port.js';
import { recordTerminal } from './terminal-recording.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLI = join(ROOT, 'dist/src/cli.js');
const SAMPLE = join(ROOT, 'fixtures/customers.csv');
/** Slow enough to be seen. */
const RATE = '15';

export async function makePictures(folder: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'brand-enrich-pictures-'));
  const browser = await launchChromium();
  try {
    await mkdir(folder, { recursive: true });
    await copyFile(SAMPLE, join(work, 'customers.csv'));
    const quoted = (text: string) => `'${text}'`;
    const run = `run customers.csv --sample --rate ${RATE} --state state`;
    const line = `${quoted(process.execPath)} ${quoted(CLI)} ${run}`;
    const terminal = await recordTerminal(line, 'brand-enrich run customers.csv', work);
    await writeFile(join(folder, 'run.svg'), terminal);
    await pictureReport(browser, work, join(folder, 'report.jpg'));
    await pictureDashboard(browser, work, join(folder, 'dashboard.jpg'));
  } finally {
    await browser.close();
    await rm(work, { recursive: true, force: true });
  }
}

/** The first lines of the file, and the page that came of them. */
async function pictureReport(browser: Browser, work: string, path: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1_000, height: 734 } });
  await page.goto(pathToFileURL(join(work, 'customers.report.html')).href);
  const report = (await page.screenshot()).toString('base64');
  const lines = (await readFile(SAMPLE, 'utf8')).split('\n').slice(0, 21);
  const text = lines.join('\n').replace(/[&<]/g, (each) => `&#${each.charCodeAt(0)};`);
  await page.close();
  // Another page: the report's policy would forbid its style.
  const both = await browser.newPage({ viewport: { width: 1_200, height: 560 } });
  await both.setContent(`<style>
    body{margin:0;background:#e9edf2;font:12px ui-monospace,Menlo,Consolas,monospace;display:flex;gap:18px;padding:24px}
    pre{margin:0;width:340px;height:512px;overflow:hidden;background:#fff;border-radius:8px;padding:14px;box-sizing:border-box;line-height:1.9}
    b{font-family:system-ui,sans-serif;font-size:26px;align-self:center;color:#0f7b6c}
    img{width:752px;border-radius:8px;height:512px;object-fit:cover;object-position:top}
  </style><pre>${text}</pre><b>→</b><img src="data:image/png;base64,${report}">`);
  await both.screenshot({ path, quality: 80 });
  await both.close();
}

/** With a file under way. */
async function pictureDashboard(browser: Browser, work: string, path: string): Promise<void> {
  const port = await freePort();
  const args = ['up', '--sample', '--inbox', '.', '--rate', '6', '--state', 'state-up', '--settle', '200ms'];
  const ports = ['--dashboard-port', `${port}`, '--metrics-port', `${await freePort()}`];
  const password = 'picture-of-a-page';
  const up = startCli([...args, ...ports], {
    cwd: work,
    env: { BRAND_ENRICH_DASHBOARD_PASSWORD: password },
  });
  try {
    await up.untilSaid(/serving the dashboard|dashboard/i);
    const authorization = `Basic ${Buffer.from(`Ada:${password}`).toString('base64')}`;
    const page = await browser.newPage({
      viewport: { width: 1_280, height: 760 },
      extraHTTPHeaders: { authorization },
    });
    await page.goto(`http://127.0.0.1:${port}/`);
    await copyFile(SAMPLE, join(work, 'inbox', 'customers.csv'));
    await page.getByText('customers.csv').first().waitFor();
    await page
      .getByText(/matched/i)
      .first()
      .waitFor();
    await page.waitForTimeout(5_000);
    // Neither this machine's name nor its folders belong into a picture.
    await page.evaluate(`
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode())
        texts.currentNode.data = texts.currentNode.data
          .replaceAll(${JSON.stringify(work)}, '/data/brands')
          .replace(/\\b${hostname()}\\b/g, 'etl-1');
    `);
    await page.screenshot({ path, quality: 80 });
    await page.close();
  } finally {
    up.kill('SIGTERM');
    await up.done;
  }
}
