/**
 * Cell -> registrable domain: bare domains, web addresses with or without scheme, e-mail addresses (also
 * `Name <a@b.com>`), wildcards. The local part of an e-mail address, user info and paths are dropped here and appear
 * in no result. A cell with more than one domain is refused, because whichever we took could be the wrong one to pay for.
 */

import type { Identified } from '../core/identifier.js';
import { isFreeMail } from './free-mail.js';
import { findRegistrable } from './registrable-domain.js';

const SCHEME = /^([a-z][a-z0-9+.-]{0,30}):[/\\]{2}/i;
/** An address of another scheme names something else: `android-app://com.acme.shop` is not the domain acme.shop. */
const WEB_SCHEMES = new Set(['http', 'https', 'ftp', 'ws', 'wss']);
/** Also the slips of typing in front of a host: `http:acme.com`, `https//acme.com`, `http://https://acme.com`. */
const WEB_PREFIX = /^(?:(?:https?|ftp|wss?)(?::+[/\\]*|[/\\]{2,})|[/\\]{2,})+/i;
const MAIL_PREFIX = /^mailto:\/*/i;
const MORE_THAN_HOST = /[:/\\?#@]/;
const PATH = /[/?#\\]/;
const PORT = /:\d{0,5}$/;
const SEVERAL_TOKENS = /[\s,;|<>]/;
const BETWEEN_TOKENS = /[\s,;|]+/;
/** A cell of more words than this is prose. */
const MOST_TOKENS = 100;
const SEVERAL = 'several domains in one cell';
const IN_ANGLES = /<([^<>]*)>/g;

/** `cleaned` comes from `cleanCell`. */
export function identifyDomain(cleaned: string): Identified {
  if (!SEVERAL_TOKENS.test(cleaned)) return identifyToken(cleaned).result;
  return identifyTokens(splitTokens(cleaned).map(identifyToken));
}

/** Whether one of several words in the cell is a domain. */
export function mentionsDomain(cleaned: string): boolean {
  return (
    SEVERAL_TOKENS.test(cleaned) &&
    splitTokens(cleaned).some((token) => identifyToken(token).result.type !== 'invalid')
  );
}

/** With `Name <a@b.com>` the name is no token, but a second address outside the angles is. */
function splitTokens(cleaned: string): string[] {
  const inside = Array.from(cleaned.matchAll(IN_ANGLES), (match) => (match[1] ?? '').trim()).slice(
    0,
    MOST_TOKENS,
  );
  const outside = cleaned.replace(IN_ANGLES, ' ').split(BETWEEN_TOKENS, MOST_TOKENS);
  const tokens = inside.length > 0 ? [...inside, ...outside.filter((token) => token.includes('@'))] : outside;
  return tokens.filter((token) => token !== '');
}

interface Token {
  readonly result: Identified;
  /** Something followed the host: then blanks and commas may belong to the path. */
  readonly hasPath: boolean;
}

function identifyTokens([first, ...others]: readonly Token[]): Identified {
  if (first === undefined) return invalid('not a domain name');
  const isFirstUsable = first.result.type !== 'invalid';
  for (const { result } of others) {
    const isUsable = result.type !== 'invalid';
    if (isUsable && isFirstUsable && !isSame(result, first.result)) return invalid(SEVERAL);
    if (isUsable !== isFirstUsable && !(isFirstUsable && first.hasPath)) {
      return invalid('other words beside a domain name');
    }
  }
  return first.result;
}

function isSame(one: Identified, other: Identified): boolean {
  if (one.type === 'identifier' && other.type === 'identifier') {
    return one.identifier.value === other.identifier.value;
  }
  return one.type === other.type;
}

function identifyToken(token: string): Token {
  if (!MORE_THAN_HOST.test(token)) return identifyAddress(token);
  if (MAIL_PREFIX.test(token)) return identifyOpen(token.replace(MAIL_PREFIX, ''));
  const scheme = SCHEME.exec(token)?.[1]?.toLowerCase();
  if (scheme !== undefined && !WEB_SCHEMES.has(scheme)) {
    return { result: invalid('an address of another kind, not a website'), hasPath: true };
  }
  const address = token.replace(WEB_PREFIX, '');
  return address === token ? identifyOpen(address) : identifyAddress(address);
}

/** An address without a scheme of the web: it may be a website or somebody's e-mail address. */
function identifyOpen(address: string): Token {
  const read = identifyAddress(address);
  return isMailInDisguise(address, read) ? { ...read, result: invalid(SEVERAL) } : read;
}

/** `address` is what follows the scheme: user info or local part, host, port, path. */
function identifyAddress(address: string): Token {
  const pathStart = address.search(PATH);
  const hasPath = pathStart >= 0;
  const authority = hasPath ? address.slice(0, pathStart) : address;
  const at = authority.lastIndexOf('@');
  const found = findRegistrable(tidyHost(authority.slice(at + 1)));
  if (found.domain === null) return { result: invalid(found.reason), hasPath };
  // User info in front of a mail provider is an e-mail address that somebody gave a scheme.
  if (at >= 0 && isFreeMail(found.domain)) {
    return { result: { type: 'skipped', reason: 'an address at a free mail provider' }, hasPath };
  }
  return { result: { type: 'identifier', identifier: { kind: 'domain', value: found.domain } }, hasPath };
}

/**
 * A local part may hold `/`, `?` and `#`, so without a scheme `jo.in/x@acme.com` could be an address at acme.com or a page of
 * jo.in. Only a page such as `medium.com/@acme`, or the same domain on both sides, is surely no local part.
 */
function isMailInDisguise(address: string, read: Token): boolean {
  const at = address.lastIndexOf('@');
  if (!read.hasPath || read.result.type === 'invalid' || at < address.search(PATH)) return false;
  const behind = identifyAddress(address.slice(at + 1)).result;
  if (behind.type === 'identifier') return !isSame(behind, read.result);
  return address[at - 1] !== '/';
}

/** Without port, wildcard and the dots that cookies put before a host. An IPv6 address keeps its colons. */
function tidyHost(host: string): string {
  const colon = host.indexOf(':');
  const isIpv6 = colon >= 0 && host.indexOf(':', colon + 1) >= 0;
  const bare = isIpv6 ? host.replace(/^\[|\](?::\d*)?$/g, '') : host.replace(PORT, '');
  return bare.replace(/^\*?\.+/, '');
}

function invalid(reason: string): Identified {
  return { type: 'invalid', reason };
}
