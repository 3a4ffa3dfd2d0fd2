import type { RowReason } from './row-reason.js';

/** The kinds of identifier. `auto`: each value by its shape, and the service where that is open. */
export const IDENTIFIER_KINDS = ['domain', 'ticker', 'isin', 'crypto', 'id', 'auto'] as const;
export type IdentifierKind = (typeof IDENTIFIER_KINDS)[number];

/** Values of each kind, for people. */
export const KIND_WORDS: Readonly<Record<IdentifierKind, string>> = {
  domain: 'domains',
  ticker: 'tickers',
  isin: 'ISINs',
  crypto: 'crypto symbols',
  id: 'brand ids',
  auto: 'identifiers',
};

/** A normalised, typed key. Two rows with an equal identifier are paid for once. */
export interface Identifier {
  readonly kind: IdentifierKind;
  /** Normal form: punycode registrable domain, upper-case ISIN, ticker and symbol, brand id. */
  readonly value: string;
}

/** The result of reading the cells of one row, before any lookup. */
export type Identified =
  | {
      readonly type: 'identifier';
      readonly identifier: Identifier;
      /** The cell holds more than one; this is the first. */
      readonly hasSeveral?: true;
    }
  | Unidentified;

/** `invalid`: never looked up. `skipped`: blank, or the wrong brand would be bought (free mail). */
export interface Unidentified {
  readonly type: 'invalid' | 'skipped';
  readonly reason: RowReason;
}

/** The text form of an identifier, `kind:value`. Only the value may itself contain `:`. */
export function identifierText(identifier: Identifier): string {
  return `${identifier.kind}:${identifier.value}`;
}

/** Reverses {@link identifierText}; null: it is not such a text. */
export function readIdentifierText(text: string): Identifier | null {
  const colon = text.indexOf(':');
  const kind = colon < 0 ? undefined : IDENTIFIER_KINDS.find((each) => each === text.slice(0, colon));
  return kind === undefined ? null : { kind, value: text.slice(colon + 1) };
}

/** The same for a text of ours. Throws a plain `Error` on any other. */
export function parseIdentifierText(text: string): Identifier {
  const identifier = readIdentifierText(text);
  if (identifier === null) throw new Error(`not an identifier text: ${text}`);
  return identifier;
}
