/**
 * Addresses among the settings (base URL, engine, hosts, domains): how they are read and
 * normalised, and what may be shown of them. `setting-rules.ts` decides whether plain http is
 * allowed.
 */
import { nearest } from '../core/nearest.js';
import { pathBeforeRoutes } from '../lookup/protocol.js';
import { accepted, oneText, refused, type ValueKind } from './parse-value.js';

const BASE_URL_EXAMPLE = 'the address without credentials or query, for example https://api.example.com';

/**
 * An http or https address, brought to one form: lower-case host, no trailing slash, credentials,
 * query or fragment, and without the version that every path begins with, which people copy with
 * it. Accounts and answers are kept under this form.
 */
export const baseUrlValue: ValueKind<string> = oneText('URL', (seen) => {
  const url = URL.canParse(seen) ? new URL(seen) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return refused('an http or https address', BASE_URL_EXAMPLE);
  }
  if (url.username !== '' || url.password !== '') {
    return refused('an address without credentials', 'it without them and put the token in BRAND_API_TOKEN');
  }
  if (url.port === '0') return refused('an address with a port', 'the port that the service listens on');
  if (url.search !== '' || url.hash !== '') {
    return refused('an address without query or fragment', BASE_URL_EXAMPLE);
  }
  return accepted(`${url.origin}${pathBeforeRoutes(url.pathname)}`);
});

/**
 * Whether the address cannot leave this machine (RFC 6761 for localhost, RFC 1122 and 4291 for the
 * numbers).
 */
export function isLoopbackUrl(address: string): boolean {
  return isLoopbackHost(new URL(address).hostname);
}

/** The same of a host alone; an IPv6 address may stand in brackets. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    name === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name)
  );
}

const ENGINE_EXAMPLE =
  'embedded, or an address such as redis://localhost:6379 or postgres://localhost:5432/name';

/**
 * `embedded`, or the address of Redis or Postgres. May hold a password: show it through
 * `maskAddress` only.
 */
export const engineValue: ValueKind<string> = oneText('ENGINE', (seen) => {
  if (seen === 'embedded') return accepted(seen);
  const protocol = URL.canParse(seen) ? new URL(seen).protocol : '';
  const isRedis = /^rediss?:$/.test(protocol) && new URL(seen).hostname !== '';
  // Postgres takes an empty host: the socket folder is then in the query.
  const isPostgres = /^postgres(ql)?:$/.test(protocol);
  return isRedis || isPostgres
    ? accepted(seen)
    : refused('an engine', ENGINE_EXAMPLE, nearest(seen, ['embedded']));
});

/** A host name or IP address, without port. */
export const hostValue: ValueKind<string> = oneText('HOST', (seen) =>
  /^[A-Za-z0-9.:_-]+$/.test(seen)
    ? accepted(seen)
    : refused('a host', 'a name or an IP address, for example 127.0.0.1'),
);

/** A domain name, lower-cased. */
export const domainValue: ValueKind<string> = oneText('DOMAIN', (seen) => {
  const domain = seen.toLowerCase();
  const isRight = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/.test(domain);
  return isRight ? accepted(domain) : refused('a domain name', 'a name alone, for example brand.example');
});

/** What somebody may have meant as an address without a scheme; tokens do not look like this. */
const HOST_LIKE = /^(?=.{1,60}$)([a-z]{1,12}|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d{1,5})?(\/[a-z0-9./-]*)?$/;

/**
 * An address without credentials and query: `redis://***@host:6379/0`. Anything else is shown only
 * when it looks like a host, else as `…`: it may be a token in the wrong place.
 */
export function maskAddress(address: string): string {
  if (HOST_LIKE.test(address)) return address;
  if (!/^[a-z]+:\/\//i.test(address)) return '…';
  if (!URL.canParse(address)) return `${address.slice(0, address.indexOf(':'))}://…`;
  const url = new URL(address);
  const credentials = url.username === '' && url.password === '' ? '' : '***@';
  const path = url.pathname === '/' ? '' : url.pathname;
  return `${url.protocol}//${credentials}${url.host}${path}${url.search === '' ? '' : '?…'}`;
}

/**
 * An address up to its host, for receivers that take path and query as a secret:
 * `https://hooks.example/…`.
 */
export function maskOrigin(address: string): string {
  if (!URL.canParse(address)) return '…';
  const { protocol, host, pathname, search } = new URL(address);
  return `${protocol}//${host}${pathname === '/' && search === '' ? '' : '/…'}`;
}

/**
 * The path of a token file, or `…` when somebody seems to have written the token itself in its
 * place.
 */
export function maskTokenPath(path: string): string {
  const looksLikePath = /[\\/]/.test(path) || /\.[a-z]{1,8}$/.test(path) || path.length < 16;
  return looksLikePath ? path : '…';
}
