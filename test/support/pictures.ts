/** The pictures of the README, made from the sample data. Needs Chromium and `script`. */
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
    await writeFile(join(folder, 'row.svg'), rowDiagram());
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

const STEPS = [
  ['customers.csv', 'your file'],
  ['identify', 'cell → identifier'],
  ['claim', 'stored? being asked?'],
  ['permit', 'quota, budget, pace'],
  ['request', 'one, with its usage'],
  ['record', 'on disk, then settled'],
  ['enriched.csv', 'ranked, every row'],
] as const;

/** Where a row leaves the way. */
const EXITS: readonly (readonly [step: number, words: string])[] = [
  [1, 'invalid · skipped'],
  [2, 'stored: free'],
  [3, 'deferred'],
  [4, 'not found · failed'],
];

function rowDiagram(): string {
  const [width, gap, tall] = [150, 18, 64];
  const whole = STEPS.length * (width + gap) + gap;
  const boxes = STEPS.map(([name, words], at) => {
    const x = gap + at * (width + gap);
    const arrow = at === 0 ? '' : `<path d="M${x - gap} 66h${gap - 5}" marker-end="url(#a)"/>`;
    return `${arrow}<rect x="${x}" y="34" width="${width}" height="${tall}" rx="8"/><text class="n" x="${x + width / 2}" y="62">${name}</text><text class="w" x="${x + width / 2}" y="82">${words}</text>`;
  });
  const exits = EXITS.map(([step, words]) => {
    const x = gap + step * (width + gap) + width / 2;
    return `<path d="M${x} 98v28" marker-end="url(#a)"/><text class="w" x="${x}" y="148">${words}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${whole} 168" role="img" aria-label="The way of a row: ${STEPS.map(([name]) => name).join(', ')}">
<style>svg{background:#fff}rect{fill:#f2f7f6;stroke:#0f7b6c}path{stroke:#57606a;fill:none}text{font-family:system-ui,-apple-system,sans-serif;text-anchor:middle;fill:#1f2328}.n{font-size:15px;font-weight:600}.w{font-size:10.5px;fill:#57606a}</style>
<defs><marker id="a" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" style="fill:#57606a;stroke:none"/></marker></defs>
${[...boxes, ...exits].join('\n')}
</svg>
`;
}
