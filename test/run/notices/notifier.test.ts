import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/core/clock.js';
import { silentLog } from '../../../src/core/log.js';
import type { LedgerState } from '../../../src/ledger/ledger.js';
import { bareNotice } from '../../../src/run/notices/notice.js';
import { openNotifier } from '../../../src/run/notices/notifier.js';
import { loadSettings } from '../../../src/settings/load-settings.js';
import { startMailServer } from '../../local-service/mail-server.js';
import { type Hook, startHook } from '../../notify/hook-server.js';
import { createWaitingClock } from '../../notify/waiting-clock.js';
import { freePort } from '../../support/free-port.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { ledgerState } from '../ledger-state.js';

const RUN = { id: 'r-1', label: 'host: customers.csv' };
const NOW = Date.now();
const SCENE = { at: 0, isSample: false, run: RUN };

function openWith(flags: Record<string, unknown>, folder: string, clock: Clock = createWaitingClock(NOW)) {
  const env = { BRAND_API_URL: 'https://api.example.com', BRAND_API_TOKEN: 'sesame-open' };
  const { settings } = loadSettings({ flags, env, file: null, command: 'run', home: folder });
  return openNotifier({
    settings,
    stateFolder: folder,
    log: silentLog(),
    stop: new AbortController().signal,
    clock,
  });
}

/** A whole life of a notifier, in which these accounts are near their limit, in turn. */
type States = readonly (LedgerState | null)[];
async function notifyNear(flags: object, folder: string, states: States = [NEAR], key = 'key-1') {
  const notifier = openWith({ ...flags }, folder);
  for (const state of states) notifier.notifyNearLimit(key, state, RUN);
  await notifier.close();
}

const eventsOf = (hook: Hook) => hook.received.map(({ body }) => JSON.parse(body).event);
const NEAR = ledgerState({ period: '2026-03-01', quota: 10, sent: 8 });

const mailFlags = (port: number) => ({ notifyMail: `smtp://127.0.0.1:${port}?to=a@b.example` });

describe('a notifier', () => {
  it('notifies by webhook and e-mail, and waits for both at the end', async () => {
    const hook = await startHook(200);
    const mail = await startMailServer();
    const flags = { notifyUrl: hook.url, ...mailFlags(mail.port) };
    const notifier = openWith(flags, await temporaryFolder());
    notifier.notify(bareNotice('finish', SCENE, null));
    notifier.notify(null);
    await notifier.close();
    expect(eventsOf(hook)).toEqual(['finish']);
    expect((await mail.next()).text).toContain('Subject: host: customers.csv: finished');
  });

  it('sends chosen events only', async () => {
    const hook = await startHook(200);
    const flags = { notifyUrl: hook.url, notifyOn: 'parked' };
    const notifier = openWith(flags, await temporaryFolder());
    for (const event of ['finish', 'failure', 'parked'] as const)
      notifier.notify(bareNotice(event, SCENE, null));
    notifier.notifyNearLimit('key-1', NEAR, RUN);
    await notifier.close();
    expect(eventsOf(hook)).toEqual(['parked']);
  });

  it('notifies of the limit once per account, period and limit, across all processes', async () => {
    const hook = await startHook(200);
    const folder = await temporaryFolder();
    const states = [
      null,
      ledgerState({ period: '2026-03-01', quota: 10, sent: 7 }),
      NEAR,
      { ...NEAR, sent: 9 },
      { ...NEAR, quota: 20, sent: 16 },
      { ...NEAR, period: '2026-04-01' },
    ];
    for (let start = 0; start < 2; start += 1) await notifyNear({ notifyUrl: hook.url }, folder, states);
    expect(eventsOf(hook)).toEqual(['limit', 'limit', 'limit']);
    const used = hook.received.map(({ body }) => JSON.parse(body).account.used as number);
    expect(used.sort()).toEqual([16, 8, 8]);
    await notifyNear({ notifyUrl: hook.url }, folder, [NEAR], 'key-2');
    expect(hook.received).toHaveLength(4);
  });

  it('notifies once of one subject, however many processes find it at the same moment', async () => {
    const hook = await startHook(200);
    const folder = await temporaryFolder();
    const notifiers = Array.from({ length: 5 }, () => openWith({ notifyUrl: hook.url }, folder));
    for (const notifier of [...notifiers, ...notifiers])
      for (const pausedAt of [1, 2])
        notifier.notifyOnce(bareNotice('parked', SCENE, `paused at ${pausedAt}`), `pause\n${pausedAt}`);
    await Promise.all(notifiers.map((notifier) => notifier.close()));
    const reasons = hook.received.map(({ body }) => JSON.parse(body).reason);
    expect(reasons.sort()).toEqual(['paused at 1', 'paused at 2']);
  });

  it('notifies of the limit again when delivery failed', async () => {
    const hook = await startHook(404, 200);
    const folder = await temporaryFolder();
    for (let start = 0; start < 3; start += 1) await notifyNear({ notifyUrl: hook.url }, folder);
    expect(hook.received).toHaveLength(2);
  });
});

