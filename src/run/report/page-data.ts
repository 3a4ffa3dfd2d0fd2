/**
 * What the page is made of. The figures have the shape of the JSON report, so that both always say the same; brands and
 * files come beside them, because the JSON report holds no brands. Only types.
 */
import type { StatusCounts } from '../../core/outcome.js';

/** One brand of a list. All texts as the service sent them. */
export interface ShownBrand {
  readonly name: string;
  /** null where the service said none. */
  readonly domain: string | null;
  /** 0 to 1. */
  readonly score: number;
  /** A colour as the service wrote it; what is not hexadecimal is not shown. */
  readonly color: string | null;
  /** The logo as a `data:` address; null: initials stand in its place. */
  readonly logo: string | null;
}

/** A file of the run. */
export interface ShownFile {
  /** What it holds: `enriched rows`. */
  readonly label: string;
  /** Its path as the user would write it. */
  readonly path: string;
  /** Where it lies as seen from the page; null when it does not lie beside it. */
  readonly href: string | null;
}

/** The part of the JSON report that the page shows. */
export interface ReportFigures {
  readonly run: {
    readonly id: string;
    readonly service: string;
    readonly isComplete: boolean;
    readonly exitCode: number;
  };
  /** Why a run was halted. */
  readonly reason: string | null;
  readonly input: {
    readonly name: string;
    readonly sha256: string;
    readonly records: number;
    readonly columns: readonly { readonly name: string; readonly kind: string | null }[];
    readonly warnings: readonly string[];
    readonly examples: readonly { readonly line: number; readonly reason: string }[];
  };
  readonly rows: StatusCounts;
  /** Why rows were not asked for, with how many rows each has. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly identifiers: {
    readonly distinct: number;
    readonly duplicateRows: number;
    readonly stored: number;
    readonly deferred: number;
    /** Not found for now: the service is still fetching them. */
    readonly beingFetched: number;
  };
  /** Why lookups failed, with how many identifiers each has. */
  readonly failures: Readonly<Record<string, number>>;
  readonly quality: {
    readonly poor: number;
    readonly acceptable: number;
    readonly high: number;
    readonly unscored: number;
    /** Brands by score in bins of equal width from 0 to 1; a multiple of three, so that thirds are whole bins. */
    readonly histogram: readonly number[];
  };
  readonly requests: {
    readonly sent: number;
    readonly billed: number;
    /** May have been billed besides, by workers that were killed. */
    readonly unreported: number;
    readonly overage: number;
    /** Exact decimal text. */
    readonly overageCost: string;
    readonly savedByStored: number;
    readonly savedByDuplicates: number;
  };
  readonly account: {
    /** First day of the billing period, or `none`; null while unknown. */
    readonly period: string | null;
    /** null: the service told none. */
    readonly quota: number | null;
    readonly limit: number | null;
    readonly sent: number;
    readonly inFlight: number;
    readonly others: number;
  } | null;
  readonly fetchedAt: {
    /** ISO 8601; null when no answer was had. */
    readonly oldest: string | null;
    readonly newest: string | null;
    readonly scoresMayHaveDrifted: boolean;
  };
  readonly accounting: {
    readonly recordsRead: number;
    readonly rowsByStatus: number;
    readonly recordsWritten: number | null;
  };
  readonly startedAt: string;
  readonly endedAt: string;
  readonly seconds: number;
}

/** Everything that the page shows. */
export interface PageData {
  readonly report: ReportFigures;
  /** Whether the brands are those of the built-in sample. */
  readonly isSample: boolean;
  /** Best first. */
  readonly best: readonly ShownBrand[];
  /** Lowest first, none of which is among the best. */
  readonly lowest: readonly ShownBrand[];
  readonly files: readonly ShownFile[];
}
