import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRunSummary, HISTOGRAM_BINS, type NotedAnswer } from '../../../src/run/report/run-summary.js';

function answer(parts: Partial<NotedAnswer> = {}): NotedAnswer {
  const { index = 0 } = parts;
  return {
    status: 'matched',
    retryLater: false,
    index,
    identifier: `domain:brand-${index}.example`,
    score: 0.9,
    fetchedAt: 0,
    source: 'api',
    brand: {},
    ...parts,
  };
}

const NO_BINS = Array.from({ length: HISTOGRAM_BINS }, () => 0);

it('the sums count identifiers by outcome and by origin of the answer', () => {
  const summary = createRunSummary();
  summary.noteAnswer(answer());
  summary.noteAnswer(answer({ source: 'stored' }));
  summary.noteAnswer(answer({ status: 'not_found', score: null, source: 'stored' }));
  summary.noteFailure({ code: 'answer', text: 'the service answered 500' });
  summary.noteDeferred();
  expect(summary.facts.identifiers).toEqual({
    matched: 2,
    notFound: 1,
    beingFetched: 0,
    failed: 1,
    deferred: 1,
    stored: 2,
  });
});

it('the sums count scores of brands by thirds', () => {
  const summary = createRunSummary();
  for (const score of [0, 0.33, 0.34, 0.66, 0.67, 1, null]) summary.noteAnswer(answer({ score }));
  summary.noteAnswer(answer({ status: 'not_found', score: null }));
  expect(summary.facts.quality).toEqual({ poor: 2, acceptable: 2, high: 2, unscored: 1 });
});

it.each([
  [0, 0],
  [0.066, 0],
  [0.067, 1],
  [1 / 3 - 2 ** -53, 4],
  [1 / 3, 5],
  [0.5, 7],
  [2 / 3 - 2 ** -53, 9],
  [2 / 3, 10],
  [0.999, 14],
  [1, 14],
])('a score of %d is in bin %i of the histogram', (score, bin) => {
  const summary = createRunSummary();
  summary.noteAnswer(answer({ score }));
  expect(summary.facts.histogram).toEqual(NO_BINS.with(bin, 1));
});

it('the bins of each third add up to its count', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (scores) => {
      const { facts, noteAnswer } = createRunSummary();
      for (const score of scores) noteAnswer(answer({ score }));
      const sumOf = (from: number) => facts.histogram.slice(from, from + 5).reduce((a, b) => a + b, 0);
      expect({ poor: sumOf(0), acceptable: sumOf(5), high: sumOf(10), unscored: 0 }).toEqual(facts.quality);
    }),
  );
});

it('the sums have the times of the oldest and the newest answer', () => {
  const summary = createRunSummary();
  for (const fetchedAt of [50, 20, 70, 40]) summary.noteAnswer(answer({ fetchedAt }));
  expect([summary.facts.oldestFetchedAt, summary.facts.newestFetchedAt]).toEqual([20, 70]);
});

it('the sums count 200 reasons of failures, and all that decide the end of a run', () => {
  const summary = createRunSummary();
  const failed = (at: number) => summary.noteFailure({ code: 'answer', text: `reason ${at}` });
  for (let at = 0; at < 300; at += 1) failed(at);
  failed(0);
  summary.noteDeferred();
  expect(summary.facts).toMatchObject({ hasOutage: false, hasUntrusted: false });
  summary.noteFailure({ code: 'unavailable' });
  summary.noteFailure({ code: 'unproven', text: 'the service answered 404', saysNotFound: true });
  expect(summary.facts).toMatchObject({ hasOutage: true, hasUntrusted: true });
  const failures = [...summary.facts.failures];
  expect(failures).toHaveLength(200);
  expect(failures[0]).toEqual({ value: { code: 'answer', text: 'reason 0' }, count: 2 });
  expect(summary.facts.identifiers.failed).toBe(303);
});
