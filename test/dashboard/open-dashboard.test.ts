/** The dashboard on real engines: the data it collects, and read-only Bull Board beside it. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { accountNames } from '../../src/app/open-service.js';
import { createReleasers, type Releasers } from '../../src/core/lifecycle.js';
import { silentLog } from '../../src/core/log.js';
import { machineIdentity } from '../../src/core/process-identity.js';
import { openDashboard } from '../../src/dashboard/open-dashboard.js';
import type { Engine } from '../../src/engine/engine.js';
import { openEngine } from '../../src/engine/open-engine.js';
import { createScheduleBook } from '../../src/jobs/schedules/schedule-book.js';
import { createScheduleFiles } from '../../src/jobs/schedules/schedule-files.js';
import type { Document } from '../../src/run/documents.js';
import { loadSettings } from '../../src/settings/load-settings.js';
import { runCli } from '../support/cli.js';
import {
  type EngineUnderTest,
  embeddedEngine,
  inLongTests,
  postgresEngine,
  redisEngine,
} from '../support/engines.js';
import { describeOn } from '../support/scene.js';
import { faultsOf } from '../support/schemas.js';
import { newToken } from '../support/service-options.js';
import { basic } from './asking.js';
import { emptyContext } from './served.js';
import { runRecord, SCHEDULE } from './views.js';

const engines = [redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)];
const SERVICE = 'https://api.example';

type Status = Document<'dashboard'>;

/** Shared by all tests of an engine, none of which changes it: opening some engines is slow. */
async function createScene(under: EngineUnderTest, folder: string, releasers: Releasers) {
  const token = newToken();
  const names = accountNames(SERVICE, token, null);
  const env = { ...under.env(folder), BRAND_API_URL: SERVICE, BRAND_API_TOKEN: token };
  const flags = { dashboardPort: '0' };
  const { settings } = loadSettings({ flags, env, file: null, command: 'up', home: folder });
  const log = silentLog();
  const engine: Engine = await openEngine({ engine: settings.engine, stateFolder: settings.state, log });
  releasers.push(() => engine.close());
  const inbox = join(folder, 'brands');
  const stderr = new PassThrough();
  const own = { settings, engine, stateFolder: settings.state, names, inboxes: [inbox], stderr, releasers };
  const opened = await openDashboard({ ...emptyContext(), ...own });
  if (opened?.signInUrl == null) throw new Error('no dashboard was opened');
  const { url, signInUrl } = opened;
  const password = new URL(signInUrl).searchParams.get('token') ?? '';
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, url), { ...init, headers: { ...basic(password), accept: '*/*', ...init.headers } });
  const status = async () => {
    const document = await (await ask('/status.json')).json();
    expect(faultsOf('dashboard', document)).toEqual([]);
    return document as Status;
  };
  const schedules = createScheduleFiles(settings.state);
  return { token, names, engine, inbox, schedules, stderr, url, signInUrl, ask, status, folder, env };
}

type Scene = Awaited<ReturnType<typeof createScene>>;

async function furnish({ engine, names, inbox, schedules }: Scene, releasers: Releasers) {
  const { id, key, label, settings } = runRecord({ settings: { account: names.account } });
  await engine.runs.start({ id, key, label, settings });
  await engine.runs.setSize(id, { rows: 120, identifiers: 100 });
  const tally = { matched: 7, notFound: 2, failed: 1, stored: 0, requests: 10, billed: 9 };
  await engine.runs.addTally(id, 'worker', tally);
  const queue = engine.openQueue(names.queueName);
  releasers.push(() => queue.close().catch(() => undefined));
  const chunk = { run: id, chunk: 0, identifiers: ['domain:acme.example'], attempts: {} };
  await queue.add('chunk', chunk, { jobId: `${id}-0` });
  await createScheduleBook(engine, schedules).add({ ...SCHEDULE, host: hostname() });
  const job = join(inbox, 'waiting', 'list-2026-11-20T11-22-47Z');
  await mkdir(job, { recursive: true });
  await writeFile(join(job, 'list.csv'), 'website\nacme.example\n');
  const parked = { at: 0, since: 1, state: { why: 'limit', capMark: null } };
  const reason = { headline: 'The quota is used up.', details: '' };
  const record = { id: 'j-0000000000000001', run: id, file: 'list.csv', reason, parked };
  await writeFile(join(job, '.brand-enrich-job.json'), JSON.stringify(record));
  await engine.ledger.observe(names.account, { usage: 40, quota: 250 });
  return { runId: id, queue };
}

