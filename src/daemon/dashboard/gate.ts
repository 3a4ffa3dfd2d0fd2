/** Before every page: security headers, host name check, sign-in. This process signs its cookie. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { auth } from 'hono/utils/basic-auth';
import { isLoopbackHost } from '../../config/address-values.js';
import type { Clock } from '../../core/clock.js';
import { type Page, renderSignIn } from './plain-pages.js';

export interface GateOptions {
  /** Where it listens. */
  readonly host: string;
  readonly password: string;
  /** Signs cookies and forms. */
  readonly key: Buffer;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Who signed in, and how. */
export interface Session {
  readonly type: 'cookie' | 'basic';
  /** The name that they gave, for the log. */
  readonly user: string;
  /** In every form of the session: another page cannot know it. */
  readonly formToken: string;
}

/** For whom a page is made. */
export interface Viewer extends Pick<Session, 'user' | 'formToken'> {
  /** What their last action did; null: nothing is said. */
  readonly notice: string | null;
}

export type GatedApp = Hono<{ Variables: { session: Session } }>;

const LONGEST_NAME = 60;
const NAMELESS = 'unnamed';

const LONGEST_FORM = 4_096;

/** An app that lets through to what is added to it only who may look. */
export function createGate({ host, password, key, clock }: GateOptions): GatedApp {
  const app: GatedApp = new Hono();
  const guesses = createGuessLimit();

  /** null: the password is right. Else how long to wait until the next attempt is looked at. */
  function attempt(context: Context, text: string): number | null {
    const address = getConnInfo(context).remote.address ?? '';
    const now = clock.monotonic();
    const waitMs = guesses.waitMs(address, now);
    if (waitMs > 0) return waitMs;
    // In a time that does not depend on how much of it is right.
    const isRight = timingSafeEqual(digestOf(text), digestOf(password));
    if (isRight) guesses.noteRight(address);
    else guesses.noteWrong(address, now);
    return isRight ? null : 0;
  }

  /** Goes on to `path` with a cookie, if the password is right. */
  async function enter(context: Context, path: string, text: string, user: string): Promise<Response> {
    const waitMs = attempt(context, text);
    if (waitMs !== null) return refuse(context, path, waitMs);
    const until = clock.now() + SESSION_MS;
    const content = `${until}.${randomBytes(9).toString('base64url')}.${nameOf(user)}`;
    await setSignedCookie(context, cookieName(context, 'session'), content, key, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: SESSION_MS / 1_000,
    });
    return context.redirect(path, 303);
  }

  function refuse(context: Context, next: string, waitMs: number): Response | Promise<Response> {
    const seconds = Math.ceil(waitMs / 1_000);
    if (seconds > 0) context.header('retry-after', String(seconds));
    const words = seconds > 0 ? `Too many wrong passwords: try again in ${seconds} s.` : 'Wrong password.';
    const status = seconds > 0 ? 429 : 401;
    return wantsPage(context)
      ? sendPage(context, renderSignIn(next, words), status)
      : context.text(`${words}\n`, status);
  }

  app.use(secureHeaders({ xFrameOptions: 'DENY', strictTransportSecurity: false }));
  app.use(async (context, next) => {
    const { url } = context.req;
    // On loopback, another host name means that a foreign page sends the request (DNS rebinding).
    const isExpected = () => !isLoopbackHost(host) || isLoopbackHost(new URL(url).hostname);
    // Some names pass as a header and not as an address: `1.2.3.x4`.
    if (URL.canParse(url) && isExpected()) await next();
    else context.res = context.text('the host name of the request is not allowed\n', 421);
    context.res.headers.set('cache-control', 'no-store');
  });

  app.get('/sign-in', (context) => sendPage(context, renderSignIn(ownPath(context.req.query('next')), null)));
  app.post('/sign-in', async (context) => {
    const length = Number(context.req.header('content-length') ?? Number.NaN);
    if (!(length <= LONGEST_FORM)) return context.text('not a sign-in form\n', 413);
    const form = new URLSearchParams(await context.req.text());
    const next = ownPath(form.get('next') ?? undefined);
    return enter(context, next, form.get('password') ?? '', form.get('user') ?? '');
  });
  app.post('/sign-out', (context) => {
    deleteCookie(context, cookieName(context, 'session'), { path: '/' });
    return context.redirect('/sign-in', 303);
  });

  app.use(async (context, next) => {
    const url = new URL(context.req.url);
    const token = url.searchParams.get('token');
    if (token !== null && context.req.method === 'GET') {
      const name = url.searchParams.get('name') ?? '';
      url.searchParams.delete('token');
      url.searchParams.delete('name');
      const next = ownPath(`${url.pathname}${url.search}`);
      // The log says who did what, so people give their name first.
      if (name === '' && wantsPage(context)) return sendPage(context, renderSignIn(next, null, token));
      return enter(context, next, token, name);
    }
    // False where the signature is not our own.
    const content = await getSignedCookie(context, key, cookieName(context, 'session'));
    const [, until, user] = /^(\d+)\.[\w-]+\.(.*)$/s.exec(content || '') ?? [];
    if (content && user !== undefined && Number(until) > clock.now()) {
      const formToken = createHmac('sha256', key).update(`form ${content}`).digest('base64url');
      context.set('session', { type: 'cookie', user, formToken });
      return next();
    }
    const said = auth(context.req.raw);
    if (said !== undefined) {
      const waitMs = attempt(context, said.password);
      if (waitMs !== null) return refuse(context, '/', waitMs);
      context.set('session', { type: 'basic', user: nameOf(said.username), formToken: '' });
      return next();
    }
    if (wantsPage(context)) {
      const path = ownPath(`${url.pathname}${url.search}`);
      return context.redirect(`/sign-in?next=${encodeURIComponent(path)}`, 303);
    }
    return context.text('sign in first: with HTTP Basic, any user name and the password\n', 401);
  });
  return app;
}

