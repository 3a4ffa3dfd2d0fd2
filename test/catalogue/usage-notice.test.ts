import { join } from 'node:path';
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { parseAccounts } from '../../src/catalogue/accounts.js';
import { type Received, startMailServer, startWebhook } from './small-servers.js';
import { temporaryFolder } from './temporary-folder.js';
import { createTinyService, type TinyService } from './tiny-service.js';

const closing: (() => Promise<void>)[] = [];
const kept = <T extends Received<unknown>>(server: T): T => {
  closing.push(() => server.close());
  return server;
};
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

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
  it('is given when usage passes 80 %, not when it reaches it, and once a month', async () => {
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

  it('is not repeated after a restart', async () => {
    const { log, saying } = listeningLog();
    const usageFile = join(temporaryFolder(), 'usage');
    for (let start = 0; start < 3; start += 1) {
      const tiny = createTinyService({ log, usageFile, terms: { quota: 10 } });
      await spend(tiny, 9);
      await tiny.service.close();
    }
    expect(saying(PAST)).toHaveLength(1);
  });

  it('goes to the webhook and by e-mail', async () => {
    const webhook = kept(await startWebhook());
    const mail = kept(await startMailServer());
    const text = JSON.stringify({
      smtp: { url: `smtp://127.0.0.1:${mail.port}`, from: 'brands@brand-service.example' },
      accounts: [
        {
          name: 'data',
          token: 'token-data',
          quota: 5,
          notices: { webhook: `http://127.0.0.1:${webhook.port}/usage`, email: 'team@example.com' },
        },
      ],
    });
    const tiny = createTinyService({ accounts: parseAccounts(text, 'test') });
    await spend(tiny, 9);
    expect(await webhook.next()).toEqual({
      event: 'usage-notice',
      account: 'data',
      period: '2026-03',
      requests: 5,
      quota: 5,
    });
    const letter = await mail.next();
    expect(letter.to).toContain('team@example.com');
    expect(letter.text).toContain('Subject: data: more than 80 % of the request quota is used');
    expect(letter.text).toContain('5 of 5 requests in 2026-03');
    await tiny.service.close();
    expect([webhook.count, mail.count]).toEqual([1, 1]);
  });

  it('that cannot be delivered is logged and disturbs no answer', async () => {
    const webhook = kept(await startWebhook(500));
    const mail = await startMailServer();
    await mail.close();
    const { log, saying } = listeningLog();
    const text = JSON.stringify({
      smtp: { url: `smtp://user:hidden-word@127.0.0.1:${mail.port}`, from: 'a@b.example' },
      accounts: [
        {
          name: 'data',
          token: 'token-data',
          quota: 5,
          notices: { webhook: `http://127.0.0.1:${webhook.port}`, email: 'team@example.com' },
        },
      ],
    });
    const tiny = createTinyService({ log, accounts: parseAccounts(text, 'test') });
    for (let i = 0; i < 5; i += 1) expect((await tiny.get('/v2/brands/acme.com')).status).toBe(200);
    await tiny.service.close();
    const failures = saying('not delivered');
    expect(failures.map(({ by }) => by).sort()).toEqual(['e-mail', 'webhook']);
    expect(JSON.stringify(failures)).toContain('answered with 500');
    expect(JSON.stringify(failures)).not.toContain('hidden-word');
  });
});
