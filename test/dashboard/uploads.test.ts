/**
 * Sending files to a served dashboard: streamed to a hidden folder, whole or not at all, by who may
 * act, under safe names, and started into the inbox without replacing anything.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, link, lstat, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FailFileError, NeverStartError } from '../../src/core/errors.js';
import { failedActions } from '../../src/dashboard/run-routes.js';
import { uploadActions } from '../../src/dashboard/upload-routes.js';
import { failedId, findFailed } from '../../src/jobs/ended-jobs.js';
import { planKey } from '../../src/jobs/plan-upload.js';
import { createUploads, UPLOADS_FOLDER } from '../../src/jobs/uploads.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { tinyDisk } from '../support/tiny-disk.js';
import { ask, basic, cookieOf, sessionFor } from './asking.js';
import { PASSWORD, type ServedDashboard, startDashboard, uploadPages } from './served.js';
import { dashboardView } from './views.js';

type AssertRoom = NonNullable<Parameters<typeof createUploads>[2]>;

async function withInboxes(count = 1, assertRoom?: AssertRoom) {
  const folder = await temporaryFolder();
  const roots = Array.from({ length: count }, (_, at) => join(folder, `root-${at}`));
  for (const root of roots) await mkdir(join(root, 'inbox'), { recursive: true });
  const clock = { now: () => Date.now() };
  const uploads = createUploads(roots, clock, assertRoom);
  const served = await startDashboard({ addPages: uploadPages(uploads) });
  const [root = ''] = roots;
  return { uploads, served, roots, root, kept: () => allFiles(join(root, UPLOADS_FOLDER)) };
}

/** Paths of all files and folders below; empty when there are none. */
const allFiles = (folder: string) => readdir(folder, { recursive: true }).catch(() => []);

/** As the names of folders have it. */
const HOST = hostname()
  .replaceAll(/[^A-Za-z0-9-]/g, '-')
  .slice(0, 40);
const PLAN = { spending: null, requests: { least: 1, most: 1 }, rows: { total: 1 }, currency: null };
const NO_LIMITS = { trial: null, maxRequests: null };
const FOUND = { plan: PLAN, format: 'csv', overage: 0, settings: NO_LIMITS };
const PLANS = { made: () => ({ found: FOUND }) } as never;

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const endedPid = () => spawnSync(process.execPath, ['-e', '']).pid;

