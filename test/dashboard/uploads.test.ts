/** Sending files to a served dashboard. */
import { once } from 'node:events';
import { chmod, lstat, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ConfigError, RunError } from '../../src/core/errors.js';
import { type FileActionContext, fileActions } from '../../src/dashboard/file-actions.js';
import { createFileFinder, type Draft, listWaiting } from '../../src/jobs/find-files.js';
import { DRAFTS_FOLDER, derivedId, readNoted } from '../../src/jobs/job-folder.js';
import { planKey } from '../../src/jobs/plan-upload.js';
import { discard, startFile } from '../../src/jobs/start-file.js';
import { createUploads } from '../../src/jobs/uploads.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { tinyDisk } from '../support/tiny-disk.js';
import { ask, basic, noticeOf, sessionFor } from './asking.js';
import { PASSWORD, ROUTES, type ServedDashboard, startDashboard, uploadPages } from './served.js';
import { dashboardView } from './views.js';

type AssertRoom = NonNullable<Parameters<typeof createUploads>[2]>;

async function withInboxes(count = 1, assertRoom?: AssertRoom) {
  const folder = await temporaryFolder();
  const roots = Array.from({ length: count }, (_, at) => join(folder, `root-${at}`));
  for (const root of roots)
    for (const place of ['inbox', 'waiting']) await mkdir(join(root, place), { recursive: true });
  const clock = { now: () => Date.now() };
  const uploads = createUploads(roots, clock, assertRoom);
  const served = await startDashboard({ addPages: uploadPages(uploads) });
  const [root = ''] = roots;
  const drafts = createFileFinder(roots).listDrafts;
  return { uploads, drafts, served, roots, root, kept: () => allFiles(join(root, DRAFTS_FOLDER)) };
}

/** Paths of all files and folders below; empty when there are none. */
const allFiles = (folder: string) => readdir(folder, { recursive: true }).catch(() => []);

const PLAN = { spending: null, requests: { least: 1, most: 1 }, rows: { total: 1 }, currency: null };
const NO_LIMITS = { trial: null, maxRequests: null };
const FOUND = { plan: PLAN, format: 'csv', overage: 0, settings: NO_LIMITS };
const PLANS = { made: () => ({ found: FOUND }) } as never;

/** What can be done with files of these inboxes. */
const actionsOf = (plans: FileActionContext['plans'], root: string) =>
  fileActions({ ...ROUTES, plans, engine: NO_ORDERS as never, finder: createFileFinder([root]) });

const start = ({ root, folder }: Draft, name: string, settings = {}) =>
  startFile(NO_ORDERS, root, folder, Date.now(), { name, settings, by: 'Ada' });

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Where a start leads. */
const STARTED = /^\/files\/j-[0-9a-f]{16}$/;

const BASIC = basic(PASSWORD, 'job');

const send = (served: ServedDashboard, name: string, body: string, headers: object = BASIC, inbox = 0) =>
  ask(served, `/uploads?${new URLSearchParams({ name, inbox: String(inbox) })}`, {
    method: 'POST',
    headers: { ...headers },
    body,
  });

/** Asks whether a file of this name may be sent. */
const check = (served: ServedDashboard, query: string, headers: object = BASIC) =>
  ask(served, `/uploads/check?${query}`, { method: 'POST', headers: { ...headers } });

/** A request whose body the test writes. */
function openRequest(url: string, name: string, headers: Record<string, string | number>) {
  const asked = request(`${url}uploads?${new URLSearchParams({ name })}`, {
    method: 'POST',
    headers: { ...BASIC, ...headers },
  });
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    asked.on('error', reject).on('response', async (response) => {
      resolve({ status: response.statusCode ?? 0, text: await text(response) });
    });
  });
  answer.catch(() => undefined);
  return { asked, answer };
}

