/** Kinds of values in cells: they show a header that is data, and misplaced cells. Pure. */

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

/** Kinds that only rows are judged by: any of them may also be the name of a column. */
const ROW_KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['date', /^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}(?:[T ].*)?$/],
  ['number', /^[+(]?\d[\d\s().,/'-]*[%€$£]?$/],
  ['code', /^(?=.*[A-Z])[A-Z0-9][A-Z0-9 .^/&$=-]{0,14}$/],
];

/** A ticker with its exchange looks like a domain (SAP.DE). */
const LISTED_CODE = /^[A-Z0-9&-]+\.[A-Z]{1,2}$/;

/** `blank`, one of the kinds above, or `text`. */
export function valueKind(cell: string): string {
  const text = cell.trim();
  return text === '' ? 'blank' : (VALUE_KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text');
}

/** As {@link valueKind}, with codes and dates apart from text, and a website as a domain. */
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
    /** Cells that begin with a blank, as the rest of a text does that was cut at ", ". */
    indented: cells.filter((cell) => /^\s/.test(cell)).length,
    kinds: countEach(cells.map(rowKind)),
    values: countEach(cells.map((cell) => cell.trim())),
  };
}

/** Below this share of a column a kind of value is an exception in it. */
const LEAST_SHARE = 0.05;
/** From this share on cells of a neighbour's kind are not an exception in a column. */
const MIXED_SHARE = 0.1;

/** What columns hold, as sampled rows show it. A cell that is judged does not count for itself. */
export class ColumnKinds {
  /** Whether some column holds many cells of a neighbour's kind, as where many rows are shifted. */
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

  /** Whether the cell is unlike its column. A blank cell and an unknown column say nothing. */
  isForeign(column: number, cell: string): boolean {
    const profile = this.#profiles[column];
    const text = cell.trim();
    if (profile === undefined || text === '' || profile.filled < 2) return false;
    if (!hasKind(profile, rowKind(cell))) return true;
    if (/^\s/.test(cell) && !isSeen(profile, profile.indented)) return true;
    if ((profile.values.get(text) ?? 0) > 1) return false;
    return this.#profiles.some((other, at) => at > column && (other.values.get(text) ?? 0) > 1);
  }

  isNative(column: number, cell: string): boolean {
    const profile = this.#profiles[column];
    return cell.trim() !== '' && profile !== undefined && hasKind(profile, rowKind(cell));
  }
}

/** Whether enough other cells of the column have it too. `having`: all that have it. */
function isSeen(profile: ColumnProfile, having: number): boolean {
  return having - 1 >= Math.max(1, (profile.filled - 1) * LEAST_SHARE);
}

function hasKind(profile: ColumnProfile, kind: string): boolean {
  // A name may be written like a code (IBM), a code is not written like a name.
  const own = profile.kinds.get(kind) ?? 0;
  return isSeen(profile, kind === 'code' ? own + (profile.kinds.get('text') ?? 0) : own);
}

/** The kind that makes a column known: that of most cells, but for text, which may be anything. */
function mainKind({ kinds, filled }: ColumnProfile): string | null {
  const [kind, count] = commonest(kinds) ?? ['text', 0];
  return kind !== 'text' && count >= filled / 2 ? kind : null;
}