/** Where a start leads. */
const STARTED = /^\/started\/j-[0-9a-f]{16}$/;

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
    const { served, root, uploads } = await withInboxes();
    const { cookie, token } = await sessionFor(served, 'Ada');
    const headers = { cookie, 'x-form-token': token };
    const answer = await send(served, 'Kunden März.csv', 'website\nacme.com\n', headers);
    expect(answer.status).toBe(201);
    const [upload] = uploads.list();
    expect(JSON.parse(answer.text)).toEqual({ path: `/uploads/${upload?.id}` });
    expect(upload).toMatchObject({ name: 'Kunden März.csv', size: 17, root });
    expect(await readFile(upload?.path ?? '', 'utf8')).toBe('website\nacme.com\n');
    const paths = [join(root, UPLOADS_FOLDER), upload?.folder ?? '', upload?.path ?? ''];
    const modes = await Promise.all(paths.map(async (path) => (await lstat(path)).mode & 0o777));
    expect(modes).toEqual([0o700, 0o700, 0o600]);
    expect(await readdir(join(root, 'inbox'))).toEqual([]);
  });

  it('may come without a length, and may wait for the word to go on', async () => {
    const { served, uploads } = await withInboxes();
    const chunked = openRequest(served.url, 'a.csv', {});
    chunked.asked.write('one\n');
    chunked.asked.end('two\n');
    expect((await chunked.answer).status).toBe(201);
    const asking = openRequest(served.url, 'b.csv', { expect: '100-continue', 'content-length': 4 });
    asking.asked.flushHeaders();
    await new Promise((resolve) => asking.asked.on('continue', resolve));
    asking.asked.end('four');
    expect((await asking.answer).status).toBe(201);
    expect(uploads.list().map(({ name, size }) => [name, size])).toEqual([
      ['b.csv', 4],
      ['a.csv', 8],
    ]);
  });

  it.each([
    ['with a length', { 'content-length': 1_000_000 }],
    ['in chunks', {}],
  ])('that is cut off, sent %s, leaves nothing', async (_how, headers: Record<string, number>) => {
    const { served, root, uploads, kept } = await withInboxes();
    const { asked } = openRequest(served.url, 'cut.csv', headers);
    asked.write('x'.repeat(100_000));
    await expect.poll(async () => (await kept()).filter((path) => path.endsWith('cut.csv'))).toHaveLength(1);
    asked.destroy();
    await expect.poll(kept).toEqual([]);
    expect(uploads.list()).toEqual([]);
    expect(await readdir(join(root, 'inbox'))).toEqual([]);
    expect(served.errors).toEqual([]);
  });

  it('of the same name does not meet another, nor one in another inbox', async () => {
    const { served, uploads, roots } = await withInboxes(2);
    for (const [at, text] of ['first', 'second', 'third'].entries())
      expect((await send(served, 'list.csv', text, BASIC, at > 1 ? 1 : 0)).status).toBe(201);
    const found = await Promise.all(
      uploads.list().map(async ({ path, root }) => [await readFile(path, 'utf8'), root]),
    );
    expect(found).toEqual([
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
    const { served, uploads, root, kept } = await withInboxes();
    const refused = await send(served, 'list.csv.part', 'x');
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('rename the file')]);
    expect(await kept()).toEqual([]);
    expect((await send(served, '../../../etc/cron.d/x', 'x')).status).toBe(201);
    const [upload] = uploads.list();
    expect(upload?.name).toBe('x');
    expect(upload?.path.startsWith(join(root, UPLOADS_FOLDER))).toBe(true);
  });

  it.each([7, -1, 0.5, Number.NaN])('for inbox %d, which is not there, is refused', async (inbox) => {
    const { served } = await withInboxes();
    expect((await send(served, 'a.csv', 'x', BASIC, inbox)).status).toBe(400);
  });

  it('does not follow a link in the place of its folder', async () => {
    const { served, root } = await withInboxes();
    const elsewhere = await temporaryFolder();
    await symlink(elsewhere, join(root, UPLOADS_FOLDER));
    const answer = await send(served, 'a.csv', 'x');
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining('not a folder')]);
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
        throw new FailFileError({ code: 'disk-low', subject: '/data has 12 MB left', todo: 'free some' });
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
    const all = scene.uploads.list().reverse();
    const [upload] = all;
    if (upload === undefined) throw new Error('nothing was received');
    return { ...scene, inbox: join(scene.root, 'inbox'), all, upload };
  }

  it('moves the file and its settings into the inbox, readable like the folder', async () => {
    const { uploads, upload, inbox, kept } = await received(['list.csv']);
    await chmod(inbox, 0o775);
    expect(await uploads.start(upload, 'list.csv', { column: ['website:domain'] })).toBe('list.csv');
    expect((await readdir(inbox)).sort()).toEqual(['list.csv', 'list.csv.json']);
    expect(await readFile(join(inbox, 'list.csv'), 'utf8')).toBe('text of list.csv');
    expect(JSON.parse(await readFile(join(inbox, 'list.csv.json'), 'utf8'))).toEqual({
      column: ['website:domain'],
    });
    expect((await lstat(join(inbox, 'list.csv'))).mode & 0o777).toBe(0o664);
    expect(await kept()).toEqual([]);
    expect(uploads.find(upload.id)).toBeNull();
  });

  it('never replaces a file, nor takes the settings of another', async () => {
    const { uploads, all, inbox } = await received(['list.csv', 'list.csv']);
    await writeFile(join(inbox, 'list.csv'), 'theirs');
    await writeFile(join(inbox, 'list-2.csv.json'), '{"sheet":"theirs"}');
    const names = await Promise.all(all.map((upload, at) => uploads.start(upload, upload.name, { at })));
    expect(names.sort()).toEqual(['list-3.csv', 'list-4.csv']);
    expect(await readFile(join(inbox, 'list.csv'), 'utf8')).toBe('theirs');
    expect(await readFile(join(inbox, 'list-2.csv.json'), 'utf8')).toBe('{"sheet":"theirs"}');
    expect((await readdir(inbox)).sort()).toEqual([
      'list-2.csv.json',
      'list-3.csv',
      'list-3.csv.json',
      'list-4.csv',
      'list-4.csv.json',
      'list.csv',
    ]);
  });

  it.skipIf(process.getuid?.() === 0)('happens once even if its folder cannot be removed', async () => {
    const { uploads, upload, root, inbox } = await received(['list.csv']);
    await chmod(join(root, UPLOADS_FOLDER), 0o500);
    onTestFinished(() => chmod(join(root, UPLOADS_FOLDER), 0o700));
    expect(await uploads.start(upload, 'list.csv', {})).toBe('list.csv');
    await expect(uploads.start(upload, 'list.csv', {})).rejects.toBeInstanceOf(NeverStartError);
    expect((await readdir(inbox)).sort()).toEqual(['list.csv', 'list.csv.json']);
  });

  it('happens once, however often the button is pressed', async () => {
    const { uploads, upload, inbox } = await received(['list.csv']);
    const tries = await Promise.allSettled([1, 2, 3].map(() => uploads.start(upload, 'list.csv', {})));
    expect(tries.map((each) => (each.status === 'fulfilled' ? each.value : each.reason))).toEqual([
      'list.csv',
      expect.any(NeverStartError),
      expect.any(NeverStartError),
    ]);
    expect((await readdir(inbox)).sort()).toEqual(['list.csv', 'list.csv.json']);
  });

  it('is refused where a newer plan costs more than its form showed', async () => {
    const { uploads, upload, inbox } = await received(['list.csv']);
    const spending = { maxCost: '1.5', overageRequests: 15, withinQuota: 9 };
    // Earlier starts cost 2.5, which counts towards the cap.
    const plan = { ...PLAN, spending, cap: '4', requests: { least: 24, most: 24 } };
    const plans = { made: () => ({ found: { ...FOUND, plan, overage: 30 } }) } as never;
    const [start] = uploadActions({ uploads, plans });
    const press = (shown: string) => {
      const fields = new URLSearchParams({ 'shown-cost': shown });
      return start?.carryOut({ user: 'ada', params: { id: upload.id }, fields });
    };
    expect(await press('0')).toMatchObject({
      path: `/uploads/${upload.id}`,
      sentence: expect.stringContaining('it may cost more now than the page showed'),
    });
    expect(await readdir(inbox)).toEqual([]);
    await press('1.5');
    expect(JSON.parse(await readFile(join(inbox, 'list.csv.json'), 'utf8'))).toEqual({ maxCost: '4' });
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
    const [start, discard] = uploadActions({ uploads: scene.uploads, plans: PLANS });
    const fields = new URLSearchParams({ column: 'symbol', kind: 'crypto' });
    const asked = { user: 'ada', params: { id: failedId(0, JOB) }, fields };
    await mkdir(join(scene.root, 'waiting'), { recursive: true });
    /** Those of the file at the place to which it moved. */
    const settings = async () => {
      const [folder = ''] = await readdir(join(scene.root, 'waiting'));
      return JSON.parse(await readFile(join(scene.root, 'waiting', folder, 'list.csv.json'), 'utf8'));
    };
    return { ...scene, folder, inbox: join(scene.root, 'inbox'), settings, start, discard, asked };
  }

  it('is started with the column that was chosen, and keeps its other settings', async () => {
    const { folder, settings, root, start, asked } = await withFailed();
    await writeFile(join(folder, 'list.csv.json'), '{"kind": "ticker", /* theirs */ "maxRequests": 5}');
    expect(await start?.carryOut(asked)).toMatchObject({
      path: expect.stringMatching(STARTED),
      subject: 'list.csv',
    });
    expect(await settings()).toEqual({ column: ['symbol'], kind: 'crypto', maxRequests: 5 });
    expect(await readdir(join(root, 'failed'))).toEqual([]);
    await expect(start?.carryOut(asked)).rejects.toBeInstanceOf(NeverStartError);
  });

  it('is started with what was chosen beside newer settings in the inbox, which stay', async () => {
    const { folder, inbox, settings, start, asked } = await withFailed();
    await writeFile(join(folder, 'list.csv.json'), '{"maxRequests":5}');
    await writeFile(join(inbox, 'list.csv.json'), '{"kind":"isin"}');
    await start?.carryOut(asked);
    expect(await readdir(inbox)).toEqual(['list.csv.json']);
    expect(await settings()).toEqual({ column: ['symbol'], kind: 'crypto', maxRequests: 5 });
  });

  it('that was corrected since its plan needs another one', async () => {
    const { folder, root } = await withFailed();
    const keyNow = async () => {
      const found = await findFailed([root], failedId(0, JOB));
      return found && planKey(found, {});
    };
    const before = await keyNow();
    expect(await keyNow()).toBe(before);
    await writeFile(join(folder, 'list.csv'), 'symbol\nMETA\nAAPL\n');
    expect(await keyNow()).not.toBe(before);
  });

  it('cannot be discarded, nor read differently when it can have no settings', async () => {
    const { folder, discard, asked } = await withFailed();
    await expect(discard?.carryOut(asked)).rejects.toBeInstanceOf(NeverStartError);
    expect(await readdir(folder)).toContain('list.csv');
    const { start, asked: other } = await withFailed('list.dat');
    await expect(start?.carryOut(other)).rejects.toBeInstanceOf(NeverStartError);
  });

  it.each(['failed-0-..', 'failed-0-../done', 'failed-9-list', 'failed--1-x', 'failed-0-'])(
    '%j is none',
    async (id) => {
      const { start, asked } = await withFailed();
      await expect(start?.carryOut({ ...asked, params: { id } })).rejects.toBeInstanceOf(NeverStartError);
    },
  );
});

