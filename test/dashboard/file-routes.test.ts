/** Runs and files of inboxes as served: pages, downloads, what is refused, and "Try again". */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { fileActions } from '../../src/dashboard/file-actions.js';
import { addFileRoutes, attachmentOf } from '../../src/dashboard/file-routes.js';
import { createFileLook, createRunLook } from '../../src/dashboard/look-at-run.js';
import { createFileFinder } from '../../src/jobs/find-files.js';
import { openFolders } from '../../src/jobs/inbox-folders.js';
import { derivedId, readRecord, writeRecord } from '../../src/jobs/job-folder.js';
import type { UploadPlan, UploadPlans } from '../../src/jobs/plan-upload.js';
import { putJob } from '../jobs/watcher-folders.js';
import { deferred } from '../support/deferred.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { basic } from './asking.js';
import { NO_CAPS, PASSWORD, ROUTES, startDashboard } from './served.js';
import { dashboardData, dashboardView, NOW, runRecord } from './views.js';

const JOB = 'Kunden März 100%25-2026-11-20T11-22-47Z';

/** A dashboard with one inbox; `get` asks as a program does. */
async function served(
  plan: UploadPlans['plan'] = () => Promise.reject(new Error('no plan in this test')),
  look = async () => dashboardView(),
  expire: () => void = () => undefined,
) {
  const folders = await openFolders(await temporaryFolder());
  const finder = createFileFinder([folders.root]);
  const engine = NO_ORDERS as never;
  const lookAtRun = createRunLook({ engine, look, finder });
  const lookAtFile = createFileLook(finder, lookAtRun, expire);
  const parts = { ...ROUTES, look, lookAtRun, lookAtFile, finder, engine, plans: { ...ROUTES.plans, plan } };
  const dashboard = await startDashboard({
    actions: fileActions(parts),
    addPages: (app) => addFileRoutes(app, parts),
  });
  /** The path goes out as it is: `fetch` would resolve its dots. */
  const get = (path: string, method = 'GET', body = '', more = {}) =>
    new Promise<{ status: number; headers: Record<string, string>; bytes: Buffer; text: string }>(
      (resolve, reject) => {
        const form = method === 'POST' && {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(body),
        };
        const { port } = new URL(dashboard.url);
        const headers = { ...basic(PASSWORD, 'job'), accept: '*/*', ...form, ...more };
        request({ host: '127.0.0.1', port, path, method, headers })
          .on('response', async (answer) => {
            const bytes = await buffer(answer);
            const status = answer.statusCode ?? 0;
            resolve({ status, headers: answer.headers as never, bytes, text: bytes.toString() });
          })
          .on('error', reject)
          .end(body);
      },
    );
  const done = join(folders.done, JOB);
  await mkdir(done);
  const put = (name: string, content: string | Buffer = 'x') => writeFile(join(done, name), content);
  return { folders, dashboard, get, put, done, path: `/files/${derivedId(JOB)}/` };
}

it('a result is a table on the page of its file, by status and page', async () => {
  const { get, put, path } = await served();
  const lines = Array.from({ length: 60 }, (_, at) => `C${at},matched,c${at}.com,<b>${at}`);
  const header = 'company,brand_status,brand_identifier,brand_name';
  await put('x.enriched.csv', [header, ...lines, 'None,not_found,none.com,', ''].join('\n'));
  const rows = { matched: 60, not_found: 1, failed: 0, invalid: 0, skipped: 0, deferred: 0 };
  await put('x.report.json', JSON.stringify({ rows }));
  const page = path.slice(0, -1);
  const first = (await get(page)).text;
  expect(first).toContain('60 of 61 rows have a brand.');
  expect(first).toContain(`<a href="${page}?status=not_found#result">1 not found</a>`);
  expect(first).toContain('&lt;b&gt;0');
  expect(first).not.toContain('C59');
  expect((await get(`${page}?page=2`)).text).toContain('51 to 61 of 61 rows');
  const missing = (await get(`${page}?status=not_found`, 'GET', '', { 'x-renew': '1' })).text;
  expect(missing).not.toContain('<script');
  expect(missing).toContain('None');
  expect(missing).not.toContain('C1<');
});