export function sendPage(context: Context, page: Page, status: 200 | 401 | 404 | 429 | 503 = 200) {
  context.header('content-security-policy', page.policy);
  return context.html(page.html, status);
}

/** Browsers share the cookies of a host among its ports. */
export function cookieName(context: Context, purpose: 'session' | 'notice'): string {
  return `brand-enrich-${purpose}-${new URL(context.req.url).port || '80'}`;
}

/** One line, of a length fit for a log. */
function nameOf(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  // By characters: half of one cannot be in a cookie.
  return [...line].slice(0, LONGEST_NAME).join('') || NAMELESS;
}

function wantsPage(context: Context): boolean {
  return /\btext\/html\b/.test(context.req.header('accept') ?? '');
}

/** One of our own paths to go on to; never another site, which `//host` and `/\host` would be. */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(path) && !path.startsWith('/sign-')
    ? path
    : '/';
}

export const SESSION_MS = 7 * 86_400_000;

/** A random password, for a process without one. */
export function randomPassword(): string {
  return randomBytes(24).toString('base64url');
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const FREE_GUESSES = 5;
/** After this time without attempts, an address starts again. */
const FORGET_AFTER_MS = 15 * 60_000;
/** At most so many addresses are remembered: beyond it the one silent for longest is forgotten. */
const ADDRESSES_AT_MOST = 1_000;

/** The wait after wrong guesses in a row: none for five, then 1 s, doubled up to a minute. */
export function waitAfter(wrong: number): number {
  return wrong < FREE_GUESSES ? 0 : Math.min(1_000 * 2 ** (wrong - FREE_GUESSES), 60_000);
}

/**
 * After a few wrong passwords an address waits, longer and longer; meanwhile even the right one is
 * refused, or trying in parallel would get round the wait.
 */
export function createGuessLimit() {
  const known = new Map<string, { wrong: number; at: number }>();

  function recall(address: string, now: number) {
    const name = sourceOf(address);
    const found = known.get(name);
    if (found !== undefined && now - found.at > FORGET_AFTER_MS) known.delete(name);
    return known.get(name);
  }

  return {
    /** How long this address has to wait before its next attempt is looked at; 0: not at all. */
    waitMs(address: string, now: number): number {
      const found = recall(address, now);
      return found === undefined ? 0 : Math.max(0, found.at + waitAfter(found.wrong) - now);
    },
    noteWrong(address: string, now: number): void {
      const wrong = (recall(address, now)?.wrong ?? 0) + 1;
      const name = sourceOf(address);
      // Set anew, so that the map stays in the order of the last guess.
      known.delete(name);
      known.set(name, { wrong, at: now });
      const oldest = known.keys().next();
      if (known.size > ADDRESSES_AT_MOST && !oldest.done) known.delete(oldest.value);
    },
    noteRight(address: string): void {
      known.delete(sourceOf(address));
    },
  };
}

/** Whoever has one IPv6 address usually has the whole /64. */
function sourceOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groupsOf = (part: string) => part.split(':').filter((group) => group !== '');
  const [groups, rest] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = new Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0');
  return [...groups, ...zeros, ...rest].slice(0, 4).join(':');
}
