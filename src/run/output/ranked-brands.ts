/**
 * The brands with the best and the lowest scores, kept while answers are collected: a fixed number of each, however many
 * there are. A brand that was asked for under two identifiers stands there once.
 */

import type { Brand } from '../../lookup/brand.js';
import { bestIcon, bestLogo, mainColor } from './brand-assets.js';

/** What is kept of a brand. All texts as the service sent them. */
export interface RankedBrand {
  /** The number of its identifier: brands of equal score stand in the order of the input. */
  readonly index: number;
  /** Id, else domain, else identifier: what makes two answers the same brand. */
  readonly key: string;
  readonly name: string;
  readonly domain: string | null;
  readonly score: number;
  readonly color: string | null;
  /** null also for brands with adult content, whose pictures are not shown. */
  readonly logoUrl: string | null;
}

/** An answer with a score. */
interface ScoredAnswer {
  readonly index: number;
  /** As `identifierText` writes it: the name of a brand without one. */
  readonly identifier: string;
  readonly score: number;
  readonly brand: Brand;
}

export interface BrandRanking {
  note(answer: ScoredAnswer): void;
  /** Best first; at most `LISTED`. */
  readonly best: readonly RankedBrand[];
  /** Lowest first; at most `LISTED`. Of few brands some are among the best as well. */
  readonly lowest: readonly RankedBrand[];
}

export const LISTED = 10;

interface Placed {
  readonly score: number;
  readonly index: number;
}
type IsBefore = (a: Placed, b: Placed) => boolean;

const isBetter: IsBefore = (a, b) => a.score > b.score || (a.score === b.score && a.index < b.index);
const isLower: IsBefore = (a, b) => a.score < b.score || (a.score === b.score && a.index < b.index);

export function createBrandRanking(): BrandRanking {
  const best: RankedBrand[] = [];
  const lowest: RankedBrand[] = [];
  return {
    best,
    lowest,
    note(answer) {
      const isAmongBest = hasPlace(best, answer, isBetter);
      const isAmongLowest = hasPlace(lowest, answer, isLower);
      // Nearly every answer of a long file ends here.
      if (!isAmongBest && !isAmongLowest) return;
      const brand = rankedBrand(answer);
      if (isAmongBest) place(best, brand, isBetter);
      if (isAmongLowest) place(lowest, brand, isLower);
    },
  };
}

/** The lowest without those that are among the best. */
export function lowestApart({ best, lowest }: Pick<BrandRanking, 'best' | 'lowest'>): RankedBrand[] {
  return lowest.filter(({ key }) => !best.some((other) => other.key === key));
}

function hasPlace(list: readonly RankedBrand[], answer: ScoredAnswer, isBefore: IsBefore): boolean {
  const last = list[LISTED - 1];
  return last === undefined || isBefore(answer, last);
}

function place(list: RankedBrand[], brand: RankedBrand, isBefore: IsBefore): void {
  const same = list.findIndex(({ key }) => key === brand.key);
  const known = list[same];
  if (known !== undefined) {
    if (!isBefore(brand, known)) return;
    list.splice(same, 1);
  }
  const at = list.findIndex((other) => isBefore(brand, other));
  list.splice(at < 0 ? list.length : at, 0, brand);
  if (list.length > LISTED) list.pop();
}

function rankedBrand({ index, identifier, score, brand }: ScoredAnswer): RankedBrand {
  const domain = textOf(brand.domain);
  return {
    index,
    key: textOf(brand.id) ?? domain ?? identifier,
    name: textOf(brand.name) ?? domain ?? identifier.slice(identifier.indexOf(':') + 1),
    domain,
    score,
    color: textOf(mainColor(brand)),
    logoUrl: brand.isNsfw === true ? null : (bestIcon(brand) ?? bestLogo(brand)),
  };
}

/** Longer names than this are not names. */
const TEXT_AT_MOST = 200;

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, TEXT_AT_MOST) : null;
}