describe('a download', () => {
  it('is the file byte for byte, under its own name', async () => {
    const { get, put, path, dashboard } = await served();
    const bytes = randomBytes(3_000_000);
    const name = 'Kunden März 100%25 #?&".enriched.csv';
    await put(name, bytes);
    const answer = await get(path + encodeURIComponent(name));
    expect(answer.status).toBe(200);
    expect(answer.bytes.equals(bytes)).toBe(true);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '3000000',
      'content-disposition':
        'attachment; filename="Kunden M_rz 100_25 #?&_.enriched.csv"; filename*=UTF-8\'\'Kunden%20M%C3%A4rz%20100%2525%20%23%3F%26%22.enriched.csv',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const head = await get(path + encodeURIComponent(name), 'HEAD');
    expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([200, 0, '3000000']);
    expect((await get(path.slice(0, -1))).text).toContain(encodeURIComponent(name));
    expect(dashboard.errors).toEqual([]);
  });

  it.skipIf(!existsSync('/proc/self/fd'))('that is broken off leaves no file open', async () => {
    const { put, path, dashboard, done } = await served();
    await put('big.csv', Buffer.alloc(60_000_000));
    const openFiles = async () => {
      const links = await Promise.all(
        (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      );
      return links.filter((each) => each.startsWith(done)).length;
    };
    const stop = new AbortController();
    const asked = { headers: basic(PASSWORD), signal: stop.signal };
    const answer = await fetch(new URL(`${path}big.csv`, dashboard.url), asked);
    await answer.body?.getReader().read();
    expect(await openFiles()).toBe(1);
    stop.abort();
    await expect.poll(openFiles).toBe(0);
    expect(dashboard.errors).toEqual([]);
  });

  it('may be empty, and needs the password', async () => {
    const { get, put, path, dashboard } = await served();
    await put('empty.csv', '');
    expect(await get(`${path}empty.csv`)).toMatchObject({ status: 200, text: '' });
    const answer = await fetch(`${dashboard.url.slice(0, -1)}${path}empty.csv`);
    expect(answer.status).toBe(401);
  });

  it('of a report opens in the browser, where no script runs', async () => {
    const { get, put, path } = await served();
    await put('x.report.html', '<script>alert(1)</script>');
    const { headers, text } = await get(`${path}x.report.html`);
    expect(text).toBe('<script>alert(1)</script>');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-disposition']).toBeUndefined();
    const policy = headers['content-security-policy'] ?? '';
    for (const part of ['default-src', 'script-src', 'form-action', 'frame-ancestors', 'base-uri'])
      expect(policy).toContain(`${part} 'none'`);
    // Any other page is not opened, whoever put it there.
    await put('x.html', '<script>alert(1)</script>');
    expect((await get(`${path}x.html`)).headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringContaining('attachment'),
    });
  });

  it('is refused for what is not a regular file of a folder there', async () => {
    const { get, put, path, done, folders } = await served();
    await put('a.csv');
    const elsewhere = await temporaryFolder();
    await writeFile(join(elsewhere, 'secret.csv'), 'secret');
    await symlink(join(elsewhere, 'secret.csv'), join(done, 'link.csv'));
    await symlink(elsewhere, join(done, 'folder'));
    await symlink(elsewhere, join(folders.done, 'linked'));
    execFileSync('mkfifo', [join(done, 'pipe.csv')]);
    await put('.hidden');
    for (const other of [folders.inbox, join(folders.processing, 'one')]) {
      await mkdir(join(other, 'other'), { recursive: true });
      await writeFile(join(other, 'other', 'a.csv'), 'secret');
    }
    const job = encodeURIComponent(JOB);
    const up = encodeURIComponent('../daemon/');
    for (const wrong of [
      `${path}link.csv`,
      `${path}pipe.csv`,
      `${path}.hidden`,
      `${path}gone.csv`,
      `${path}folder`,
      `${path}folder%2Fsecret.csv`,
      `${path}folder/secret.csv`,
      `/files/${derivedId('linked')}/secret.csv`,
      `${path}..%2F..%2F..%2Fetc%2Fpasswd`,
      `${path}../../../../etc/passwd`,
      `${path}%2e%2e/%2e%2e/a.csv`,
      `${path}${up}${job}%2Fa.csv`,
      `${path}%2Fetc%2Fpasswd`,
      `${path}a.csv%00`,
      `${path}%c3%28`,
      `/files/${up}done/a.csv`,
      `/files/${job}/a.csv`,
      '/files/%2e/a.csv',
      `/files/${derivedId('other')}/a.csv`,
      '/files/__proto__/a.csv',
    ]) {
      const { status, text } = await get(wrong);
      expect([status, text.includes('secret') || text.includes('root:')], wrong).toEqual([404, false]);
    }
    expect((await get(`${path}a.csv`)).status).toBe(200);
    await rm(done, { recursive: true });
    expect((await get(`${path}a.csv`)).status).toBe(404);
  });
});

