/** The pictures of the README that show the sample data. Needs Chromium and `script`. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'csv-parse/sync';
import type { Browser } from 'playwright-core';
import { launchChromium } from './chromium.js';
import { CLI, startCli } from './cli.js';
import { freePort } from './free-port.js';
import { recordTerminal } from './terminal-recording.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
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
    const terminal = await recordTerminal(line, 'brand-enrich run customers.csv --sample', work);
    await writeFile(join(folder, 'run.svg'), terminal);
    await pictureReport(browser, work, join(folder, 'report.jpg'));
    await pictureDashboard(browser, work, join(folder, 'dashboard.jpg'));
  } finally {
    await browser.close();
    await rm(work, { recursive: true, force: true });
  }
}

const SHOWN = ['IKEA Deutschland', 'The LEGO Group', 'Apple'];

/** Three rows before and after, and below them the page that came of the whole file. */
async function pictureReport(browser: Browser, work: string, path: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1_152, height: 560 } });
  await page.goto(pathToFileURL(join(work, 'customers.report.html')).href);
  const report = (await page.screenshot()).toString('base64');
  await page.close();
  const enriched = await readFile(join(work, 'customers.enriched.csv'), 'utf8');
  const rows = parse<Record<string, string>>(enriched, { columns: true });
  const lines = rows.filter(({ company = '' }) => SHOWN.includes(company));
  const cells = (row: Record<string, string>) => `
    <tr><td>${row.company}<td>${row.website}<td class="to">→
    <td><i style="background:${row.brand_color}"></i><b>${row.brand_name}</b>
    <td>${row.brand_industry}<td>${row.brand_country}<td>${row.brand_quality_score}`;
  // Another page: the report's policy would forbid its style.
  const both = await browser.newPage({ viewport: { width: 1_200, height: 800 } });
  await both.setContent(`<style>
    body{margin:0;background:#e9edf2;font:15px system-ui,sans-serif;padding:24px}
    table{width:1152px;background:#fff;border-radius:8px;border-spacing:0;padding:8px 6px;margin-bottom:20px}
    th{text-align:left;font-weight:500;color:#5b6673;padding:6px 14px}td{padding:7px 14px}
    i{display:inline-block;width:20px;height:20px;border-radius:5px;vertical-align:-4px;margin-right:10px}
    .to{color:#0f7b6c;font-size:20px}img{width:1152px;border-radius:8px;display:block}
  </style><table><tr><th>company<th>website<th><th>brand<th>industry<th>country<th>score
  ${lines.map(cells).join('')}</table><img src="data:image/png;base64,${report}">`);
  await both.screenshot({ path, quality: 80 });
  await both.close();
}

/** With a file under way. */
async function pictureDashboard(browser: Browser, work: string, path: string): Promise<void> {
  const port = await freePort();
  const args = 'up --sample --inbox box --rate 3 --state state-up --settle 200ms'.split(' ');
  const ports = ['--dashboard-port', `${port}`, '--metrics-port', `${await freePort()}`];
  const password = 'picture-of-a-page';
  const up = startCli([...args, ...ports], { cwd: work, env: { BRAND_ENRICH_DASHBOARD_PASSWORD: password } });
  try {
    await up.untilSaid(/serving the dashboard|dashboard/i);
    const authorization = `Basic ${Buffer.from(`Ada:${password}`).toString('base64')}`;
    const page = await browser.newPage({
      viewport: { width: 1_280, height: 760 },
      extraHTTPHeaders: { authorization },
    });
    await page.goto(`http://127.0.0.1:${port}/`);
    await copyFile(SAMPLE, join(work, 'box/inbox', 'customers.csv'));
    await page.getByText('customers.csv').first().waitFor();
    await page
      .getByText(/^1\d matched$/)
      .first()
      .waitFor();
    // Neither this machine's name nor its folders belong into a picture.
    await page.evaluate(`
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode())
        texts.currentNode.data = texts.currentNode.data
          .replaceAll(${JSON.stringify(join(work, 'box'))}, '/data/brands')
          .replace(/\\b${hostname()}\\b/g, 'etl-1');
    `);
    await page.screenshot({ path, quality: 80 });
    await page.close();
  } finally {
    up.kill('SIGTERM');
    await up.done;
  }
}