describe('an upload', () => {
  it('is kept as sent, in a hidden folder for this user alone, and listed on the dashboard', async () => {
    const { served, root, drafts } = await withInboxes();
    const { cookie, token } = await sessionFor(served, 'Ada');
    const headers = { cookie, 'x-form-token': token };
    const answer = await send(served, 'Kunden März.csv', 'website\nacme.com\n', headers);
    expect(answer.status).toBe(201);
    const [upload] = await drafts();
    expect(JSON.parse(answer.text)).toEqual({ path: `/files/${upload?.id}` });
    expect(upload).toMatchObject({ file: 'Kunden März.csv', size: 17, root });
    expect(await readFile(upload?.path ?? '', 'utf8')).toBe('website\nacme.com\n');
    const paths = [join(root, DRAFTS_FOLDER), upload?.folder ?? '', upload?.path ?? ''];
    const modes = await Promise.all(paths.map(async (path) => (await lstat(path)).mode & 0o777));
    expect(modes).toEqual([0o700, 0o700, 0o600]);
    expect(await readdir(join(root, 'inbox'))).toEqual([]);
  });

  it('may come without a length, and may wait for the word to go on', async () => {
    const { served, drafts } = await withInboxes();
    const chunked = openRequest(served.url, 'a.csv', {});
    chunked.asked.write('one\n');
    chunked.asked.end('two\n');
    expect((await chunked.answer).status).toBe(201);
    const asking = openRequest(served.url, 'b.csv', { expect: '100-continue', 'content-length': 4 });
    asking.asked.flushHeaders();
    await new Promise((resolve) => asking.asked.on('continue', resolve));
    asking.asked.end('four');
    expect((await asking.answer).status).toBe(201);
    expect((await drafts()).map(({ file, size }) => [file, size])).toEqual([
      ['b.csv', 4],
      ['a.csv', 8],
    ]);
  });

  it.each([
    ['with a length', { 'content-length': 1_000_000 }],
    ['in chunks', {}],
  ])('that is cut off, sent %s, leaves nothing', async (_how, headers: Record<string, number>) => {
    const { served, root, drafts, kept } = await withInboxes();
    const { asked } = openRequest(served.url, 'cut.csv', headers);
    asked.write('x'.repeat(100_000));
    await expect.poll(async () => (await kept()).filter((path) => path.endsWith('cut.csv'))).toHaveLength(1);
    asked.destroy();
    await expect.poll(kept).toEqual([]);
    expect(await drafts()).toEqual([]);
    expect(await readdir(join(root, 'inbox'))).toEqual([]);
    expect(served.errors).toEqual([]);
  });

  it('of the same name does not meet another, nor one in another inbox', async () => {
    const { served, drafts, roots } = await withInboxes(2);
    for (const [at, text] of ['first', 'second', 'third'].entries())
      expect((await send(served, 'list.csv', text, BASIC, at > 1 ? 1 : 0)).status).toBe(201);
    const found = (await drafts()).map(async ({ path, root }) => [await readFile(path, 'utf8'), root]);
    expect(await Promise.all(found)).toEqual([
      ['third', roots[1]],
      ['second', roots[0]],
      ['first', roots[0]],
    ]);
  });

  it.each([
    ['no token', {}],
    ['an empty token', { 'x-form-token': '' }],
    ['the token of nobody', { 'x-form-token': 'x'.repeat(43) }],
  ])('with %s is refused before a byte is kept', async (_name, forged: Record<string, string>) => {
    const { served, kept } = await withInboxes();
    const { cookie } = await sessionFor(served, 'Ada');
    const headers = { cookie, ...forged };
    expect((await send(served, 'list.csv', 'x', headers)).status).toBe(403);
    expect((await check(served, 'name=a.csv', headers)).status).toBe(403);
    expect(await kept()).toEqual([]);
  });

  it('without a session is refused, and so is that of another page in a browser with Basic', async () => {
    const { served, kept } = await withInboxes();
    expect((await send(served, 'list.csv', 'x', {})).status).toBe(401);
    const { asked, answer } = openRequest(served.url, 'list.csv', { origin: 'https://evil.example' });
    asked.end('x');
    expect((await answer).status).toBe(403);
    expect(await kept()).toEqual([]);
  });

  it('is kept under a safe name, and refused under one that the inbox would ignore', async () => {
    const { served, drafts, root, kept } = await withInboxes();
    const refused = await send(served, 'list.csv.part', 'x');
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('rename the file')]);
    expect(await kept()).toEqual([]);
    expect((await send(served, '../../../etc/cron.d/x', 'x')).status).toBe(201);
    const [upload] = await drafts();
    expect(upload?.file).toBe('x');
    expect(upload?.path.startsWith(join(root, DRAFTS_FOLDER))).toBe(true);
  });

  it.each([7, -1, 0.5, Number.NaN])('for inbox %d, which is not there, is refused', async (inbox) => {
    const { served } = await withInboxes();
    expect((await send(served, 'a.csv', 'x', BASIC, inbox)).status).toBe(400);
  });

  it('does not follow a link in the place of its folder', async () => {
    const { served, root } = await withInboxes();
    const elsewhere = await temporaryFolder();
    await symlink(elsewhere, join(root, DRAFTS_FOLDER));
    const answer = await send(served, 'a.csv', 'x');
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('not a folder')]);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('is refused at once when the disk has no room for its length', async () => {
    const { served, kept } = await withInboxes();
    const refused = await check(served, `name=a.csv&size=${2 ** 52}`);
    expect([refused.status, refused.text]).toEqual([507, expect.stringContaining('ask the administrator')]);
    const { asked, answer } = openRequest(served.url, 'a.csv', { 'content-length': 2 ** 52 });
    asked.flushHeaders();
    expect((await answer).status).toBe(507);
    asked.destroy();
    expect(await kept()).toEqual([]);
  });

  it('ends, and leaves nothing, when the disk fills up meanwhile', async () => {
    let looks = 0;
    const { served, kept } = await withInboxes(1, async () => {
      looks += 1;
      if (looks > 1)
        throw new RunError({ code: 'disk-low', subject: '/data has 12 MB left', todo: 'free some' });
    });
    const { asked, answer } = openRequest(served.url, 'a.csv', {});
    await writeBytes(asked, 40);
    expect((await answer).status).toBe(507);
    expect(looks).toBe(2);
    await expect.poll(kept).toEqual([]);
  });
});

