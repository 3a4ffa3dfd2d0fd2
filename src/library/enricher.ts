/// <reference lib="esnext.disposable" preserve="true" />
/** The public types of the library: options, results, and the enricher itself. */

import type { Brand } from '../brand-api/brand.js';
import type { RequestDispatcher } from '../brand-api/protocol.js';
import type { ExitCode } from '../core/errors.js';
import type { IdentifierKind } from '../core/identifier.js';
import type { AnswerSource, OutcomeStatus, StatusCounts, StopCode } from '../core/outcome.js';
import type { RowReason } from '../core/row-reason.js';
import type { FailureReason } from '../engine/stores/run-reasons.js';
import type { AccountState, FilePlan, FilledCells } from './documents.js';

/** A log with pino's methods, such as `pino()`, `fastify.log` or `console`. */
export interface EnricherLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Options of an enricher, or of one file. Durations are written `500ms`, `40s`, `7d`. */
interface SharedOptions {
  /** Kind of the identifiers; `auto` judges each by its shape. Default: `'auto'`. */
  readonly kind?: IdentifierKind | undefined;
  /** If a row is not found, look up its next identifier (more requests). Default: `false`. */
  readonly waterfall?: boolean | undefined;
  /** Most billable requests: one cap for all lookups, and one for each file. Default: no cap. */
  readonly maxRequests?: number | undefined;
  /** Most money for overage, counted like `maxRequests`. Default: no cap. */
  readonly maxCost?: number | string | undefined;
  /**
   * Share of the first 50 answers of a stream or file that must match. With fewer matches, the
   * remaining rows are `deferred`, with `stopped: 'min-match'`. `0` looks up everything, even after
   * a hold, or if no answer was good yet. Default: at least one match. Example: `'30%'`.
   */
  readonly minMatch?: number | string | undefined;
  /** At the limit, defer the remaining rows, or wait until there is room. Default: `'stop'`. */
  readonly onLimit?: 'stop' | 'wait' | undefined;
  /** Reuse stored brands that are younger than this, at most 30 days. Default: `'7d'`. */
  readonly maxAge?: string | undefined;
  /** Reuse stored "not found" answers that are younger than this. Default: `'1d'`. */
  readonly maxAgeMissing?: string | undefined;
  /** Buy every answer again, once. Default: `false`. */
  readonly refresh?: boolean | undefined;
  /** Return brands with adult content always, or never. Default: the service decides. */
  readonly allowNsfw?: boolean | undefined;
}

