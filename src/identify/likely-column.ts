/**
 * Which column a message should suggest when none can be chosen: the likeliest one, and why it was not taken unasked. A
 * suggestion only; what is spent money on is `choose-columns.ts`'s to decide.
 */

import type { IdentifierKind } from '../core/identifier.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { type HeaderMeaning, readHeader } from './header-words.js';
import { identifyDomain } from './identify-domain.js';
import { type JudgeInput, judgeColumn } from './judge-columns.js';
import { type ColumnSample, sampleColumn } from './sample-column.js';

export interface LikelyColumn {
  readonly column: number;
  readonly kind: IdentifierKind;
  /** Why it was not taken unasked, for people, without its values; null when that has no words. */
  readonly doubt: string | null;
  /** Not one sampled value is of the kind: naming the column would help nobody. */
  readonly isHopeless: boolean;
}

const KIND_OF: Readonly<Record<HeaderMeaning, IdentifierKind>> = {
  domain: 'domain',
  email: 'domain',
  isin: 'isin',
  ticker: 'ticker',
  symbol: 'ticker',
  crypto: 'crypto',
  id: 'id',
};

/** `open`: the columns that may be suggested. By values and name together, else by name; null when neither says anything. */
export function likelyColumn(judge: JudgeInput, open: readonly number[]): LikelyColumn | null {
  const wanted = judge.kind === 'auto' ? null : judge.kind;
  const candidates = open.flatMap((column) => {
    const header = readHeader(judge.columns[column] ?? '');
    if (header.isForeign) return [];
    const reading = judgeColumn(judge, column, true);
    const named = header.meaning === null ? null : KIND_OF[header.meaning];
    const kind = reading?.kind ?? named;
    if (kind === null || (wanted !== null && kind !== wanted)) return [];
    return [{ column, kind, likelihood: (reading?.score ?? 0) + header.weight }];
  });
  const best = candidates.sort((one, other) => other.likelihood - one.likelihood)[0];
  return best === undefined ? null : { ...best, ...doubtOf(judge, best.column, best.kind) };
}

const WORDS: Readonly<Record<IdentifierKind, string>> = {
  domain: 'domains',
  isin: 'ISINs',
  ticker: 'written like tickers',
  crypto: 'written like crypto symbols',
  id: 'brand ids',
  auto: 'identifiers',
};

function doubtOf(
  { sample }: JudgeInput,
  column: number,
  kind: IdentifierKind,
): Pick<LikelyColumn, 'doubt' | 'isHopeless'> {
  const counts = sampleColumn(sample, column);
  const { isOneSite, rows, filled } = counts;
  if (filled === 0) {
    return { doubt: rows > 0 ? 'none of its sampled cells holds a value' : null, isHopeless: false };
  }
  if (kind === 'domain' && isOneSite) {
    return { doubt: 'its sampled values all belong to one and the same domain', isHopeless: false };
  }
  const fitting = fittingOf(counts, kind);
  const example = kind === 'domain' ? sample.map((row) => firstFault(row[column] ?? '')).find(Boolean) : null;
  const others = example ? `; others: ${example}` : '';
  return {
    doubt: `${fitting} of its ${filled} sampled values are ${WORDS[kind]}${others}`,
    isHopeless: fitting === 0,
  };
}

function fittingOf(counts: ColumnSample, kind: IdentifierKind): number {
  switch (kind) {
    case 'domain':
      return counts.domains + counts.emails + counts.tickerOrDomains;
    case 'isin':
      return counts.isins;
    case 'id':
      return counts.possibleIds;
    default:
      return counts.symbols;
  }
}

function firstFault(cell: string): string | null {
  const cleaned = cleanCell(cell);
  if (skipBlank(cleaned, 'domain') !== null) return null;
  const read = identifyDomain(cleaned);
  return read.type === 'invalid' ? read.reason : null;
}
