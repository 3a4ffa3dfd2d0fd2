/**
 * Names that a service sends lead to the public internet or nowhere: judged is the address that is connected to, because a
 * name that looks public may resolve to this machine, to its network, or to something else the next time it is asked.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IANA's registries of special addresses: what is not to be met on the public internet. */
const NOT_PUBLIC_4 = ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'].concat(
  ['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'],
  ['192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ['224.0.0.0/4', '240.0.0.0/4'],
);
/** Of IPv6 only this is given out. What stands for an IPv4 address (mapped, NAT64) lies outside. */
const PUBLIC_6 = ['2000::/3'];
/** Teredo and other protocols, documentation, 6to4. */
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const notPublic4 = listOf(NOT_PUBLIC_4, 'ipv4');
const public6 = listOf(PUBLIC_6, 'ipv6');
const notPublic6 = listOf(NOT_PUBLIC_6, 'ipv6');

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Whether an IP address is one of the public internet. What is no address is not. Pure. */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 4) return !notPublic4.check(bare, 'ipv4');
  return isIP(bare) === 6 && public6.check(bare, 'ipv6') && !notPublic6.check(bare, 'ipv6');
}

/** How names are resolved: `dns.lookup`, or what a test puts in its place. */
export type Resolve = (
  name: string,
  options: { all: true; family?: number; hints?: number },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A `lookup` for connections. A name that has one address which is not public has none: which of them would be connected to
 * is not for its owner to choose.
 */
export function publicLookup(resolve: Resolve = lookup): LookupFunction {
  return (name, options, done) => {
    const { family, hints } = options;
    const asked = {
      ...(typeof family === 'number' ? { family } : {}),
      ...(hints === undefined ? {} : { hints }),
    };
    resolve(name, { ...asked, all: true }, (error, addresses) => {
      const found = error === null ? addresses : [];
      const refused = found.find(({ address }) => !isPublicAddress(address));
      const [first] = found;
      if (error !== null) done(error, []);
      else if (refused !== undefined)
        done(new Error(`${name} leads to ${refused.address}, which is not public`), []);
      else if (first === undefined) done(new Error(`${name} has no address`), []);
      else if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });
  };
}
