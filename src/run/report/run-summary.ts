/**
 * What a run adds up while answers come in: counts of identifiers, ages, scores, the ends of the ranking, and reasons. The
 * report is made of it. Its memory does not grow with the number of answers.
 */

import type { AnswerSource } from '../../core/outcome.js';
import type { Brand, QualityTier } from '../../lookup/brand.js';
import { type BrandRanking, createBrandRanking } from '../output/ranked-brands.js';

/** An answer of the service, asked for in this run or stored. */
export interface NotedAnswer {
  readonly status: 'matched' | 'not_found';
  readonly comeBack: boolean;
  /** The number of the identifier, and its text as `identifierText` writes it. */
  readonly index: number;
  readonly identifier: string;
  /** 0 to 1; null when there is none. */
  readonly score: number | null;
  /** Milliseconds. */
  readonly fetchedAt: number;
  readonly source: AnswerSource;
  readonly brand: Brand;
}

export interface RunSummary {
  noteAnswer(answer: NotedAnswer): void;
  noteFailure(status: 'failed' | 'deferred', reason: string): void;
  readonly facts: RunFacts;
}

export interface RunFacts {
  /** Distinct identifiers by what they came to. */
  readonly identifiers: {
    matched: number;
    notFound: number;
    /** Of not found: those that the service is still fetching. */
    beingFetched: number;
    failed: number;
    deferred: number;
    /** Of matched and not found: those that the store had. */
    stored: number;
  };
  /** Distinct brands by thirds of the quality score. */
  readonly quality: { poor: number; acceptable: number; high: number; unscored: number };
  /** The same brands in `HISTOGRAM_BINS` bins of equal width from 0 to 1: five to a third, which add up to it. */
  readonly histogram: number[];
  readonly brands: Pick<BrandRanking, 'best' | 'lowest'>;
  /** Milliseconds; null when nothing was fetched. */
  oldestFetchedAt: number | null;
  newestFetchedAt: number | null;
  /** Why identifiers failed, most frequent reasons first when read through `reasonsOf`. At most 200 different ones. */
  readonly failures: Map<string, number>;
}

const REASONS_AT_MOST = 200;
const BINS_OF_THIRD = 5;
export const HISTOGRAM_BINS = 3 * BINS_OF_THIRD;
const FIRST_BIN: Readonly<Record<QualityTier, number>> = {
  poor: 0,
  acceptable: BINS_OF_THIRD,
  high: 2 * BINS_OF_THIRD,
};

/** The bin of a score, always one of its third, wherever rounding would put it. */
function binOf(score: number, tier: QualityTier): number {
  const first = FIRST_BIN[tier];
  const bin = Math.floor(score * HISTOGRAM_BINS);
  return Math.min(Math.max(bin, first), first + BINS_OF_THIRD - 1);
}

export function createRunSummary(tierOf: (score: number) => QualityTier): RunSummary {
  const ranking = createBrandRanking();
  const histogram = Array.from({ length: HISTOGRAM_BINS }, () => 0);
  const facts: RunFacts = {
    identifiers: { matched: 0, notFound: 0, beingFetched: 0, failed: 0, deferred: 0, stored: 0 },
    quality: { poor: 0, acceptable: 0, high: 0, unscored: 0 },
    histogram,
    brands: { best: ranking.best, lowest: ranking.lowest },
    oldestFetchedAt: null,
    newestFetchedAt: null,
    failures: new Map(),
  };
  return {
    facts,
    noteAnswer({ status, comeBack, index, identifier, score, fetchedAt, source, brand }) {
      facts.identifiers[status === 'matched' ? 'matched' : 'notFound'] += 1;
      if (comeBack) facts.identifiers.beingFetched += 1;
      if (source === 'stored') facts.identifiers.stored += 1;
      facts.oldestFetchedAt = Math.min(facts.oldestFetchedAt ?? fetchedAt, fetchedAt);
      facts.newestFetchedAt = Math.max(facts.newestFetchedAt ?? fetchedAt, fetchedAt);
      if (status !== 'matched') return;
      if (score === null) {
        facts.quality.unscored += 1;
        return;
      }
      const tier = tierOf(score);
      facts.quality[tier] += 1;
      const bin = binOf(score, tier);
      histogram[bin] = (histogram[bin] ?? 0) + 1;
      ranking.note({ index, identifier, score, brand });
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
