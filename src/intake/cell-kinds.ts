/**
 * What kinds of values cells hold, and which of them a column of the table is known to hold: the
 * evidence for a header that is data, and for a row whose cells stand in the wrong columns. Pure.
 */

/** Kinds of values that nobody names a column by. */
const VALUE_KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['email', /^[^\s@]+@[^\s@]+\.[a-z]{2,}$/i],
  ['url', /^https?:\/\/\S+$/i],
  ['isin', /^[A-Z]{2}[A-Z0-9]{9}\d$/],
  ['domain', /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?:\/\S*)?$/i],
  ['number', /^[+-]?\d+(?:[.,]\d+)*$/],
];

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

/**
 * As {@link valueKind}, with codes and dates told apart from text, and addresses of a website taken
 * together.
 */
function rowKind(cell: string): string {
  const kind = valueKind(cell);
  if (kind === 'url') return 'domain';
  if (kind === 'domain' && LISTED_CODE.test(cell.trim())) return 'code';
  if (kind !== 'text') return kind;
  const text = cell.trim();
  return ROW_KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text';
}

/** What the sampled cells of one column are. */
interface ColumnProfile {
  filled: number;
  /** Cells that begin with a blank, as the rest of a text does that was cut at ", ". */
  indented: number;
  readonly kinds: Map<string, number>;
  readonly values: Map<string, number>;
}

export interface ColumnKinds {
  /**
   * Whether the cell is unlike what the sample knows of the column. A blank cell and an unknown
   * column say nothing.
   */
  isForeign(column: number, cell: string): boolean;
  /** Whether the cell is of a kind that the column is known to hold. */
  isNative(column: number, cell: string): boolean;
  /**
   * Whether some column holds many cells of the kind of a neighbour, as it does where many rows are
   * shifted.
   */
  readonly isMuddled: boolean;
}

/** Below this share of a column a kind of value is an exception in it. */
const LEAST_SHARE = 0.05;

/** From this share on cells of a neighbour's kind are no exception in a column. */
const MUDDLED_SHARE = 0.1;

/**
 * Learns from sampled rows. The cell that is judged may be one of them: it is no witness for
 * itself.
 */
export function learnColumns(rows: readonly (readonly string[])[], columnCount: number): ColumnKinds {
  const profiles = Array.from(
    { length: columnCount },
    (): ColumnProfile => ({ filled: 0, indented: 0, kinds: new Map(), values: new Map() }),
  );
  for (const row of rows) {
    for (const [column, cell] of row.slice(0, columnCount).entries()) {
      const profile = profiles[column];
      const text = cell.trim();
      if (profile === undefined || text === '') continue;
      profile.filled += 1;
      if (/^\s/.test(cell)) profile.indented += 1;
      addOne(profile.kinds, rowKind(cell));
      addOne(profile.values, text);
    }
  }

  /**
   * Whether other cells of the column bear witness for something that so many of all cells have.
   */
  const isSeen = (profile: ColumnProfile, having: number) =>
    having - 1 >= Math.max(1, (profile.filled - 1) * LEAST_SHARE);

  function hasKind(profile: ColumnProfile, kind: string): boolean {
    // A name may be written like a code (IBM), a code is not written like a name.
    const own = profile.kinds.get(kind) ?? 0;
    return isSeen(profile, kind === 'code' ? own + (profile.kinds.get('text') ?? 0) : own);
  }

  function isForeign(column: number, cell: string): boolean {
    const profile = profiles[column];
    const text = cell.trim();
    if (profile === undefined || text === '' || profile.filled < 2) return false;
    if (!hasKind(profile, rowKind(cell))) return true;
    if (/^\s/.test(cell) && !isSeen(profile, profile.indented)) return true;
    if ((profile.values.get(text) ?? 0) > 1) return false;
    return profiles.some((other, at) => at > column && (other.values.get(text) ?? 0) > 1);
  }

  /**
   * The kind that makes a column known: that of most cells, but for text, which may be anything.
   */
  const mainKind = (profile: ColumnProfile | undefined) => {
    const [kind, count] = [...(profile?.kinds ?? [])].sort((a, b) => b[1] - a[1])[0] ?? ['text', 0];
    return kind !== 'text' && profile !== undefined && count >= profile.filled / 2 ? kind : null;
  };
  const mainKinds = profiles.map(mainKind);
  const isMuddled = profiles.some(({ kinds, filled }, column) => {
    const own = mainKinds[column];
    if (own === null) return false;
    return [mainKinds[column - 1], mainKinds[column + 1]].some((kind) => {
      const strangers = kind && kind !== own ? (kinds.get(kind) ?? 0) : 0;
      return strangers >= 2 && strangers > filled * MUDDLED_SHARE;
    });
  });

  return {
    isMuddled,
    isForeign,
    isNative(column, cell) {
      const profile = profiles[column];
      return cell.trim() !== '' && profile !== undefined && hasKind(profile, rowKind(cell));
    },
  };
}

function addOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
