/** What an answer leads to, as one table; what is done then, and when, is in `ask.test.ts`. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import type { Answer } from '../../src/brand-api/read-answer.js';
import type { RunHalt } from '../../src/engine/stores/run-reasons.js';
import {
  isLost,
  judge,
  NO_SERIES,
  observe,
  type Trust,
  trustsBy,
  untrustedHalt,
} from '../../src/worker/judge.js';
import {
  answerOf,
  DOWN,
  FAILED,
  MATCHED,
  NOT_FOUND,
  refused,
  TOO_FAST,
  UNUSABLE,
  unavailable,
} from './asking.js';

const SERVICE = 'http://service.example';
const REASON = 'as the service says';
const USED_UP = { usage: 52, quota: 50 };

const failed = (evidence: 'own' | 'object' | 'none') =>
  answerOf({ type: 'failed', reason: REASON, evidence });
const noBrand = (evidence: 'own' | 'object') =>
  answerOf({ type: 'failed', reason: REASON, evidence, isNoBrand: true });
const missing = (evidence: 'own' | 'object' | 'none') =>
  answerOf({ type: 'not_found', status: 404, retryLater: false, evidence });
const free = (answer: Answer): Answer => ({ ...answer, cost: 'free' });

const ANSWERS = {
  brand: MATCHED,
  '404 own': missing('own'),
  '404 object': missing('object'),
  '404 page': missing('none'),
  '410 own': failed('own'),
  '410 object': failed('object'),
  '410 page': failed('none'),
  '400 own, free': free(failed('own')),
  '400 object, free': free(failed('object')),
  '400 page, free': free(failed('none')),
  'no brand, own': noBrand('own'),
  'no brand, object': noBrand('object'),
  damaged: answerOf({ type: 'unusable', reason: REASON }),
  'damaged, free': free(answerOf({ type: 'unusable', reason: REASON })),
  'damaged, with usage': { ...answerOf({ type: 'unusable', reason: REASON }), usage: 3 },
  'no HTTP': answerOf({ type: 'unusable', reason: REASON, evidence: 'none' }),
  '403': answerOf({ type: 'credentials', status: 403, reason: REASON }),
  '429 quota': refused('quota'),
  '429 at the limit': refused(null),
  '429 too fast': refused('throughput'),
  '429 silent': refused(null),
  '429 with Retry-After': refused(null, 1_000),
  '429 with usage': { ...refused(null), usage: 3, quota: 100 },
  '503': unavailable({ reason: REASON }),
  '503 with Retry-After': unavailable({ reason: REASON, retryAfterMs: 30_000 }),
  unsent: unavailable({ reason: REASON, unsent: 'passing' }),
  'nothing listens': unavailable({ reason: REASON, unsent: 'refused' }),
  'no such host': unavailable({ reason: REASON, unsent: 'lasting' }),
  'proxy refuses': unavailable({ reason: REASON, unsent: 'barred' }),
} satisfies Record<string, Answer>;
type AnswerName = keyof typeof ANSWERS;

const DOUBTFUL: readonly AnswerName[] = ['404 object', '410 object', '400 object, free', 'no brand, object'];
const DAMAGED: readonly AnswerName[] = ['damaged', 'damaged, free'];
/** 429s of which the service says why, how long or at which usage. */
const SAID: readonly AnswerName[] = ['429 too fast', '429 with Retry-After', '429 with usage'];
/** 429s for quota: the service's own code, or our own count. */
const OF_QUOTA: readonly AnswerName[] = ['429 quota', '429 at the limit'];

/** What the step depends on besides the answer, with the values around each threshold. */
const CASES = {
  isTrusted: [false, true],
  allowsUnknown: [false, true],
  answered: ['process', 'run', 'account', null],
  count: [4, 5, 19, 20],
  isSecond: [false, true],
  badForMs: [500, 501, 3_000, 3_001, 45_000, 45_001, 60_000, 60_001, 360_000, 360_001],
  usedUp: [null, USED_UP],
} as const;
type Case = { readonly [Name in keyof typeof CASES]: (typeof CASES)[Name][number] };
type When = { readonly [Name in keyof Case]?: readonly Case[Name][] };