describe('on a full disk', () => {
  /** An inbox on a disk that can be filled, and its actions as the dashboard does them. */
  async function onTinyDisk() {
    const root = await temporaryFolder();
    const disk = tinyDisk(root);
    if (disk === null) return null;
    await mkdir(join(root, 'inbox'));
    const uploads = createUploads([root], { now: () => Date.now() }, async () => undefined);
    const actions = [...uploadActions({ uploads, plans: PLANS }), ...failedActions([root], PLANS)];
    const served = await startDashboard({ addPages: uploadPages(uploads), actions });
    /** Presses a button; what the page says then. */
    const press = async (path: string, fields: Record<string, string> = {}) => {
      const { cookie, token } = await sessionFor(served, 'Ada');
      const body = new URLSearchParams({ token, confirmed: 'yes', ...fields }).toString();
      const answer = await ask(served, path, { method: 'POST', headers: { ...FORM, cookie }, body });
      expect(answer.status).toBe(303);
      return decodeURIComponent(cookieOf(answer));
    };
    return { root, disk, uploads, served, press, inbox: join(root, 'inbox') };
  }

  it('a start says so, keeps the file, and works when there is space again', async ({ skip }) => {
    const scene = await onTinyDisk();
    if (scene === null) return skip('this user may not mount a file system');
    const { disk, uploads, served, press, inbox } = scene;
    expect((await send(served, 'list.csv', 'website\nacme.com\n')).status).toBe(201);
    const [upload] = uploads.list();
    disk.fill();
    const said = await press(`uploads/${upload?.id}/start`);
    expect(said).toMatch(/The file cannot be started now, and is kept.*the disk is full/);
    expect(said).toContain('free disk space, then start it again');
    expect(await readdir(inbox)).toEqual([]);
    expect(uploads.list()).toEqual([upload]);
    disk.free();
    expect(await press(`uploads/${upload?.id}/start`)).toContain('list.csv is started');
    expect((await readdir(inbox)).sort()).toEqual(['list.csv', 'list.csv.json']);
    expect(served.errors).toEqual([]);
  });

  it('a file that is sent is refused in words, and one that was sent can be discarded', async ({ skip }) => {
    const scene = await onTinyDisk();
    if (scene === null) return skip('this user may not mount a file system');
    const { root, disk, uploads, served, press } = scene;
    await send(served, 'list.csv', 'website\nacme.com\n');
    disk.fill();
    const answer = await send(served, 'other.csv', 'x'.repeat(50_000));
    expect(answer.status).toBe(507);
    expect(answer.text).toMatch(/cannot be stored now.*the disk is full.*then send it again/);
    expect(uploads.list()).toHaveLength(1);
    expect(await press(`uploads/${uploads.list()[0]?.id}/discard`)).toContain('list.csv was discarded');
    expect(await readdir(join(root, UPLOADS_FOLDER))).toEqual([]);
    expect(served.errors).toEqual([]);
  });

  it('a failed file is read differently and tried again in words', async ({ skip }) => {
    const scene = await onTinyDisk();
    if (scene === null) return skip('this user may not mount a file system');
    const { root, disk, served, press } = scene;
    await mkdir(join(root, 'waiting'));
    const folder = 'list-2026-11-20T11-22-47Z';
    await mkdir(join(root, 'failed', folder), { recursive: true });
    await writeFile(join(root, 'failed', folder, 'list.csv'), 'symbol\nMETA\n');
    await writeFile(join(root, 'failed', folder, 'list.csv.json'), '{"maxCost":"1"}');
    disk.fill();
    const full = /stays where it is: the disk is full.*free disk space, then try again/;
    expect(await press(`uploads/${failedId(0, folder)}/start`, { column: 'symbol' })).toMatch(full);
    expect(await press('failed/again', { inbox: '0', folder })).toMatch(full);
    expect(await readdir(join(root, 'waiting'))).toEqual([]);
    disk.free();
    expect(await press('failed/again', { inbox: '0', folder })).toContain('list.csv is tried again');
    const [moved = ''] = await readdir(join(root, 'waiting'));
    expect(await readdir(join(root, 'waiting', moved))).toContain('list.csv.json');
    expect(served.errors).toEqual([]);
  });
});

