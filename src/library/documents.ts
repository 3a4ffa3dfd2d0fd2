/** The JSON documents that a program gets. Written out, so that compiling them needs no zod. */

/** The requests of an account in the current billing period. */
export interface AccountUse {
  /** First day of the period; `none` if the quota never renews; null before the first answer. */
  readonly period: string | null;
  readonly quota: number | null;
  /** Quota and overage; null while the quota is unknown. */
  readonly limit: number | null;
  /** Requests sent, in flight and by others, without free ones. */
  readonly used: number;
  /** The option `quota` if it is below the service's quota, or that is unknown; else null. */
  readonly cap: number | null;
  readonly left: number | null;
  /** Requests that this engine counted. */
  readonly sent: number;
  readonly inFlight: number;
  /** Requests that others sent with the same token. */
  readonly others: number;
  /** Requests for `ownDomain` that are proven free; no other count includes them. */
  readonly free: number;
}

/** The `account` of `brand-enrich status --json`. Times are ISO 8601 in UTC. */
export interface AccountState extends AccountUse {
  readonly name: string;
  /** Usage as last reported by the service. */
  readonly usage: number | null;
  /** When the service refused for quota; null unless it still does. */
  readonly closedAt: string | null;
  readonly answeredAt: string | null;
  readonly isPaused: boolean;
  readonly ratePerSecond: number | null;
  /** Use of the period as last seen on each active day, oldest first. */
  readonly days: readonly { readonly day: string; readonly used: number }[];
}

/** How the cells of the user's own columns compare with the brands. */
export interface FilledCells {
  readonly columns: readonly {
    readonly column: string;
    readonly field: string;
    /** Cells that were blank. */
    readonly filled: number;
    /** Cells that agree with the brand. */
    readonly kept: number;
    /** Cells that differ from the brand. */
    readonly differing: number;
  }[];
  /** Rows that are not filled, because they have too few or too many cells. */
  readonly misfits: number;
}

interface RankedIdentifier {
  readonly identifier: string;
  readonly value: string | null;
}

/** The document of `brand-enrich plan --json`. Money is exact decimal text. */
export interface FilePlan {
  readonly version: 1;
  readonly input: {
    readonly name: string;
    readonly sha256: string;
    readonly records: number;
    readonly columns: readonly { readonly name: string; readonly kind: string }[];
    /** The format, for people. */
    readonly detected: string;
    /** The rows that are looked up; null for all. */
    readonly where: { readonly conditions: readonly string[]; readonly rows: number } | null;
    readonly warnings: readonly string[];
    readonly unreadable: number;
    /** Unreadable rows with too many or too few cells. */
    readonly misfits: number;
    readonly short: number;
    readonly long: number;
    readonly examples: readonly { readonly line: number; readonly reason: string }[];
  };
  /** Parts of the input that are in no output. */
  readonly leftOut: { readonly linesAbove: number; readonly sheets: readonly string[] };
  readonly rows: {
    readonly total: number;
    readonly asked: number;
    readonly duplicates: number;
    readonly skipped: number;
    readonly invalid: number;
  };
  /** Rows by why they are invalid, and by why they are skipped. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly skipReasons: Readonly<Record<string, number>>;
  readonly identifiers: {
    readonly distinct: number;
    readonly duplicateRows: number;
    readonly byKind: Readonly<Record<string, number>>;
    /** Identifiers with a fresh stored answer, which costs nothing. */
    readonly stored: number | null;
  };
  /** Requests needed; `most` is higher than `least` only with `waterfall`. */
  readonly requests: { readonly least: number; readonly most: number };
  readonly spending: {
    readonly requests: number;
    /** null before the first answer, which shows the quota. */
    readonly withinQuota: number | null;
    readonly overage: number;
    /** The most that the overage can cost. */
    readonly overageCost: string;
    readonly deferred: number | null;
  } | null;
  /** Settings that would cover the deferred requests; null without any, or while unknown. */
  readonly ways: string | null;
  readonly currency: string | null;
  /** The order of lookups; null without the option `priority`. */
  readonly priority: {
    readonly sentence: string;
    readonly first: readonly RankedIdentifier[];
    readonly last: RankedIdentifier | null;
  } | null;
  readonly account: AccountUse | null;
  /** Results of `fill` and `fillOver` for the rows with a stored brand; null without them. */
  readonly fills: FilledCells | null;
  /** Files that a run would write. */
  readonly files: { readonly output: string; readonly errors: string; readonly report: string };
}
