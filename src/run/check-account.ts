/** The request beyond the limit that shows a person whether the quota was raised. */
import { AuthenticationError, ConfigError, EXIT, LimitError, usageProblem } from '../core/errors.js';
import { type Identifier, identifierText, parseIdentifierText } from '../core/identifier.js';
import type { Log } from '../core/log.js';
import { text as anyText, inJson, object, orElse } from '../core/shapes.js';
import type { Engine } from '../engine/engine.js';
import { labelText, NO_TALLY, type RunRecord, type RunSettings } from '../engine/stores/run-store.js';
import type { LedgerState } from '../ledger/ledger.js';
import { limitOf } from '../ledger/policy.js';
import { RULES } from '../ledger/rules.js';
import type { LookupWorker } from '../worker/lookup-worker.js';

const SCOPE = 'deferred';
const noteShape = orElse(inJson(object({ run: anyText, identifier: anyText })), null);
const RUNS_LOOKED_AT = 50;

/** Stores the identifier that a run at its limit would have looked up next. */
export async function noteDeferred(
  { keyValues }: Pick<Engine, 'keyValues'>,
  { id, settings: { account } }: Pick<RunRecord, 'id' | 'settings'>,
  identifier: string,
): Promise<void> {
  await keyValues.put(SCOPE, account, JSON.stringify({ run: id, identifier }));
}

/** `text`: the identifier as rows show it. `run`: the run that deferred it; null for `given`. */
export type PlannedCheck = Readonly<Awaited<ReturnType<typeof planCheck>>>;

/**
 * Returns the identifier that the account's newest run deferred, or `given` if that run is paused
 * or deferred none. Throws `LimitError` while spending is paused, within an hour of the last check
 * and for a paused run without `given`; `ConfigError` without any identifier.
 */
export async function planCheck(
  engine: Pick<Engine, 'keyValues' | 'runs' | 'ledger'>,
  settings: RunSettings,
  given: Identifier | null,
) {
  const { account } = settings;
  const [ledger, notes, runs] = await Promise.all([
    engine.ledger.show(account),
    engine.keyValues.list(SCOPE),
    engine.runs.list(RUNS_LOOKED_AT),
  ]);
  assertMayCheck(ledger, account);
  const [newest] = runs.filter((run) => run.settings.account === account).sort((a, b) => b.asOf - a.asOf);
  const note = noteShape(notes.find(({ name }) => name === account)?.text);
  const noted = newest !== undefined && note?.run === newest.id ? newest : null;
  const run = noted?.paused ? null : noted;
  const identifier = run !== null && note !== null ? parseIdentifierText(note.identifier) : given;
  if (identifier === null) {
    const todo = 'name an identifier, for example `brand-enrich ledger check ticker:ACME`';
    if (noted === null) throw new ConfigError(usageProblem('the newest run deferred nothing', account, todo));
    const resuming = `continue it with \`brand-enrich resume ${noted.id}\`, or ${todo}`;
    throw refusal('the run that deferred the next identifier is paused', labelText(noted.label), resuming);
  }
  const text = identifierText(identifier);
  return { identifier, text, settings: run?.settings ?? settings, run, ledger };
}

function assertMayCheck({ isPaused, checkedAt, now }: LedgerState, account: string): void {
  if (isPaused)
    throw refusal('spending is paused', account, 'allow it with `brand-enrich resume`, then check again');
  const waitMs = checkedAt + RULES.checkEveryMs - now;
  if (checkedAt === 0 || waitMs <= 0) return;
  const minutes = Math.ceil(waitMs / 60_000);
  const todo = `check again in ${minutes} min, or use \`brand-enrich ledger observe --quota N\``;
  throw refusal('the account was checked less than an hour ago', account, todo);
}

function refusal(what: string, subject: string, todo: string): LimitError {
  return new LimitError({ code: 'check-refused', what, subject, todo });
}

const EXIT_OF = {
  matched: EXIT.done,
  not_found: EXIT.done,
  refused: EXIT.limit,
  failed: EXIT.someFailed,
} as const;

const NOT_ASKED = {
  denied: 'the account allows no request right now',
  fresh: 'its answer is already stored',
  busy: 'another worker is looking it up',
} as const;

export type CheckEnd = Readonly<Awaited<ReturnType<typeof carryOutCheck>>>;

/** Sends the request and stores its answer. Throws like `planCheck`, and `AuthenticationError`. */
export async function carryOutCheck(
  worker: Pick<LookupWorker, 'check'>,
  { identifier, text, settings, run, ledger: before }: PlannedCheck,
  by: string,
  log: Log,
) {
  log.info({ by, identifier: text, account: settings.account }, 'a check of the account was ordered');
  const end = await worker.check(identifier, run ?? { settings, tally: NO_TALLY });
  if (end.type !== 'asked') {
    if (end.type === 'denied' && end.ledger !== null) assertMayCheck(end.ledger, settings.account);
    throw refusal(NOT_ASKED[end.type], text, 'try again in a minute');
  }
  const { meaning } = end.answer;
  const ledger = end.ledger ?? before;
  const { type } = meaning;
  const outcome = type === 'matched' || type === 'not_found' || type === 'refused' ? type : 'failed';
  const reason = 'reason' in meaning ? meaning.reason : null;
  log.info({ by, identifier: text, outcome, quota: ledger.quota, limit: limitOf(ledger) }, 'checked');
  if (meaning.type === 'credentials') {
    const todo = 'check the token, then check the account again';
    throw new AuthenticationError({
      code: 'credentials-refused',
      subject: `${text} (${meaning.reason})`,
      todo,
    });
  }
  const isBilled = end.answer.cost !== 'free';
  return { exitCode: EXIT_OF[outcome], outcome, reason, isBilled, quotaBefore: before.quota, ledger };
}

export function checkText(
  { text }: PlannedCheck,
  { outcome, reason, quotaBefore, ledger }: CheckEnd,
): string {
  const got = {
    matched: 'found, and its answer is stored',
    not_found: 'not found, which is stored',
    refused: 'refused: the quota is still used up',
    failed: `not answered: ${reason ?? 'no reason was given'}`,
  }[outcome];
  const { quota } = ledger;
  const shown =
    quota === null
      ? 'the service shows no quota'
      : quotaBefore !== null && quota > quotaBefore
        ? `the quota was raised from ${quotaBefore} to ${quota}: runs can continue`
        : `the quota is ${quota}`;
  return `${text} is ${got}; ${shown}`;
}