it('shows a run that is known, and says where to go when it is not', async () => {
  const { get } = await served();
  const job = await get('/runs/j-0123456789abcdef');
  expect([job.status, job.headers.location]).toEqual([302, '/files/j-0123456789abcdef']);
  const page = await get('/runs/r-20261120-000001');
  expect(page.status).toBe(200);
  expect(page.text).toContain('<bdi>customers.csv</bdi>');
  const parts = await get('/runs/r-20261120-000001', 'GET', '', { 'x-renew': '1' });
  expect([parts.status, parts.headers['content-security-policy']]).toEqual([200, "default-src 'none'"]);
  for (const path of ['/runs/r-none', '/runs/..%2f', '/runs/%00']) {
    const missing = await get(path);
    expect([missing.status, missing.text.includes('There is no such run')], path).toEqual([404, true]);
    expect(missing.text).toContain('<a href="/">Back to the dashboard</a>');
  }
});

it('until its run begins, the page of a file says where it is, and keeps its address', async () => {
  const FOLDER = 'list-2026-11-20T11-22-48Z';
  const JOB_ID = 'j-0123456789abcdef';
  const record = { id: JOB_ID, run: null, file: 'list.csv', reason: null, parked: null };
  const { get, folders } = await served();
  const { processing, waiting, done } = folders;
  const path = `/files/${JOB_ID}`;
  expect((await get(path)).status).toBe(404);
  const expectStarting = async (words: string, mark = 'Starting') => {
    const page = await get(path);
    expect([page.status, page.text.includes(`>${mark}<`)]).toEqual([200, true]);
    expect(page.text).toContain('<bdi>list.csv</bdi>');
    expect(page.text).toContain(words);
    expect(page.text).toContain('http-equiv="refresh"');
  };

  const parked = { at: NOW, since: NOW, state: { why: 'again', capMark: null } } as const;
  const queued = join(waiting, FOLDER);
  await putJob(queued, { ...record, parked });
  await expectStarting('as soon as there is room');

  const own = join(processing, 'one', FOLDER);
  await mkdir(join(processing, 'one'));
  await rename(queued, own);
  await writeRecord(own, record);
  await expectStarting('Its file is being read.', 'Reading');

  // Resumed, or ordered to go on: the watcher has not taken it yet.
  await rename(own, queued);
  await writeRecord(queued, { ...record, run: 'r-1', parked });
  await expectStarting('as soon as there is room');

  await rename(queued, join(done, FOLDER));
  await writeRecord(join(done, FOLDER), { ...record, run: 'r-2' });
  expect((await get(path)).text).toContain('>Finished<');
});

