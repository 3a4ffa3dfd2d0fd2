/** A service may only name logos on the public internet, judged by the address connected to. */
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PLAIN_NETWORK } from '../../../src/core/connector.js';
import {
  fetchLogos,
  isPublicAddress,
  openLogoAgent,
  publicLookup,
  type Resolve,
} from '../../../src/run/report/fetch-logos.js';

it.each([
  ['of the internet', '1.1.1.1 93.184.216.34 223.255.255.255 2606:4700::1111 2a00:1450:4001::1', true],
  ['next to private ones', '172.15.255.255 172.32.0.0 100.63.255.255 100.128.0.0', true],
  ['of no host', '0.0.0.0 0.1.2.3 :: 255.255.255.255', false],
  ['of this machine', '127.0.0.1 127.255.255.254 ::1', false],
  ['of a private network', '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12:3456::1', false],
  ['of a provider', '100.64.0.1', false],
  ['of one link or site', '169.254.169.254 fe80::1 fe80::1%eth0 fec0::1', false],
  ['of protocols', '192.0.0.192 198.18.0.1 100::1', false],
  ['of documentation', '192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1', false],
  ['of groups', '224.0.0.1 239.255.255.250 ff02::1', false],
  ['of the future', '240.0.0.1', false],
  ['with IPv4 in IPv6', '::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:1.1.1.1', false],
  ['of translation', '64:ff9b::10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 2001::1 2002:7f00:1::', false],
  ['that are names', 'acme.example', false],
])('addresses of %s (%s) are public: %s', (_what, addresses, expected) => {
  for (const address of addresses.split(' ')) expect(isPublicAddress(address), address).toBe(expected);
  expect(isPublicAddress('')).toBe(false);
});

function leadsTo(...addresses: string[]): Resolve {
  return (_name, _options, done) =>
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
}

describe('a host name', () => {
  const lookUp = (resolve: Resolve, all: boolean) =>
    new Promise((resolved) => {
      publicLookup(resolve)('logo.example', { all }, (error, ...found) => {
        resolved(error === null ? found : error.message);
      });
    });

  it('with public addresses resolves to them', async () => {
    const resolve = leadsTo('1.1.1.1', '2606:4700::1111');
    expect(await lookUp(resolve, false)).toEqual(['1.1.1.1', 4]);
    const both = [
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ];
    expect(await lookUp(resolve, true)).toEqual([both]);
  });

  it.each([false, true])('with one that is not public is refused (all: %s)', async (all) => {
    const words = 'logo.example leads to 127.0.0.1, which is not public';
    expect(await lookUp(leadsTo('1.1.1.1', '127.0.0.1'), all)).toBe(words);
  });

  it('without any address, or that cannot be resolved, is refused', async () => {
    expect(await lookUp(leadsTo(), true)).toBe('logo.example has no address');
    const failing: Resolve = (_name, _options, done) => done(new Error('ENOTFOUND'), []);
    expect(await lookUp(failing, true)).toBe('ENOTFOUND');
  });
});

it.each(['127.0.0.1', '::ffff:127.0.0.1', '::1'])('the agent connects to no logo at %s', async (address) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, '::');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dispatcher = openLogoAgent(PLAIN_NETWORK, leadsTo(address));
  onTestFinished(async () => {
    await dispatcher.destroy();
    server.close();
  });
  const options = { dispatcher, stop: new AbortController().signal, totalMs: 30_000 };
  const logos = await fetchLogos([`https://logo.example:${port}/a.svg`], options);
  expect(logos.size).toBe(0);
  expect(connections).toBe(0);
});
