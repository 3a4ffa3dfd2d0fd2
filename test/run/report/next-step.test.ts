/** What to do after a run. Its words for limits are tested with the terminal's summary. */
import { expect, it } from 'vitest';
import type { ExitCode } from '../../../src/core/errors.js';
import { nextStepOf, noMatchText } from '../../../src/run/report/next-step.js';
import type { LookupsEnd } from '../../../src/run/run-end.js';
import { halted } from '../../support/halts.js';
import { type FigureParts, figures } from './pages.js';

const DONE: LookupsEnd = { type: 'finished' };
const AT_CAP = { name: 'maxRequests', maxRequests: 50 } as const;
const AT_QUOTA = { name: 'quota', quota: 20, overage: 0 } as const;

it.each<[ExitCode, FigureParts, LookupsEnd, RegExp]>([
  [0, { rows: { matched: 1, invalid: 1 } }, DONE, /^if the invalid rows matter, correct .* the errors/],
  [0, { identifiers: { beingFetched: 3 } }, DONE, /still fetching 3 identifiers .* again in 2 minutes/],
  [0, { rows: { not_found: 2 } }, DONE, /^Nothing matched: .* from ".*" as .*--column NAME:KIND/],
  [0, { rows: { skipped: 2 }, identifiers: { distinct: 0 } }, DONE, /no row has an identifier in "/],
  [0, { run: { isComplete: false } }, { type: 'declined' }, /^the trial is over.*without --try/],
  [1, { rows: { matched: 1, invalid: 2 } }, DONE, /--strict: 2 rows are invalid; correct them/],
  [1, { rows: { failed: 1 } }, DONE, /^some rows failed: run the same command again to retry only those$/],
  [3, {}, { type: 'too_many_failures' }, /^stopped by --max-errors: run the same command again to continue$/],
  [4, {}, halted('credentials'), /refused the credentials: the token is unknown \(status 403\); check the/],
  [5, {}, halted('unreachable'), /^stopped: the service cannot be reached: .*; check --base-url/],
  [5, {}, halted('lost'), /check the engine/],
  [7, { rows: { deferred: 9 } }, halted('limit', AT_QUOTA), /9 identifiers are left: a higher --quota/],
  [7, { rows: { deferred: 9 } }, halted('limit', AT_CAP), /--max-requests 50 .*a higher --max-requests$/],
  [130, { run: { isComplete: false } }, { type: 'stopped' }, /^interrupted: all paid .* same command again/],
  [130, { run: { isComplete: false } }, { type: 'cancelled' }, /^cancelled: all paid .* same command again/],
])('the next step after exit code %i of %j is right', (exitCode, parts, end, words) => {
  const report = figures({ ...parts, run: { ...parts.run, exitCode } });
  expect(nextStepOf(report, end, 'unspecified', 'terminal')).toMatch(words);
});

it('the next step mentions a doubt about the service at a limit, and only there', () => {
  const say = (exitCode: ExitCode, end: LookupsEnd) =>
    nextStepOf(figures({ run: { exitCode } }), end, 'free', 'terminal', { doubt: 'it lies' });
  expect(say(7, halted('limit', AT_QUOTA))).toMatch(/ to continue[.] Note: it lies$/);
  expect(say(5, halted('unreachable'))).not.toContain('it lies');
});

it('there is no next step after success', () => {
  const report = figures({ rows: { matched: 3, not_found: 1 } });
  expect(nextStepOf(report, DONE, 'free', 'terminal')).toBeNull();
});

it('the next step does not question the columns if every lookup failed', () => {
  const run = { exitCode: 1 } as const;
  const allFailed = figures({ rows: { failed: 2, invalid: 1 }, run });
  expect(noMatchText(allFailed, 'terminal')).toBe('Nothing matched: every lookup failed.');
  expect(noMatchText(figures({ rows: { failed: 2, not_found: 1 }, run }), 'terminal')).toMatch(/--column/);
});

it('the next step in an inbox names the inbox, or the reason of an unfinished file', () => {
  const say = (parts: FigureParts, end: LookupsEnd = DONE, hasOutage = false) =>
    nextStepOf(figures(parts), end, 'free', 'inbox', { hasOutage });
  const failed = { rows: { failed: 1 }, run: { exitCode: 1 } } as const;
  expect(say(failed)).toBe('some rows failed: put the file into the inbox again to retry only those');
  expect(say({ rows: { matched: 1, invalid: 1 } })).toMatch(/put that file into the inbox: only those rows/);
  const beside = 'reason.txt, next to this report, says what happens next';
  expect(say(failed, DONE, true)).toBe(beside);
  expect(say({ run: { exitCode: 130 } }, { type: 'cancelled' })).toBeNull();
  const parked = { rows: { deferred: 9 }, run: { exitCode: 7, isComplete: false } } as const;
  expect(say(parked, halted('limit', { name: 'account', overage: 0 }))).toBe(beside);
});

it('the next step names settings as its reader does', () => {
  const report = figures({ rows: { deferred: 9 }, run: { exitCode: 7 } });
  const end = halted('limit', { name: 'account', overage: 0 });
  const say = (reader: 'terminal' | 'program') => nextStepOf(report, end, 'unspecified', reader);
  expect(say('terminal')).toMatch(/--plan paid --overage-budget AMOUNT/);
  expect(say('program')).toMatch(/plan: 'paid', overageBudget: 'AMOUNT' if/);
});
