/**
 * Which column a message should suggest when none can be chosen: the likeliest one, and why it was not taken unasked. A
 * suggestion only; what is spent money on is `choose-columns.ts`'s to decide.
 */
import type { IdentifierKind } from '../model.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { type HeaderMeaning, readHeader } from './header-words.js';
import { identifyDomain } from './identify-domain.js';
import { type JudgeInput, judgeColumn } from './judge-columns.js';
import { sampleColumn } from './sample-column.js';

export interface LikelyColumn {
  readonly column: number;
  readonly kind: IdentifierKind;
  /** Why it was not taken unasked, for people, without its values; null when nothing but its position speaks for it. */
  readonly doubt: string | null;
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

/** `open`: the columns that may be suggested. By values and name together, else by name, else the first of them. */
export function likelyColumn(judge: JudgeInput, open: readonly number[]): LikelyColumn {
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
  if (best === undefined) return { column: open[0] ?? 0, kind: wanted ?? 'domain', doubt: null };
  const doubt = best.kind === 'domain' ? domainDoubt(judge, best.column) : null;
  return { column: best.column, kind: best.kind, doubt };
}

function domainDoubt({ sample }: JudgeInput, column: number): string | null {
  const { isOneSite, filled, domains, emails, tickerOrDomains } = sampleColumn(sample, column);
  if (isOneSite) return 'its sampled values all belong to one and the same domain';
  if (filled === 0) return null;
  const fitting = domains + emails + tickerOrDomains;
  const example = sample.map((row) => firstFault(row[column] ?? '')).find((reason) => reason !== null);
  return `${fitting} of its ${filled} sampled values are domains${example ? `; others: ${example}` : ''}`;
}

function firstFault(cell: string): string | null {
  const cleaned = cleanCell(cell);
  if (skipBlank(cleaned, 'domain') !== null) return null;
  const read = identifyDomain(cleaned);
  return read.type === 'invalid' ? read.reason : null;
}