describe('uploads that nobody starts', () => {
  it('are removed after a day, and not before', async () => {
    const { uploads, served, kept } = await withInboxes();
    await send(served, 'old.csv', 'x');
    await send(served, 'new.csv', 'x');
    const [fresh, old] = uploads.list();
    const yesterday = (Date.now() - 25 * 3_600_000) / 1_000;
    await utimes(old?.folder ?? '', yesterday, yesterday);
    await uploads.sweep(false);
    expect(uploads.list()).toEqual([fresh]);
    expect((await kept()).filter((path) => path.endsWith('.csv'))).toEqual([
      expect.stringContaining('new.csv'),
    ]);
  });

  it('of ended processes of this machine are removed at the next start, those of others are not', async () => {
    const { uploads, root, kept } = await withInboxes();
    const ended = endedPid();
    const folders = [
      `${HOST}-${ended}-${'a'.repeat(24)}`,
      `${HOST}-1-${'b'.repeat(24)}`,
      `other-${ended}-${'c'.repeat(24)}`,
      'of somebody else',
    ];
    for (const name of folders) {
      await mkdir(join(root, UPLOADS_FOLDER, name), { recursive: true });
      await writeFile(join(root, UPLOADS_FOLDER, name, 'list.csv'), 'x');
    }
    (await uploads.begin()).stop();
    expect((await kept()).filter((path) => !path.includes('/')).sort()).toEqual(folders.slice(1).sort());
  });
});

