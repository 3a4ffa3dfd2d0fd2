import { createServer } from 'node:net';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { createDeliveries, nextTryMs } from '../../src/notify/deliveries.js';
import { sendMail } from '../../src/notify/mail.js';
import { startMailServer } from '../local-service/mail-server.js';
import { COMPANY_CA, inTls } from '../support/company-ca.js';
import { deferred } from '../support/deferred.js';
import { listenForTest } from '../support/listen-anew.js';

function listening() {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: (line: string) => lines.push(JSON.parse(line)) },
  );
  return { lines, deliveries: createDeliveries(log, 'notification') };
}

describe('deliveries', () => {
  it('are waited for at the end, and each attempt writes a line', async () => {
    const { lines, deliveries } = listening();
    const arrival = deferred();
    const refuse = () => Promise.reject(new Error('no such host'));
    const event = 'finish';
    const good = deliveries.persist('webhook', { event }, () => arrival.promise, Date.now());
    const bad = deliveries.persist('e-mail', { event }, refuse, Date.now());
    const closed = deliveries.close();
    arrival.resolve();
    await closed;
    expect([await good, await bad]).toEqual(['delivered', 'stopped']);
    expect(lines).toHaveLength(2);
    expect(lines).toContainEqual({ level: 30, event, by: 'webhook', msg: 'notification delivered' });
    const failed = { by: 'e-mail', error: 'no such host', msg: 'notification not delivered' };
    expect(lines).toContainEqual({ level: 50, event, ...failed });
  });

  it('are given up after three days', async () => {
    const { deliveries } = listening();
    const refuse = () => Promise.reject(new Error('no'));
    expect(await deliveries.persist('webhook', {}, refuse, Date.now() - 3 * 86_400_000)).toBe('expired');
  });

  it('that hang do not delay the end', async () => {
    const { deliveries } = listening();
    void deliveries.persist('webhook', {}, () => new Promise(() => undefined), Date.now());
    await expect(deliveries.close(10)).resolves.toBeUndefined();
  });
});

const DAY = 86_400_000;
it.each([
  [1, 0, 5_000],
  [2, 5_000, 10_000],
  [5, 60_000, 80_000],
  [8, DAY, 600_000],
  [400, 2.9 * DAY, 600_000],
  [400, 3 * DAY, null],
  [1, 90 * DAY, null],
  [9_999, -DAY, 600_000],
])('the wait after a failed attempt: %i, %i ms after it fell due, is %s', (failed, age, waitMs) => {
  expect(nextTryMs(failed, 1_000, 1_000 + age)).toBe(waitMs);
});

describe('an e-mail', () => {
  const message = {
    from: 'us@a.example',
    to: ['one@b.example', 'two@b.example'],
    subject: 'Done',
    text: 'All of it.',
  };

  it('goes to all recipients', async () => {
    const server = await startMailServer();
    await sendMail({ url: `smtp://127.0.0.1:${server.port}`, allowsPlain: true }, message);
    const { to, text } = await server.next();
    expect(to).toContain('two@b.example');
    expect(text).toMatch(/^To: one@b\.example, two@b\.example$/m);
    expect(text).toMatch(/^Subject: Done$/m);
  });

  it('reaches a server with a certificate of a company, if its authority is trusted', async () => {
    const server = await startMailServer();
    const url = `smtps://localhost:${await inTls(server.port)}`;
    await expect(sendMail({ url, allowsPlain: false }, message)).rejects.toThrow();
    await sendMail({ url, allowsPlain: false, extraCa: COMPANY_CA }, message);
    expect((await server.next()).text).toMatch(/^Subject: Done$/m);
  });

  it('is not sent where it, or the password, could be read in transit', async () => {
    const server = await startServerWithoutTls();
    const url = `smtp://user:open-sesame@127.0.0.1:${server.port}`;
    const error = await sendMail({ url, allowsPlain: false }, message).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain('open-sesame');
    expect(server.verbs).toEqual(['EHLO', 'STARTTLS']);
  });
});

/** A mail server without encryption; `verbs` are the commands that it received. */
async function startServerWithoutTls() {
  const verbs: string[] = [];
  const server = createServer((socket) => {
    socket.write('220 test\r\n');
    socket.setEncoding('utf8').on('data', (line: string) => {
      const verb = line.split(/\s/, 1)[0] ?? '';
      if (verb !== 'QUIT') verbs.push(verb);
      socket.write(verb === 'STARTTLS' ? '502 not here\r\n' : '250 ok\r\n');
    });
    socket.on('error', () => undefined);
  });
  return { verbs, port: await listenForTest(server) };
}
