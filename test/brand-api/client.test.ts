import { describe, expect, test } from 'vitest';
import { createClient } from '../../src/brand-api/client.js';
import type { SendRequest, SendResult } from '../../src/brand-api/send.js';
import { TOKEN } from './sending.js';

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
});
