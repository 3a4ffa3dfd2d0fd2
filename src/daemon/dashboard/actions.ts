/** What people do on the dashboard: by form, asked back where it can cost money, logged by name. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import type { Clock } from '../../core/clock.js';
import { BrandEnrichError } from '../../core/errors.js';
import { sentenceOf } from '../../core/figures.js';
import type { Log } from '../../core/log.js';
import { oncePerMinute } from '../once-per-minute.js';
import type { Cookies } from './cookies.js';
import { answerText, type GatedApp, ownPath, type Session, sendPage } from './gate.js';
import { type Question, renderQuestion } from './plain-pages.js';

/** The values of its path, and the fields of its form. */
interface ActionInput {
  /** Who does it: the name under which the session signed in. */
  readonly user: string;
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
const NOTICE_MS = 30_000;

/** Adds actions to an app behind the gate. */
export function addActions(
  app: GatedApp,
  actions: readonly Action[],
  { log, cookies }: { readonly log: Log; readonly cookies: Cookies },
): void {
  for (const { path, ask, carryOut } of actions) {
    app.post(path, async (context) => {
      const length = Number(context.req.header('content-length') ?? Number.NaN);
      if (!(length <= LONGEST_FORM)) return context.text('not a form of the dashboard\n', 413);
      const fields = new URLSearchParams(await context.req.text());
      // The `formaction` of a button may carry more fields, but none that proves or confirms.
      for (const [name, value] of new URL(context.req.url).searchParams)
        if (name !== 'token' && name !== 'confirmed') fields.append(name, value);
      const session = context.get('session');
      if (!mayAct(context, session, fields.get('token')))
        return answerText(context, FORGED, 403, 'form-foreign');
      const input = { user: session.user, params: context.req.param() as Record<string, string>, fields };
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
        await keepNotice(context, cookies, sentence);
        // To the place on the dashboard where it was pressed.
        return context.redirect(next === '/' && back.startsWith('/#') ? back : next, 303);
      } catch (error) {
        if (!(error instanceof BrandEnrichError)) throw error;
        log.info({ ...by, action: context.req.path, reason: error.message }, 'refused on the dashboard');
        await keepNotice(context, cookies, sentenceOf(error.inWords('keys').message));
        return context.redirect(back, 303);
      }
    });
  }
}

/** Logs forms that were refused as forged, without their fields. */
export function logForged(
  log: Log,
  clock: Pick<Clock, 'monotonic'>,
): MiddlewareHandler<{ Variables: { session: Session } }> {
  const warn = oncePerMinute(clock, (facts, others) =>
    log.warn({ ...facts, ...others }, 'a forged form was refused'),
  );
  return async (context, next) => {
    await next();
    if (context.res.status !== 403) return;
    const { address } = getConnInfo(context).remote;
    warn({ by: context.get('session').user, address, action: context.req.path });
  };
}

export const FORGED =
  'this form is not from this dashboard, or its session has ended: reload the page and try again';

/**
 * A session proves itself by the token of its forms. HTTP Basic is for programs: browsers send it
 * along with the forms of other pages, and name themselves in headers that programs leave out.
 */
export function mayAct(context: Context, session: Session, token: string | null): boolean {
  if (session.type === 'cookie') return token === session.formToken;
  const { req } = context;
  return req.header('origin') === undefined && req.header('sec-fetch-site') === undefined;
}

function keepNotice(context: Context, cookies: Cookies, sentence: string): Promise<void> {
  return cookies.set(context, 'notice', sentence.slice(0, 1_000), NOTICE_MS);
}

/** What the last action did, once; null: there is nothing to say. */
export async function takeNotice(context: Context, cookies: Cookies): Promise<string | null> {
  const notice = await cookies.read(context, 'notice');
  if (notice !== null) cookies.clear(context, 'notice');
  return notice;
}
