/** One identifier, one request, and the meaning of its answer. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../src/brand-api/client.js';
import type { SendRequest, SendResult } from '../../src/brand-api/send.js';
import { answerText } from './raw-server.js';
import { createSending, TOKEN } from './sending.js';

const OPTIONS = { allowNsfw: 'unset', freeStatuses: ['204', '400', '402', '5xx'] } as const;

describe('the client', () => {
  test('sends one request on the route of the kind, with the token', async () => {
    const requests: SendRequest[] = [];
    const client = createClient(async (request): Promise<SendResult> => {
      requests.push(request);
      return { type: 'answer', status: 404, headers: {}, body: Buffer.from('{}'), incomplete: null };
    }, TOKEN);
    const signal = new AbortController().signal;
    const identifier = { kind: 'ticker', value: 'BRK/B' } as const;
    const answer = await client.lookup(identifier, { ...OPTIONS, allowNsfw: 'false', signal });
    expect(requests).toEqual([
      { path: '/v2/brands/ticker/BRK%2FB?allowNsfw=false', authorization: `Bearer ${TOKEN}`, signal },
    ]);
    expect(answer).toMatchObject({ meaning: { type: 'not_found' }, cost: 'billed' });
  });

  test('uses the free statuses of the run', async () => {
    const client = createClient(
      async () => ({ type: 'answer', status: 404, headers: {}, body: Buffer.alloc(0), incomplete: null }),
      TOKEN,
    );
    const identifier = { kind: 'domain', value: 'acme.example' } as const;
    const free = await client.lookup(identifier, { ...OPTIONS, freeStatuses: ['404'] });
    expect(free.cost).toBe('free');
  });

  test('gives the same result over a socket', async () => {
    const { sender, server } = await createSending((socket) =>
      socket.write(
        answerText('{"name":"Acme","logos":[]}', {
          'x-api-key-quota': '250',
          'x-api-key-approximate-usage': '17',
          date: 'Tue, 15 Jan 2030 12:00:00 GMT',
        }),
      ),
    );
    const client = createClient(sender.send, TOKEN);
    const answer = await client.lookup({ kind: 'isin', value: 'US0378331005' }, OPTIONS);
    expect(answer).toEqual({
      meaning: {
        type: 'matched',
        body: Buffer.from('{"name":"Acme","logos":[]}'),
        text: '{"name":"Acme","logos":[]}',
        brand: { name: 'Acme', logos: [] },
      },
      cost: 'billed',
      quota: 250,
      usage: 17,
      date: Date.UTC(2030, 0, 15, 12),
    });
    expect(server.arrived[0]?.path).toBe('/v2/brands/isin/US0378331005');
  });
});
