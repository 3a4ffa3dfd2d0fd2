/** Run page and file page in a real browser: legible, without barriers, and used by keyboard. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileActions } from '../../src/dashboard/file-actions.js';
import { addFileRoutes } from '../../src/dashboard/file-routes.js';
import type { DashboardData } from '../../src/dashboard/gather-dashboard.js';
import { createFileLook, createRunLook } from '../../src/dashboard/look-at-run.js';
import { runActions } from '../../src/dashboard/run-actions.js';
import { packProfile } from '../../src/engine/stores/profile-codec.js';
import { createFileFinder } from '../../src/jobs/find-files.js';
import { openFolders } from '../../src/jobs/inbox-folders.js';
import { putJob } from '../jobs/watcher-folders.js';
import { lookEverywhere } from '../support/accessibility.js';
import { chromiumOfFile, hasChromium, NEEDS_CHROMIUM } from '../support/chromium.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { LINK_TOKEN, NO_CAPS, ROUTES, startDashboard } from './served.js';
import { dashboardData, dashboardView, NOW, runRecord } from './views.js';

const DONE = 'newsletter subscribers (Q4)';
const FAILED = 'list-2026-11-20T11-22-47Z';
const CAPPED = 'capped-2026-11-20T11-22-50Z';
const MATCHED = ['domain:acme.com', 'domain:beta.com', 'ticker:GAMMA'];
const PROFILE = { name: 'Acme "Inc."', qualityScore: 0.7, colors: [{ hex: '#12806e', type: 'accent' }] };
const BRAND = { packed: packProfile(Buffer.from(JSON.stringify(PROFILE))) };

/** A dashboard with a paused run, one with files, and a failed file; `show` changes its data. */
async function serve() {
  const { root, done, failed, processing, waiting } = await openFolders(await temporaryFolder());
  const parkedFor = (why: 'tried' | 'limit', capMark: string | null) => {
    return { parked: { at: NOW, since: NOW, state: { why, capMark } } };
  };
  const job = join(done, `${DONE}-2026-11-20T10-30-00Z`);
  const run = 'r-20261120-000002';
  const ofDone = 'j-00000000000000a4';
  await putJob(job, { file: `${DONE}.csv`, id: ofDone, run });
  const withJob = (all: DashboardData['runs']) =>
    all.map((each) => (each.id === run ? { ...each, job: ofDone } : each));
  for (const name of ['report.json', 'enriched.csv', 'report.html'])
    await writeFile(join(job, `${DONE}.${name}`), 'x');
  const reason = { headline: 'The column is missing.', details: 'What to do: name another.' };
  await putJob(join(failed, FAILED), { id: 'j-0000000000000001', reason });
  const fresh = { file: 'new.csv', id: 'j-00000000000000a1' };
  await putJob(join(processing, 'one', 'new-2026-11-20T11-22-48Z'), fresh);
  const tried = { file: 'tried.csv', id: 'j-00000000000000a2', run: 'r-tried', ...parkedFor('tried', null) };
  await putJob(join(waiting, 'tried-2026-11-20T11-22-49Z'), tried);
  const capped = { file: 'capped.csv', id: 'j-00000000000000a3', ...parkedFor('limit', '4') };
  await putJob(join(waiting, CAPPED), capped);
  const read = async () => ({ maxRequests: { own: '4', most: '100' }, maxCost: { own: null, most: null } });
  const caps = { ...NO_CAPS, read };
  const { runs, inboxes: places } = dashboardData();
  const triedRun = runRecord({
    id: 'r-tried',
    job: 'j-00000000000000a2',
    label: { host: 'etl-1', name: 'tried.csv' },
    status: 'stopped',
    stop: { type: 'declined' },
    tally: { matched: 17, notFound: 3, requests: 20, billed: 20 },
  });
  const order = { by: 'ada', at: 1 };
  const paused = runRecord({ id: 'r-paused', paused: order, tally: { matched: 610, billed: 610 } });
  const finder = createFileFinder([root]);
  let data = dashboardData({
    runs: [paused, triedRun, ...withJob(runs)],
    inboxes: places.map((each) => ({ ...each, folder: root })),
    failed: await finder.listFailed(),
  });
  const look = async () => dashboardView({ data });
  const engine = {
    runs: { get: async () => null, pause: async () => 'done', resume: async () => true },
    ledger: { show: async () => data.ledger },
    keyValues: { list: async () => [{ name: 'r-tried', text: JSON.stringify(MATCHED), ageMs: 0 }] },
    outcomes: { read: async (keys: readonly string[]) => keys.map(() => BRAND) },
  } as never;
  const lookAtRun = createRunLook({ engine, look, finder });
  const terms = { overagePrice: '0.1', currency: 'EUR' };
  const lookAtFile = createFileLook(finder, lookAtRun, () => undefined);
  const parts = { ...ROUTES, engine, look, lookAtRun, lookAtFile, finder, caps, terms };
  const served = await startDashboard({
    view: await look(),
    actions: [...runActions({ ...parts, look, readRun: async () => null }), ...fileActions(parts)],
    addPages: (app) => addFileRoutes(app, parts),
  });
  const show = (parts: Partial<DashboardData>) => {
    data = { ...data, ...parts, runs: withJob(parts.runs ?? data.runs) };
    served.show(dashboardView({ data }));
  };
  return { served, show, job };
}

describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, () => {
  const openPage = chromiumOfFile();

  it('the pages are legible, without barriers, and ask no other host', { tags: ['long'] }, async () => {
    const { served } = await serve();
    const { page, complaints, requests } = await openPage();
    await page.goto(`${served.url}?token=${LINK_TOKEN}&name=Ada`);
    const runs = ['r-tried', 'r-paused', 'r-20261120-000002', 'r-20261120-000003', 'r-none'];
    const files = ['j-00000000000000a1', 'j-0000000000000001', 'j-00000000000000a3'];
    for (const path of ['', ...files.map((id) => `files/${id}`), ...runs.map((id) => `runs/${id}`)]) {
      await page.goto(served.url + path);
      await lookEverywhere(page, `run-${path.replaceAll('/', '-')}`);
    }
    // The browser itself notes that the last page was not found.
    expect(complaints.filter((each) => !each.includes('404'))).toEqual([]);
    expect(requests.filter((address) => !address.startsWith(served.url))).toEqual([]);
  });

  it('a run is resumed by keyboard, a file is downloaded, and the page renews itself', async () => {
    const { served, show, job } = await serve();
    const { page, complaints } = await openPage({ acceptDownloads: true });
    await page.goto(`${served.url}?token=${LINK_TOKEN}&name=Ada`);
    await page.getByRole('link', { name: 'customers.csv', exact: true }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'customers.csv' }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('790 companies are left.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('customers.csv is resumed').waitFor();

    await page.clock.install();
    await page.goto(`${served.url}runs/r-tried`);
    await page.getByRole('button', { name: 'Look up the rest' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('1,380 companies are left.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Queued: it starts as soon as there is room.').waitFor();
    await page.clock.runFor(15_000);
    await page.getByRole('status').waitFor({ state: 'detached' });

    await page.goto(`${served.url}runs/r-paused`);
    show({ runs: [runRecord({ id: 'r-paused', tally: { matched: 1_400, billed: 1_400 } })] });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText('All of its 1,400 companies are done.').waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();

    const wrong = { notFound: 20, requests: 20, billed: 20 };
    show({ runs: [runRecord({ id: 'r-paused', tally: wrong })] });
    await page.goto(served.url);
    await page.getByText(': 0 of 20 found. Is the column right?').waitFor();
    await page.getByRole('button', { name: 'Pause customers.csv' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('customers.csv is paused').waitFor();

    show(dashboardData());
    await page.goto(`${served.url}runs/r-20261120-000002`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Enriched rows' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${DONE}.enriched.csv`);
    const saved = await readFile(await download.path());
    expect(saved.equals(await readFile(join(job, `${DONE}.enriched.csv`)))).toBe(true);
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Report', exact: true }).click();
    expect((await opened).url()).toContain('.report.html');
    expect(complaints).toEqual([]);
  });
});
