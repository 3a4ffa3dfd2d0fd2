/** Addresses: how they are read and normalised, and how much of them messages show. */
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { pathBeforeRoutes } from '../brand-api/protocol.js';
import { attempt } from '../core/lifecycle.js';
import { nearest } from '../core/nearest.js';
import { matching, oneText, Refusal } from './parse-value.js';

/** Returns null for a text that is no address, and for another scheme. */
function parseUrl(address: string, scheme: RegExp): URL | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  return url !== null && scheme.test(url.protocol) ? url : null;
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

const HTTP = /^https?:$/;

/** Reads an address without credentials. `write` and `writeBare` advise what to write instead. */
function parseHttp(seen: string, write: string, writeBare: string): URL | Refusal {
  const url = parseUrl(seen, HTTP);
  if (url === null) return new Refusal('an http or https address', write);
  return hasCredentials(url) ? new Refusal('an address without credentials', writeBare) : url;
}

/** For examples; its own domain is free to look up (docs.brandfetch.com). */
export const EXAMPLE_SERVICE = { baseUrl: 'https://api.brandfetch.io', ownDomain: 'brandfetch.com' } as const;

/** An http or https address in the form under which accounts are kept, without a version. */
export const baseUrlValue = oneText('URL', (seen) => {
  const example = `the address alone, for example ${EXAMPLE_SERVICE.baseUrl}`;
  const url = parseHttp(seen, example, 'the address alone and put the token in BRAND_API_TOKEN');
  if (url instanceof Refusal) return url;
  if (url.port === '0') return new Refusal('an address with a port', 'the port that the service listens on');
  if (url.search !== '' || url.hash !== '')
    return new Refusal('an address without query or fragment', example);
  return `${url.origin}${pathBeforeRoutes(url.pathname)}`;
});

/** An http or https proxy, perhaps with a password; http without a scheme, as for curl. */
export const proxyValue = oneText('URL', (seen) => {
  const url = parseUrl(/^[a-z0-9+.-]+:\/\//i.test(seen) ? seen : `http://${seen}`, HTTP);
  const write = 'it as http://HOST:PORT or http://user:password@HOST:PORT';
  return url?.href ?? new Refusal('the address of an http or https proxy', write);
});

/** True if requests to the address stay on this machine (RFC 6761, RFC 1122 and 4291). */
export function isLoopbackUrl(address: string): boolean {
  return isLoopbackHost(new URL(address).hostname);
}

/** True for a loopback host; an IPv6 address may be in brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^((.*\.)?localhost|::1|\[::1\]|127(\.\d{1,3}){3})$/i.test(host);
}

/** Names of no public site (RFC 6761, 6762 and 8375; `internal`: ICANN, 2024). */
const PRIVATE_NAME = /^[^.]+$|\.(local|internal|home\.arpa|test)$/i;

/**
 * True if a request may call a server of ours by this name. By DNS rebinding, the page of another
 * site can reach our address under its own name, but not under an address, a private name or our
 * name. On loopback, only loopback names and `ownNames` count.
 */
export function isOwnHost(name: string, listensOn: string, ownNames: readonly string[]): boolean {
  const host = name.toLowerCase().replace(/\.$/, '');
  if (isLoopbackHost(host) || ownNames.some((own) => own.toLowerCase() === host)) return true;
  if (isLoopbackHost(listensOn)) return false;
  const isAddress = isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
  const ours = [listensOn, hostname()].map((each) => each.toLowerCase());
  return isAddress || PRIVATE_NAME.test(host) || ours.includes(host);
}

/** The origin of a server of ours for people: scheme, host and port. */
export const originValue = oneText('URL', (seen) => {
  const write = 'scheme and host alone, for example https://brands.example.com';
  const url = parseHttp(seen, write, write);
  if (url instanceof Refusal) return url;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.port === '0')
    return new Refusal('an address without path or query', write);
  return url.origin;
});

