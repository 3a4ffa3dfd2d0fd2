/** Kinds of values in cells, to find a header that is data and cells in a wrong column. Pure. */
import { commonest, countEach } from '../core/counter.js';

const VALUE_KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['email', /^(?:[^\s@]+|[^@<>]*<[^\s@<>]+)@[^\s@]+\.[a-z]{2,}>?$/i],
  ['url', /^https?:\/\/\S+$/i],
  ['isin', /^(?:[A-Z]{2}[A-Z0-9]{9}|[a-z]{2}(?=[a-z]{0,8}\d[a-z0-9])[a-z0-9]{9})\d$/],
  ['domain', /^(?:\*?\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?:\/\S*)?$/i],
  ['number', /^[+-]?\d+(?:[.,]\d+)*$/],
];

/** Kinds that name a company or a security. */
export const IDENTIFYING: ReadonlySet<string> = new Set(['email', 'url', 'isin', 'domain']);

/** Kinds for cells of rows only, because a header may look like them (`USD`). */
const ROW_KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['date', /^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}(?:[T ].*)?$/],
  ['number', /^[+(]?\d[\d\s().,/'-]*[%€$£]?$/],
  ['code', /^(?=.*[A-Z])[A-Z0-9][A-Z0-9 .^/&$=-]{0,14}$/],
];

/** A ticker with its exchange looks like a domain (SAP.DE). */
const LISTED_CODE = /^[A-Z0-9&-]+\.[A-Z]{1,2}$/;

/** Returns `blank`, a kind of {@link VALUE_KINDS}, or `text`. */
export function valueKind(cell: string): string {
  const text = cell.trim();
  return text === '' ? 'blank' : (VALUE_KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text');
}

/** Like {@link valueKind}, but separates codes and dates from text, and calls a URL a domain. */
function rowKind(cell: string): string {
  const kind = valueKind(cell);
  const text = cell.trim();
  if (kind === 'text') return ROW_KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text';
  if (kind === 'domain' && LISTED_CODE.test(text)) return 'code';
  return kind === 'url' ? 'domain' : kind;
}

type ColumnProfile = ReturnType<typeof profileOf>;

function profileOf(rows: readonly (readonly string[])[], column: number) {
  const cells = rows.map((row) => row[column] ?? '').filter((cell) => cell.trim() !== '');
  return {
    filled: cells.length,
    /** Cells that begin with a blank, like the second half of a text that was cut at ", ". */
    indented: cells.filter((cell) => /^\s/.test(cell)).length,
    kinds: countEach(cells.map(rowKind)),
    values: countEach(cells.map((cell) => cell.trim())),
  };
}

/** A kind with a smaller share of a column is an exception in it. */
const LEAST_SHARE = 0.05;
/** A column with a larger share of its neighbour's kind is mixed. */
const MIXED_SHARE = 0.1;

/** The kinds of values in the columns of a sample. */
export class ColumnKinds {
  /** True if a column holds many cells of its neighbour's kind, as when many rows are shifted. */
  readonly isMixed: boolean;
  readonly #profiles: readonly ColumnProfile[];

  constructor(rows: readonly (readonly string[])[], columnCount: number) {
    this.#profiles = Array.from({ length: columnCount }, (_, column) => profileOf(rows, column));
    const mainKinds = this.#profiles.map(mainKind);
    this.isMixed = this.#profiles.some(({ kinds, filled }, column) => {
      const own = mainKinds[column];
      if (own === null) return false;
      return [mainKinds[column - 1], mainKinds[column + 1]].some((kind) => {
        const strangers = kind && kind !== own ? (kinds.get(kind) ?? 0) : 0;
        return strangers >= 2 && strangers > filled * MIXED_SHARE;
      });
    });
  }

  /** True if the cell is unlike its column; false for a blank cell or an unknown column. */
  isForeign(column: number, cell: string): boolean {
    const profile = this.#profiles[column];
    const text = cell.trim();
    if (profile === undefined || text === '' || profile.filled < 2) return false;
    if (!hasKind(profile, rowKind(cell))) return true;
    if (/^\s/.test(cell) && !isCommon(profile, profile.indented)) return true;
    if ((profile.values.get(text) ?? 0) > 1) return false;
    return this.#profiles.some((other, at) => at > column && (other.values.get(text) ?? 0) > 1);
  }

  isNative(column: number, cell: string): boolean {
    const profile = this.#profiles[column];
    return cell.trim() !== '' && profile !== undefined && hasKind(profile, rowKind(cell));
  }
}

/** True if enough cells have a trait, besides the judged one, which `count` includes. */
function isCommon(profile: ColumnProfile, count: number): boolean {
  return count - 1 >= Math.max(1, (profile.filled - 1) * LEAST_SHARE);
}

function hasKind(profile: ColumnProfile, kind: string): boolean {
  // A name may be written like a code (IBM), a code is not written like a name.
  const own = profile.kinds.get(kind) ?? 0;
  return isCommon(profile, kind === 'code' ? own + (profile.kinds.get('text') ?? 0) : own);
}

/** Returns the kind of at least half of the cells; null for text, which may be anything. */
function mainKind({ kinds, filled }: ColumnProfile): string | null {
  const [kind, count] = commonest(kinds) ?? ['text', 0];
  return kind !== 'text' && count >= filled / 2 ? kind : null;
}
