import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/brand-api/client.js';
import type { SendResult } from '../../src/brand-api/send.js';

const LONG = 'Tok_0123456789_AbCdEf';
const DIGITS = '1234567890123456';

function ask(token: string, result: Partial<SendResult & { type: 'answer' }> | SendResult) {
  const answer = {
    type: 'answer',
    status: 200,
    headers: {},
    body: Buffer.from('{}'),
    incomplete: null,
  } as const;
  const client = createClient(async () => ({ ...answer, ...result }) as SendResult, token);
  const options = { allowNsfw: 'unset', freeStatuses: ['204', '400', '402', '5xx'] } as const;
  return client.lookup({ kind: 'domain', value: 'acme.com' }, options);
}

describe.each(['Tok9', LONG])('the token %s', (token) => {
  it.each([
    ['as the code of a header', { status: 400, headers: { 'x-bf-error': token } }],
    ['as the code of a body', { status: 410, body: Buffer.from(JSON.stringify({ error: token })) }],
    ['within a code', { status: 418, headers: { 'x-bf-error': `bad.${token.toUpperCase()}.sent` } }],
    ['in a lost connection', { type: 'no_answer', wasSent: true, reason: `refused ${token}` } as const],
    ['in words of a failed connection', { type: 'no_answer', wasSent: false, reason: `x${token}y` } as const],
  ])('%s is in no reason', async (_, result) => {
    const { meaning } = await ask(token, result);
    expect(JSON.stringify(meaning).toLowerCase()).not.toContain(token.toLowerCase());
    expect(JSON.stringify(meaning)).toContain('***');
  });
});

describe('a brand', () => {
  const bodyOf = async (token: string, body: string) => {
    const { meaning } = await ask(token, { body: Buffer.from(body) });
    if (meaning.type !== 'matched') return meaning;
    expect(meaning.brand).toEqual(JSON.parse(meaning.body.toString()));
    return meaning.body.toString();
  };

  it('is unchanged for a short token', async () => {
    const body = '{"name":"Acme",  "urn":"acme", "n":12345678901234567890}';
    expect(await bodyOf('acme', body)).toBe(body);
  });

  it('is unchanged without the token in it', async () => {
    const body = '{"name":"Acme",  "n":12345678901234567890,  "logos":[], "x":1.10}';
    expect(await bodyOf(LONG, body)).toBe(body);
  });

  it.each([
    [LONG, `{"name":"${LONG.toLowerCase()}", "logos":[], "n":1.10}`, '{"name":"***", "logos":[], "n":1.10}'],
    [LONG, `{"name":null,"${LONG}":"a ${LONG} b","logos":[]}`, '{"name":null,"***":"a *** b","logos":[]}'],
    [LONG, `{"name":"${LONG.replace('T', '\\u0054')}","logos":[]}`, '{"name":"***","logos":[]}'],
    [DIGITS, `{"id":${DIGITS},"name":"x${DIGITS}","logos":[]}`, '{"id":0,"name":"x0","logos":[]}'],
  ])('does not contain a long token', async (token, body, expected) => {
    expect(await bodyOf(token, body)).toBe(expected);
  });

  it('from which the token cannot be removed fails, although it was billed', async () => {
    const token = 'u0041bcdefghijklmnop';
    const { meaning, cost } = await ask(token, { body: Buffer.from(`{"name":"\\${token}","logos":[]}`) });
    expect(meaning).toMatchObject({ type: 'failed' });
    expect(JSON.stringify(meaning)).not.toContain(token);
    expect(cost).toBe('billed');
  });
});
