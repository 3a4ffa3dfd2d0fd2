/** Who is told what, and how often. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSettings } from '../../src/config/load-settings.js';
import { bareNotice } from '../../src/doors/notice.js';
import { openNotifier } from '../../src/doors/notifier.js';
import { silentLog } from '../../src/log.js';
import { startMailServer } from '../catalogue/small-servers.js';
import { type Hook, startHook } from '../notify/hook-server.js';
import { ledgerState } from '../pipeline/ledger-state.js';

const RUN = { id: 'r-1', label: 'host: customers.csv' };
const SCENE = { at: 0, isSample: false, run: RUN };

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'brand-enrich-notifier-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function openWith(flags: Record<string, unknown>, folder = stateFolder()) {
  const env = { BRAND_API_URL: 'https://api.example.com', BRAND_API_TOKEN: 'sesame-open' };
  const { settings } = loadSettings({ flags, env, file: null, command: 'run', home: folder });
  return openNotifier({
    settings,
    stateFolder: folder,
    log: silentLog(),
    stop: new AbortController().signal,
    clock: { now: () => 0, sleep: async () => undefined },
  });
}

const eventsOf = (hook: Hook) => hook.received.map(({ body }) => JSON.parse(body).event);
const NEAR = ledgerState({ period: '2026-03-01', quota: 10, sent: 8 });

describe('a notifier', () => {
  it('tells by webhook and e-mail, and waits for both at the end', async () => {
    const hook = await startHook(200);
    const mail = await startMailServer();
    const notifier = openWith({
      notifyUrl: hook.url,
      notifyEmail: ['a@b.example'],
      smtpUrl: `smtp://127.0.0.1:${mail.port}`,
    });
    notifier.tell(bareNotice('finish', SCENE, null));
    notifier.tell(null);
    await notifier.close();
    expect(eventsOf(hook)).toEqual(['finish']);
    expect((await mail.next()).text).toContain('Subject: host: customers.csv: finished');
    await mail.close();
  });

  it('tells what is asked for and nothing else', async () => {
    const hook = await startHook(200);
    const notifier = openWith({ notifyUrl: hook.url, notifyOn: 'parked' });
    for (const event of ['finish', 'failure', 'parked'] as const)
      notifier.tell(bareNotice(event, SCENE, null));
    notifier.tellNearLimit('key-1', NEAR, RUN);
    await notifier.close();
    expect(eventsOf(hook)).toEqual(['parked']);
  });

  it('tells of the limit once per account, period and limit, over all processes', async () => {
    const hook = await startHook(200);
    const folder = stateFolder();
    const states = [
      null,
      ledgerState({ period: '2026-03-01', quota: 10, sent: 7 }),
      NEAR,
      { ...NEAR, sent: 9 },
      { ...NEAR, quota: 20, sent: 16 },
      { ...NEAR, period: '2026-04-01' },
    ];
    for (let start = 0; start < 2; start += 1) {
      const notifier = openWith({ notifyUrl: hook.url }, folder);
      for (const state of states) notifier.tellNearLimit('key-1', state, RUN);
      await notifier.close();
    }
    expect(eventsOf(hook)).toEqual(['limit', 'limit', 'limit']);
    const other = openWith({ notifyUrl: hook.url }, folder);
    other.tellNearLimit('key-2', NEAR, RUN);
    await other.close();
    expect(hook.received).toHaveLength(4);
  });

  it('tells of the limit again when nobody heard it', async () => {
    const hook = await startHook(404, 200);
    const folder = stateFolder();
    for (let start = 0; start < 3; start += 1) {
      const notifier = openWith({ notifyUrl: hook.url }, folder);
      notifier.tellNearLimit('key-1', NEAR, RUN);
      await notifier.close();
    }
    expect(hook.received).toHaveLength(2);
  });
});
