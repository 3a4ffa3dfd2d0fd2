import { join } from 'node:path';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { parseAccounts } from '../../src/local-service/accounts.js';
import { readUsageCounts } from '../../src/local-service/usage-journal.js';
import { startHook } from '../notify/hook-server.js';
import { createWaitingClock } from '../notify/waiting-clock.js';
import { freePort } from '../support/free-port.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { startMailServer } from './mail-server.js';
import { createTinyService, NOON, type TinyService } from './tiny-service.js';

function listeningLog() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { log, lines, saying: (words: string) => lines.filter(({ msg }) => String(msg).includes(words)) };
}

async function spend({ get }: TinyService, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await get(`/v2/brands/domain/site-${i}.com`);
}

const PAST = 'past 80 %';

describe('the 80 % notice', () => {
  it('is sent when usage passes 80 %, not when it reaches it, and once a month', async () => {
    const { log, saying } = listeningLog();
    const tiny = createTinyService({ log, terms: { quota: 10, overageBudget: 0.5 } });
    await spend(tiny, 8);
    expect(saying(PAST)).toHaveLength(0);
    await spend(tiny, 30);
    expect(saying(PAST)).toMatchObject([{ account: 'data', period: '2026-03', requests: 9, quota: 10 }]);
    tiny.clock.set('2026-04-02T00:00:00Z');
    await spend(tiny, 30);
    expect(saying(PAST).map(({ period }) => period)).toEqual(['2026-03', '2026-04']);
  });

  it('is sent by webhook and e-mail', async () => {
    const webhook = await startHook();
    const mail = await startMailServer();
    const accounts = notifiedAccount({ webhook: webhook.url, mail: mail.port });
    const tiny = createTinyService({ accounts });
    await spend(tiny, 9);
    await expect.poll(() => webhook.received).toHaveLength(1);
    const use = { account: 'data', period: '2026-03', requests: 5, quota: 5 };
    expect(JSON.parse(webhook.received[0]?.body ?? '')).toEqual({ event: 'usage-notice', ...use });
    const message = await mail.next();
    expect(message.to).toContain('team@example.com');
    expect(message.text).toContain('Subject: data: more than 80 % of the request quota is used');
    expect(message.text).toContain('5 of 5 requests in 2026-03');
    await tiny.service.close();
    expect([webhook.received.length, mail.count]).toEqual([1, 1]);
  });

  it('that cannot be delivered is logged and affects no answer', async () => {
    const webhook = await startHook(500);
    const port = await freePort();
    const { log, saying } = listeningLog();
    const clock = createWaitingClock(NOON);
    const url = `smtp://user:hidden-word@127.0.0.1:${port}`;
    const accounts = notifiedAccount({ webhook: webhook.url, mail: port }, url);
    const tiny = createTinyService({ log, accounts, clock });
    for (let i = 0; i < 5; i += 1) expect((await tiny.get('/v2/brands/acme.com')).status).toBe(200);
    await clock.untilSlept(2);
    await tiny.service.close();
    const failures = saying('not delivered');
    expect(new Set(failures.map(({ by }) => by))).toEqual(new Set(['e-mail', 'webhook']));
    expect(JSON.stringify(failures)).toContain('answered with 500');
    expect(JSON.stringify(failures)).not.toContain('hidden-word');
  });

  it('is delivered when an unavailable mail server is back, once, and not again by the next start', async () => {
    const port = await freePort();
    const usageFile = join(await temporaryFolder(), 'usage');
    const accounts = notifiedAccount({ mail: port });
    const clock = createWaitingClock(NOON);
    const tiny = createTinyService({ accounts, usageFile, clock });
    await spend(tiny, 9);
    await clock.untilSlept(1);
    clock.wake();
    await clock.untilSlept(2);
    const mail = await startMailServer(port);
    clock.wake();
    expect((await mail.next()).text).toContain('Subject: data: more than 80 %');
    await tiny.service.close();
    const next = createTinyService({ accounts, usageFile, clock });
    await spend(next, 3);
    await next.service.close();
    expect([mail.count, clock.waits]).toEqual([1, [5_000, 10_000]]);
  });

  it.each([
    ['was closed', true],
    ['was killed', false],
  ])('that a service still owed when it %s is delivered by the next one', async (_how, isClosed) => {
    const port = await freePort();
    const usageFile = join(await temporaryFolder(), 'usage');
    const webhook = await startHook();
    const accounts = notifiedAccount({ webhook: webhook.url, mail: port });
    const clock = createWaitingClock(NOON);
    const first = createTinyService({ accounts, usageFile, clock });
    await spend(first, 9);
    await clock.untilSlept(1);
    await expect.poll(() => readUsageCounts(usageFile)[0]?.notice?.open).toEqual(['e-mail']);
    if (isClosed) await first.service.close();
    const mail = await startMailServer(port);
    const second = createTinyService({ accounts, usageFile, clock: createWaitingClock(NOON + 86_400_000) });
    const message = await mail.next();
    expect(message.text).toContain('5 of 5 requests in 2026-03');
    expect(message.text).toMatch(/^Message-ID: <[0-9a-f]{32}@brand-enrich>$/m);
    await second.service.close();
    const third = createTinyService({ accounts, usageFile });
    await third.service.close();
    expect([webhook.received.length, mail.count]).toEqual([1, 1]);
    if (!isClosed) await first.service.close();
  });
});

/** The account `data` with a quota of 5; `to`: a webhook's address, and a mail server's port. */
function notifiedAccount(to: { webhook?: string; mail?: number }, url = `smtp://127.0.0.1:${to.mail}`) {
  const notices = {
    ...(to.webhook && { webhook: to.webhook }),
    ...(to.mail && { email: 'team@example.com' }),
  };
  const smtp = to.mail ? { smtp: { url, from: 'brands@brand-service.example' } } : {};
  const account = { name: 'data', token: 'token-data', quota: 5, notices };
  return parseAccounts(JSON.stringify({ ...smtp, accounts: [account] }), 'test');
}
