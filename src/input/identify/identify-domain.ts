/** Finds the registrable domain in a cell; local parts, user info and paths stay out of results. */
import { isIP } from 'node:net';
import type { Identified } from '../../core/identifier.js';
import { load } from '../../core/load.js';
import { asIdentifier, invalid } from './clean-cell.js';

let tldts: typeof import('tldts') | undefined;
/** Loads the library with the first domain, because many commands read none. */
const parse: typeof import('tldts').parse = (name, options) => {
  tldts ??= load('tldts') as NonNullable<typeof tldts>;
  return tldts.parse(name, options);
};

const SCHEME = /^([a-z][a-z0-9+.-]{0,30}):[/\\]{2}/i;
/** Another scheme names something else: `android-app://com.acme.shop` is not acme.shop. */
const WEB_SCHEMES = new Set(['http', 'https', 'ftp', 'ws', 'wss']);
/** With typing errors: `http:acme.com`, `https//acme.com`, `http://https://acme.com`. */
const WEB_PREFIX = /^(?:(?:https?|ftp|wss?)(?::+[/\\]*|[/\\]{2,})|[/\\]{2,})+/i;
const MAIL_PREFIX = /^mailto:\/*/i;
const MORE_THAN_HOST = /[:/\\?#@]/;
const PATH = /[/?#\\]/;
const PORT = /:\d{0,5}$/;
const SEVERAL_TOKENS = /[\s,;|<>]/;
const BETWEEN_TOKENS = /[\s,;|]+/;
/** A list of a data frame: `['acme.com', 'acme.de']`. */
const LIST = /^\[\s*(['"]).*\1\s*\]$/s;
const LIST_MARKS = /^\[|\]$|['"]/g;
const IN_ANGLES = /<([^<>]*)>/g;
/** A cell of more words than this is prose. */
const MOST_TOKENS = 100;

const SEVERAL = invalid({ code: 'several_domains' });
const NOT_A_DOMAIN = invalid({ code: 'not_domain' });
const IP_ADDRESS = invalid({ code: 'ip_address' });

/** Returns `acme` for `acme.co.uk`: what the domains of one company have in common. */
export function nameInDomain(domain: string): string {
  return parse(domain, OPTIONS).domainWithoutSuffix ?? domain;
}

/** Identifies the domain in a cell that `cleanCell` has cleaned. */
export function identifyDomain(cell: string): Identified {
  const cleaned = LIST.test(cell) ? cell.replace(LIST_MARKS, ' ') : cell;
  if (!SEVERAL_TOKENS.test(cleaned)) return identifyToken(cleaned).result;
  const [first, ...others] = splitTokens(cleaned).map(identifyToken);
  if (first === undefined) return NOT_A_DOMAIN;
  const isFirstUsable = first.result.type !== 'invalid';
  let hasSeveral = false;
  for (const { result } of others) {
    const isUsable = result.type !== 'invalid';
    if (isUsable && isFirstUsable && !isSame(result, first.result)) hasSeveral = true;
    if (isUsable !== isFirstUsable && !(isFirstUsable && first.hasPath)) {
      return invalid({ code: 'with_words' });
    }
  }
  if (!hasSeveral) return first.result;
  const found = [first, ...others].find(({ result }) => result.type === 'identifier')?.result;
  return found?.type === 'identifier' ? { ...found, hasSeveral: true } : first.result;
}

/** True if one of several words in the cell is a domain. */
export function mentionsDomain(cleaned: string): boolean {
  if (!SEVERAL_TOKENS.test(cleaned)) return false;
  return splitTokens(cleaned).some((token) => identifyToken(token).result.type !== 'invalid');
}

/** Splits a cell. Beside `<a@b.com>`, names are not tokens, but further addresses are. */
function splitTokens(cleaned: string): string[] {
  const matches = [...cleaned.matchAll(IN_ANGLES)].slice(0, MOST_TOKENS);
  const inside = matches.map(([, text = '']) => text.trim());
  const outside = cleaned.replace(IN_ANGLES, ' ').split(BETWEEN_TOKENS, MOST_TOKENS);
  const tokens = inside.length > 0 ? [...inside, ...outside.filter((token) => token.includes('@'))] : outside;
  return tokens.filter((token) => /[\p{L}\p{N}]/u.test(token));
}

interface Token {
  readonly result: Identified;
  /** True if a path follows the host; blanks and commas may then belong to it. */
  readonly hasPath: boolean;
}

function isSame(one: Identified, other: Identified): boolean {
  return one.type === 'identifier' && other.type === 'identifier'
    ? one.identifier.value === other.identifier.value
    : one.type === other.type;
}

function identifyToken(token: string): Token {
  if (!MORE_THAN_HOST.test(token)) return identifyAddress(token);
  if (MAIL_PREFIX.test(token)) return identifyOpen(token.replace(MAIL_PREFIX, ''));
  const scheme = SCHEME.exec(token)?.[1]?.toLowerCase();
  if (scheme !== undefined && !WEB_SCHEMES.has(scheme)) {
    return { result: invalid({ code: 'not_website' }), hasPath: true };
  }
  const address = token.replace(WEB_PREFIX, '');
  return address === token ? identifyOpen(address) : identifyAddress(address);
}

function identifyOpen(address: string): Token {
  const read = identifyAddress(address);
  return isMailInDisguise(address, read) ? { ...read, result: SEVERAL } : read;
}

/** Identifies the part after a scheme: user info or local part, host, port, path. */
function identifyAddress(address: string): Token {
  const pathStart = address.search(PATH);
  const hasPath = pathStart >= 0;
  const authority = hasPath ? address.slice(0, pathStart) : address;
  const at = authority.lastIndexOf('@');
  const result = findRegistrable(tidyHost(authority.slice(at + 1)));
  // User info before a mail provider is an e-mail address with a scheme.
  return at >= 0 && result.type === 'identifier' && isFreeMail(result.identifier.value)
    ? { result: { type: 'skipped', reason: { code: 'free_mail' } }, hasPath }
    : { result, hasPath };
}

/**
 * True for `jo.in/x@acme.com`, which may be an address at acme.com or a page of jo.in. False for
 * `medium.com/@acme`, which is a page, and for one domain on both sides.
 */
function isMailInDisguise(address: string, read: Token): boolean {
  const at = address.lastIndexOf('@');
  if (!read.hasPath || read.result.type === 'invalid' || at < address.search(PATH)) return false;
  const behind = identifyAddress(address.slice(at + 1)).result;
  return behind.type === 'identifier' ? !isSame(behind, read.result) : address[at - 1] !== '/';
}

/** Removes port, brackets, wildcard and the dots that cookies put before a host. */
function tidyHost(host: string): string {
  const isIpv6 = host.indexOf(':') !== host.lastIndexOf(':');
  const bare = isIpv6 ? host.replace(/^\[|\](?::\d*)?$/g, '') : host.replace(PORT, '');
  return bare.replace(/^\*?\.+/, '');
}

/** RFC 1035, section 2.3.4: 255 octets, which leave 253 characters. */
const LONGEST_NAME = 253;
/** RFC 1035, section 2.3.1, with digits in front (RFC 1123, section 2.1). */
const REGISTRABLE_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Hosts below a domain may carry underscores (`_dmarc`, `my_shop`). */
const HOST = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/;
/** A name that every browser takes for an IP address (WHATWG URL, "ends in a number"). */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)$/;
/** Suffixes of private networks (RFC 6762, appendix G; ICANN, 2024) beside those of the library. */
const PRIVATE_NETWORK = /(?:^|\.)(?:internal|intranet|lan|home|corp|localdomain|private)$/;

const OPTIONS = {
  allowPrivateDomains: true,
  detectSpecialUse: true,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
} as const;

/** Identifies a host in any case, IDN or punycode, perhaps with trailing dots, or an IP address. */
function findRegistrable(host: string): Identified {
  if (host.includes(':')) return isIP(host) === 6 ? IP_ADDRESS : NOT_A_DOMAIN;
  // An IDN may be longer before it is encoded, but not by much.
  if (host.length > 4 * LONGEST_NAME) return NOT_A_DOMAIN;
  const name = normalForm(host.toLowerCase()).replace(/(?<!\.)\.+$/, '');
  if (name.length > LONGEST_NAME || !HOST.test(name)) return NOT_A_DOMAIN;
  if (ENDS_IN_NUMBER.test(name)) {
    return isIP(name) === 4 ? IP_ADDRESS : invalid({ code: 'number_as_domain' });
  }
  const { domain, publicSuffix, isIcann, isPrivate, isSpecialUse } = parse(name, OPTIONS);
  if (isSpecialUse || PRIVATE_NETWORK.test(name)) return invalid({ code: 'private_host' });
  if (!isIcann && !isPrivate) {
    return name.includes('.') ? invalid({ code: 'unknown_suffix' }) : NOT_A_DOMAIN;
  }
  if (isPrivate && publicSuffix !== null && (domain === null || domain === `www.${publicSuffix}`)) {
    // `github.io` and `www.github.io` are their owner's website, unlike `acme.github.io`.
    const registered = parse(publicSuffix, { ...OPTIONS, allowPrivateDomains: false }).domain;
    if (registered === publicSuffix) return asIdentifier('domain', registered);
  }
  if (domain === null || publicSuffix === null) return invalid({ code: 'shared_suffix' });
  const label = domain.slice(0, -publicSuffix.length - 1);
  return REGISTRABLE_LABEL.test(label) ? asIdentifier('domain', domain) : NOT_A_DOMAIN;
}

/**
 * Returns punycode by UTS #46, or an empty text. Node's URL parser is not used: it judges labels
 * such as `xn--a` differently from version to version, and a key must stay the same.
 */
function normalForm(lower: string): string {
  if (/^\p{ASCII}*$/u.test(lower) && !lower.includes('xn--')) return lower;
  // Its tables are large, and most files do not need them.
  const { toASCII } = load('tr46') as typeof import('tr46');
  return toASCII(lower, { checkBidi: true, checkJoiners: true }) ?? '';
}

const PROVIDERS = new Set(
  `gmail.com googlemail.com outlook.com msn.com passport.com windowslive.com
  icloud.com me.com mac.com aol.com aim.com ymail.com rocketmail.com
  proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com tutamail.com
  posteo.de posteo.net mailbox.org hushmail.com fastmail.com fastmail.fm zoho.com zohomail.com
  mail.com email.com hey.com duck.com inbox.com inbox.lv
  web.de t-online.de freenet.de arcor.de online.de email.de mail.de
  bluewin.ch hispeed.ch aon.at chello.at
  orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr bbox.fr numericable.fr club-internet.fr
  libero.it virgilio.it tiscali.it alice.it tin.it tim.it fastwebnet.it email.it
  terra.es sapo.pt
  btinternet.com virginmedia.com ntlworld.com blueyonder.co.uk talktalk.net tiscali.co.uk
  telenet.be skynet.be ziggo.nl kpnmail.nl planet.nl home.nl xs4all.nl hetnet.nl
  online.no telia.com spray.se comhem.se bredband.net mail.dk
  wp.pl o2.pl onet.pl onet.eu interia.pl op.pl tlen.pl gazeta.pl
  seznam.cz email.cz centrum.cz volny.cz centrum.sk azet.sk zoznam.sk freemail.hu citromail.hu abv.bg
  mail.ru bk.ru list.ru inbox.ru rambler.ru ya.ru ukr.net i.ua tut.by
  qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com 139.com 189.cn aliyun.com
  naver.com daum.net hanmail.net nate.com rediffmail.com
  uol.com.br bol.com.br terra.com.br ig.com.br globomail.com
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net juno.com
  optonline.net windstream.net roadrunner.com rr.com shaw.ca sympatico.ca videotron.ca telus.net
  bigpond.com bigpond.net.au optusnet.com.au iinet.net.au xtra.co.nz
  mailinator.com guerrillamail.com yopmail.com 10minutemail.com trashmail.com`.split(/\s+/),
);

/** Providers with one name under many suffixes: `hotmail.co.uk`, `yahoo.co.jp`, `gmx.net`. */
const FAMILIES = new Set(['hotmail', 'live', 'outlook', 'yahoo', 'gmx', 'yandex']);

function isFreeMail(registrable: string): boolean {
  return PROVIDERS.has(registrable) || FAMILIES.has(registrable.slice(0, registrable.indexOf('.')));
}