const NEW: When = { isTrusted: [false], allowsUnknown: [false] };
const UNTRUSTED: When = { isTrusted: [false] };
const TRUSTED: When = { isTrusted: [true] };
const INSISTED: When = { isTrusted: [false], allowsUnknown: [true] };
/** Believed, but not the service's own word. */
const BELIEVED: readonly When[] = [TRUSTED, INSISTED];
const FEW = [4] as const;
const MANY = [5, 19, 20] as const;
const MOST = [4, 5, 19] as const;
/** By the number of unusable answers in a row. */
const TOO_MANY: readonly When[] = [
  { ...NEW, count: MANY },
  { ...TRUSTED, count: [20] },
  { ...INSISTED, count: [20] },
];
const FEW_OR_BELIEVED: readonly When[] = [
  { ...NEW, count: FEW },
  { ...TRUSTED, count: MOST },
  { ...INSISTED, count: MOST },
];
const FIRST: When = { isSecond: [false] };
const SECOND: When = { isSecond: [true] };
const upTo = (ms: number) => CASES.badForMs.filter((each) => each <= ms);
const after = (ms: number) => CASES.badForMs.filter((each) => each > ms);
/** From this time on, and up to the minute that ends every such run. */
const minuteAfter = (ms: number) => after(ms).filter((each) => each <= 60_000);
const both = (whens: readonly When[], more: When) => whens.map((when) => ({ ...when, ...more }));
const NEVER = [null] as const;
const EARLIER = ['run', 'account', null] as const;
const SELDOM = ['account', null] as const;

type Row = readonly [answers: readonly AnswerName[], when: readonly When[], step: string];

const ROWS: readonly Row[] = [
  [['brand', '404 own'], [{}], 'record'],
  [['404 object'], BELIEVED, 'record'],
  [['404 page'], [TRUSTED], 'record'],
  // Not believed.
  [DOUBTFUL, [{ ...NEW, count: FEW }], 'fail, kept for_now'],
  [DOUBTFUL, [{ ...NEW, count: MANY }], 'fail, kept for_now; halt untrusted'],
  [['410 page', '400 page, free', 'no HTTP'], [UNTRUSTED], 'fail, kept for_now; halt not the service'],
  [['404 page'], [UNTRUSTED], 'fail, kept for_now; halt not the service, 404'],
  // Refusals of what was asked for.
  [['410 own'], [{}], 'fail, kept final'],
  [['410 object'], BELIEVED, 'fail, kept final'],
  [['410 page'], [TRUSTED], 'fail, kept final'],
  [['400 own, free'], [{}], 'fail'],
  [['400 object, free'], BELIEVED, 'fail'],
  [['400 page, free'], [TRUSTED], 'fail'],
  // Unusable answers.
  [['no brand, own'], [{ count: MOST }], 'fail, kept final'],
  [['no brand, own'], [{ count: [20] }], 'fail, kept final; halt unusable'],
  [['no brand, object'], both(BELIEVED, { count: MOST }), 'fail, kept final'],
  [['no brand, object'], both(BELIEVED, { count: [20] }), 'fail, kept final; halt unusable'],
  [DAMAGED, both(FEW_OR_BELIEVED, FIRST), 'repeat'],
  [DAMAGED, both(TOO_MANY, FIRST), 'halt unusable'],
  [['damaged'], both(FEW_OR_BELIEVED, SECOND), 'fail, kept for_now'],
  [['damaged'], both(TOO_MANY, SECOND), 'fail, kept for_now; halt unusable'],
  [['damaged, free'], both(FEW_OR_BELIEVED, SECOND), 'fail'],
  [['damaged, free'], both(TOO_MANY, SECOND), 'fail; halt unusable'],
  [['damaged, with usage'], [{ ...FIRST, count: MOST }], 'repeat'],
  [['damaged, with usage'], [{ ...FIRST, count: [20] }], 'halt unusable'],
  [['damaged, with usage'], [{ ...SECOND, count: MOST }], 'fail, kept for_now'],
  [['damaged, with usage'], [{ ...SECOND, count: [20] }], 'fail, kept for_now; halt unusable'],
  [['no HTTP'], [{ ...TRUSTED, ...FIRST, count: MOST }], 'repeat'],
  [['no HTTP'], [{ ...TRUSTED, ...FIRST, count: [20] }], 'halt unusable'],
  [['no HTTP'], [{ ...TRUSTED, ...SECOND, count: MOST }], 'fail, kept for_now'],
  [['no HTTP'], [{ ...TRUSTED, ...SECOND, count: [20] }], 'fail, kept for_now; halt unusable'],
  // The account.
  [['403'], [{}], 'halt credentials'],
  [OF_QUOTA, [{}], 'repeat'],
  [['429 silent', ...SAID], [{ usedUp: [USED_UP] }], 'halt overstated'],
  [['429 silent'], [{ usedUp: [null], badForMs: upTo(45_000) }], 'repeat'],
  [['429 silent'], [{ usedUp: [null], badForMs: after(45_000) }], 'halt throttled'],
  [SAID, [{ usedUp: [null], badForMs: upTo(360_000) }], 'repeat'],
  [SAID, [{ usedUp: [null], badForMs: after(360_000) }], 'halt throttled'],
  // No answer.
  [['503', '503 with Retry-After'], [{}], 'retry'],
  [
    ['unsent', 'nothing listens', 'no such host', 'proxy refuses'],
    [{ answered: EARLIER, badForMs: after(60_000) }],
    'halt unreached',
  ],
  [['unsent', 'nothing listens', 'no such host', 'proxy refuses'], [{ answered: ['process'] }], 'retry'],
  [['unsent'], [{ answered: EARLIER, badForMs: upTo(60_000) }], 'retry'],
  [['nothing listens', 'no such host'], [{ answered: ['run', 'account'], badForMs: upTo(60_000) }], 'retry'],
  [['nothing listens'], [{ answered: NEVER, isTrusted: [true], badForMs: upTo(60_000) }], 'retry'],
  [['nothing listens'], [{ answered: NEVER, ...UNTRUSTED, badForMs: upTo(3_000) }], 'retry'],
  [
    ['nothing listens'],
    [{ answered: NEVER, ...UNTRUSTED, badForMs: minuteAfter(3_000) }],
    'halt nothing listens',
  ],
  [['no such host'], [{ answered: NEVER, badForMs: upTo(500) }], 'retry'],
  [['no such host'], [{ answered: NEVER, badForMs: minuteAfter(500) }], 'halt wrong address'],
  [['proxy refuses'], [{ answered: ['run'], badForMs: upTo(60_000) }], 'retry'],
  [['proxy refuses'], [{ answered: SELDOM, badForMs: upTo(500) }], 'retry'],
  [['proxy refuses'], [{ answered: SELDOM, badForMs: minuteAfter(500) }], 'halt wrong address'],
];

