/** A file is sent to a real `up`: what the service bills is what the plan said. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeXlsx } from 'hucre/xlsx';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createInboxScene, type InboxScene } from '../jobs/inbox-scene.js';
import { expectReadable, keepPicture, PHONE } from '../support/accessibility.js';
import { chromiumOfFile, hasChromium, NEEDS_CHROMIUM } from '../support/chromium.js';
import { quickEngine } from '../support/engines.js';
import { cell, row } from '../support/hostile-files.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { domainList } from '../support/scene.js';
import { workbookOf } from '../support/workbooks.js';
import { expectPaidOnce } from './commands.js';
import { plain, signIn } from './person.js';
import { dashboardUrl, signInOn, startUpHere } from './start-up.js';

async function startWithUploads(config: object = {}, changes: Parameters<typeof createInboxScene>[1] = {}) {
  const scene = await createInboxScene(await quickEngine(), changes);
  const up = await startUpHere(scene, config);
  return { scene, up, url: dashboardUrl(up) };
}

/** The number beside the button. */
function requestsOf(page: string): number {
  const shown = />Start<.*?at most ([\d,]+) paid lookups/s.exec(page)?.[1];
  if (shown === undefined) throw new Error(`no plan in: ${page}`);
  return Number(shown.replaceAll(',', ''));
}

const sheetRow = (...texts: string[]) => row(...texts.map(cell));

/** Nobody can say whether these are coins or stocks. */
const DOUBTFUL = 'no,symbol,note\n1,META,x\n2,LINK,y\n3,ETH,z\n4,DASH,z\n5,LINK,z\n';

async function doneFile(scene: InboxScene, count: number, name: string): Promise<string> {
  const folders = await scene.until('done', count);
  return join(folders.find((folder) => folder.includes(name.replace(/\..*/, ''))) ?? '', name);
}

it('a workbook and a CSV with a doubtful column come back enriched for what their plans said', async () => {
  const { scene, url, up } = await startWithUploads();
  const { billed, requests } = scene.service.meter;
  expect([billed, requests.length]).toEqual([0, 0]);
  const { get, send, press } = await signIn(url);

  const rows = domainList(30)
    .trimEnd()
    .split('\n')
    .map((line) => sheetRow(...line.split(',')));
  rows.push(sheetRow('brand-00001.com', 'twice'), sheetRow('10.0.0.1', 'no domain'));
  const path = await send('Kunden März.xlsx', await workbookOf(rows.join('')));
  expect(await scene.list('inbox')).toEqual([]);
  const page = await get(path);
  for (const words of [
    '32 rows, 30 domains',
    '<bdi>website</bdi></button><span class="meaning">looked up: domains</span>',
    'The quota is known after the first lookup',
    'Identifiers come from column &quot;website&quot; as domain',
    'brand-00005.com',
    'an IP address, not a domain name',
    'Excel, sheet',
  ])
    expect(page).toContain(words);
  expect(requestsOf(page)).toBe(30);
  expect(scene.service.meter.requests).toEqual([]);
  const started = await press(page, 'Start');
  expect([started.status, started.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/files\/j-[0-9a-f]{16}$/),
  ]);
  const workbook = await doneFile(scene, 1, 'Kunden März.xlsx');
  expect((await readFile(workbook)).subarray(0, 2).toString()).toBe('PK');
  expect(scene.service.meter.billed).toBe(30);
  expect(await readdir(scene.path('.drafts'))).toEqual([]);

  const doubtful = await send('list.csv', DOUBTFUL);
  const asked = await get(doubtful);
  expect(asked).toContain('A symbol may be a ticker or a coin');
  expect(asked).not.toContain('>Start');
  const [, link = ''] =
    /<a class="tall" href="([^"]+)">Companies from symbol \(crypto symbols\)<\/a>/.exec(asked) ?? [];
  const chosen = await get(plain(link));
  expect(chosen).toContain('5 rows, 4 crypto symbols');
  const planned = requestsOf(chosen);
  expect(planned).toBe(4);
  expect(scene.service.meter.billed).toBe(30);
  expect((await press(chosen, 'Start')).status).toBe(303);
  const list = await doneFile(scene, 2, 'list.enriched.csv');
  const statuses = countStatuses(await readRows(list));
  expect((statuses.matched ?? 0) + (statuses.not_found ?? 0)).toBe(5);
  expectPaidOnce(scene.service.meter, 30 + planned);
  for (const { identifier } of scene.service.meter.requests.slice(30)) expect(identifier).toMatch(/^crypto/);

  // What is stored costs nothing.
  expect(await get(await send('again.csv', domainList(31)))).toContain('at most 1 paid lookup.');
  expect(up.said).toMatch(/"by":"Ada".*"subject":"list.csv"/);
});