describe('an undelivered notice', () => {
  const noticeFilesIn = (folder: string) =>
    readdirSync(join(folder, 'notified')).filter((name) => name.endsWith('.json'));
  const finish = bareNotice('finish', SCENE, null);

  it('is delivered by the next command once the mail server is back', async () => {
    const folder = await temporaryFolder();
    const port = await freePort();
    const first = openWith(mailFlags(port), folder);
    first.notify(finish);
    await first.close();
    expect(noticeFilesIn(folder)).toHaveLength(1);
    const mail = await startMailServer(port);
    const second = openWith(mailFlags(port), folder);
    expect((await mail.next()).text).toMatch(/^Subject: host: customers\.csv: finished$/m);
    await second.close();
    await openWith(mailFlags(port), folder).close();
    expect([mail.count, noticeFilesIn(folder)]).toEqual([1, []]);
  });

  it('is delivered as soon as the mail server is back, while the process lives', async () => {
    const folder = await temporaryFolder();
    const port = await freePort();
    const clock = createWaitingClock(NOW);
    const notifier = openWith(mailFlags(port), folder, clock);
    notifier.notifyNearLimit('key-1', NEAR, RUN);
    await expect.poll(() => existsSync(join(folder, 'notified')) && noticeFilesIn(folder)).toHaveLength(1);
    const mail = await startMailServer(port);
    const waking = setInterval(() => clock.wake(), 10);
    onTestFinished(() => clearInterval(waking));
    expect((await mail.next()).text).toContain('80 % of the request limit is used');
    await notifier.close();
    expect(mail.count).toBe(1);
  });

  it('of a limit is forgotten when its period cannot last any longer', async () => {
    const hook = await startHook(200);
    const folder = await temporaryFolder();
    await notifyNear({ notifyUrl: hook.url }, folder);
    const marks = () => readdirSync(join(folder, 'notified')).filter((name) => name.endsWith('.told'));
    for (const [days, left] of [
      [31, 1],
      [33, 0],
    ] as const) {
      await openWith({ notifyUrl: hook.url }, folder, createWaitingClock(NOW + days * 86_400_000)).close();
      expect(marks()).toHaveLength(left);
    }
  });

  it('is sent by e-mail later although the webhook succeeded', async () => {
    const hook = await startHook(200);
    const folder = await temporaryFolder();
    const port = await freePort();
    const flags = { ...mailFlags(port), notifyUrl: hook.url };
    await notifyNear(flags, folder);
    const mail = await startMailServer(port);
    const second = openWith(flags, folder);
    second.notifyNearLimit('key-1', NEAR, RUN);
    await mail.next();
    await second.close();
    expect([mail.count, hook.received.length]).toEqual([1, 1]);
  });

  it('of a killed process is taken over after a minute, by one of several others', async () => {
    const hook = await startHook(503, 503, 503, 200);
    const folder = await temporaryFolder();
    const killed = openWith({ notifyUrl: hook.url }, folder);
    killed.notify(finish);
    await expect.poll(() => hook.received.length).toBe(3);
    await openWith({ notifyUrl: hook.url }, folder, createWaitingClock(NOW + 30_000)).close();
    expect(hook.received).toHaveLength(3);
    const later = [1, 2, 3].map(() =>
      openWith({ notifyUrl: hook.url }, folder, createWaitingClock(NOW + 70_000)),
    );
    await expect.poll(() => noticeFilesIn(folder)).toEqual([]);
    for (const notifier of later) await notifier.close();
    const ids = new Set(hook.received.map(({ headers }) => headers['webhook-id']));
    expect([hook.received.length, ids.size]).toEqual([4, 1]);
    await killed.close();
  });

  it('is not sent to another receiver, contains no address of one, and is discarded after three days', async () => {
    const hook = await startHook(404);
    const other = await startHook(200);
    const folder = await temporaryFolder();
    const first = openWith({ notifyUrl: hook.url }, folder);
    first.notify(finish);
    await first.close();
    const [file = ''] = noticeFilesIn(folder);
    expect(readFileSync(join(folder, 'notified', file), 'utf8')).not.toContain('of-the-receiver');
    await openWith({ notifyUrl: other.url }, folder).close();
    expect([other.received.length, noticeFilesIn(folder).length]).toEqual([0, 1]);
    await openWith({ notifyUrl: other.url }, folder, createWaitingClock(NOW + 3 * 86_400_001)).close();
    expect(noticeFilesIn(folder)).toEqual([]);
  });

  it('is sent even when it cannot be stored', async () => {
    const hook = await startHook(200);
    const folder = await temporaryFolder();
    writeFileSync(join(folder, 'notified'), 'a file in the way');
    const notifier = openWith({ notifyUrl: hook.url }, folder);
    notifier.notify(finish);
    await notifier.close();
    expect(hook.received).toHaveLength(1);
  });
});
