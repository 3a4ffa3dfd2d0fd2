import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatureHeaders } from '../../src/notify/webhook.js';

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

  it('is left out where there is no secret', () => {
    expect(signatureHeaders({ id: 'a', sentAt: 2_000, body: '{}' }, null)).toEqual({
      'webhook-id': 'a',
      'webhook-timestamp': '2',
    });
  });

  it.each([
    ['id', { id: 'b' }],
    ['time', { sentAt: 9_000 }],
    ['body', { body: '{ }' }],
  ])('changes with the %s', (_, change) => {
    const message = { id: 'a', sentAt: 2_000, body: '{}' };
    expect(signatureHeaders({ ...message, ...change }, 's')['webhook-signature']).not.toBe(
      signatureHeaders(message, 's')['webhook-signature'],
    );
  });
});