it('says what has to wait where quota and budget do not cover the file, and costs no more than that', async () => {
  const money = { plan: 'paid', overageBudget: 1, overagePrice: 0.1, currency: 'EUR', rate: 40 };
  const account = { plan: 'paid', quota: 10, overageTenths: 1_000 } as const;
  const { scene, url } = await startWithUploads({ quota: 10, ...money }, account);
  const { get, send, press } = await signIn(url);
  const page = await get(await send('list.csv', domainList(25)));
  expect(page).toContain(
    '>Start</button> <output class="muted" data-most="20">at most 20 paid lookups now and 5 more when quota or budget allow them, at most 1.00\u00a0EUR extra cost<',
  );
  expect(page).toContain('about 1 s<span class="below">at 40 a second</span>');
  expect(page).toContain('Quota and budget do not cover 5 lookups. The file will wait');
  expect((await press(page, 'Discard')).status).toBe(303);
  expect(await readdir(scene.path('.drafts'))).toEqual([]);
  expect(scene.service.meter.requests).toEqual([]);

  const again = await get(await send('list.csv', domainList(25)));
  expect((await press(again, 'Start')).status).toBe(303);
  await expect.poll(() => scene.service.meter.billed, { timeout: 20_000 }).toBe(20);
  const [waiting = ''] = await scene.until('waiting', 1);
  expect(JSON.parse(await readFile(join(waiting, 'list.csv.json'), 'utf8'))).toEqual({ maxCost: '1' });
});

it('says in sentences why a file cannot be read, and how else to read it', async () => {
  const { scene, url } = await startWithUploads();
  const { get, send } = await signIn(url);
  const pageOf = async (name: string, content: string | Buffer) => {
    const path = await send(name, content);
    return { path, page: await get(path) };
  };
  const old = await pageOf('old.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex'));
  expect(old.page).toContain('old.xls is an old Office file');
  expect(old.page).toContain('save it as an Excel workbook');
  expect(old.page).not.toContain('Read it differently');
  const names = await pageOf('names.csv', 'company,city\nAcme,Berlin\nBeta,Paris\n');
  expect(names.page).toContain('Company names cannot be looked up');
  expect(names.page).toContain('<option value="position:2">2. city · Berlin · Paris</option>');
  const bare = await pageOf('export', 'acme.com\nbeta.com\ndelta.com\n');
  expect(bare.page).toContain('<dt>First row</dt><dd>data</dd>');
  const variants = await pageOf('two.csv', 'site1,site2\nacme.com,store.com\nbeta.com,gamma.com\n');
  expect(variants.page).toContain('where it has none, from');
  expect(variants.page).toContain('at most 2 paid lookups');
  expect((await pageOf('empty.csv', '')).page).toContain('The input has no records: empty.csv.');

  const sheets = [
    { name: 'Notes', rows: [['to do'], ['call Anna']] },
    { name: 'Kunden', rows: [['website'], ['acme.com'], ['beta.com']] },
  ];
  const book = await pageOf('book.xlsx', Buffer.from((await writeXlsx({ sheets })) as Uint8Array));
  expect(book.page).toContain('2 rows, 2 domains: at most 2 paid lookups.');
  expect(book.page).toContain('<dt>Sheet</dt><dd><bdi>Kunden</bdi></dd>');
  expect(book.page).toContain('The first sheet has no identifiers: reading sheet');
  expect(book.page).toContain('<option value="Kunden">Kunden</option>');
  const second = await get(`${book.path}?sheet=Kunden&pick=&kind=&skipLines=`);
  expect(second).toContain('2 rows, 2 domains: at most 2 paid lookups.');
  expect(second).toContain('<option value="Kunden" selected="">Kunden</option>');
  expect(await get(`${book.path}?sheet=Kunden&pick=position%3A1&kind=isin`)).toContain(
    'Most values of this column cannot be ISINs',
  );
  expect(await get(`${book.path}?sheet=Kunden&skipLines=many`)).toContain('is not a');

  await scene.write('brand-enrich.json', '{"colum": "website"}');
  const closed = await get((await pageOf('later.csv', domainList(3))).path);
  expect(closed).toContain('Did you mean column?<');
  expect(closed).not.toContain('>Start');
  for (const page of [old.page, names.page, bare.page, book.page, closed])
    expect(page).not.toContain('/.drafts/');
  expect(await scene.list('inbox')).toEqual([]);
  expect(scene.service.meter.requests).toEqual([]);
});

