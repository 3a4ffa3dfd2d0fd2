/** The sums of a run for its report, whose memory does not grow with the number of answers. */
import { type Brand, type QualityTier, qualityTier } from '../../brand-api/brand.js';
import { Counter } from '../../core/counter.js';
import { parseIdentifierText } from '../../core/identifier.js';
import type { AnswerSource } from '../../core/outcome.js';
import type { FailureReason } from '../../engine/stores/run-reasons.js';
import type { FetchedAnswer } from '../../worker/asked.js';
import { bestIcon, bestLogo, countryOf, mainColor, mainIndustry, textOf } from '../output/brand-fields.js';

/** An answer of the service, fetched in this run or stored. */
export interface NotedAnswer extends Pick<FetchedAnswer, 'status' | 'retryLater' | 'fetchedAt'> {
  /** The number of the identifier, and its text as `identifierText` writes it. */
  readonly index: number;
  readonly identifier: string;
  /** 0 to 1; null if unscored. */
  readonly score: number | null;
  readonly source: AnswerSource;
  readonly brand: Brand;
}

/** The most reasons kept, because a service may give each failure its own. */
const REASONS_AT_MOST = 200;
const BINS_OF_THIRD = 5;
export const HISTOGRAM_BINS = 3 * BINS_OF_THIRD;

/** Returns the bin of a score, always within its third, whatever the rounding. */
function binOf(score: number, tier: QualityTier): number {
  const first = ['poor', 'acceptable', 'high'].indexOf(tier) * BINS_OF_THIRD;
  const bin = Math.floor(score * HISTOGRAM_BINS);
  return Math.min(Math.max(bin, first), first + BINS_OF_THIRD - 1);
}

export type RunFacts = ReturnType<typeof createRunSummary>['facts'];

export function createRunSummary() {
  const ranking = createBrandRanking();
  const facts = {
    /** Distinct identifiers; `beingFetched` are part of `notFound`, `stored` of both. */
    identifiers: { matched: 0, notFound: 0, beingFetched: 0, failed: 0, deferred: 0, stored: 0 },
    quality: { poor: 0, acceptable: 0, high: 0, unscored: 0 },
    /** The scored brands in equal bins from 0 to 1; five bins are a third. */
    histogram: Array.from({ length: HISTOGRAM_BINS }, () => 0),
    brands: { best: ranking.best, lowest: ranking.lowest },
    /** Milliseconds since 1970; null before the first answer. */
    oldestFetchedAt: null as number | null,
    newestFetchedAt: null as number | null,
    failures: new Counter<FailureReason>(REASONS_AT_MOST),
    /** True if a lookup failed because the service was unavailable for too long. */
    hasOutage: false,
    /** True if a lookup failed with an untrusted answer. */
    hasUntrusted: false,
  };
  return {
    facts,
    noteAnswer(answer: NotedAnswer): void {
      const { status, retryLater, score, fetchedAt, source, index, identifier, brand } = answer;
      facts.identifiers[status === 'matched' ? 'matched' : 'notFound'] += 1;
      if (retryLater) facts.identifiers.beingFetched += 1;
      if (source === 'stored') facts.identifiers.stored += 1;
      facts.oldestFetchedAt = Math.min(facts.oldestFetchedAt ?? fetchedAt, fetchedAt);
      facts.newestFetchedAt = Math.max(facts.newestFetchedAt ?? fetchedAt, fetchedAt);
      if (status !== 'matched') return;
      if (score === null) {
        facts.quality.unscored += 1;
        return;
      }
      const tier = qualityTier(score);
      facts.quality[tier] += 1;
      const bin = binOf(score, tier);
      facts.histogram[bin] = (facts.histogram[bin] ?? 0) + 1;
      ranking.note({ index, identifier, brand, score });
    },
    noteDeferred(): void {
      facts.identifiers.deferred += 1;
    },
    noteFailure(reason: FailureReason): void {
      facts.identifiers.failed += 1;
      if (reason.code === 'unavailable') facts.hasOutage = true;
      if (reason.code === 'unproven') facts.hasUntrusted = true;
      facts.failures.add(reason);
    },
  };
}

export const LISTED = 10;

type ScoredAnswer = Pick<NotedAnswer, 'index' | 'identifier' | 'brand'> & { readonly score: number };
type Compare = (a: Pick<ScoredAnswer, 'score' | 'index'>, b: Pick<ScoredAnswer, 'score' | 'index'>) => number;
const bestFirst: Compare = (a, b) => b.score - a.score || a.index - b.index;
const lowestFirst: Compare = (a, b) => a.score - b.score || a.index - b.index;

export function createBrandRanking() {
  const best: RankedBrand[] = [];
  const lowest: RankedBrand[] = [];

  function offer(list: RankedBrand[], answer: ScoredAnswer, compare: Compare): void {
    const last = list[LISTED - 1];
    // Nearly every answer of a long file ends here.
    if (last !== undefined && compare(answer, last) >= 0) return;
    const brand = rankedBrand(answer);
    const same = list.findIndex(({ key }) => key === brand.key);
    const listed = list[same];
    if (listed !== undefined && compare(brand, listed) >= 0) return;
    if (listed !== undefined) list.splice(same, 1);
    list.push(brand);
    list.sort(compare).splice(LISTED);
  }

  return {
    /** Best first; at most `LISTED`. */
    best: best as readonly RankedBrand[],
    /** Lowest first; at most `LISTED`. With few brands, some are among the best, too. */
    lowest: lowest as readonly RankedBrand[],
    note(answer: ScoredAnswer): void {
      offer(best, answer, bestFirst);
      offer(lowest, answer, lowestFirst);
    },
  };
}

/** Returns the lowest brands without those among the best. */
export function lowestApart({ best, lowest }: RunFacts['brands']): RankedBrand[] {
  return lowest.filter(({ key }) => !best.some((other) => other.key === key));
}

/** A brand of the report, with the texts that the service sent. */
export type RankedBrand = Readonly<ReturnType<typeof rankedBrand>>;

function rankedBrand({ index, identifier, score, brand }: ScoredAnswer) {
  const domain = textOf(brand.domain);
  return {
    /** The number of the identifier, which orders brands of equal score. */
    index,
    key: textOf(brand.id) ?? domain ?? identifier,
    name: textOf(brand.name) ?? domain ?? parseIdentifierText(identifier).value,
    domain,
    score,
    color: textOf(mainColor(brand)),
    industry: textOf(mainIndustry(brand)),
    country: textOf(countryOf(brand)),
    /** Null without a logo, and for brands with adult content, whose logos are not shown. */
    logoUrl: brand.isNsfw === true ? null : (bestIcon(brand) ?? bestLogo(brand)),
  };
}
