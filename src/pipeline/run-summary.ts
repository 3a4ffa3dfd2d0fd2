/**
 * What a run adds up while answers come in: counts of identifiers, ages, scores and reasons. The report is made of it.
 */
import type { AnswerSource } from '../model.js';

export interface RunSummary {
  noteAnswer(
    status: 'matched' | 'not_found',
    score: number | null,
    fetchedAt: number,
    source: AnswerSource,
  ): void;
  noteFailure(status: 'failed' | 'deferred', reason: string): void;
  readonly facts: RunFacts;
}

export interface RunFacts {
  /** Distinct identifiers by what they came to. */
  readonly identifiers: {
    matched: number;
    notFound: number;
    failed: number;
    deferred: number;
    /** Of matched and not found: those that the store had. */
    stored: number;
  };
  /** Distinct brands by thirds of the quality score. */
  readonly quality: { poor: number; acceptable: number; high: number; unscored: number };
  /** Milliseconds; null when nothing was fetched. */
  oldestFetchedAt: number | null;
  newestFetchedAt: number | null;
  /** Why identifiers failed, most frequent reasons first when read through `reasonsOf`. At most 200 different ones. */
  readonly failures: Map<string, number>;
}

const REASONS_AT_MOST = 200;

export function createRunSummary(tierOf: (score: number) => 'poor' | 'acceptable' | 'high'): RunSummary {
  const facts: RunFacts = {
    identifiers: { matched: 0, notFound: 0, failed: 0, deferred: 0, stored: 0 },
    quality: { poor: 0, acceptable: 0, high: 0, unscored: 0 },
    oldestFetchedAt: null,
    newestFetchedAt: null,
    failures: new Map(),
  };
  return {
    facts,
    noteAnswer(status, score, fetchedAt, source) {
      facts.identifiers[status === 'matched' ? 'matched' : 'notFound'] += 1;
      if (source === 'stored') facts.identifiers.stored += 1;
      if (status === 'matched') facts.quality[score === null ? 'unscored' : tierOf(score)] += 1;
      facts.oldestFetchedAt = Math.min(facts.oldestFetchedAt ?? fetchedAt, fetchedAt);
      facts.newestFetchedAt = Math.max(facts.newestFetchedAt ?? fetchedAt, fetchedAt);
    },
    noteFailure(status, reason) {
      facts.identifiers[status] += 1;
      if (status === 'deferred') return;
      if (facts.failures.has(reason) || facts.failures.size < REASONS_AT_MOST) {
        facts.failures.set(reason, (facts.failures.get(reason) ?? 0) + 1);
      }
    },
  };
}