/** The options that a PostgreSQL address may have after `?`, with their form; Redis has none. */
const POSTGRES_PARTS: ReadonlyMap<string, RegExp> = new Map([
  ['host', /^\//],
  ['sslmode', /^(disable|no-verify|prefer|require|verify-ca|verify-full)$/],
  ...['sslrootcert', 'sslcert', 'sslkey', 'options'].map((name): [string, RegExp] => [name, /./]),
]);

/** Returns what an engine's address should be, or null if every part of it is used. Pure. */
function lackOf({ protocol, hostname, port, pathname, hash, searchParams: parts }: URL): string | null {
  const isRedis = protocol.startsWith('redis');
  const names = [...parts.keys()];
  const isUsed = (name: string, index: number) =>
    !isRedis && names.indexOf(name) === index && POSTGRES_PARTS.get(name)?.test(parts.get(name) ?? '');
  const odd = names.find((name, index) => !isUsed(name, index));
  // A name with other signs may be the end of a password: it is not shown.
  const isKnown = !isRedis && POSTGRES_PARTS.has(odd ?? '');
  const shown = /^[a-z_]{1,24}$/i.test(odd ?? '')
    ? ` ("${odd}" ${isKnown ? 'has an unknown value' : 'is unknown'})`
    : '';
  const isSocket = parts.has('host') ? hostname === '' : !isRedis && /^%2f[\w.%-]*$/i.test(hostname);
  const isHost = !parts.has('host') && /^([\w.-]+|\[[\da-f:.]+\])$/i.test(hostname);
  const [mode, hasCert] = [parts.get('sslmode'), parts.has('sslcert')];
  const isOff = mode === 'disable' || (mode === 'no-verify' && !hasCert);
  const rules: readonly (readonly [isKept: boolean, expected: string])[] = [
    [hash === '', 'an address without a #, which is written as %23'],
    [odd === undefined, `an address with known options after the ?${shown}`],
    [isSocket || isHost, 'an address with one host'],
    [port !== '0', 'an address with a port'],
    [!isRedis || /^\/?(-?\d+)?$/.test(pathname), 'an address with the number of a database'],
    [hasCert === parts.has('sslkey'), 'an address with both sslcert and sslkey'],
    [!isOff || !(hasCert || parts.has('sslrootcert')), 'an address whose sslmode uses its certificates'],
  ];
  return rules.find(([isKept]) => !isKept)?.[1] ?? null;
}

const SENTINELS =
  /^rediss?\+sentinel:\/\/([^/?#\s]+)\/([\w.-]+)(?:\/(\d+))?(?:\?sentinelPassword=([^&#\s]+))?$/i;

/**
 * Reads `redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME/NUMBER`: the sentinels that watch
 * the primary NAME. Returns options of `ioredis`, or null for another address.
 */
export function readSentinels(address: string) {
  const [, authority = '', name, db = '0', own = ''] = SENTINELS.exec(address) ?? [];
  if (name === undefined) return null;
  const [hosts = '', credentials = ''] = authority.split('@').reverse();
  const [username = '', password = ''] = credentials.split(':');
  const sentinels = hosts.split(',').map((each) => {
    const [, host = '', port = '26379'] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(each) ?? [];
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
  if (sentinels.some(({ host, port }) => host === '' || port === 0)) return null;
  const decoded = (text: string) => (text === '' ? {} : { value: decodeURIComponent(text) }).value;
  return {
    sentinels,
    name,
    db: Number(db),
    username: decoded(username),
    password: decoded(password),
    sentinelPassword: decoded(own),
  };
}

/** `embedded`, or the address of Redis or PostgreSQL, perhaps with a password. */
export const engineValue = oneText('ENGINE', (seen) => {
  if (seen === 'embedded') return seen;
  if (attempt(() => readSentinels(seen), null) !== null)
    return seen.replace(/^[^:]*/, (scheme) => scheme.toLowerCase());
  const url = /\s/.test(seen) ? null : parseUrl(seen, /^(rediss?|postgres(ql)?):$/);
  const isReadable = attempt(() => decodeURIComponent(seen), null) !== null;
  const lack = url === null ? 'an engine' : isReadable ? lackOf(url) : 'an address with % written as %25';
  // Clients know only schemes in lower case.
  if (lack === null) return seen.replace(/^[^:]*/, (scheme) => scheme.toLowerCase());
  const write =
    'embedded, redis://USER:PASSWORD@HOST:PORT/NUMBER (rediss:// for TLS), ' +
    'redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME/NUMBER or ' +
    'postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full';
  return new Refusal(lack, write, nearest(seen, ['embedded']));
});

/** Returns a warning if an engine on another host lacks password or TLS, else null. Pure. */
export function openEngineWarning(engine: string): string | null {
  const sentinels = readSentinels(engine);
  const first = sentinels?.sentinels.find(({ host }) => !isLoopbackHost(host))?.host ?? 'localhost';
  const asOne = `${engine.replace(/\+.*/s, '')}://:${sentinels?.password ?? ''}@${first}`;
  const url = parseUrl(sentinels === null ? engine : asOne, /^(rediss?|postgres(ql)?):$/);
  // A socket's address has no host, or a folder in its place.
  const host = url?.searchParams.get('host') ?? url?.hostname ?? '';
  if (url === null || host === '' || /^(\/|%2f)/i.test(host) || isLoopbackHost(host)) return null;
  const { protocol, password, search, searchParams } = url;
  const isRedis = protocol.startsWith('redis');
  const hasTls = isRedis
    ? protocol === 'rediss:'
    : searchParams.get('sslmode') !== 'disable' && /[?&]ssl/.test(search);
  const lacks = [...(isRedis && password === '' ? ['a password'] : []), ...(hasTls ? [] : ['TLS'])];
  if (lacks.length === 0) return null;
  const todo = isRedis
    ? 'use rediss://USER:PASSWORD@HOST:PORT, or a private network'
    : 'add sslmode=verify-full to its address, or use a private network';
  return (
    `the engine is on another host without ${lacks.join(' and ')}: anyone who can write to it can ` +
    `spend the quota and change results; ${todo}`
  );
}

/** A host name or IP address, without port. */
export const hostValue = matching(
  'HOST',
  /^[A-Za-z0-9.:_-]+$/,
  'a host',
  'a name or an IP address, for example 127.0.0.1',
);

export const domainValue = oneText('DOMAIN', (seen) => {
  const domain = seen.toLowerCase();
  const isRight = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/.test(domain);
  return isRight ? domain : new Refusal('a domain name', 'a name alone, for example brand.example');
});

/** An http or https address, unchanged: receivers put secrets into path and query. */
export const webhookValue = oneText('URL', (seen) => {
  const write = 'it in full, for example https://hooks.example.com/brands';
  const url = parseHttp(seen, write, 'the address alone; a signature proves the sender');
  return url instanceof Refusal ? url : seen;
});

const MAIL_ADDRESS = /^[^\s@<>,;"]{1,64}@[A-Za-z0-9.-]{1,253}$/;

/** `smtp://` or `smtps://` with receivers as `to`, perhaps with a password. */
export const mailValue = oneText('URL', (seen) => {
  const write = 'smtp://user:password@mail.example.com:587?to=data-team@example.com';
  if (!parseUrl(seen, /^smtps?:$/)?.hostname) return new Refusal('the address of a mail server', write);
  const { to, from } = mailOf(seen);
  const wrong = [...to, from].find((each) => !MAIL_ADDRESS.test(each));
  if (wrong !== undefined || to.length === 0)
    return new Refusal('an address with e-mail addresses to send to', write);
  return seen;
});

/** Splits a mail address into server, receivers and sender (default: the first receiver). */
export function mailOf(address: string): { server: string; to: readonly string[]; from: string } {
  const url = new URL(address);
  // In mail addresses a plus sign stands for itself, not for a blank.
  const parameters = new URLSearchParams(url.search.replaceAll('+', '%2B'));
  const to = parameters.getAll('to').flatMap((each) => each.split(','));
  url.search = '';
  return { server: url.href, to, from: parameters.get('from') ?? to[0] ?? '' };
}

/** Matches addresses without a scheme, but not tokens. */
const HOST_LIKE = /^(?=.{1,60}$)([a-z]{1,12}|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d{1,5})?(\/[a-z0-9./-]*)?$/;

/** Returns an address without credentials and query; `…` for a text that may be a token. */
export function maskAddress(address: string): string {
  if (HOST_LIKE.test(address)) return address;
  if (!/^[a-z]+:\/\//i.test(address)) return '…';
  if (!URL.canParse(address)) return `${address.slice(0, address.indexOf(':'))}://…`;
  const url = new URL(address);
  const credentials = hasCredentials(url) ? '***@' : '';
  // After a second `@`, the credentials may reach into the path.
  const path = /@|%40/.test(url.pathname) ? '/…' : url.pathname === '/' ? '' : url.pathname;
  return `${url.protocol}//${credentials}${url.host}${path}${url.search === '' ? '' : '?…'}`;
}

/** Returns an address up to its host, since the path may be secret: `https://hooks.example/…`. */
export function maskOrigin(address: string): string {
  if (!URL.canParse(address)) return '…';
  const { protocol, host, pathname, search } = new URL(address);
  return `${protocol}//${host}${pathname === '/' && search === '' ? '' : '/…'}`;
}

/** Returns the path of a token file, or `…` if it looks like the token itself. */
export function maskTokenPath(path: string): string {
  const looksLikePath = /[\\/]/.test(path) || /\.[a-z]{1,8}$/.test(path) || path.length < 16;
  return looksLikePath ? path : '…';
}