/** Options of an enricher, named as in the config file; see "Settings" in the manual. */
export interface EnricherOptions extends SharedOptions {
  /** Address of the service. Default: from `env`. Example: `'https://api.brandfetch.io'`. */
  readonly baseUrl?: string | undefined;
  /** Token of the service. Default: `BRAND_API_TOKEN` in `env`. */
  readonly token?: string | undefined;
  /** File that holds only the token. Example: `'/run/secrets/brand-api-token'`. */
  readonly tokenFile?: string | undefined;
  /** `embedded`, or an address: `redis://HOST:6379`, `postgres://…`. Default: `'embedded'`. */
  readonly engine?: string | undefined;
  /** State folder. Default: the folder of the command line, so that both share one engine. */
  readonly state?: string | undefined;
  /** Redis 7.2 and later: wait until permits and answers are on disk. Default: `false`. */
  readonly waitForDisk?: boolean | undefined;
  /** Use sample brands, without service, token or cost; nothing is kept. Default: `false`. */
  readonly sample?: boolean | undefined;
  /** Name of the account, for tokens that share a quota. Default: made of address and token. */
  readonly account?: string | undefined;
  /** Allow http to other machines, although the token can be intercepted. Default: `false`. */
  readonly allowHttp?: boolean | undefined;
  /** The service's own domain; looking it up shows the quota, free once proven. Default: none. */
  readonly ownDomain?: string | undefined;
  /** Time limit for one request, in total. Default: `'40s'`. */
  readonly timeout?: string | undefined;
  /** Requests in flight at once. Default: `64`. */
  readonly concurrency?: number | undefined;
  /** Requests per second over all processes; 0 is unpaced. Default: 90; on loopback unpaced. */
  readonly rate?: number | undefined;
  /** Plan of the account; only a paid plan has overage. Default: no overage. */
  readonly plan?: 'free' | 'paid' | undefined;
  /** Most requests per period; below the service's quota it rules out overage. Default: none. */
  readonly quota?: number | undefined;
  /** When the quota renews: each month, never, or on a day (1 to 28). Default: `'month'`. */
  readonly period?: 'month' | 'none' | number | undefined;
  /** Statuses that are not billed, besides 401, 403 and 429. Default: 204, 400, 402 and 5xx. */
  readonly freeStatuses?: string | readonly string[] | undefined;
  /** Money per period beyond the quota; implies a paid plan (0 too). Default: 0, or 100 if paid. */
  readonly overageBudget?: number | string | undefined;
  /** Price of one request beyond the quota. Default: `'0.1'`. */
  readonly overagePrice?: number | string | undefined;
  /** Label of amounts, in three capital letters; nothing is converted. Default: none. */
  readonly currency?: string | undefined;
  /** File of certificates (PEM) to trust besides Node's own. Default: none. */
  readonly caFile?: string | undefined;
  /** Certificate and key (PEM) for Redis and the service, in one file or two. Default: none. */
  readonly clientCert?: string | readonly string[] | undefined;
  /** How far the service's usage header may lag. Default: `'60s'`. */
  readonly usageLag?: string | undefined;
  /** Environment variables that are read for missing options. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Sends the requests, for example through your own proxy, with tracing, or in tests. It replaces
   * `clientCert`, `caFile` and a proxy of `env`. Default: the library's own sockets.
   */
  readonly dispatcher?: RequestDispatcher | undefined;
  /** Closes the enricher when aborted: pending calls reject with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the log, without the token. Default: no log. Example: `console`. */
  readonly log?: EnricherLog | undefined;
  /**
   * Name of the program in `brand-enrich status`, such as `'crm-sync'`. A restart under the same
   * name continues `maxRequests` and `maxCost`. Default: none; each start begins new caps.
   */
  readonly name?: string | undefined;
}

/** One identifier. Without `kind`, the kind of the call or of the enricher counts. */
export interface Candidate {
  readonly value: string;
  readonly kind?: IdentifierKind | undefined;
}

/** The identifiers of a row. The first usable one is looked up; blank ones are ignored. */
export type Candidates = string | Candidate | null | undefined | readonly (string | Candidate | null)[];

export interface LookupOptions {
  /** Kind of the identifiers. Default: the `kind` of the enricher. */
  readonly kind?: IdentifierKind | undefined;
  /** Ends the wait: the call rejects with the signal's reason. Answers in flight are stored. */
  readonly signal?: AbortSignal | undefined;
}

export interface EnrichOptions<Row> extends LookupOptions {
  /** Returns the identifiers of a row; if it throws, the row is `invalid`. Default: the row. */
  readonly identifier?: ((row: Row) => Candidates) | undefined;
  /** Rows that are read and looked up ahead of the loop. Default: twice `concurrency`. */
  readonly lookAhead?: number | undefined;
}

/** Why a row has no answer: a code that never changes, and a message for people. */
export interface RowError {
  /** Code of the bad cell, of the failed lookup, or of the stop. `retry_later`: not found yet. */
  readonly code:
    | (RowReason['code'] | FailureReason['code'] | StopCode)
    | ('unreadable' | 'unknown_kind' | 'retry_later');
  readonly message: string;
}

/** One row and its result. Only `matched` rows have a brand. */
export type Enriched<Row = string> = {
  readonly input: Row;
  /** What was looked up: kind and normalised identifier; null if nothing was. */
  readonly kind: IdentifierKind | null;
  readonly identifier: string | null;
  /** Whether the answer was asked for now or found stored; null without an answer. */
  readonly source: AnswerSource | null;
  /** When the service answered: ISO 8601, UTC. */
  readonly fetchedAt: string | null;
  /**
   * Requests for this row that were or may have been billed. Rows that share one lookup count its
   * requests once, and stored answers count 0, so the sum is what this program spent.
   */
  readonly billed: number;
  /** Why there is no answer, or what is wrong with the identifier; null if all is well. */
  readonly error: RowError | null;
  /** Why a deferred row was not sent; null for other rows. */
  readonly stopped: StopCode | null;
} & (
  | { readonly status: 'matched'; readonly brand: Brand }
  | { readonly status: Exclude<OutcomeStatus, 'matched'>; readonly brand: null }
);

