/** Names on which runs and workers agree without communicating. */
import { describe, expect, it } from 'vitest';
import { accountName, accountNames, queueName } from '../../src/context/open-service.js';

const SERVICE = 'https://brands.example';
const TOKEN = 'tok-3ecret-value';

describe('an account', () => {
  it('is named by --account', () => {
    expect(accountName(SERVICE, TOKEN, 'team-a')).toBe('team-a');
    expect(accountName(SERVICE, null, 'team-a')).toBe('team-a');
  });

  it('is otherwise derived from service and token without revealing either', () => {
    const name = accountName(SERVICE, TOKEN, null);
    expect(name).toMatch(/^key-[0-9a-f]{16}$/);
    expect(accountName(SERVICE, TOKEN, null)).toBe(name);
    expect(accountName('https://other.example', TOKEN, null)).not.toBe(name);
    expect(accountName(SERVICE, 'another', null)).not.toBe(name);
  });

  it('keeps service and token unambiguous', () => {
    expect(accountName('https://a', 'b', null)).not.toBe(accountName('https://ab', '', null));
  });
});

describe('a queue', () => {
  it('is shared by all runs and workers of one token, whatever the service', () => {
    expect(queueName(TOKEN, null)).toMatch(/^lookups-[0-9a-f]{12}$/);
    expect(queueName(TOKEN, null)).toBe(queueName(TOKEN, null));
    expect(queueName('another', null)).not.toBe(queueName(TOKEN, null));
    expect(accountNames('https://other.example', TOKEN, null).queueName).toBe(queueName(TOKEN, null));
  });

  it('is shared by all of one --account, whatever their tokens', () => {
    expect(queueName(TOKEN, 'team-a')).toBe(queueName('another', 'team-a'));
    expect(queueName(null, 'team-a')).toBe(queueName(TOKEN, 'team-a'));
    expect(queueName(null, TOKEN)).not.toBe(queueName(TOKEN, null));
  });

  it('has a name that BullMQ accepts', () => {
    expect(queueName('a:b', null)).not.toContain(':');
  });
});

it('no name reveals the token', () => {
  expect(JSON.stringify(accountNames(SERVICE, TOKEN, null))).not.toContain(TOKEN);
});