/** Writes megabytes as fast as they are taken, until the other side stops. */
async function writeBytes(asked: ClientRequest, megabytes: number): Promise<void> {
  const chunk = Buffer.alloc(1_048_576, 'a');
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    for (const event of ['error', 'response', 'close'])
      asked.on(event, () => {
        isOver = true;
        resolve();
      });
  });
  for (let sent = 0; sent < megabytes && !isOver; sent += 1) {
    if (!asked.write(chunk)) await Promise.race([over, once(asked, 'drain').catch(() => undefined)]);
    await setImmediate();
  }
  asked.end();
}

describe('a start', () => {
  async function received(names: readonly string[]) {
    const scene = await withInboxes();
    for (const name of names) await send(scene.served, name, `text of ${name}`);
    const all = (await scene.drafts()).reverse();
    const [upload] = all;
    if (upload === undefined) throw new Error('nothing was received');
    return { ...scene, all, upload };
  }

  it('moves the draft to the waiting files, readable like the inbox, and keeps its id', async () => {
    const { drafts, upload, root, kept } = await received(['list.csv']);
    await chmod(join(root, 'inbox'), 0o775);
    await start(upload, 'list.csv', { column: ['website:domain'] });
    const [job, ...others] = await listWaiting(join(root, 'waiting'));
    expect(others).toEqual([]);
    expect(job?.record).toMatchObject({
      ...{ id: upload.id, file: 'list.csv', run: null },
      parked: { state: { why: 'again' } },
    });
    const folder = job?.folder ?? '';
    expect(await readNoted(folder)).toMatchObject({ sentBy: 'job', startedBy: 'Ada' });
    expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe('text of list.csv');
    expect(JSON.parse(await readFile(join(folder, 'list.csv.json'), 'utf8'))).toEqual({
      column: ['website:domain'],
    });
    const modes = ['', 'list.csv'].map(async (name) => (await lstat(join(folder, name))).mode & 0o777);
    expect(await Promise.all(modes)).toEqual([0o775, 0o664]);
    expect([await kept(), await readdir(join(root, 'inbox'))]).toEqual([[], []]);
    expect(await drafts()).toEqual([]);
  });

  it('of two files of one name starts both', async () => {
    const { all, root } = await received(['list.csv', 'list.csv']);
    await Promise.all(all.map((upload, at) => start(upload, upload.file, { at })));
    expect((await listWaiting(join(root, 'waiting'))).map(({ record }) => record.id).sort()).toEqual(
      all.map(({ id }) => id).sort(),
    );
  });

  it('that was killed on its way leaves a draft with its id, which can be started', async () => {
    const { drafts, upload, root } = await received(['export']);
    const file = 'export.csv';
    await writeFile(join(upload.folder, `${file}.json`), '{}');
    await rename(upload.path, join(upload.folder, file));
    const [left = upload] = await drafts();
    expect(left).toMatchObject({ id: upload.id, file });
    await start(left, file);
    expect(await listWaiting(join(root, 'waiting'))).toMatchObject([{ record: { id: upload.id, file } }]);
  });

  it('happens once, however often the button is pressed', async () => {
    const { upload, root } = await received(['list.csv']);
    const press = () => start(upload, 'list.csv', {});
    const tries = await Promise.allSettled([press(), press(), discard(upload)]);
    expect(tries.map((each) => (each.status === 'fulfilled' ? each.status : each.reason))).toEqual([
      'fulfilled',
      expect.any(ConfigError),
      expect.any(ConfigError),
    ]);
    expect(await readdir(join(root, 'waiting'))).toHaveLength(1);
  });

  it('is refused where a newer plan costs more than its form showed', async () => {
    const { upload, root } = await received(['list.csv']);
    const spending = { maxCost: '1.5', overageRequests: 15, withinQuota: 9 };
    // Earlier starts cost 2.5, which counts towards the cap.
    const plan = { ...PLAN, spending, cap: '4', requests: { least: 24, most: 24 } };
    const plans = { made: () => ({ found: { ...FOUND, plan, overage: 30 } }) } as never;
    const [start] = actionsOf(plans, root);
    const press = (shown: string) => {
      const fields = new URLSearchParams({ 'shown-cost': shown });
      return start?.carryOut({ user: 'ada', id: upload.id, fields });
    };
    expect(await press('0')).toMatchObject({
      path: `/files/${upload.id}`,
      sentence: expect.stringContaining('the file may cost more now than the page showed'),
    });
    expect(await readdir(join(root, 'waiting'))).toEqual([]);
    await press('1.5');
    const [job] = await listWaiting(join(root, 'waiting'));
    expect(JSON.parse(await readFile(join(job?.folder ?? '', 'list.csv.json'), 'utf8'))).toEqual({
      maxCost: '4',
    });
  });
});

