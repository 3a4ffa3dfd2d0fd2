/** What people do on the dashboard: by form, asked back where it can cost money, logged by name. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { withOptionNames } from '../../config/option-names.js';
import type { Clock } from '../../core/clock.js';
import { BrandEnrichError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { type Filling, html, type Markup } from '../../run/report/markup.js';
import { cookieName, type GatedApp, ownPath, type Session, sendPage } from './gate.js';
import { hiddenFields, type Question, renderQuestion } from './plain-pages.js';

/** The values of its path, and the fields of its form. */
interface ActionInput {
  readonly params: Readonly<Record<string, string>>;
  readonly fields: URLSearchParams;
}

/** One thing to do, by a form that is posted to its path. */
export interface Action {
  /** A path of Hono, for example `/runs/:id/pause`. */
  readonly path: string;
  /** What to ask before it is done; null, or absent: nothing. Throws as `carryOut` does. */
  readonly ask?: (input: ActionInput) => Promise<Question | null>;
  /** Throws a `BrandEnrichError` when it cannot be done: people read its message. */
  readonly carryOut: (input: ActionInput) => Promise<Done>;
}

interface Done {
  /** Our own path to go on to. */
  readonly path: string;
  /** What was done, shown there and logged. */
  readonly sentence: string;
  /** For the log: the run or file. */
  readonly subject?: string;
}

const LONGEST_FORM = 16_384;
const NOTICE_SECONDS = 30;

/** Whoever may send forms. */
export type Forms = Pick<Session, 'formToken'>;

/** The button of an action. `fields`: sent along; a list where a name may come twice. */
export function actionButton(
  { formToken }: Forms,
  path: string,
  label: Filling,
  fields: Readonly<Record<string, string>> | readonly (readonly [string, string])[] = {},
): Markup {
  const pairs = Symbol.iterator in fields ? fields : Object.entries(fields);
  const hidden = hiddenFields([...pairs, ['token', formToken]]);
  return html`<form class="action" method="post" action="${path}">${hidden}<button type="submit">${label}</button></form>`;
}

/** Adds actions to an app behind the gate. */
export function addActions(
  app: GatedApp,
  actions: readonly Action[],
  { log, key }: { readonly log: Log; readonly key: Buffer },
): void {
  for (const { path, ask, carryOut } of actions) {
    app.post(path, async (context) => {
      const length = Number(context.req.header('content-length') ?? Number.NaN);
      if (!(length <= LONGEST_FORM)) return context.text('not a form of the dashboard\n', 413);
      const fields = new URLSearchParams(await context.req.text());
      const session = context.get('session');
      if (!mayAct(context, session, fields.get('token'))) return context.text(FORGED, 403);
      const input = { params: context.req.param() as Record<string, string>, fields };
      const by = { by: session.user, address: getConnInfo(context).remote.address };
      const back = ownPath(fields.get('back') ?? undefined);
      try {
        const question = fields.get('confirmed') === 'yes' ? null : ((await ask?.(input)) ?? null);
        if (question !== null) {
          const at = { path: context.req.path, fields, back, user: session.user };
          return sendPage(context, renderQuestion(question, at));
        }
        const { path: next, sentence, subject } = await carryOut(input);
        log.info({ ...by, action: context.req.path, subject }, sentence);
        await keepNotice(context, key, sentence);
        return context.redirect(next, 303);
      } catch (error) {
        if (!(error instanceof BrandEnrichError)) throw error;
        log.info({ ...by, action: context.req.path, reason: error.message }, 'refused on the dashboard');
        await keepNotice(context, key, withOptionNames(error.message));
        return context.redirect(back, 303);
      }
    });
  }
}

const FORGED_LOGGED_EVERY_MS = 60_000;

/**
 * Logs forms that were refused as forged, without their fields: one line a minute at most, because
 * another page can send any number of them.
 */
export function logForged(
  log: Log,
  clock: Pick<Clock, 'monotonic'>,
): MiddlewareHandler<{ Variables: { session: Session } }> {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return async (context, next) => {
    await next();
    if (context.res.status !== 403) return;
    const now = clock.monotonic();
    if (now - loggedAt < FORGED_LOGGED_EVERY_MS) {
      unlogged += 1;
      return;
    }
    const by = { by: context.get('session').user, address: getConnInfo(context).remote.address };
    const others = unlogged === 0 ? {} : { unlogged };
    log.warn({ ...by, action: context.req.path, ...others }, 'a forged form was refused');
    loggedAt = now;
    unlogged = 0;
  };
}

export const FORGED =
  'this form is not from this dashboard, or its session has ended: reload the page and try again\n';

/**
 * A session proves itself by the token of its forms. HTTP Basic is for programs: browsers send it
 * along with the forms of other pages, and name themselves in headers that programs leave out.
 */
export function mayAct(context: Context, session: Session, token: string | null): boolean {
  if (session.type === 'cookie') return token === session.formToken;
  const { req } = context;
  return req.header('origin') === undefined && req.header('sec-fetch-site') === undefined;
}

async function keepNotice(context: Context, key: Buffer, sentence: string): Promise<void> {
  const options = { httpOnly: true, sameSite: 'Strict', path: '/', maxAge: NOTICE_SECONDS } as const;
  await setSignedCookie(context, cookieName(context, 'notice'), sentence.slice(0, 1_000), key, options);
}

/** What the last action did, once; null: there is nothing to say. */
export async function takeNotice(context: Context, key: Buffer): Promise<string | null> {
  const name = cookieName(context, 'notice');
  const notice = await getSignedCookie(context, key, name);
  if (notice === undefined) return null;
  deleteCookie(context, name, { path: '/' });
  // False where the signature is not our own.
  return notice || null;
}