/** Options of one file, named as in the config file. They override those of the enricher. */
export interface FileOptions extends SharedOptions {
  /** Path of the enriched file. Default: `<name>.enriched.<ext>` beside the input. */
  readonly output?: string | undefined;
  /** Path of the rows without an answer. Default: `<name>.errors.<ext>` beside the output. */
  readonly errors?: string | undefined;
  /** Path of the report; its page is beside it. Default: `<name>.report.json` beside the output. */
  readonly report?: string | undefined;
  /** Path of brands that are new, changed or gone since the last output. Example: `'new.csv'`. */
  readonly changes?: string | undefined;
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  /** Stops the run as Ctrl-C does: a partial file is written, and the next run continues. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Columns that hold the identifiers, as `NAME` or `NAME:KIND`; if one is blank, the next counts.
   * Default: chosen by header and values. Example: `['website:domain', 'isin']`.
   */
  readonly column?: string | readonly string[] | undefined;
  /** Continue even if most values do not fit the kind of their column. Default: `false`. */
  readonly allowMismatch?: boolean | undefined;
  /** Column of company names, compared with the brands' in `brand_name_match`. Default: none. */
  readonly nameColumn?: string | undefined;
  /**
   * Conditions that rows must meet: `COLUMN=VALUE`, `COLUMN:blank` or `COLUMN:filled`. Other rows
   * are `skipped`. Default: all rows. Example: `'country=DE'`.
   */
  readonly where?: string | readonly string[] | undefined;
  /** Sheet of a workbook, by name or by number from 1. Default: the first visible one. */
  readonly sheet?: string | undefined;
  /** Path to the array of rows in JSON: `data.items`. Default: the only array, or the longest. */
  readonly records?: string | undefined;
  /** The character between cells, or the word `tab`. Default: detected. */
  readonly delimiter?: string | undefined;
  /** Encoding of the input. Default: detected. Example: `'windows-1252'`. */
  readonly encoding?: string | undefined;
  /** Whether the first record names the columns. Default: `true`. */
  readonly header?: boolean | undefined;
  /** Lines above the header that are not part of the table. Default: `0`. */
  readonly skipLines?: number | undefined;
  /** Read at most this many records. Default: all. */
  readonly limit?: number | undefined;
  /**
   * Rows with too many or too few cells: read them by position, or mark all of them invalid.
   * Default: invalid, up to 5 % of the rows.
   */
  readonly ragged?: 'take' | 'invalid' | undefined;
  /**
   * Column whose highest (or lowest) values are looked up first, if the limit does not cover the
   * file. Default: the order of the file. Example: `'revenue:desc'`.
   */
  readonly priority?: string | undefined;
  /** Stop when more lookups (or a larger share) have failed. Default: off. Example: `'5%'`. */
  readonly maxErrors?: number | string | undefined;
  /** Format of the enriched file. Default: by the ending of `output`, else as the input. */
  readonly format?: 'csv' | 'jsonl' | 'json' | 'xlsx' | 'parquet' | undefined;
  /**
   * Fields of the brand to add as columns, by path; `+path` for an unknown field. Default: the
   * standard columns. Example: `['name', 'company.location.region', 'links.twitter']`.
   */
  readonly fields?: string | readonly string[] | undefined;
  /**
   * Columns whose blank cells are filled with a field of the brand; a new name adds a column.
   * Default: none. Example: `['country=company.location.country']`.
   */
  readonly fill?: string | readonly string[] | undefined;
  /** Columns that are filled as with `fill`, even over other values. Default: none. */
  readonly fillOver?: string | readonly string[] | undefined;
  /** Rank by quality score, best first, or keep the order of the input. Default: `'quality'`. */
  readonly sort?: 'quality' | 'none' | undefined;
  /** Write a header line, even if the input has none. Default: `true`. */
  readonly outputHeader?: boolean | undefined;
  /** Cells to escape if a spreadsheet would run them as a formula. Default: `'ours'`. */
  readonly escapeFormulas?: 'all' | 'ours' | 'none' | undefined;
  /** Prefix of the added columns. Default: `'brand_'`. */
  readonly prefix?: string | undefined;
  /** Further rows to write to the errors file. Default: none. */
  readonly errorsInclude?: 'not_found' | readonly 'not_found'[] | undefined;
  /** Mark brands with a lower score (0 to 1), and list them as errors. Default: off. */
  readonly minQuality?: number | undefined;
  /** Fetch the logos of the report page and embed them in it. Default: `false`. */
  readonly embedLogos?: boolean | undefined;
  /** Return exit code 1 for invalid rows, and for a file without any match. Default: `false`. */
  readonly strict?: boolean | undefined;
}

