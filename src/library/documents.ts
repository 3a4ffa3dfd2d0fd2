/** Documents as values, written out: types of this package need no other one to be compiled. */

/** Requests of the billing period. */
export interface AccountUse {
  /** Its first day, or `none`: the quota never renews. null: unknown until the first answer. */
  readonly period: string | null;
  readonly quota: number | null;
  /** Quota and overage; null: unknown. */
  readonly limit: number | null;
  /** Sent, in flight and by others, without those that are free. */
  readonly used: number;
  /** The option `quota`, where it is what counts; null: it is not. */
  readonly cap: number | null;
  readonly left: number | null;
  /** Counted by this engine. */
  readonly sent: number;
  readonly inFlight: number;
  /** By others with the same token. */
  readonly others: number;
  /** For the own domain, proven free: in no other count. */
  readonly free: number;
}

/** The `account` of `brand-enrich status --json`. Times are ISO 8601 in UTC. */
export interface AccountState extends AccountUse {
  readonly name: string;
  /** The last report of the service. */
  readonly usage: number | null;
  /** When the service refused for quota; null: it does not. */
  readonly closedAt: string | null;
  readonly answeredAt: string | null;
  readonly isPaused: boolean;
  readonly ratePerSecond: number | null;
  /** Use of the period as last seen on each day, oldest first. */
  readonly days: readonly { readonly day: string; readonly used: number }[];
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
    readonly warnings: readonly string[];
    readonly unreadable: number;
    /** Unreadable rows with too many or too few cells. */
    readonly misfits: number;
    readonly short: number;
    readonly long: number;
    readonly examples: readonly { readonly line: number; readonly reason: string }[];
  };
  readonly rows: {
    readonly total: number;
    readonly asked: number;
    readonly duplicates: number;
    readonly skipped: number;
    readonly invalid: number;
  };
  /** Why rows are invalid or skipped. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly skipReasons: Readonly<Record<string, number>>;
  readonly identifiers: {
    readonly distinct: number;
    readonly duplicateRows: number;
    readonly byKind: Readonly<Record<string, number>>;
    /** With a fresh answer, which costs nothing. */
    readonly stored: number | null;
  };
  /** Needed at least, and with `waterfall` at most. */
  readonly requests: { readonly least: number; readonly most: number };
  readonly spending: {
    readonly requests: number;
    /** null: the quota is unknown until the first answer. */
    readonly withinQuota: number | null;
    readonly overage: number;
    /** At most. */
    readonly overageCost: string;
    readonly deferred: number | null;
  } | null;
  /** What would cover the deferred; null: there are none, or that is unknown. */
  readonly ways: string | null;
  readonly currency: string | null;
  /** null without `priority`. */
  readonly priority: {
    readonly sentence: string;
    readonly first: readonly RankedIdentifier[];
    readonly last: RankedIdentifier | null;
  } | null;
  readonly account: AccountUse | null;
  /** What a run would write. */
  readonly files: { readonly output: string; readonly errors: string; readonly report: string };
}
