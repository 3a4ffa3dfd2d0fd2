/**
 * Whether the kind that the user named can be that of the values. A symbol cannot be checked, so
 * nearly any text under `--column website:ticker` would be bought and found by nobody: where most
 * sampled values are surely something else, the run stops before anything is spent. Kinds that the
 * values themselves showed are not looked at.
 */
import { NeverStartError } from '../core/errors.js';
import type { IdentifierKind } from '../core/identifier.js';
import { cleanCell } from './clean-cell.js';
import { type ColumnChoice, columnFlag, columnLabel } from './find-column.js';
import { type HeaderMeaning, readHeader } from './header-words.js';
import { identifyCell, LONGEST_EXCHANGE_SUFFIX } from './identify-cell.js';
import { identifyDomain } from './identify-domain.js';
import { isFilled, type JudgeInput, judgeColumn, sampledRows } from './judge-columns.js';

/** From this share of impossible values on the kind is taken for a mistake. */
const MOST_IMPOSSIBLE = 0.8;
/**
 * Fewer values prove nothing where the column's own name says the kind and each of them is invalid,
 * so free.
 */
const LEAST_VALUES = 5;

const WORDS: Readonly<Record<IdentifierKind, string>> = {
  domain: 'domains',
  ticker: 'tickers',
  isin: 'ISINs',
  crypto: 'crypto symbols',
  id: 'brand ids',
  auto: 'identifiers',
};
const MEANINGS: Readonly<Partial<Record<IdentifierKind, readonly HeaderMeaning[]>>> = {
  domain: ['domain', 'email'],
  isin: ['isin'],
  id: ['id'],
};

/**
 * `named`: the choices whose kind the user said, `choices`: all of them. Throws `NeverStartError`
 * (column-mismatch) with the flag that fits and the one that insists.
 */
export function assertKindsFit(
  judge: JudgeInput,
  named: readonly ColumnChoice[],
  choices: readonly ColumnChoice[],
): void {
  const rows = sampledRows(judge.sample);
  for (const choice of named) {
    const others = choices.filter((other) => other !== choice);
    const isServed = (row: readonly string[]) =>
      others.some((other) => isPossible(row[other.column] ?? '', other.kind));
    const faults = rows.flatMap((row) => {
      const cell = row[choice.column] ?? '';
      if (!isFilled(cell)) return [];
      const fault = faultOf(cell, choice.kind);
      // What is invalid is not bought: another of the columns is asked for this row.
      return fault !== null && !fault.isBought && isServed(row) ? [] : [fault];
    });
    const isSmall = faults.length < LEAST_VALUES && saysItself(judge.columns, choice);
    const causes = faults.flatMap((fault) => fault?.cause ?? []);
    if (faults.length === 0 || isSmall || causes.length < faults.length * MOST_IMPOSSIBLE) continue;
    throw mismatch(judge, choice, faults.length, causes);
  }
}

function saysItself(columns: readonly string[], { column, kind }: ColumnChoice): boolean {
  const { meaning } = readHeader(columns[column] ?? '');
  return meaning !== null && (MEANINGS[kind]?.includes(meaning) ?? false);
}

function isPossible(cell: string, kind: IdentifierKind): boolean {
  return isFilled(cell) && faultOf(cell, kind) === null;
}

interface Fault {
  readonly cause: string;
  /** Nothing but its looks speaks against it, so it would be asked for. */
  readonly isBought: boolean;
}

/** Why a filled cell cannot be of the kind; null when it can. */
function faultOf(cell: string, kind: IdentifierKind): Fault | null {
  const read = identifyCell(cell, kind);
  if (read.type === 'invalid') return { cause: read.reason, isBought: false };
  if (kind === 'domain' || kind === 'isin' || kind === 'id' || read.type === 'skipped') return null;
  const cleaned = cleanCell(cell);
  if (!cleaned.includes('.') || identifyDomain(cleaned).type !== 'identifier') {
    return isWrittenLikeName(cleaned) ? { cause: 'a name, no identifier', isBought: true } : null;
  }
  return kind === 'auto' || mayBeSymbol(cleaned, kind) ? null : { cause: 'a domain', isBought: true };
}

/** Suffixes that are no exchange's, whatever the case. */
const WEB_SUFFIX = /\.(?:com|net|org|info|biz|edu|gov)$/i;
/** `sap.de` may be a ticker in lower case, `siemens.de` hardly. */
const LONGEST_LOWER_TICKER = 6;

/** Of a domain: `SAP.DE` is a ticker where the column says ticker; coins have no exchange. */
function mayBeSymbol(cleaned: string, kind: 'ticker' | 'crypto'): boolean {
  if (kind === 'crypto' || WEB_SUFFIX.test(cleaned)) return false;
  if (cleaned === cleaned.toUpperCase()) return true;
  const [name = '', suffix = '', ...more] = cleaned.split('.');
  return (
    /^[a-z0-9.-]+$/.test(cleaned) &&
    more.length === 0 &&
    suffix.length <= LONGEST_EXCHANGE_SUFFIX &&
    name.length <= LONGEST_LOWER_TICKER
  );
}

/**
 * `Acme`, `Apple Inc.`, `the bakery around the corner`: symbols are written in one word and one
 * case.
 */
function isWrittenLikeName(cleaned: string): boolean {
  return (
    /^\p{Lu}\p{Ll}{3,}(?!\S*[.:]\p{Lu})/u.test(cleaned) || (/\s/.test(cleaned) && /\p{Ll}{3,}/u.test(cleaned))
  );
}

function mismatch(
  judge: JudgeInput,
  { column, kind }: ColumnChoice,
  filled: number,
  causes: readonly string[],
): NeverStartError {
  const { columns } = judge;
  const read = judgeColumn({ ...judge, kind: null }, column, true)?.kind ?? null;
  const right =
    read === null || read === kind
      ? 'name the right column or kind'
      : `say ${columnFlag(columns, column, read)}`;
  return new NeverStartError({
    code: 'column-mismatch',
    what: `most values of this column cannot be ${WORDS[kind]}`,
    subject: `${columnLabel(columns, column)} as ${kind}, where ${causes.length} of ${filled} sampled values cannot (most often: ${mostFrequent(causes)})`,
    todo: `${right}, or --allow-mismatch to go on all the same`,
  });
}

function mostFrequent(causes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const cause of causes) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? '';
}
