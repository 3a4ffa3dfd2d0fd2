/** Why a run stopped, and why a lookup failed, as each reader reads it. */
import { expect, test } from 'vitest';
import type { RunStop } from '../../../src/engine/stores/run-reasons.js';
import type { ReachedLimit } from '../../../src/ledger/policy.js';
import { type Reader, sayDeferred, sayFailure, sayHalt, sayStop } from '../../../src/run/words/say-reason.js';
import { HALTS } from '../../support/halts.js';

const READERS: readonly Reader[] = ['terminal', 'program', 'inbox', 'page', 'cell', 'notice'];

const BY_STARTS = 'is reached by this run and earlier starts of it';
const AND_OVERAGE = 'and the 3 requests beyond it that the overage budget allows are used up';

test.each<[ReachedLimit, flag: string, key: string, plain: string]>([
  [
    { name: 'quota', quota: 60, overage: 0 },
    '--quota 60 is used up',
    'quota 60 is used up',
    'the quota of 60 that is set here is used up',
  ],
  [
    { name: 'quota', quota: 60, overage: 3 },
    `--quota 60 ${AND_OVERAGE}`,
    `quota 60 ${AND_OVERAGE}`,
    `the quota of 60 that is set here ${AND_OVERAGE}`,
  ],
  [
    { name: 'maxRequests', maxRequests: 5 },
    `--max-requests 5 ${BY_STARTS}`,
    `maxRequests 5 ${BY_STARTS}`,
    'the cap of 5 paid lookups is reached',
  ],
  [{ name: 'maxCost' }, `--max-cost ${BY_STARTS}`, `maxCost ${BY_STARTS}`, 'the cap on money is reached'],
])('the limit %j has the name that its reader uses', (reached, flag, key, plain) => {
  const said = READERS.map((reader) => [reader, sayHalt({ why: 'limit', reached }, reader)]);
  expect(Object.fromEntries(said)).toEqual({
    terminal: flag,
    notice: flag,
    program: key,
    inbox: plain,
    cell: plain,
    page: plain,
  });
});

test.each(Object.values(HALTS))('every reader is given %j in the words of the service', (halt) => {
  for (const reader of READERS) {
    const words = sayHalt(halt, reader);
    expect(words).toMatch(/^[a-z0].*[^.]$/);
    if ('reason' in halt) expect(words).toContain(halt.reason);
  }
});

test.each<[RunStop, string]>([
  [{ type: 'stopped' }, 'the run was stopped'],
  [{ type: 'failed', reason: 'the disk is full: /data' }, 'the disk is full: /data'],
  [{ type: 'too_many_failures' }, 'more lookups failed than maxErrors allows'],
  [{ type: 'halted', halt: HALTS.lost }, 'the queue lost its chunks'],
  [{ type: 'killed' }, 'its process was killed'],
])('%j ends a run because %s', (stop, words) => {
  expect(sayStop(stop, 'program')).toBe(words);
  expect(sayDeferred(stop, 'program')).toBe(`not looked up: ${words}`);
});

test('a failed lookup gives the answer, and why it is not believed', () => {
  const text = 'the service answered 404, was billed';
  expect(sayFailure({ code: 'answer', text })).toBe(text);
  expect(sayFailure({ code: 'unproven', text, saysNotFound: true })).toMatch(
    /^the service.*, not believed: /,
  );
  expect(sayFailure({ code: 'foreign', text })).toMatch(/^the service.*, but not from the service: /);
  expect(sayFailure({ code: 'lost' })).toMatch(/^not retried: two requests may have been billed/);
});

test('words of the service and addresses stay as they are, whatever flags they hold', () => {
  const reason = 'https://h/--quota -o BRAND_API_URL';
  for (const reader of READERS)
    expect(sayHalt({ why: 'unreachable', how: 'lasting', reason }, reader)).toContain(reason);
});
