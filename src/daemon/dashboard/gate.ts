/**
 * What stands before every page: security headers, the check of the name that the request uses, and the
 * password, with sign-in and sign-out.
 */
import { type Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { isLoopbackHost } from '../../config/address-values.js';
import type { Clock } from '../../core/clock.js';
import { renderSignIn } from './render-dashboard.js';
import { basicPassword, createGuessLimit, createSessions, SESSION_MS } from './sign-in.js';

export interface GateOptions {
  readonly password: string;
  /** Listening on loopback: asked under another name than its own, somebody else's page is asking (DNS rebinding). */
  readonly isLoopback: boolean;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The address at the other end of the connection. */
  readonly addressOf: (context: Context) => string;
}

const LONGEST_FORM = 4_096;

/** An app that lets through to what is added to it only who may look. */
export function createGate({ password, isLoopback, clock, addressOf }: GateOptions): Hono {
  const app = new Hono();
  const sessions = createSessions(password);
  const guesses = createGuessLimit();

  type Attempt = { readonly isRight: boolean; readonly waitMs: number };
  function attempt(context: Context, text: string): Attempt {
    const address = addressOf(context);
    const now = clock.monotonic();
    const waitMs = guesses.waitMs(address, now);
    if (waitMs > 0) return { isRight: false, waitMs };
    const isRight = sessions.isPassword(text);
    if (isRight) guesses.noteRight(address);
    else guesses.noteWrong(address, now);
    return { isRight, waitMs: 0 };
  }

  function enter(context: Context, path: string): Response {
    setCookie(context, cookieName(context), sessions.open(clock.now()), {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: SESSION_MS / 1_000,
    });
    return context.redirect(path, 303);
  }

  function refuse(context: Context, next: string, { waitMs }: Attempt): Response {
    const isEarly = waitMs > 0;
    const seconds = Math.ceil(waitMs / 1_000);
    if (isEarly) context.header('retry-after', String(seconds));
    const words = isEarly
      ? `Too many wrong passwords: try again in ${seconds} s.`
      : 'That is not the password.';
    const status = isEarly ? 429 : 401;
    if (!wantsPage(context)) return context.text(`${words}\n`, status);
    const page = renderSignIn(next, words);
    context.header('content-security-policy', page.policy);
    return context.html(page.html, status);
  }

  app.use(secureHeaders({ xFrameOptions: 'DENY', strictTransportSecurity: false }));
  app.use(async (context, next) => {
    const host = new URL(context.req.url).hostname;
    if (!isLoopback || isLoopbackHost(host)) await next();
    else context.res = context.text('the host name of the request is not allowed\n', 421);
    context.res.headers.set('cache-control', 'no-store');
  });

  app.get('/sign-in', (context) => {
    const page = renderSignIn(ownPath(context.req.query('next')), null);
    context.header('content-security-policy', page.policy);
    return context.html(page.html);
  });
  app.post('/sign-in', async (context) => {
    const length = Number(context.req.header('content-length') ?? Number.NaN);
    if (!(length <= LONGEST_FORM)) return context.text('not a sign-in form\n', 413);
    const form = new URLSearchParams(await context.req.text());
    const next = ownPath(form.get('next') ?? undefined);
    const tried = attempt(context, form.get('password') ?? '');
    return tried.isRight ? enter(context, next) : refuse(context, next, tried);
  });
  app.post('/sign-out', (context) => {
    deleteCookie(context, cookieName(context), { path: '/' });
    return context.redirect('/sign-in', 303);
  });

  app.use(async (context, next) => {
    const url = new URL(context.req.url);
    const token = url.searchParams.get('token');
    if (token !== null && context.req.method === 'GET') {
      url.searchParams.delete('token');
      const tried = attempt(context, token);
      const path = ownPath(`${url.pathname}${url.search}`);
      return tried.isRight ? enter(context, path) : refuse(context, path, tried);
    }
    const cookie = getCookie(context, cookieName(context));
    if (cookie !== undefined && sessions.isOpen(cookie, clock.now())) return next();
    const said = basicPassword(context.req.header('authorization'));
    if (said !== null) {
      const tried = attempt(context, said);
      return tried.isRight ? next() : refuse(context, '/', tried);
    }
    if (wantsPage(context)) {
      return context.redirect(
        `/sign-in?next=${encodeURIComponent(ownPath(`${url.pathname}${url.search}`))}`,
        303,
      );
    }
    return context.text('sign in first: with HTTP Basic, any user name and the password\n', 401);
  });
  return app;
}

/** Browsers share the cookies of a host among its ports. */
function cookieName(context: Context): string {
  return `brand-enrich-${new URL(context.req.url).port || '80'}`;
}

function wantsPage(context: Context): boolean {
  return /\btext\/html\b/.test(context.req.header('accept') ?? '');
}

/** A path of ours to go on to; never another site, which `//host` and `/\host` would be. */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(path) && !path.startsWith('/sign-')
    ? path
    : '/';
}
