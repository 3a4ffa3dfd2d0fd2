/**
 * The words of the house: identifiers, outcomes and what a run is made of.
 *
 * Only types and the few constants that every room must agree on. Rules that judge these
 * values live in the rooms that own them.
 */

/** What kind of thing an identifier names. `auto` leaves the choice to the service's generic route. */
export const IDENTIFIER_KINDS = ['domain', 'ticker', 'isin', 'crypto', 'id', 'auto'] as const;
export type IdentifierKind = (typeof IDENTIFIER_KINDS)[number];

/** A normalised, typed key. Two rows with an equal identifier are paid for once. */
export interface Identifier {
  readonly kind: IdentifierKind;
  /** Normal form: punycode registrable domain, upper-case ISIN, ticker and symbol, brand id as written. */
  readonly value: string;
}

/** What the cells of one row came to, before anybody is asked. */
export type Identified =
  | { readonly type: 'identifier'; readonly identifier: Identifier }
  /** The cell holds something that can never be asked for; `reason` is shown to the user. */
  | { readonly type: 'invalid'; readonly reason: string }
  /** There is nothing to ask for (blank), or asking would buy the wrong brand (free mail provider). */
  | { readonly type: 'skipped'; readonly reason: string };

/** `matched`, `not_found` and `failed` come from the service's side; the others are ours. */
export const OUTCOME_STATUSES = ['matched', 'not_found', 'failed', 'invalid', 'skipped', 'deferred'] as const;
export type OutcomeStatus = (typeof OUTCOME_STATUSES)[number];

/** How many rows came to each status. */
export type StatusCounts = Record<OutcomeStatus, number>;

export function emptyCounts(): StatusCounts {
  return { matched: 0, not_found: 0, failed: 0, invalid: 0, skipped: 0, deferred: 0 };
}

/** Whether there are rows and not one of them has a brand. */
export function hasNoMatch(rows: StatusCounts): boolean {
  return rows.matched === 0 && Object.values(rows).some((count) => count > 0);
}

/** Whether this run asked the service for the answer (`api`) or found it in the outcome store (`stored`). */
export type AnswerSource = 'api' | 'stored';

/** The `allowNsfw` query parameter: left out, or one of its two values (specification, Endpoints rules 4 to 6). */
export type AllowNsfw = 'unset' | 'true' | 'false';

/**
 * Which answers are fresh for a run: rules in `outcomes/freshness.ts`. An answer is fresh when
 * `fetchedAt >= asOf - (matched ? maxAgeMs : maxAgeMissingMs)`, `fetchedAt >= notBefore`, and
 * `freshUntil === null || freshUntil > asOf`.
 */
export interface Freshness {
  /** The run's start on the store's clock: judged at one moment, in every pass. */
  readonly asOf: number;
  readonly maxAgeMs: number;
  readonly maxAgeMissingMs: number;
  /** `--refresh`: older answers are stale; 0 without it. */
  readonly notBefore: number;
}

/**
 * The one-line text form of an identifier, `kind:value`. A value may itself contain `:`; the kind never does.
 */
export function identifierText(identifier: Identifier): string {
  return `${identifier.kind}:${identifier.value}`;
}

/** Reverses {@link identifierText}. Throws a plain `Error` on text that it did not make. */
export function parseIdentifierText(text: string): Identifier {
  const colon = text.indexOf(':');
  const kind = text.slice(0, colon) as IdentifierKind;
  if (colon < 0 || !IDENTIFIER_KINDS.includes(kind)) throw new Error(`not an identifier text: ${text}`);
  return { kind, value: text.slice(colon + 1) };
}
