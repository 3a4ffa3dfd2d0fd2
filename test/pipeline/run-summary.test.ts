/** What a run adds up while answers come in. */
import { expect, it } from 'vitest';
import { qualityTier } from '../../src/contract/brand.js';
import { createRunSummary } from '../../src/pipeline/run-summary.js';

it('begins with nothing', () => {
  expect(createRunSummary(qualityTier).facts).toEqual({
    identifiers: { matched: 0, notFound: 0, failed: 0, deferred: 0, stored: 0 },
    quality: { poor: 0, acceptable: 0, high: 0, unscored: 0 },
    oldestFetchedAt: null,
    newestFetchedAt: null,
    failures: new Map(),
  });
});

it('counts identifiers by outcome and by where the answer is from', () => {
  const summary = createRunSummary(qualityTier);
  summary.noteAnswer('matched', 0.9, 20, 'api');
  summary.noteAnswer('matched', 0.9, 10, 'stored');
  summary.noteAnswer('not_found', null, 30, 'stored');
  summary.noteFailure('failed', 'the service answered 500');
  summary.noteFailure('deferred', 'not asked');
  expect(summary.facts.identifiers).toEqual({ matched: 2, notFound: 1, failed: 1, deferred: 1, stored: 2 });
});

it('counts scores by thirds, and only of brands', () => {
  const summary = createRunSummary(qualityTier);
  for (const score of [0, 0.33, 0.34, 0.66, 0.67, 1, null]) summary.noteAnswer('matched', score, 0, 'api');
  summary.noteAnswer('not_found', null, 0, 'api');
  expect(summary.facts.quality).toEqual({ poor: 2, acceptable: 2, high: 2, unscored: 1 });
});

it('knows the oldest and the newest answer', () => {
  const summary = createRunSummary(qualityTier);
  for (const fetchedAt of [50, 20, 70, 40]) summary.noteAnswer('matched', null, fetchedAt, 'api');
  expect([summary.facts.oldestFetchedAt, summary.facts.newestFetchedAt]).toEqual([20, 70]);
});

it('counts why lookups failed, for 200 different reasons', () => {
  const summary = createRunSummary(qualityTier);
  for (let at = 0; at < 300; at += 1) summary.noteFailure('failed', `reason ${at}`);
  summary.noteFailure('failed', 'reason 0');
  summary.noteFailure('deferred', 'another reason');
  expect(summary.facts.failures.size).toBe(200);
  expect(summary.facts.failures.get('reason 0')).toBe(2);
  expect(summary.facts.failures.has('another reason')).toBe(false);
  expect(summary.facts.identifiers.failed).toBe(301);
});
