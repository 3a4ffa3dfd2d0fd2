/** Before every page: security headers, host name check, sign-in, sessions. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Child } from 'hono/jsx';
import { secureHeaders } from 'hono/secure-headers';
import { auth } from 'hono/utils/basic-auth';
import pLimit from 'p-limit';
import type { Clock } from '../core/clock.js';
import { trustRequest } from '../core/listen-http.js';
import { type Log, oncePerMinute } from '../core/log.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import type { Document } from '../run/documents.js';
import { htmlOf } from '../run/report/kit/page.js';
import { isOwnHost } from '../settings/address-values.js';
import { livePage, type Page, renderSignIn } from './plain-pages.js';

export interface GateOptions {
  readonly host: string;
  /** The origin that people open; null if it is the address it listens on. */
  readonly url: string | null;
  readonly password: string;
  /** The random token of the sign-in link; null without a link. */
  readonly linkToken: string | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who signed in, and how. */
export interface Session {
  readonly type: 'cookie' | 'basic';
  /** The name that they gave, for the log. */
  readonly user: string;
  /** In every form of the session: another page cannot know it. */
  readonly formToken: string;
  /** What the last action did, until a page shows it; null without one. */
  notice: string | null;
}

export type Viewer = Readonly<Pick<Session, 'user' | 'formToken' | 'notice'>>;

interface Signed {
  Bindings: HttpBindings;
  Variables: { session: Session };
}
export type GatedApp = Hono<Signed>;
export type GatedContext = Context<Signed>;

const LONGEST_NAME = 60;
const LONGEST_FORM = 4_096;

/**
 * Wrong passwords are answered one after the other, five a second. While so many wait, none is
 * looked at: so nobody guesses faster, from however many addresses. Sessions are not concerned.
 */
const WRONG_EVERY_MS = 200;
const WAITING_AT_MOST = 50;
const BUSY_SECONDS = (WAITING_AT_MOST * WRONG_EVERY_MS) / 1_000;

const OLD_LINK =
  'This link is old: each start of brand-enrich makes a new one, unless the dashboard has a password.';
const FOREIGN =
  'this form was not sent by a page of this dashboard: open the dashboard and sign in there, or ' +
  'use HTTP Basic; behind a proxy, set --dashboard-url\n';
const FOREIGN_HOST =
  'the host name of the request is not allowed: use an IP address, or set --dashboard-url to the ' +
  'address that people use';

