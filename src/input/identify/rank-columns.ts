/**
 * Which of several readable columns are passed over, and which stand for the same companies, so
 * that one fills the gaps of the other. Pure; `judge-columns.ts` weighs each column by itself.
 */
import type { IdentifierKind } from '../../core/identifier.js';
import { KEY_COLUMN } from '../../core/table.js';
import { readHeader } from './header-words.js';
import { CHECKED_KINDS, identifyCell } from './identify-cell.js';
import { nameInDomain } from './identify-domain.js';
import type { ColumnReading, JudgeInput } from './judge-columns.js';

/** A column less than half as full as another one does not win by its name alone. */
const LEAST_FILL = 0.5;
/** Columns of one meaning stand for the same companies if this share of their values agrees. */
const LEAST_AGREEMENT = 0.5;

/** Without those that a better one makes needless: beside websites mail addresses, codes, links. */
export function withoutOutranked(
  columns: readonly string[],
  readings: readonly ColumnReading[],
): {
  readonly kept: readonly ColumnReading[];
  /** Addresses of people, passed over for a website. */
  readonly mail: readonly ColumnReading[];
} {
  const websites = readings.filter(({ kind, isMail }) => kind === 'domain' && !isMail);
  const mail = websites.length > 0 ? readings.filter(({ isMail }) => isMail) : [];
  const isLastResort = ({ isConstant, areMarkets, column }: ColumnReading) =>
    isConstant || areMarkets || columns[column] === KEY_COLUMN;
  const isLike = (one: ColumnReading, other: ColumnReading) =>
    one.kind === other.kind || (isSymbol(one) && isSymbol(other));
  // Where a list has websites, codes of which it is unclear what they are may be its own.
  const hasWebsite = websites.some(({ weight, fill }) => weight === 1 && fill >= LEAST_FILL);
  const isOutranked = (reading: ColumnReading) =>
    (websites.includes(reading) && websites.some((other) => outranks(other, reading))) ||
    (isLastResort(reading) && readings.some((other) => isLike(other, reading) && !isLastResort(other))) ||
    (reading.kind === null && hasWebsite);
  return { kept: readings.filter((each) => !mail.includes(each) && !isOutranked(each)), mail };
}

function isSymbol({ kind }: ColumnReading): boolean {
  return kind === null || kind === 'ticker' || kind === 'crypto';
}

/** Class of the name first, then how different the values are; a nearly empty column has no say. */
function outranks(one: ColumnReading, other: ColumnReading): boolean {
  if (one === other || one.isFewSites) return false;
  if (other.isFewSites) return true;
  if (arePartiesOfRow(one, other)) return false;
  if (one.fill < other.fill * LEAST_FILL) return false;
  if (one.weight !== other.weight) return one.weight > other.weight;
  return other.isPages && other.variety < one.variety / 2;
}

/** `customer website` and `vendor website`: two companies, whichever column is fuller. */
export function arePartiesOfRow(one: ColumnReading, other: ColumnReading): boolean {
  return one.kind === other.kind && one.role !== null && other.role !== null && one.role !== other.role;
}

/**
 * Whether two columns name the same companies: their names mean the same and are as plain, and
 * their values agree where both have one; or they are certain columns of different kinds. Then
 * the fuller one is read first and the other fills its gaps.
 */
export function areOfOneCompany({ columns, sample }: JudgeInput, one: ColumnReading, other: ColumnReading) {
  if (one.kind === null || other.kind === null || one.isMail !== other.isMail) return false;
  if (one.weight !== other.weight || one.role !== other.role) return false;
  // A coin and a ticker in one row are two things, and no check tells them apart.
  const isChecked = CHECKED_KINDS.has(one.kind) || CHECKED_KINDS.has(other.kind);
  if (one.kind !== other.kind) return one.weight === 1 && isChecked;
  const names = [one, other].map(({ column }) => readHeader((columns[column] ?? '').replace(/\d+/g, '')));
  if (names[0]?.meaning !== names[1]?.meaning) return false;
  if (areNumbered(columns[one.column] ?? '', columns[other.column] ?? '')) return true;
  const kind = one.kind;
  const pairs = sample.flatMap((row) => {
    const [first, second] = [one, other].map(({ column }) => companyOf(row[column] ?? '', kind));
    return first === null || second === null ? [] : [first === second];
  });
  return pairs.filter(Boolean).length >= pairs.length * LEAST_AGREEMENT;
}

/** `Website 1` and `Website 2`: the list itself says that the first comes first. */
function areNumbered(one: string, other: string): boolean {
  const bare = (name: string) => name.replace(/\d+/g, '').trim();
  return one !== other && bare(one) === bare(other);
}

/** The same for `acme.com` and `www.acme.de`; null for a cell without an identifier. */
function companyOf(cell: string, kind: IdentifierKind): string | null {
  const found = identifyCell(cell, kind);
  if (found.type !== 'identifier') return null;
  const { value } = found.identifier;
  return kind === 'domain' ? nameInDomain(value) : value;
}