const trial = { id: 'r-20261120-8ce9ee49', job: 'j-0123456789abcdef', owner: 'j-0123456789abcdef' };
const tally = { matched: 1, requests: 1, billed: 1 };
const viewOf = (run: Parameters<typeof runRecord>[0]) =>
  dashboardView({ data: dashboardData({ runs: [runRecord({ ...trial, tally, ...run })] }) });
const declined = { status: 'stopped', stop: { type: 'declined' } } as const;

it.each([
  ['by looking at the run anew', viewOf(declined), true],
  ['by its record, if the engine is silent', viewOf({}), false],
])('a file whose record is newer than the state of its run has one state: %s', async (_, later, hasRest) => {
  let view = viewOf({});
  const scene = await served(
    undefined,
    async () => view,
    () => {
      view = later;
    },
  );
  const folder = join(scene.folders.waiting, 'list-2026-11-20T11-22-48Z');
  const parked = { at: NOW, since: NOW, state: { why: 'tried', capMark: null } } as const;
  const reason = {
    headline: 'These were tried first: look at them, then decide about the rest.',
    details: '',
  };
  await putJob(folder, { id: trial.job, run: trial.id, reason, parked });
  const { text } = await scene.get(`/files/${trial.job}`);
  expect(text).toContain('>Tried<');
  expect(text).toContain('then decide about the rest.');
  expect(text.includes('>Look up the rest</button>')).toBe(hasRest);
  for (const words of ['1 of 1,400', '>Pause<', '>Running<']) expect(text).not.toContain(words);
});

it('a waiting file does not go on, now or later, while the engine does not answer', async () => {
  const folders = await openFolders(await temporaryFolder());
  const folder = join(folders.waiting, JOB);
  const parked = { at: NOW, since: NOW, state: { why: 'limit', capMark: '3' } } as const;
  await putJob(folder, { id: 'j-0000000000000001', run: 'r-1', parked });
  const { promise: silent, resolve: answer } = deferred<null>();
  const actions = fileActions({
    ...ROUTES,
    engine: { runs: { get: () => silent } } as never,
    finder: createFileFinder([folders.root]),
    caps: { ...NO_CAPS, check: async () => ({}) as never },
  });
  const goOn = actions.find(({ path }) => path.endsWith('/go-on'));
  const fields = new URLSearchParams({ maxRequests: '6' });
  const asked = goOn?.carryOut({ user: 'ada', id: 'j-0000000000000001', fields });
  await expect(asked).rejects.toMatchObject({ why: 'engine-unreachable' });
  answer(null);
  await expect(readRecord(folder)).resolves.toMatchObject({ parked });
  expect(await readdir(folder)).not.toContain('list.csv.json');
});

it.each([
  ['input-binary', false],
  ['column-unknown', true],
])('a file that failed with %s can be tried again: %s', async (code, canBe) => {
  const { get, folders } = await served();
  const reason = { headline: 'It is a PDF document.', details: '', code };
  await putJob(join(folders.failed, JOB), { id: 'j-0000000000000001', reason }, '%PDF-1.7');
  const { text } = await get('/files/j-0000000000000001');
  expect(text).toContain('>Failed<');
  expect(text).toContain('It is a PDF document.');
  expect([text.includes('Try again'), text.includes('Read it differently')]).toEqual([canBe, canBe]);
});

