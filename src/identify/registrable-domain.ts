/**
 * Host name -> registrable domain, by the public suffix list with its private section, so that a shop at
 * `acme.myshopify.com` stays that shop. Finding the host in a cell is `identify-domain.ts`'s.
 */
import { isIP } from 'node:net';
import { parse } from 'tldts';
import { toASCII } from 'tr46';

/** A registrable domain in normal form (lower case, punycode), or why the host has none. */
export type Registrable = { readonly domain: string } | { readonly domain: null; readonly reason: string };

/** RFC 1035, section 2.3.4: 255 octets, which leave 253 characters. */
const LONGEST_NAME = 253;
/** RFC 1035, section 2.3.1, with digits in front (RFC 1123, section 2.1). */
const REGISTRABLE_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Hosts below a domain may carry underscores (`_dmarc`, `my_shop`). */
const HOST = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/;
/** A last label of digits or hexadecimal is an address to every browser (WHATWG URL, "ends in a number"). */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)$/;
const ASCII = /^\p{ASCII}*$/u;
/**
 * Suffixes of private networks (RFC 6762, appendix G; `.internal` by ICANN, 2024), beside the reserved names of
 * RFC 6761, RFC 7686 and RFC 8375 that the library knows.
 */
const PRIVATE_NETWORK = new Set(['internal', 'intranet', 'lan', 'home', 'corp', 'localdomain', 'private']);

const NOT_A_DOMAIN = 'not a domain name';
const IP_ADDRESS = 'an IP address, not a domain name';

const OPTIONS = {
  allowPrivateDomains: true,
  detectSpecialUse: true,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
} as const;

/**
 * `host` is a host name in any case, IDN or punycode, perhaps with trailing dots, or an IP address without brackets.
 * Reasons quote nothing of the host: it may be part of a damaged e-mail address.
 */
export function findRegistrable(host: string): Registrable {
  if (host.includes(':')) return none(isIP(host) === 6 ? IP_ADDRESS : NOT_A_DOMAIN);
  // An IDN may be longer as it is written, not by much.
  if (host.length > 4 * LONGEST_NAME) return none(NOT_A_DOMAIN);
  const name = normalForm(host.toLowerCase()).replace(/\.+$/, '');
  if (name.length > LONGEST_NAME || !HOST.test(name)) return none(NOT_A_DOMAIN);
  if (ENDS_IN_NUMBER.test(name)) {
    return none(isIP(name) === 4 ? IP_ADDRESS : 'a number, not a domain name');
  }
  return reduce(name);
}

/**
 * Punycode by UTS #46, non-transitional, with a table of our own: the URL parser of Node judges labels such as `xn--a`
 * differently from version to version, and an identifier is a key that must stay the same. Empty: not a name.
 */
function normalForm(lower: string): string {
  if (ASCII.test(lower) && !lower.includes('xn--')) return lower;
  return toASCII(lower, { checkBidi: true, checkJoiners: true }) ?? '';
}

function reduce(name: string): Registrable {
  const { domain, publicSuffix, isIcann, isPrivate, isSpecialUse } = parse(name, OPTIONS);
  const topLevel = name.slice(name.lastIndexOf('.') + 1);
  if (isSpecialUse || PRIVATE_NETWORK.has(topLevel)) return none('a reserved or private host name');
  if (!isIcann && !isPrivate) {
    return none(name.includes('.') ? 'the suffix of the domain is not known' : NOT_A_DOMAIN);
  }
  if (isPrivate && publicSuffix !== null && (domain === null || domain === `www.${publicSuffix}`)) {
    // `github.io` and `www.github.io` are the website of whoever registered it, unlike `acme.github.io`.
    const registered = parse(publicSuffix, { ...OPTIONS, allowPrivateDomains: false }).domain;
    if (registered === publicSuffix) return { domain: registered };
  }
  if (domain === null || publicSuffix === null) {
    return none('a suffix shared by many, not the domain of one brand');
  }
  const label = domain.slice(0, -publicSuffix.length - 1);
  return REGISTRABLE_LABEL.test(label) ? { domain } : none(NOT_A_DOMAIN);
}

function none(reason: string): Registrable {
  return { domain: null, reason };
}
