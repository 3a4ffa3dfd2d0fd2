import { expect, it } from 'vitest';
import { AuthenticationError, type ExitCode, InterruptedError, RunError } from '../../src/core/errors.js';
import type { StatusCounts } from '../../src/core/outcome.js';
import { makeReport } from '../../src/run/report/report.js';
import { exitCodeOf, faultAfter, type LookupsEnd } from '../../src/run/run-end.js';
import { requestFor, resultOf } from '../commands/results.js';
import { halted } from '../support/halts.js';

const DONE: LookupsEnd = { type: 'finished' };

it.each<[string, LookupsEnd, Partial<StatusCounts>, boolean, number]>([
  ['every row has its answer', DONE, { matched: 3, not_found: 1 }, false, 0],
  ['no row at all', DONE, {}, false, 0],
  ['blank and skipped rows', DONE, { matched: 1, skipped: 9 }, false, 0],
  ['invalid rows are warned of', DONE, { matched: 1, invalid: 2 }, false, 0],
  ['invalid rows with --strict', DONE, { matched: 1, invalid: 2 }, true, 1],
  ['--strict without invalid rows', DONE, { matched: 1 }, true, 0],
  ['--strict without invalid rows', DONE, { not_found: 4 }, false, 0],
  ['nothing matched with --strict', DONE, { not_found: 4 }, true, 1],
  ['nothing asked with --strict', DONE, { skipped: 4 }, true, 1],
  ['no row at all with --strict', DONE, {}, true, 0],
  ['some rows failed', DONE, { matched: 1, failed: 1 }, false, 1],
  ['too many failed', { type: 'too_many_failures' }, { failed: 9, deferred: 1 }, false, 3],
  ['the credentials were refused', halted('credentials'), { deferred: 4 }, false, 4],
  ['quota or budget is used up', halted('limit'), { matched: 1, deferred: 3 }, false, 7],
  ['used up, and some failed', halted('limit'), { failed: 1, deferred: 3 }, false, 7],
  ['the service refused everything as too many', halted('throttled'), { deferred: 4 }, false, 7],
  ['useless answers', halted('useless'), { failed: 4 }, false, 5],
  ['the service was never reached', halted('unreachable'), { deferred: 4 }, false, 5],
  ['the queue lost its chunks', halted('lost'), { deferred: 4 }, false, 5],
  ['interrupted', { type: 'stopped' }, { matched: 1, deferred: 3 }, false, 130],
  ['interrupted, and some failed', { type: 'stopped' }, { failed: 1, deferred: 3 }, false, 130],
  ['ended after its trial', { type: 'declined' }, { matched: 1, deferred: 3 }, false, 0],
  ['ended after its trial, and some failed', { type: 'declined' }, { failed: 1, deferred: 3 }, false, 1],
  ['cancelled', { type: 'cancelled' }, { deferred: 4 }, false, 130],
])('%s', (_what, end, rows, isStrict, exitCode) => {
  expect(exitCodeOf(resultOf({ end, rows }), isStrict)).toBe(exitCode);
});

it.each<[string, LookupsEnd]>([
  ['max-errors', { type: 'too_many_failures' }],
  ['interrupted', { type: 'stopped' }],
  ['cancelled', { type: 'cancelled' }],
  ['paused', { type: 'paused' }],
  ['declined', { type: 'declined' }],
  ['min-match', halted('unmatched')],
  ...(['limit', 'throttled', 'credentials', 'unreachable', 'useless', 'doubtful', 'lost'] as const).map(
    (why): [string, LookupsEnd] => [why, halted(why)],
  ),
])('the report of a stopped run says %s; if no row was left, it says nothing', (stopped, end) => {
  const reportOf = (isComplete: boolean) => makeReport(requestFor(), resultOf({ end, isComplete }), 0);
  expect(reportOf(false).stopped).toBe(stopped);
  expect(reportOf(true).stopped).toBeNull();
});

const detail = { subject: 'x', todo: 'do y' };
const stopped = new AbortController();
stopped.abort(new Error('stopped by SIGINT'));
const waited = new DOMException('This operation was aborted', 'AbortError');

it.each<[string, unknown, ExitCode, RegExp | null]>([
  ['the stop itself', stopped.signal.reason, 130, null],
  ['a wait that it ended', waited, 130, null],
  ['reading that it ended', new InterruptedError({ code: 'interrupted', ...detail }), 130, null],
  ['an engine that was waited for', new RunError({ code: 'engine-unreachable', ...detail }), 130, null],
  ['full disk', new RunError({ code: 'disk-low', ...detail }), 5, /disk space is left.*: x; do y; then/],
  ['a lost engine', new RunError({ code: 'engine-unfit', ...detail }), 5, /cannot be used.*: x; do y/],
  ['a refusal', new AuthenticationError({ code: 'credentials-refused', ...detail }), 4, /credentials: x/],
  ['a bug', new TypeError('token-1 is not a function'), 5, /^interrupted.*this is a bug.* in the log/],
])('after Ctrl-C, %s', (_what, error, exitCode, words) => {
  const fault = faultAfter(error, stopped.signal);
  const end: LookupsEnd = { type: 'stopped', fault };
  const result = resultOf({ end, rows: { matched: 1, failed: 1, deferred: 3 } });
  expect(exitCodeOf(result, false)).toBe(exitCode);
  expect(fault?.sentence ?? '').not.toContain('token-1');
  expect(makeReport(requestFor(), result, exitCode).next).toMatch(
    words ?? /^interrupted: all paid answers are stored/,
  );
});