describe('a failed file', () => {
  const JOB = 'list-2026-11-20T11-22-47Z';

  async function withFailed(name = 'list.csv') {
    const scene = await withInboxes();
    const folder = join(scene.root, 'failed', JOB);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), 'symbol\nMETA\n');
    await writeFile(join(folder, 'reason.txt'), 'Unclear.\n');
    const [start, discard] = actionsOf(PLANS, scene.root);
    const fields = new URLSearchParams({ column: 'symbol', kind: 'crypto' });
    const asked = { user: 'ada', id: derivedId(JOB), fields };
    /** Those of the file at the place to which it moved. */
    const settings = async () => {
      const [folder = ''] = await readdir(join(scene.root, 'waiting'));
      return JSON.parse(await readFile(join(scene.root, 'waiting', folder, 'list.csv.json'), 'utf8'));
    };
    return { ...scene, folder, inbox: join(scene.root, 'inbox'), settings, start, discard, asked };
  }

  it('is started with the column that was chosen, and keeps its other settings and newer ones in the inbox', async () => {
    const { folder, inbox, settings, root, start, asked } = await withFailed();
    await writeFile(join(folder, 'list.csv.json'), '{"kind": "ticker", /* theirs */ "maxRequests": 5}');
    await writeFile(join(inbox, 'list.csv.json'), '{"kind":"isin"}');
    expect(await start?.carryOut(asked)).toMatchObject({
      path: expect.stringMatching(STARTED),
      subject: 'list.csv',
    });
    expect(await settings()).toEqual({ column: ['symbol'], kind: 'crypto', maxRequests: 5 });
    expect([await readdir(join(root, 'failed')), await readdir(inbox)]).toEqual([[], ['list.csv.json']]);
    await expect(start?.carryOut(asked)).rejects.toBeInstanceOf(ConfigError);
  });

  it('that was corrected since its plan needs another one', async () => {
    const { folder, root } = await withFailed();
    const keyNow = async () => {
      const draft = await createFileFinder([root]).findDraft(derivedId(JOB));
      return draft && planKey(draft, {});
    };
    const before = await keyNow();
    expect(await keyNow()).toBe(before);
    await writeFile(join(folder, 'list.csv'), 'symbol\nMETA\nAAPL\n');
    expect(await keyNow()).not.toBe(before);
  });

  it('cannot be discarded, but be read differently whatever it is called', async () => {
    const { folder, discard, asked } = await withFailed();
    await expect(discard?.carryOut(asked)).rejects.toBeInstanceOf(ConfigError);
    expect(await readdir(folder)).toContain('list.csv');
    const { start, asked: other } = await withFailed('list.dat');
    expect(await start?.carryOut(other)).toMatchObject({ subject: 'list.dat' });
  });
});

