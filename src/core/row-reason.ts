/** Why a row is not looked up: codes with fields; no sentence quotes a cell of the user. */

const SYMBOLS = { ticker: 'ticker', crypto: 'crypto symbol' } as const;
type OfSymbol = { readonly kind: keyof typeof SYMBOLS };
type OfJson = { readonly place: 'line' | 'element' };
type OfColumn = { readonly column: string };
/** `cellLine`: where the cell begins, if that is not the first line of the record. */
type OfQuoted = { readonly cellLine?: number };

const SENTENCES = {
  // The row is skipped.
  blank: 'the cell is blank',
  placeholder: 'the cell is a placeholder such as "n/a"',
  free_mail: 'an address at a free e-mail provider',
  // A condition on rows (`--where`), with the column as the user named it.
  not_selected: ({ column, value }: OfColumn & { readonly value: string }) =>
    `not selected: ${column} is not ${value}`,
  not_selected_blank: ({ column }: OfColumn) => `not selected: ${column} is blank`,
  not_selected_filled: ({ column }: OfColumn) => `not selected: ${column} is not blank`,

  // The cell is not an identifier of its kind.
  several_domains: 'several domains in one cell',
  not_domain: 'not a domain name',
  ip_address: 'an IP address, not a domain name',
  number_as_domain: 'a number, not a domain name',
  with_words: 'a domain name with other words',
  not_website: 'an address, but not of a website',
  private_host: 'a reserved or private host name',
  unknown_suffix: 'unknown domain suffix',
  shared_suffix: 'a shared suffix, not the domain of one brand',
  not_isin: 'not an ISIN (two letters, nine letters or digits, a check digit)',
  mistyped_isin: 'the check digit of the ISIN is wrong',
  not_id: 'not a brand id (id_ and more, or id and eight characters; case matters)',
  not_symbol: before('not a'),
  email_as_symbol: before('an e-mail address, not a'),
  url_as_symbol: before('a web address, not a'),
  isin_as_symbol: before('an ISIN, not a'),
  several_symbols: before('several values in one cell, not one'),
  long_symbol: ({ kind, most }: OfSymbol & { readonly most: number }) =>
    `longer than ${most} characters, not a ${SYMBOLS[kind]}`,
  not_recognised:
    'not recognised: kind auto takes only domains, addresses, ISINs, id_ and AAPL, BRK.B, 1332.T; ' +
    'name another kind',
  open_number: 'a number: kind auto takes only one with an exchange (1332.T); name the kind ticker or crypto',
  open_lower_case:
    'a word or a symbol in lower case: kind auto takes symbols in capitals; name the kind ticker or crypto',
  open_id: 'a word or a brand id without id_: kind auto takes only ids with id_; name the kind id',
  // Looked up nevertheless, unless most values of the column are like this.
  name: 'a name, not an identifier',
  domain: 'a domain',

  // The record cannot be read, or does not fit the table.
  nul: 'a NUL character',
  large_record: quoted('the record is larger than 1 MiB; only its beginning is kept'),
  large_cell: 'a cell is larger than 64 KiB',
  large_value: 'a value is larger than 64 KiB',
  not_scalar: 'the element is not a text or a number',
  long_cell: ({ most }: { readonly most: number }) =>
    `a cell has more than ${most.toLocaleString('en')} characters; only its beginning is kept`,
  long_quoted_cell: quoted('a quoted cell is longer than 64 KiB'),
  many_line_breaks: ({ most, ...at }: OfQuoted & { readonly most: number }) =>
    quoted(`a quoted cell has more than ${most} line breaks`)(at),
  open_quote: quoted('a quoted cell is never closed'),
  text_after_quote: quoted('text after the closing quote of a cell'),
  stray_quote: quoted('a stray quote: the cell would contain whole rows'),
  ambiguous_quotes: 'quotes that can be read in two ways',
  not_json: ({ place }: OfJson) => `the ${place} is not valid JSON`,
  not_array: 'the element is not a JSON array',
  not_object: ({ place }: OfJson) => `the ${place} is not a JSON object`,
  cell_count: ({ cells, columns }: { readonly cells: number; readonly columns: number }) =>
    `${cells} ${cells === 1 ? 'cell' : 'cells'} instead of ${columns}`,
  blank_column: ({ cell }: { readonly cell: number }) => `cell ${cell} has a value, but its column is blank`,
  misplaced_cells: 'the cells do not fit their columns: there may be one too many',
  // With the words of that run.
  unread_earlier: ({ text }: { readonly text?: string }) => text ?? 'an earlier run could not read this row',
} satisfies Readonly<Record<string, string | ((fields: never) => string)>>;

type Sentences = typeof SENTENCES;
type FieldsOf<Sentence> = Sentence extends (fields: infer Fields) => string ? Fields : unknown;

export type RowReason = {
  [Code in keyof Sentences]: { readonly code: Code } & FieldsOf<Sentences[Code]>;
}[keyof Sentences];

function before(what: string) {
  return ({ kind }: OfSymbol): string => `${what} ${SYMBOLS[kind]}`;
}

function quoted(what: string) {
  return ({ cellLine }: OfQuoted): string =>
    cellLine === undefined ? what : `${what} (the cell starts on line ${cellLine})`;
}

/** Returns the reason in words, as a part of a sentence. */
export function sayRowReason(reason: RowReason): string {
  const sentence = SENTENCES[reason.code];
  return typeof sentence === 'string' ? sentence : sentence(reason as never);
}

/** Writes a reason as JSON, the same for equal reasons; {@link readRowReason} reverses it. */
export function writeRowReason(reason: RowReason): string {
  return JSON.stringify(reason);
}

export function readRowReason(text: string): RowReason {
  return JSON.parse(text);
}