/** Returns an app whose pages, added later, only a signed-in person or program reaches. */
export function createGate(options: GateOptions): GatedApp {
  const { host, url: ownUrl, linkToken } = options;
  const { isBusy, check } = createPasswordCheck(options);
  const sessions = createSessions(options);
  const app: GatedApp = new Hono();
  const ownNames = ownUrl === null ? [] : [new URL(ownUrl).hostname];
  // The referrer stays within the origin; without one, browsers would not name the origin of forms.
  const headers = { xFrameOptions: 'DENY', referrerPolicy: 'same-origin', strictTransportSecurity: false };
  app.use(secureHeaders(headers));
  app.use(async (context, next) => {
    const { url } = context.req;
    // Another host name means that a foreign page sends the request (DNS rebinding). Some names
    // pass as a header and not as an address: `1.2.3.x4`.
    if (URL.canParse(url) && isOwnHost(new URL(url).hostname, host, ownNames)) await next();
    else context.res = answerText(context, FOREIGN_HOST, 421, 'host-foreign');
    context.res.headers.set('cache-control', 'no-store');
    // Strangers keep no connection.
    if (context.get('session') === undefined) context.res.headers.set('connection', 'close');
  });

  app.get('/sign-in', (context) => sendPage(context, renderSignIn(ownPath(context.req.query('next')), null)));
  app.post('/sign-in', async (context) => {
    if (!isOwnOrigin(context, ownUrl)) return context.text(FOREIGN, 403);
    if (isBusy(context)) return refuseBusy(context, '/');
    const length = Number(context.req.header('content-length') ?? Number.NaN);
    if (!(length <= LONGEST_FORM)) return context.text('not a sign-in form\n', 413);
    const form = new URLSearchParams(await context.req.text());
    const next = ownPath(form.get('next') ?? undefined);
    const refused = await check(context, form.get('password') ?? '', next);
    return refused ?? sessions.enter(context, next, form.get('user') ?? '');
  });
  app.post('/sign-out', async (context) => {
    if (!isOwnOrigin(context, ownUrl)) return context.text(FOREIGN, 403);
    sessions.end(context);
    return context.redirect('/sign-in', 303);
  });

  app.use(async (context, next) => {
    const url = new URL(context.req.url);
    const token = url.searchParams.get('token');
    let session = sessions.read(context);
    if (token !== null && context.req.method === 'GET') {
      const name = url.searchParams.get('name') ?? '';
      url.searchParams.delete('token');
      url.searchParams.delete('name');
      const path = ownPath(`${url.pathname}${url.search}`);
      if (session !== null) return context.redirect(path, 303);
      // Any page can send a GET, so it does not count as a guess; nobody finds 192 random bits.
      if (linkToken === null || !isSame(token, linkToken))
        return refuse(context, path, OLD_LINK, 401, 'signed-out');
      if (name !== '' || !wantsPage(context)) return sessions.enter(context, path, name);
      // The log says who did what, so people give their name first.
      return sendPage(context, renderSignIn(path, null, token));
    }
    const given = session === null && hasCredentials(context) ? auth(context.req.raw) : undefined;
    if (given !== undefined) {
      const refused = await check(context, given.password, '/');
      if (refused !== null) return refused;
      session = { type: 'basic', user: nameOf(given.username), formToken: '', notice: null };
    }
    if (session !== null) {
      context.set('session', session);
      trustRequest(context.env.incoming);
      return next();
    }
    if (wantsPage(context)) {
      const path = ownPath(`${url.pathname}${url.search}`);
      return context.redirect(`/sign-in?next=${encodeURIComponent(path)}`, 303);
    }
    const signIn = 'sign in first: with HTTP Basic, any user name and the password';
    return answerText(context, signIn, 401, 'signed-out');
  });
  return app;
}

function createPasswordCheck({ password, clock, log }: GateOptions) {
  const wrongOnes = pLimit(1);
  const warn = oncePerMinute(clock, (facts, others) =>
    log.warn({ ...facts, ...others }, 'wrong passwords for the dashboard'),
  );

  /** True while no password is looked at, the right one neither. */
  function isBusy(context: Context): boolean {
    const isFull = wrongOnes.activeCount + wrongOnes.pendingCount >= WAITING_AT_MOST;
    if (isFull) warn({ address: getConnInfo(context).remote.address });
    return isFull;
  }

  /** Returns null for the right password, else the refusal, which takes its turn. */
  async function check(context: Context, text: string, next: string): Promise<Response | null> {
    if (isBusy(context)) return refuseBusy(context, next);
    if (isSame(text, password)) return null;
    warn({ address: getConnInfo(context).remote.address });
    await wrongOnes(() => clock.sleep(WRONG_EVERY_MS));
    return refuse(context, next, 'Wrong password.', 401, 'password-wrong');
  }

  return { isBusy, check };
}

/** Sessions by the random text of their cookie, for a week or until their person ends them. */
function createSessions({ clock, url }: GateOptions) {
  const open = new Map<string, { readonly session: Session; readonly until: number }>();
  const secure = url?.startsWith('https:') === true;
  const common = { httpOnly: true, sameSite: 'Strict', path: '/', secure } as const;
  const keyOf = (context: Context) => getCookie(context, cookieName(context)) ?? '';

  return {
    /** Returns the session of the cookie, or null without one or after its end. */
    read(context: Context): Session | null {
      const found = open.get(keyOf(context));
      return found !== undefined && clock.now() < found.until ? found.session : null;
    },
    /** Goes on to `path` with a new session. */
    enter(context: Context, path: string, user: string): Response {
      const now = clock.now();
      for (const [key, { until }] of open) if (until <= now) open.delete(key);
      const key = randomPassword();
      const session = { user: nameOf(user), formToken: randomPassword(), notice: null };
      open.set(key, { session: { type: 'cookie', ...session }, until: now + SESSION_MS });
      setCookie(context, cookieName(context), key, { ...common, maxAge: SESSION_MS / 1_000 });
      return context.redirect(path, 303);
    },
    end(context: Context): void {
      open.delete(keyOf(context));
      deleteCookie(context, cookieName(context), common);
    },
  };
}