describe('trying a failed file again', () => {
  const settings = { maxRequests: 7 };
  const spending = { requests: 9, maxCost: '0.4', overageRequests: 4, withinQuota: 3, deferred: 2 };
  const plan = { rows: { total: 12 }, requests: { least: 9, most: 9 }, spending, currency: 'EUR' };
  const PLANNED = { found: { plan, settings: { maxRequests: null } }, refusal: null };
  const withFailed = async (planned: object = PLANNED) => {
    const scene = await served(async () => planned as UploadPlan);
    const folder = 'list-2026-11-20T11-22-47Z';
    await mkdir(join(scene.folders.failed, folder));
    await writeFile(join(scene.folders.failed, folder, 'list.csv'), 'website\n');
    await writeFile(join(scene.folders.failed, folder, 'reason.txt'), 'The file is <b>odd</b>.\n\nLook.\n');
    return { ...scene, page: `/files/${derivedId(folder)}` };
  };

  it('asks first, then moves it to the waiting files', async () => {
    const { get, page, folders } = await withFailed();
    const job = await get(page);
    expect(job.text).toContain('The file is &lt;b&gt;odd&lt;/b&gt;.');
    expect(job.text).toContain('Try again');
    const question = await get(`${page}/again`, 'POST');
    expect(question.text).toContain('Try list.csv again?');
    expect(question.text).toContain(
      'Now 12 rows: at most 7 paid lookups now and 2 more when quota or budget allow them, at most 0.40\u00a0EUR extra cost.',
    );
    expect(question.text).toContain('Stored answers cost nothing.');
    expect(await readdir(folders.waiting)).toEqual([]);
    const answer = await get(`${page}/again`, 'POST', 'confirmed=yes');
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      200,
      { links: { page: expect.stringMatching(/^\/files\/j-[0-9a-f]{16}$/) } },
    ]);
    expect(await readdir(folders.waiting)).toHaveLength(1);
    expect(await readdir(folders.failed)).toEqual([]);
    // Its page is the same as before.
    expect(JSON.parse(answer.text).links.page).toBe(page);
    expect((await get(page)).status).toBe(200);
  });

  it.each([
    ['its cap', { found: { plan, settings }, refusal: null }, '12 rows: at most 7 paid lookups, by its cap.'],
    [
      'why it has no plan',
      { found: null, refusal: { what: 'no column holds domains', subject: 'a, b' } },
      'It cannot be planned: no column holds domains: a, b.',
    ],
  ])('asks with %s', async (_, planned, line) => {
    const { get, page } = await withFailed(planned);
    expect((await get(`${page}/again`, 'POST')).text).toContain(line);
  });

  it('names no cost where newer settings in the inbox count', async () => {
    const { get, page, folders } = await withFailed();
    await writeFile(join(folders.inbox, 'list.csv.json'), '{}');
    const { text } = await get(`${page}/again`, 'POST');
    expect(text).toContain('list.csv.json in the inbox counts: what it costs at most is not known yet.');
    expect(text).not.toContain('Now 12 rows');
  });

  it.each(['..%2f', 'j-none', '__proto__'])('is refused for %j', async (id) => {
    const { get, folders } = await withFailed();
    const answer = await get(`/files/${id}/again`, 'POST', 'confirmed=yes');
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('no longer among the failed ones');
    expect(await readdir(folders.failed)).toHaveLength(1);
  });
});

it.each([
  ['a.csv', `attachment; filename="a.csv"; filename*=UTF-8''a.csv`],
  ['a"b;\r\nx: y.csv', `attachment; filename="a_b;__x: y.csv"; filename*=UTF-8''a%22b%3B__x%3A%20y.csv`],
  ['\u202evsc.exe', `attachment; filename="_vsc.exe"; filename*=UTF-8''_vsc.exe`],
  ["it's (1)*.csv", `attachment; filename="it's (1)*.csv"; filename*=UTF-8''it%27s%20%281%29%2A.csv`],
  ['../a\\b.csv', `attachment; filename=".._a_b.csv"; filename*=UTF-8''.._a_b.csv`],
  ['日\ud800.csv', `attachment; filename="__.csv"; filename*=UTF-8''%E6%97%A5_.csv`],
])('a file called %j is attached safely', (name, header) => {
  expect(attachmentOf(name)).toBe(header);
});