describe('on a full disk', () => {
  /** An inbox on a disk that can be filled, and its actions as the dashboard does them. */
  async function onTinyDisk() {
    const root = await temporaryFolder();
    const disk = tinyDisk(root);
    if (disk === null) return null;
    for (const place of ['inbox', 'waiting']) await mkdir(join(root, place));
    const uploads = createUploads([root], { now: () => Date.now() }, async () => undefined);
    const actions = actionsOf(PLANS, root);
    const served = await startDashboard({ addPages: uploadPages(uploads), actions });
    /** Presses a button; what the page says then. */
    const press = async (path: string, fields: Record<string, string> = {}) => {
      const { cookie, token } = await sessionFor(served, 'Ada');
      const body = new URLSearchParams({ token, confirmed: 'yes', ...fields }).toString();
      const answer = await ask(served, path, { method: 'POST', headers: { ...FORM, cookie }, body });
      expect(answer.status).toBe(303);
      return noticeOf(served, cookie);
    };
    const drafts = createFileFinder([root]).listDrafts;
    return { root, disk, drafts, served, press };
  }

  it('a start and another upload are refused in words; what was sent can be discarded, or started when there is space again', async ({
    skip,
  }) => {
    const scene = await onTinyDisk();
    if (scene === null) return skip('this user may not mount a file system');
    const { root, disk, drafts, served, press } = scene;
    for (const name of ['list.csv', 'second.csv'])
      expect((await send(served, name, 'website\nacme.com\n')).status).toBe(201);
    const [second, upload] = await drafts();
    disk.fill();
    const refused = await send(served, 'other.csv', 'x'.repeat(50_000));
    expect(refused.status).toBe(507);
    expect(refused.text).toMatch(/cannot be stored now.*the disk is full.*then send it again/);
    expect(await drafts()).toHaveLength(2);
    expect(await press(`files/${second?.id}/discard`)).toContain('second.csv was discarded');
    expect(await drafts()).toEqual([upload]);
    // What the discarded file took is free.
    disk.fill();
    const said = await press(`files/${upload?.id}/start`);
    expect(said).toMatch(/the file stays where it is: the disk is full/i);
    expect(said).toContain('free disk space, then try again');
    expect(await readdir(join(root, 'waiting'))).toEqual([]);
    expect(await drafts()).toEqual([upload]);
    disk.free();
    expect(await press(`files/${upload?.id}/start`)).toContain('list.csv is started');
    expect(await readdir(join(root, 'waiting'))).toHaveLength(1);
    expect(await readdir(join(root, DRAFTS_FOLDER))).toEqual([]);
    expect(served.errors).toEqual([]);
  });

  it('a failed file is read differently and tried again in words', async ({ skip }) => {
    const scene = await onTinyDisk();
    if (scene === null) return skip('this user may not mount a file system');
    const { root, disk, served, press } = scene;
    const folder = 'list-2026-11-20T11-22-47Z';
    await mkdir(join(root, 'failed', folder), { recursive: true });
    await writeFile(join(root, 'failed', folder, 'list.csv'), 'symbol\nMETA\n');
    await writeFile(join(root, 'failed', folder, 'list.csv.json'), '{"maxCost":"1"}');
    disk.fill();
    const full = /stays where it is: the disk is full.*free disk space, then try again/;
    expect(await press(`files/${derivedId(folder)}/start`, { column: 'symbol' })).toMatch(full);
    expect(await press(`files/${derivedId(folder)}/again`)).toMatch(full);
    expect(await readdir(join(root, 'waiting'))).toEqual([]);
    disk.free();
    expect(await press(`files/${derivedId(folder)}/again`)).toContain('list.csv is tried again');
    const [moved = ''] = await readdir(join(root, 'waiting'));
    expect(await readdir(join(root, 'waiting', moved))).toContain('list.csv.json');
    expect(served.errors).toEqual([]);
  });
});

