/** Names on which runs and workers agree without communicating. */
import { describe, expect, it } from 'vitest';
import { accountNames } from '../../src/app/open-service.js';

const SERVICE = 'https://brands.example';
const TOKEN = 'tok-3ecret-value';

const OTHER = 'https://other.example';
const accountOf = (...whose: Parameters<typeof accountNames>) => accountNames(...whose).account;
const queueOf = (...whose: Parameters<typeof accountNames>) => accountNames(...whose).queueName;

describe('an account', () => {
  it('is named by --account', () => {
    expect(accountOf(SERVICE, TOKEN, 'team-a')).toBe('team-a');
    expect(accountOf(SERVICE, null, 'team-a')).toBe('team-a');
  });

  it('is otherwise derived from service and token without revealing either', () => {
    const name = accountOf(SERVICE, TOKEN, null);
    expect(name).toMatch(/^key-[0-9a-f]{16}$/);
    expect(accountOf(SERVICE, TOKEN, null)).toBe(name);
    expect(accountOf(OTHER, TOKEN, null)).not.toBe(name);
    expect(accountOf(SERVICE, 'another', null)).not.toBe(name);
  });

  it('keeps service and token unambiguous', () => {
    expect(accountOf('https://a', 'b', null)).not.toBe(accountOf('https://ab', '', null));
  });
});

describe('a queue', () => {
  it('is shared by all runs and workers of one service and token', () => {
    expect(queueOf(SERVICE, TOKEN, null)).toMatch(/^lookups-[0-9a-f]{12}$/);
    expect(queueOf(SERVICE, TOKEN, null)).toBe(queueOf(SERVICE, TOKEN, null));
    expect(queueOf(SERVICE, 'another', null)).not.toBe(queueOf(SERVICE, TOKEN, null));
    expect(queueOf(OTHER, TOKEN, null)).not.toBe(queueOf(SERVICE, TOKEN, null));
  });

  it('is shared by all of one service and --account, whatever their tokens', () => {
    expect(queueOf(SERVICE, TOKEN, 'team-a')).toBe(queueOf(SERVICE, 'another', 'team-a'));
    expect(queueOf(SERVICE, null, 'team-a')).toBe(queueOf(SERVICE, TOKEN, 'team-a'));
    expect(queueOf(SERVICE, null, TOKEN)).not.toBe(queueOf(SERVICE, TOKEN, null));
    expect(queueOf(OTHER, TOKEN, 'team-a')).not.toBe(queueOf(SERVICE, TOKEN, 'team-a'));
  });
});
