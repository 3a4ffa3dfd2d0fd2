import { expect, test } from 'vitest';
import type { Answer } from '../../src/brand-api/read-answer.js';
import { RefusalSeries } from '../../src/worker/refusal-series.js';
import { DOWN, MATCHED, refused, SPENT_QUOTA, TOO_FAST } from './asking.js';

/** The specification's own dialect: 429 with `{}`, usage and quota in the headers. */
const refusedAt = (usage: number | null, quota: number | null = 50): Answer =>
  refused(null, null, { usage, quota });

interface Step {
  readonly answer: Answer;
  /** Milliseconds since the step before. */
  readonly after?: number;
  readonly isFast?: boolean;
  /** What the ledger counts. */
  readonly own?: { readonly usage: number; readonly quota: number };
}

const times = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step);

/** The verdict after the last of these answers. */
function verdictOf(steps: readonly Step[]): { usage: number; quota: number } | null {
  const series = new RefusalSeries();
  let now = 0;
  let verdict: { usage: number; quota: number } | null = null;
  for (const { answer, after = 1_250, isFast = false, own = null } of steps) {
    now += after;
    verdict = series.note(answer, !isFast, now, own);
  }
  return verdict;
}

const CALM: Step = { answer: refusedAt(52) };
/** A refusal without usage headers. */
const SILENT = refusedAt(null, null);
const FAST: Step = { answer: refusedAt(51), after: 1, isFast: true };
const WITH_WAIT: Step = { answer: refused(null, 1, { usage: 52, quota: 50 }) };
/** What the ledger counts. */
const own = (usage: number) => ({ own: { usage, quota: 50 } });

test.each<[string, readonly Step[]]>([
  ['five refusals in a row over five seconds', times(5, CALM)],
  ['refusals without headers while the ledger counts all', times(5, { answer: SILENT, ...own(50) })],
  ['usage exactly at the quota', times(5, { answer: refusedAt(50) })],
  ['a burst that was refused before at another usage', [...times(60, FAST), ...times(5, CALM)]],
  ['other answers before them', [{ answer: MATCHED }, { answer: DOWN }, ...times(5, CALM)]],
])('the quota is the cause after: %s', (_what, steps) => {
  expect(verdictOf(steps)).toMatchObject({ quota: 50 });
});

test.each<[string, readonly Step[]]>([
  ['four of them', times(4, CALM)],
  ['no headers, and no known quota', times(60, { answer: SILENT })],
  ['no headers, below what the ledger counts', times(60, { answer: SILENT, ...own(49) })],
  ['usage below the quota, though the ledger has more', times(60, { answer: refusedAt(49), ...own(60) })],
  ['usage alone, though the ledger has more', times(60, { answer: refusedAt(49, null), ...own(60) })],
  ['five within less than five seconds', times(5, { ...CALM, after: 1_249 })],
  ['more than one a second', times(60, { ...CALM, isFast: true })],
  ['a billed answer between them', [...times(4, CALM), { answer: MATCHED }, ...times(4, CALM)]],
  ['any other answer between them', [...times(4, CALM), { answer: DOWN }, ...times(4, CALM)]],
  ['a Retry-After on one of them', [...times(4, CALM), WITH_WAIT, ...times(4, CALM)]],
  ['changing usage', [...times(4, CALM), ...times(4, { answer: refusedAt(53) })]],
  ['usage below the quota', times(9, { answer: refusedAt(49) })],
  ['no usage header', times(9, { answer: refusedAt(null) })],
  ['no quota header', times(9, { answer: refusedAt(52, null) })],
  ['a code that says too many', times(9, { answer: { ...TOO_FAST, usage: 52, quota: 50 } })],
  ['a code that says it is the quota', times(9, { answer: { ...SPENT_QUOTA, usage: 52, quota: 50 } })],
])('the cause is unknown after: %s', (_what, steps) => {
  expect(verdictOf(steps)).toBeNull();
});