it.each<[string, { isMoved?: boolean; isRewritten?: boolean }, string[]]>([
  ['before the file was moved leaves no settings alone', {}, ['theirs.csv.json']],
  ['after it leaves both', { isMoved: true }, ['list.csv', 'list.csv.json', 'theirs.csv.json']],
  ['leaves settings that somebody wrote since', { isRewritten: true }, ['list.csv.json', 'theirs.csv.json']],
])('a start that was killed %s', async (_, { isMoved = false, isRewritten = false }, left) => {
  const { uploads, root, kept } = await withInboxes();
  const folder = join(root, UPLOADS_FOLDER, `${HOST}-${endedPid()}-${'a'.repeat(24)}`);
  const inbox = join(root, 'inbox');
  await mkdir(folder, { recursive: true });
  await writeFile(join(inbox, 'theirs.csv.json'), '{}');
  await writeFile(join(folder, 'list.csv'), 'x');
  await writeFile(join(folder, '.settings'), '{}');
  await link(join(folder, '.settings'), join(inbox, 'list.csv.json'));
  if (isMoved) await link(join(folder, 'list.csv'), join(inbox, 'list.csv'));
  const anHourAgo = Date.now() / 1_000 - 3_600;
  if (isRewritten) await utimes(folder, anHourAgo, anHourAgo);
  (await uploads.begin()).stop();
  expect((await readdir(inbox)).sort()).toEqual(left);
  expect(await kept()).toEqual([]);
});

describe('the dashboard', () => {
  it('lists what was sent and not started, and says how to get an inbox', async () => {
    const { uploads, served, root } = await withInboxes();
    await send(served, 'a&b.csv', 'x');
    served.show(dashboardView({ uploads: { roots: [root], received: uploads.list() } }));
    const pageOf = (path: string) => ask(served, path, { headers: BASIC });
    const page = await pageOf('/');
    expect(page.text).toContain(`href="/uploads/${uploads.list()[0]?.id}"`);
    expect(page.text).toContain('<bdi>a&amp;b.csv</bdi>');
    expect(page.text).toContain('needs JavaScript');
    served.show(dashboardView({ uploads: { roots: [], received: [] } }));
    expect((await pageOf('/')).text).toContain('<code>--inbox DIR</code>');
    expect((await pageOf('/uploads/nothing')).status).toBe(404);
  });
});

it('a large file is streamed: memory does not grow with it', { tags: ['long'] }, async () => {
  const { served, uploads } = await withInboxes();
  const { asked, answer } = openRequest(served.url, 'large.csv', {});
  const before = process.memoryUsage().rss;
  let most = before;
  const looking = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  await writeBytes(asked, 200);
  expect((await answer).status).toBe(201);
  clearInterval(looking);
  expect(uploads.list()[0]?.size).toBe(200 * 1_048_576);
  // Sender and receiver share this process.
  expect(most - before).toBeLessThan(100 * 1_048_576);
});