/** Browsers name the origin of the page that posts a form; no page can choose it. */
function isOwnOrigin(context: Context, ownUrl: string | null): boolean {
  const origin = context.req.header('origin') ?? '';
  if (!/^https?:/.test(origin) || !URL.canParse(origin)) return false;
  return origin === ownUrl || new URL(origin).host === new URL(context.req.url).host;
}

function refuse(context: Context, next: string, words: string, status: 401 | 429, code: string) {
  return wantsPage(context)
    ? sendPage(context, renderSignIn(next, words), status)
    : answerText(context, words, status, code);
}

function refuseBusy(context: Context, next: string) {
  context.header('retry-after', String(BUSY_SECONDS));
  const words = `Too many wrong passwords: try again in ${BUSY_SECONDS} s.`;
  return refuse(context, next, words, 429, 'guesses-used-up');
}

/** By a program, or by this browser's user: not by a link of another page that has them in it. */
function hasCredentials({ req }: Context): boolean {
  const site = req.header('sec-fetch-site') ?? 'none';
  return req.header('authorization') !== undefined && ['none', 'same-origin'].includes(site);
}

export function sendPage(context: Context, page: Page, status: 200 | 401 | 404 | 429 | 503 = 200) {
  context.header('content-security-policy', page.policy);
  return context.html(page.html, status);
}

/** Sends a page, or its body alone to the script that renews it. `renewed`: as of `livePage`. */
export function sendLive(
  context: GatedContext,
  title: string,
  bodyOf: (viewer: Viewer) => Child,
  renewed?: number | null,
) {
  const session = context.get('session');
  if (context.req.header('x-renew') !== undefined)
    return sendPage(context, {
      html: htmlOf(bodyOf({ ...session, notice: null })),
      policy: "default-src 'none'",
    });
  const viewer = { ...session };
  session.notice = null;
  return sendPage(context, livePage(title, bodyOf(viewer), viewer, renewed));
}

/** Whether the answer is JSON, errors too. A program that orders something reads no page. */
function isForPrograms(context: Context): boolean {
  const { req } = context;
  if (req.path.endsWith('.json') || (req.path === '/uploads' && req.query('start') !== undefined))
    return true;
  const session: Session | undefined = context.get('session');
  return req.method === 'POST' && session?.type !== 'cookie' && hasCredentials(context);
}

/** A refusal: one line, and to programs a document with a code. */
export function answerText(
  context: Context,
  message: string,
  status: 400 | 401 | 403 | 404 | 409 | 413 | 421 | 429 | 500 | 503 | 507,
  code: string,
): Response {
  if (!isForPrograms(context)) return context.text(`${message}\n`, status);
  const document: Document<'http-error'> = { error: { code, message } };
  return context.json({ version: DOCUMENT_VERSION, ...document }, status);
}

function nameOf(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  // By characters: half of one cannot be in a cookie.
  return [...line].slice(0, LONGEST_NAME).join('') || 'unnamed';
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

/** 192 random bits: a password, for a process without one, and the token of its sign-in link. */
export function randomPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** In a time that does not depend on how much of it is right. */
function isSame(text: string, other: string): boolean {
  const digestOf = (each: string) => createHash('sha256').update(each).digest();
  return timingSafeEqual(digestOf(text), digestOf(other));
}

/** Browsers share the cookies of a host among its ports. */
function cookieName(context: Context): string {
  return `brand-enrich-session-${new URL(context.req.url).port || '80'}`;
}
