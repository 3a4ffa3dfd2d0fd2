/** Fetches logos for the report as `data:` addresses; after any error a brand has none. */
import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import pLimit from 'p-limit';
import { Agent, type Dispatcher, request } from 'undici';
import { createConnector, type Network, PLAIN_NETWORK } from '../../core/connector.js';
import { limitedTo } from '../../core/lifecycle.js';

/** The largest picture that is embedded. */
export const LOGO_BYTES_AT_MOST = 64 * 1024;
const AT_ONCE = 5;
/** Query parameters that identify the client; `c` is the client key of asset addresses. */
const KEY_PARAMETER = /^(c|key|api[_-]?key|token|access[_-]?token|auth|sig|signature|secret)$/i;
const IP_ADDRESS = /^(\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/** Returns the address without key and fragment; null unless https, a public name and no user. */
export function logoAddress(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const address = new URL(url);
  if (address.protocol !== 'https:' || address.username !== '' || address.password !== '') return null;
  const host = address.hostname.replace(/\.$/, '');
  if (IP_ADDRESS.test(host) || !host.includes('.') || /\.(localhost|local|internal)$/.test(host)) return null;
  for (const name of [...address.searchParams.keys()]) {
    if (KEY_PARAMETER.test(name)) address.searchParams.delete(name);
  }
  address.hash = '';
  return address.href;
}

/** A comment ends at its first end mark, so that no text matches in two ways. */
const SVG = /^\s*(?:(?:<\?xml[^>]*>|<!--(?:(?!-->)[\s\S])*-->|<!DOCTYPE[^>[]*>)\s*)*<svg[\s>]/i;

/** Returns the type of a picture by its bytes, whatever its server says; null for other types. */
export function pictureType(bytes: Buffer): string | null {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('RIFF') && head.slice(8) === 'WEBP') return 'image/webp';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const isSvg = SVG.test(text);
  // Entities can make a short picture endless.
  return isSvg && !/<!ENTITY/i.test(text) ? 'image/svg+xml' : null;
}

/**
 * Opens an agent that connects only to public addresses and follows no redirects. Names are checked
 * here even with a proxy, which resolves them again; names unknown here are left to the proxy.
 */
export function openLogoAgent(network: Network = PLAIN_NETWORK, resolve?: Resolve): Agent {
  const lookup = publicLookup(resolve);
  const connector = createConnector(network, { timeoutMs: 5_000, lookup });
  return new Agent({
    connections: 4,
    maxHeaderSize: 65_536,
    connect: (options, callback) =>
      lookup(options.hostname, {}, (error) =>
        error !== null && error.code === undefined ? callback(error, null) : connector(options, callback),
      ),
  });
}

/** Fetches each address once, within `totalMs` in all; omits failures, and never rejects. */
export async function fetchLogos(
  urls: readonly string[],
  { dispatcher, stop, totalMs }: { dispatcher: Dispatcher; stop: AbortSignal; totalMs: number },
): Promise<Map<string, string>> {
  const logos = new Map<string, string>();
  const signal = limitedTo(totalMs, stop);
  const fetchInto = async (url: string) => {
    const address = signal.aborted ? null : logoAddress(url);
    const logo = address && (await fetchLogo(address, dispatcher, signal).catch(() => null));
    if (logo) logos.set(url, logo);
  };
  const limit = pLimit(AT_ONCE);
  await Promise.all([...new Set(urls)].map((url) => limit(fetchInto, url)));
  return logos;
}

async function fetchLogo(address: string, dispatcher: Dispatcher, signal: AbortSignal) {
  const { statusCode, headers, body } = await request(address, {
    dispatcher,
    signal,
    headers: { accept: 'image/svg+xml,image/png,image/webp,image/jpeg', 'user-agent': 'brand-enrich' },
  });
  // An abandoned body emits its own error, which nothing else handles.
  body.on('error', () => undefined);
  const announced = Number(headers['content-length'] ?? 0);
  if (statusCode !== 200 || announced > LOGO_BYTES_AT_MOST) {
    body.destroy();
    return null;
  }
  let bytes = Buffer.alloc(0);
  for await (const chunk of body) {
    bytes = Buffer.concat([bytes, chunk]);
    // Leaving the loop ends the transfer.
    if (bytes.length > LOGO_BYTES_AT_MOST) return null;
  }
  const type = pictureType(bytes);
  return type && `data:${type};base64,${bytes.toString('base64')}`;
}

/** Addresses that do not occur on the public internet (IANA's registries of special addresses). */
const NOT_PUBLIC_4 = ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'].concat(
  ['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'],
  ['192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ['224.0.0.0/4', '240.0.0.0/4'],
);
/** Teredo and other protocols, documentation, 6to4. */
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const notPublic4 = listOf(NOT_PUBLIC_4, 'ipv4');
/** The assigned part of IPv6, without addresses that stand for IPv4 (mapped, NAT64). */
const public6 = listOf(['2000::/3'], 'ipv6');
const notPublic6 = listOf(NOT_PUBLIC_6, 'ipv6');

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** True if a text is an IP address of the public internet. Pure. */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/%.*$/s, '');
  if (isIP(bare) === 4) return !notPublic4.check(bare, 'ipv4');
  return isIP(bare) === 6 && public6.check(bare, 'ipv6') && !notPublic6.check(bare, 'ipv6');
}

/** Resolves names: `dns.lookup`, or its replacement in a test. */
export type Resolve = (
  name: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Returns a `lookup` that fails if any address of a name is not public. */
export function publicLookup(resolve: Resolve = lookup): LookupFunction {
  return (name, options, done) => {
    resolve(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      const [first] = addresses;
      const refused = addresses.find(({ address }) => !isPublicAddress(address));
      if (refused) return done(new Error(`${name} leads to ${refused.address}, which is not public`), []);
      if (first === undefined) return done(new Error(`${name} has no address`), []);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  };
}
