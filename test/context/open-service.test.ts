/** Names that runs and workers agree on without talking. */
import { describe, expect, it } from 'vitest';
import { accountName, accountNames, queueName } from '../../src/context/open-service.js';

const SERVICE = 'https://brands.example';
const TOKEN = 'tok-3ecret-value';

describe('an account', () => {
  it('is called as --account says', () => {
    expect(accountName(SERVICE, TOKEN, 'team-a')).toBe('team-a');
    expect(accountName(SERVICE, null, 'team-a')).toBe('team-a');
  });

  it('is else made of service and token, and tells neither', () => {
    const name = accountName(SERVICE, TOKEN, null);
    expect(name).toMatch(/^key-[0-9a-f]{16}$/);
    expect(accountName(SERVICE, TOKEN, null)).toBe(name);
    expect(accountName('https://other.example', TOKEN, null)).not.toBe(name);
    expect(accountName(SERVICE, 'another', null)).not.toBe(name);
  });

  it('cannot be mixed up by where service ends and token begins', () => {
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

  it('holds nothing that BullMQ refuses in a name', () => {
    expect(queueName('a:b', null)).not.toContain(':');
  });
});

it('no name tells the token', () => {
  expect(JSON.stringify(accountNames(SERVICE, TOKEN, null))).not.toContain(TOKEN);
});