/** The name of a halt, as the table has it. */
function nameOf(halt: RunHalt | null, answer: Answer, count: number): string {
  const foreign = (of: string): RunHalt => {
    return { why: 'useless', useless: { how: 'foreign', service: SERVICE, answer: of } };
  };
  const names: Record<string, RunHalt> = {
    'not the service': foreign(REASON),
    'not the service, 404': foreign('the service answered 404'),
    untrusted: untrustedHalt(SERVICE),
    unusable: { why: 'useless', useless: { how: 'unusable', answers: count, reason: REASON } },
    credentials: { why: 'credentials', reason: REASON, status: 403 },
    overstated: { why: 'limit', reached: { name: 'overstated', ...USED_UP } },
    throttled: { why: 'throttled', forMs: answer === ANSWERS['429 silent'] ? 45_000 : 360_000 },
    unreached: { why: 'unreachable', how: 'minute', reason: REASON },
    'nothing listens': { why: 'unreachable', how: 'unanswered', reason: REASON },
    'wrong address': { why: 'unreachable', how: 'lasting', reason: REASON },
  };
  const found = Object.entries(names).find(([, each]) => isDeepStrictEqual(each, halt));
  return found?.[0] ?? JSON.stringify(halt);
}

function allCases(): Case[] {
  let all: Record<string, unknown>[] = [{}];
  for (const [name, values] of Object.entries(CASES))
    all = all.flatMap((each) => values.map((value) => ({ ...each, [name]: value })));
  return all as unknown as Case[];
}

const isIn = (each: Case, when: When) =>
  Object.entries(when).every(([name, values]) => values.includes(each[name as keyof Case] as never));

function stepOf(name: AnswerName, { isTrusted, allowsUnknown, answered, ...series }: Case): string {
  const answer: Answer = ANSWERS[name];
  const address = { service: SERVICE, isTrusted, allowsUnknown, answered };
  const step = judge(answer, address, { ...series, isQuota: OF_QUOTA.includes(name) });
  const halt = 'halt' in step ? step.halt : null;
  const kept = step.type === 'fail' && step.kept !== null ? `, kept ${step.kept}` : '';
  const done = step.type === 'halt' ? [] : [step.type + kept];
  const halted = halt === null ? [] : [`halt ${nameOf(halt, answer, series.count)}`];
  return [...done, ...halted].join('; ');
}

const cases = allCases();
test.each(Object.keys(ANSWERS) as AnswerName[])('an answer: %s leads to the step of its row', (name) => {
  const rows = ROWS.filter(([answers]) => answers.includes(name));
  const wrong: unknown[] = [];
  for (const each of cases) {
    const found = rows.filter(([, whens]) => whens.some((when) => isIn(each, when)));
    const expected = found.map(([, , step]) => step);
    const step = stepOf(name, each);
    if (expected.length !== 1 || expected[0] !== step) wrong.push({ ...each, step, expected });
  }
  expect(wrong.slice(0, 3)).toEqual([]);
});