describe.skipIf(!hasChromium())(NEEDS_CHROMIUM, () => {
  const openPage = chromiumOfFile();

  /** Presses Tab until this element has the focus. */
  async function tabTo(page: Page, name: string): Promise<void> {
    const focused = () =>
      page.evaluate<string>(
        "(document.activeElement?.textContent || document.activeElement?.id || '').trim()",
      );
    for (let presses = 0; presses < 60; presses += 1) {
      if ((await focused()).startsWith(name)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`the keyboard does not reach ${name}`);
  }

  it('by keyboard alone: choose a file, see the plan, choose the column, start', async () => {
    const { scene, url } = await startWithUploads();
    const file = await scene.write('doubtful.csv', DOUBTFUL);
    const { page, complaints, requests } = await openPage();
    const chosen = new Promise<void>((resolve, reject) => {
      page.on('filechooser', (chooser) => chooser.setFiles(file).then(resolve, reject));
    });
    await signInOn(page, url);
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    await tabTo(page, 'upload-file');
    await page.keyboard.press('Enter');
    await chosen;
    await page.getByRole('heading', { name: 'doubtful.csv' }).waitFor();
    await expectReadable(page);
    await tabTo(page, 'Companies from symbol (tickers)');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'What it costs' }).waitFor();
    await expectReadable(page);
    await keepPicture(page, 'plan');
    expect(scene.service.meter.requests).toEqual([]);
    const beside = page.locator('.start output');
    expect(await beside.textContent()).toBe('at most 4 paid lookups');
    await tabTo(page, 'run-maxRequests');
    await page.keyboard.type('3');
    expect(await beside.textContent()).toBe('at most 3 paid lookups, by its cap');
    // It shows the plan anew: no key but that of the button buys.
    await page.keyboard.press('Enter');
    await page.waitForURL(/maxRequests=3/);
    await tabTo(page, 'run-maxRequests');
    await page.keyboard.press('Delete');
    await page.getByLabel('What it holds').selectOption('isin');
    expect(await beside.textContent()).toBe('shows the changed plan first');
    await page.getByLabel('What it holds').selectOption('ticker');
    expect(await scene.list('inbox')).toEqual([]);
    await tabTo(page, 'Start');
    await page.keyboard.press('Enter');
    await page.getByText('doubtful.csv is started: at most 4 paid lookups.').waitFor();
    await scene.until('done', 1);
    expect(scene.service.meter.billed).toBe(4);
    expect(complaints).toEqual([]);
    expect(requests.filter((address) => !address.startsWith(url))).toEqual([]);
  });

  it('by keyboard on a narrow page: choose fields for columns, see the counts, start', async () => {
    const { scene, url } = await startWithUploads();
    const file = await scene.write('own.csv', 'website,Land,Firma\nbrand-00001.com,,\nbrand-00002.com,XX,\n');
    const { page, complaints } = await openPage({ viewport: PHONE });
    await signInOn(page, url);
    await page.getByLabel('or choose files').setInputFiles(file);
    await page.getByRole('heading', { name: 'What it costs' }).waitFor();
    const land = page.getByLabel('Land', { exact: true });
    expect(await land.isVisible()).toBe(false);
    await tabTo(page, 'Choose a field of the brand');
    await page.keyboard.press('Enter');
    await expectReadable(page);
    expect(await page.getByLabel('website', { exact: true }).count()).toBe(0);
    await tabTo(page, 'nothing');
    await page.keyboard.type('country');
    expect(await land.inputValue()).toBe('Land=country');
    await tabTo(page, 'run-fill-over');
    await page.keyboard.press('Space');
    await tabTo(page, 'Update the plan');
    await page.keyboard.press('Enter');
    await page.waitForURL(/fill=Land%3Dcountry.*fill-over=1/);
    await page.getByText('0 filled, 0 agree, 0 differ').waitFor();
    await expectReadable(page);
    await tabTo(page, 'Choose a field of the brand');
    await page.keyboard.press('Enter');
    await keepPicture(page, 'fill');
    expect([await land.inputValue(), await page.getByLabel('Also where').isChecked()]).toEqual([
      'Land=country',
      true,
    ]);
    expect(scene.service.meter.requests).toEqual([]);
    await tabTo(page, 'Start');
    await page.keyboard.press('Enter');
    await page.getByText('own.csv is started').waitFor();
    const rows = await readRows(await doneFile(scene, 1, 'own.enriched.csv'));
    expect(rows).toHaveLength(2);
    for (const { Land, Firma, brand_country } of rows) expect([Land, Firma]).toEqual([brand_country, '']);
    expect(complaints).toEqual([]);
    expectPaidOnce(scene.service.meter, 2);
  });
});
