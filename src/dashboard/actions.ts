/** Carries out what people and programs order, asks first where it can cost money, and logs it. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import type { Clock } from '../core/clock.js';
import { BrandEnrichError, ConfigError, LimitError, usageProblem } from '../core/errors.js';
import { sentenceOf } from '../core/figures.js';
import { type Log, oncePerMinute } from '../core/log.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import type { Document } from '../run/documents.js';
import { answerText, type GatedApp, ownPath, type Session, sendPage } from './gate.js';
import { type Question, renderQuestion } from './plain-pages.js';

interface ActionInput {
  /** The name of the session. */
  readonly user: string;
  /** The `:id` of its path, or empty without one. */
  readonly id: string;
  readonly fields: URLSearchParams;
}

/** One thing to do, by a form that is posted to its path. */
export interface Action {
  /** A path of Hono, for example `/runs/:id/pause`. */
  readonly path: string;
  /** Returns what to ask first, or null to ask nothing. Throws as `carryOut` does. */
  readonly ask?: (input: ActionInput) => Promise<Question | null>;
  /** Throws a `BrandEnrichError` with a message for people if it cannot be done. */
  readonly carryOut: (input: ActionInput) => Promise<Done>;
  /** Returns the run for a program, or null if it cannot be read now. Absent: what was done. */
  readonly readRun?: (input: ActionInput) => Promise<Document<'run'> | null>;
}

/** Returns an action on something that is found again for the question and for the answer. */
export function actionOn<T>(
  path: string,
  find: (input: ActionInput) => Promise<T>,
  step: {
    readonly ask?: (found: T, input: ActionInput) => Promise<Question>;
    readonly carryOut: (found: T, input: ActionInput) => Promise<Done>;
  },
): Action {
  const { ask, carryOut } = step;
  return {
    path,
    ...(ask && { ask: async (input) => ask(await find(input), input) }),
    carryOut: async (input) => carryOut(await find(input), input),
  };
}

export interface Done {
  /** The path of the next page. */
  readonly path: string;
  /** What was done, for that page and the log. */
  readonly sentence: string;
  readonly subject?: string;
  /** True if nothing was done, and that page shows why. */
  readonly isRefused?: boolean;
}

const REFUSALS = { 'not-found': 404, 'not-now': 409, 'engine-unreachable': 503 } as const;

/** A refused order: its subject is gone, unknown, or in another state. */
export class RefusedAction extends ConfigError {
  constructor(
    readonly why: keyof typeof REFUSALS,
    what: string,
    subject: string,
    todo = 'reload the page',
  ) {
    super(usageProblem(what, subject, todo));
  }
}

/** Refuses an order that would take effect when the engine is back, unexpectedly. */
export function noEngine(subject: string): RefusedAction {
  const what = 'the engine does not answer';
  return new RefusedAction('engine-unreachable', what, subject, 'try again when it does');
}

/** Answers a program; 400 is for what the program can correct. */
export function answerError(context: Context, error: BrandEnrichError): Response {
  const { message } = error.inWords('keys');
  if (error instanceof RefusedAction) return answerText(context, message, REFUSALS[error.why], error.why);
  const isWrong = error instanceof ConfigError || error.code === 'input-changed';
  const other = error.code === 'disk-low' ? 507 : error instanceof LimitError ? 409 : 503;
  return answerText(context, message, isWrong ? 400 : other, error.code);
}

const LONGEST_FORM = 16_384;

export function addActions(
  app: GatedApp,
  actions: readonly Action[],
  { log, onAction }: { readonly log: Log; readonly onAction: () => void },
): void {
  for (const { path, ask, carryOut, readRun } of actions) {
    app.post(path, async (context) => {
      if (!(lengthOf(context) <= LONGEST_FORM))
        return answerText(context, 'not a form of the dashboard', 413, 'form-too-long');
      const fields = new URLSearchParams(await context.req.text());
      // The `formaction` of a button may carry more fields, but neither a token nor a confirmation.
      for (const [name, value] of new URL(context.req.url).searchParams)
        if (name !== 'token' && name !== 'confirmed') fields.append(name, value);
      const session = context.get('session');
      if (!mayAct(context, session, fields.get('token')))
        return answerText(context, FORGED, 403, 'form-foreign');
      const input = { user: session.user, id: context.req.param('id') ?? '', fields };
      const by = { by: session.user, address: getConnInfo(context).remote.address };
      const back = ownPath(fields.get('back') ?? undefined);
      const isProgram = session.type === 'basic';
      try {
        const question = fields.get('confirmed') === 'yes' ? null : ((await ask?.(input)) ?? null);
        if (question !== null) {
          const words = [question.title, ...question.lines].join(' ');
          const todo = `send confirmed=yes in the body to confirm this: ${words}`;
          if (isProgram) return answerText(context, todo, 400, 'unconfirmed');
          const at = { path: context.req.path, fields, back, user: session.user };
          return sendPage(context, renderQuestion(question, at));
        }
        onAction();
        const { path: next, sentence, subject, isRefused } = await carryOut(input).finally(onAction);
        log.info({ ...by, action: context.req.path, subject }, sentence);
        if (isProgram && isRefused) return answerText(context, sentence, 409, 'not-now');
        if (isProgram) {
          const run = (await readRun?.(input)) ?? null;
          const done: Document<'http-done'> = { done: sentence, links: { page: next } };
          const isUnknown = readRun !== undefined && run === null;
          return context.json({ version: DOCUMENT_VERSION, ...(run ?? done) }, isUnknown ? 202 : 200);
        }
        session.notice = sentence;
        // Back to the place on the dashboard where the button is.
        return context.redirect(next === '/' && back.startsWith('/#') ? back : next, 303);
      } catch (error) {
        if (!(error instanceof BrandEnrichError)) throw error;
        log.info({ ...by, action: context.req.path, reason: error.message }, 'refused on the dashboard');
        if (isProgram) return answerError(context, error);
        session.notice = sentenceOf(error.inWords('keys').message);
        return context.redirect(back, 303);
      }
    });
  }
}

/** Returns the length of the body: 0 without one, NaN while it is unknown. */
function lengthOf({ req }: Context): number {
  if (req.header('transfer-encoding') !== undefined) return Number.NaN;
  return Number(req.header('content-length') ?? 0);
}

/** Logs forms that were refused as forged, without their fields. */
export function logForged(app: GatedApp, log: Log, clock: Pick<Clock, 'monotonic'>): void {
  const warn = oncePerMinute(clock, (facts, others) =>
    log.warn({ ...facts, ...others }, 'a forged form was refused'),
  );
  app.use(async (context, next) => {
    await next();
    if (context.res.status !== 403) return;
    const { address } = getConnInfo(context).remote;
    warn({ by: context.get('session').user, address, action: context.req.path });
  });
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