it('uploads that nobody starts are removed after a day, and not before', async () => {
  const { uploads, served, kept, drafts } = await withInboxes();
  await send(served, 'old.csv', 'x');
  await send(served, 'new.csv', 'x');
  const [fresh, old] = await drafts();
  const yesterday = (Date.now() - 25 * 3_600_000) / 1_000;
  await utimes(old?.folder ?? '', yesterday, yesterday);
  await uploads.sweep();
  expect(await drafts()).toEqual([fresh]);
  expect((await kept()).filter((path) => path.endsWith('.csv'))).toEqual([
    expect.stringContaining('new.csv'),
  ]);
});

it('the dashboard lists what was sent and not started, and says how to get an inbox', async () => {
  const { drafts, served, root } = await withInboxes();
  await send(served, 'a&b.csv', 'x');
  served.show(dashboardView({ uploads: { roots: [root], received: await drafts() } }));
  const pageOf = (path: string) => ask(served, path, { headers: BASIC });
  const page = await pageOf('/');
  expect(page.text).toContain(`href="/files/${(await drafts())[0]?.id}"`);
  expect(page.text).toContain('<bdi>a&amp;b.csv</bdi>');
  expect(page.text).toContain('needs JavaScript');
  served.show(dashboardView({ uploads: { roots: [], received: [] } }));
  expect((await pageOf('/')).text).toContain('No inbox is set up here');
  expect((await pageOf('/files/nothing')).status).toBe(404);
});

it('a large file is streamed: memory does not grow with it', { tags: ['long'] }, async () => {
  const { served, drafts } = await withInboxes();
  const { asked, answer } = openRequest(served.url, 'large.csv', {});
  const before = process.memoryUsage().rss;
  let most = before;
  const looking = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  await writeBytes(asked, 200);
  expect((await answer).status).toBe(201);
  clearInterval(looking);
  expect((await drafts())[0]?.size).toBe(200 * 1_048_576);
  // Sender and receiver share this process.
  expect(most - before).toBeLessThan(100 * 1_048_576);
});