describeOn(engines, (under) => {
  const releasers = createReleasers();
  let scene: Scene;
  let empty: Status;
  let furniture: Awaited<ReturnType<typeof furnish>>;
  beforeAll(async () => {
    await under.start();
    releasers.push(() => under.stop());
    const folder = await mkdtemp(join(tmpdir(), 'brand-enrich-dashboard-'));
    await chmod(folder, 0o711);
    releasers.push(() => rm(folder, { recursive: true, force: true }));
    scene = await createScene(under, folder, releasers);
    empty = await scene.status();
    furniture = await furnish(scene, releasers);
  });
  afterAll(() => releasers.releaseAll());

  it('shows an empty engine and one with runs, files and schedules', async () => {
    expect(empty).toMatchObject({
      engineUnavailableSince: null,
      serviceOutage: null,
      data: { queue: { waiting: 0 }, inboxes: [{ folder: scene.inbox, waiting: null }] },
    });
    const { runId } = furniture;
    await expect.poll(async () => (await scene.status()).data?.queue?.waiting).toBe(1);
    const { data } = await scene.status();
    expect(data?.account).toMatchObject({ quota: 250, limit: 1_250, others: 40, left: 1_210 });
    expect(data?.runs.find(({ id }) => id === runId)).toMatchObject({
      status: 'running',
      identifiers: { matched: 7, notFound: 2, failed: 1, stored: 0, left: 90 },
    });
    expect(data?.inboxes[0]?.waiting).toMatchObject([{ file: 'list.csv', reason: 'The quota is used up.' }]);
    expect(data?.schedules).toMatchObject([{ name: 'nightly', isHostUp: false }]);
    const page = await (await scene.ask('/')).text();
    expect(page).toContain('7 matched');
  });

  it('lists the workers of the queue: machine, process, since when', async () => {
    const page = async () => (await scene.ask('/')).text();
    expect(await page()).toContain('nothing is looked up until');
    // It takes nothing until it runs.
    const worker = scene.engine.openWorker(scene.names.queueName, async () => undefined, 1);
    await worker.waitUntilReady();
    const own = `<bdi>${hostname()}</bdi>, process ${process.pid}, for `;
    await expect.poll(page).toContain(own);
    await worker.close();
    await expect.poll(page).not.toContain(own);
  });

  it('prints the sign-in link once, outside the log, and shows neither service token nor password on any page', async () => {
    expect(String(scene.stderr.read())).toBe(`dashboard: ${scene.signInUrl}\n`);
    const password = new URL(scene.signInUrl).searchParams.get('token') ?? '';
    expect(password.length).toBeGreaterThanOrEqual(32);
    for (const path of ['/', '/status.json', '/sign-in']) {
      const text = await (await scene.ask(path)).text();
      expect(text.includes(scene.token), path).toBe(false);
      expect(text.includes(password), path).toBe(false);
    }
  });

  it('lists and judges runs as `status` does: those that are alive first, however old', async () => {
    const { engine, folder, env } = scene;
    const begin = async (id: string, process?: string) => {
      const { label, settings } = runRecord({
        label: { host: 'etl-1', name: `${id}.csv` },
        settings: { account: scene.names.account, ...(process && { process }) },
      });
      await engine.runs.start({ id, key: id, label, settings });
    };
    const child = spawnSync(process.execPath, ['--version']);
    await begin('old-and-alive');
    await begin('paused');
    await engine.runs.pause('paused', 'ada@office');
    await begin('gone', `${machineIdentity()} ${child.pid} 1`);
    for (let count = 0; count < 60; count += 1) {
      await begin(`ended-${count}`);
      await engine.runs.end(`ended-${count}`, null);
    }
    // What has no heartbeat for 30 s is dead.
    const alive = ['old-and-alive', 'paused'];
    const beat = () => Promise.all(alive.map((id) => engine.runs.heartbeat(id)));
    const heartbeats = setInterval(() => void beat().catch(() => undefined), 1_000);
    onTestFinished(() => clearInterval(heartbeats));
    await beat();
    const { code, stdout, stderr } = await runCli(['status', '--json'], { cwd: folder, env });
    expect(code, stderr).toBe(0);
    const seen = (runs: readonly { id: string; status: string }[] = []) =>
      runs.map(({ id, status }) => `${id} ${status}`);
    const ours = seen((JSON.parse(stdout) as Document<'status'>).runs);
    // The page looks once a second at most.
    await expect
      .poll(async () => seen((await scene.status()).data?.runs).slice(0, ours.length))
      .toEqual(ours);
    expect(ours).toEqual(expect.arrayContaining(['old-and-alive running', 'paused held', 'gone dead']));
    expect(ours.slice(0, 2)).toEqual(['paused held', 'old-and-alive running']);
    const page = await (await scene.ask('/')).text();
    expect(page).toContain('old-and-alive.csv');
  });
});