/** Options of one file that a plan uses. */
export type PlanOptions = Omit<FileOptions, 'onProgress'>;

export interface FileProgress {
  readonly phase: 'reading' | 'asking' | 'parked' | 'writing';
  readonly rows: number;
  /** Distinct identifiers to look up. */
  readonly wanted: number;
  /** Distinct identifiers that have an answer or failed. */
  readonly answered: number;
  /** Requests of this run that were or may have been billed. */
  readonly billed: number;
  readonly inFlight: number;
  /** What is wrong with the service; null while it answers. */
  readonly outage: string | null;
}

export interface FileResult {
  /** Exit code that `brand-enrich run` would have returned. */
  readonly exitCode: ExitCode;
  /** False for a partial file, which another run continues. */
  readonly isComplete: boolean;
  /** Why the run stopped, as a code; null if it is complete. `min-match`: held for a person. */
  readonly stopped: StopCode | null;
  /** Why the run stopped, as a sentence. */
  readonly reason: string | null;
  readonly rows: Readonly<StatusCounts>;
  readonly requests: { readonly sent: number; readonly billed: number; readonly overageCost: string };
  /** Brands compared with the earlier output; null unless asked for and complete. */
  readonly changes: {
    readonly file: string;
    /** When the earlier output was written; null without one. */
    readonly since: string | null;
    readonly new: number;
    readonly changed: number;
    readonly unchanged: number;
    readonly vanished: number;
    /** Brands of the earlier output whose lookup failed now. */
    readonly failed: number;
  } | null;
  /** Results of `fill` and `fillOver`; `file` lists the cells that differ. null without them. */
  readonly fills: (FilledCells & { readonly file: string | null }) | null;
  /** Path of the enriched file, which is partial unless `isComplete`. */
  readonly output: string;
  /** Path of the errors file; null if it would have no rows. */
  readonly errors: string | null;
  readonly report: string;
  /** Path of the report page; null if the report goes to a device or pipe. */
  readonly page: string | null;
}

/**
 * Looks up brands, with the same ledger, stored answers, pace and budget as the command line, for
 * the same token and engine.
 *
 * Bad data never throw. Throws `ConfigError` for options, `AuthenticationError` if the service
 * refuses the token, `RunError` if engine, service or file cannot be used, and `InterruptedError`
 * after the enricher was closed.
 */
export interface Enricher extends AsyncDisposable {
  /** Looks up one identifier. Calls of the same moment are sent to the engine together. */
  lookup<Input extends Candidates>(identifier: Input, options?: LookupOptions): Promise<Enriched<Input>>;
  /**
   * Yields rows with their brands, in the order of the input, and looks up at most `lookAhead`
   * rows ahead. Leaving the loop cancels lookups that were not sent yet. If too few of the first
   * answers match (`minMatch`), the remaining rows are `deferred`.
   */
  enrich<Row extends string>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options?: EnrichOptions<Row>,
  ): AsyncGenerator<Enriched<Row>, void, undefined>;
  enrich<Row>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options: EnrichOptions<Row> & { readonly identifier: (row: Row) => Candidates },
  ): AsyncGenerator<Enriched<Row>, void, undefined>;
  /** Enriches one file like `brand-enrich run`. A run that stops does not throw: see `stopped`. */
  runFile(path: string, options?: FileOptions): Promise<FileResult>;
  /** Returns what `runFile` would do and cost, without sending or writing anything. */
  plan(path: string, options?: PlanOptions): Promise<FilePlan>;
  /** Returns the account's use, quota and limit, without sending anything. */
  account(): Promise<AccountState>;
  /** Rejects pending calls, awaits requests in flight (at most `timeout`), releases the engine. */
  close(): Promise<void>;
}
