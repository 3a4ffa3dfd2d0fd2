/** The first rows of a status, for people: bounded, however long the file is. */

/** `value`: the identifier, or the cell as it stands in the file, cut after 200 characters. */
export interface ListedRow {
  readonly line: number;
  readonly value: string;
  readonly reason: string;
}

const ROWS_AT_MOST = 100;
const VALUE_AT_MOST = 200;

/** Adds a row while there are fewer than a hundred; only then is its value read. */
export function listRow(
  rows: ListedRow[],
  { line, reason, value }: Omit<ListedRow, 'value'> & { readonly value: () => string },
): void {
  if (rows.length === ROWS_AT_MOST) return;
  const text = value();
  const cut = text.length > VALUE_AT_MOST ? `${text.slice(0, VALUE_AT_MOST)}…` : text;
  // The copy releases the chunk of the file that the text may be a part of, and has no half of a
  // pair of surrogates.
  rows.push({ line, value: Buffer.from(cut).toString(), reason });
}