test.each<[AnswerName, string]>([
  ['404 object', 'the service answered 404, was billed'],
  ['404 page', 'the service answered 404, was billed'],
  ['410 object', `${REASON}, was billed`],
  ['410 page', `${REASON}, was billed`],
  ['400 object, free', `${REASON}, not billed`],
  // These say it themselves.
  ['no brand, object', REASON],
  ['no HTTP', REASON],
])('of an answer that is not trusted (%s) the row says the cost, once', (name, text) => {
  const address = { service: SERVICE, isTrusted: false, allowsUnknown: false, answered: null };
  const saysNotFound = name === '404 object' && { saysNotFound: true };
  expect(judge(ANSWERS[name], address, NO_SERIES)).toMatchObject({ reason: { text, ...saysNotFound } });
});

test.each<[AnswerName, boolean, boolean]>([
  ['brand', true, true],
  ['404 own', true, true],
  ['damaged, with usage', true, true],
  ['404 object', false, true],
  ['404 page', false, false],
  ['410 object', false, true],
  ['no brand, object', false, true],
  ['no HTTP', false, false],
])('%s shows the service: %s, with stored answers of it: %s', (name, alone, withStored) => {
  expect([0, 1].map((stored) => trustsBy(ANSWERS[name], { stored }))).toEqual([alone, withStored]);
});

describe('the observation from an answer', () => {
  const date = Date.UTC(2026, 1, 28, 23, 59);

  const none = { reading: { quota: null, usage: null, period: null, date: null }, period: null };
  const readingOf = (quota: number | null, usage: number | null) => {
    return { reading: { quota, usage, period: null, date: null }, period: null };
  };
  const period = '2026-02-01';
  const dated = { reading: { quota: 100, usage: 7, period, date }, period };

  it.each<[string, Answer, Omit<ReturnType<typeof observe>, 'isBeyond'>]>([
    ['nothing', MATCHED, { ...none, isConfirmed: true }],
    ['usage, dated by itself', { ...MATCHED, quota: 100, usage: 7, date }, { ...dated, isConfirmed: true }],
    ['one header, undated', { ...NOT_FOUND, quota: 100 }, { ...readingOf(100, null), isConfirmed: true }],
    ['nothing useful: a time-out', UNUSABLE, { ...none, isConfirmed: false }],
    ['usage, though damaged', { ...UNUSABLE, usage: 9 }, { ...readingOf(null, 9), isConfirmed: false }],
    ['nothing useful: 503', DOWN, { ...none, isConfirmed: false }],
    ['usage: 429', { ...TOO_FAST, usage: 9 }, { ...readingOf(null, 9), isConfirmed: false }],
  ])('%s', (_what, answer, observed) => {
    const isMeant = answer.meaning.type === 'matched' || answer.meaning.type === 'not_found';
    const seen = observe(answer, answer.date === null ? null : period, isMeant ? 'trusted' : null, 0);
    expect(seen).toEqual({ isBeyond: false, ...observed });
  });

  it.each<[string, Answer, boolean]>([
    ['a brand', MATCHED, false],
    ['a refusal', TOO_FAST, false],
    ['a time-out', UNUSABLE, true],
    ['503', DOWN, true],
  ])('%s may come from the way, not from the service: %s', (_what, answer, isOfTheWay) => {
    expect(isLost(answer)).toBe(isOfTheWay);
  });

  it.each<[Trust, boolean]>([
    ['trusted', true],
    ['untrusted', false],
    ['not_the_service', false],
  ])('of a "not found" that is %s is useful: %s', (trust, isConfirmed) => {
    expect(observe(NOT_FOUND, period, trust, 0).isConfirmed).toBe(isConfirmed);
  });

  it.each([
    ['within the quota', 100, 0, false],
    ['beyond the quota', 101, 0, true],
    ['perhaps within it: three requests were sent later', 103, 3, false],
    ['beyond it whatever was sent later', 104, 3, true],
  ])('of a request that is %s', (_what, usage, later, isBeyond) => {
    expect(observe({ ...NOT_FOUND, quota: 100, usage }, period, null, later).isBeyond).toBe(isBeyond);
  });

  it('of a refused identifier is useful, of something that is not a brand is not', () => {
    expect(observe(FAILED, period, 'trusted', 0).isConfirmed).toBe(true);
    expect(observe(FAILED, period, 'untrusted', 0).isConfirmed).toBe(false);
    expect(observe(noBrand('own'), period, 'trusted', 0).isConfirmed).toBe(false);
  });
});
