import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { postWebhook, signatureHeaders, WEBHOOK_TERMS } from '../../src/notify/webhook.js';
import { startHook } from './hook-server.js';

/** Waits pass at once and are recorded. */
function quickTerms(changes: { totalMs?: number; tryMs?: number } = {}) {
  const waits: number[] = [];
  const clock = {
    now: () => 1_700_000_000_000,
    monotonic: () => 0,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      waits.push(ms);
    },
  };
  return { terms: { ...WEBHOOK_TERMS, clock, ...changes }, waits };
}

const SECRET = 'open sesame';

describe('a webhook', () => {
  it('is sent once, as signed JSON, when it is accepted', async () => {
    const hook = await startHook(204);
    const { terms, waits } = quickTerms();
    await postWebhook({ url: hook.url, content: { event: 'finish', n: 1 }, secret: SECRET }, terms);
    expect(hook.received).toHaveLength(1);
    const { headers, body } = hook.received[0] ?? { headers: {}, body: '' };
    expect(JSON.parse(body)).toEqual({ event: 'finish', n: 1 });
    expect(headers['content-type']).toBe('application/json');
    const id = String(headers['webhook-id']);
    const signed = signatureHeaders({ id, sentAt: 1_700_000_000_000, body }, SECRET);
    expect(headers).toMatchObject(signed);
    expect(waits).toEqual([]);
  });

  it.each([
    [[500, 429, 200], 3, [500, 1_500]],
    [[408, 200], 2, [500]],
  ])('answered with %j is sent %i times, under one id', async (statuses, tries, waited) => {
    const hook = await startHook(...statuses);
    const { terms, waits } = quickTerms();
    await postWebhook({ url: hook.url, content: {}, secret: SECRET }, terms);
    expect(hook.received).toHaveLength(tries);
    expect(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(waits).toEqual(waited);
  });

  it.each([
    [503, 3],
    [404, 1],
    [302, 1],
  ])('always answered with %i is given up after attempt %i', async (status, tries) => {
    const hook = await startHook(status);
    const { terms } = quickTerms();
    const posting = postWebhook({ url: hook.url, content: {}, secret: null }, terms);
    await expect(posting).rejects.toThrow(`answered with ${status}`);
    expect(hook.received).toHaveLength(tries);
    expect(hook.received[0]?.headers['webhook-signature']).toBeUndefined();
  });

  it('without a listener names the reason, and nothing of its address', async () => {
    const { terms, waits } = quickTerms();
    const url = 'http://127.0.0.1:1/hook?key=of-the-receiver';
    const posting = postWebhook({ url, content: {}, secret: SECRET }, terms);
    const error = await posting.catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/could not be reached/);
    expect(String(error)).not.toMatch(/of-the-receiver|sesame/);
    expect(waits).toHaveLength(2);
  });

  // A name with a hyphen in front is refused without a DNS server.
  it('to a host that does not exist is not retried', async () => {
    const { terms, waits } = quickTerms();
    const posting = postWebhook({ url: 'https://-hooks.invalid/x', content: {}, secret: null }, terms);
    await expect(posting).rejects.toThrow('could not be reached (the host -hooks.invalid does not exist)');
    expect(waits).toEqual([]);
  });

  it('is given up when its time is over, also during an attempt', async () => {
    const hook = await startHook(0);
    const { terms } = quickTerms({ totalMs: 150 });
    const posting = postWebhook({ url: hook.url, content: {}, secret: null }, terms);
    await expect(posting).rejects.toThrow('no answer in time');
    expect(hook.received).toHaveLength(1);
  });

  it('to a receiver that hangs is retried', async () => {
    const hook = await startHook(0, 200);
    const { terms } = quickTerms({ tryMs: 150 });
    await postWebhook({ url: hook.url, content: {}, secret: null }, terms);
    expect(hook.received).toHaveLength(2);
  });
});

describe('the signature of a webhook', () => {
  it('is the one that the Standard Webhooks libraries expect', () => {
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      sentAt: 1_614_265_330_000,
      body: '{"test": 2432232314}',
    };
    expect(signatureHeaders(message, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('takes any other secret as the bytes of its text', () => {
    const headers = signatureHeaders({ id: 'a', sentAt: 1_999, body: 'ü' }, 'open sesame');
    const expected = createHmac('sha256', 'open sesame').update('a.1.ü').digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
  });

  it('is omitted without a secret', () => {
    expect(signatureHeaders({ id: 'a', sentAt: 2_000, body: '{}' }, null)).toEqual({
      'webhook-id': 'a',
      'webhook-timestamp': '2',
    });
  });
});
