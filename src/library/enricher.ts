/// <reference lib="esnext.disposable" preserve="true" />
/** What a program sees of the library: options, results, and the enricher itself. */

import type { Brand } from '../brand-api/brand.js';
import type { RequestDispatcher } from '../brand-api/protocol.js';
import type { ExitCode } from '../core/errors.js';
import type { IdentifierKind } from '../core/identifier.js';
import type { AnswerSource, OutcomeStatus, StatusCounts, StopCode } from '../core/outcome.js';
import type { RowReason } from '../core/row-reason.js';
import type { FailureReason } from '../engine/stores/run-reasons.js';
import type { AccountState, FilePlan } from './documents.js';

/** A log with pino's methods: `pino()`, `fastify.log` and `console` have them. */
export interface EnricherLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Options that can also be given to a single file. Durations read `500ms`, `40s`, `7d`. */
interface SharedOptions {
  /** What identifiers are; `auto` judges each by its shape. Default: `'auto'`. */
  readonly kind?: IdentifierKind | undefined;
  /** Ask by the next identifier where one is not found; each costs a request. Default: `false`. */
  readonly waterfall?: boolean | undefined;
  /** Billable requests at most, of all lookups together and of each file. Default: no cap. */
  readonly maxRequests?: number | undefined;
  /** Overage money at most, counted like `maxRequests`. Default: no cap. */
  readonly maxCost?: number | string | undefined;
  /**
   * The share of the first 50 answers of a stream or file that must match; otherwise the rest is
   * not asked for, as `stopped` says. `0` never holds it, lifts the hold of an earlier run, and
   * goes on where an address that gave no good answer finds nothing. Default: at least one match.
   * Example: `'30%'`.
   */
  readonly minMatch?: number | string | undefined;
  /** At the limit the rest is `deferred`, or waits until there is room. Default: `'stop'`. */
  readonly onLimit?: 'stop' | 'wait' | undefined;
  /** Stored brands younger than this are not bought again, 30 days at most. Default: `'7d'`. */
  readonly maxAge?: string | undefined;
  /** The same for identifiers that were not found. Default: `'1d'`. */
  readonly maxAgeMissing?: string | undefined;
  /** Buy every answer again, once. Default: `false`. */
  readonly refresh?: boolean | undefined;
  /** Return brands with adult content always, or never. Default: the service decides. */
  readonly allowNsfw?: boolean | undefined;
}

/** Named as in `brand-enrich.config.json`; the manual's page of settings says more of each. */
export interface EnricherOptions extends SharedOptions {
  /** Address. Default: that of `env`. Example: `'https://api.brandfetch.io'`. */
  readonly baseUrl?: string | undefined;
  /** Default: that of `env`, `BRAND_API_TOKEN`. */
  readonly token?: string | undefined;
  /** A file that holds the token and nothing else. Example: `'/run/secrets/brand-api-token'`. */
  readonly tokenFile?: string | undefined;
  /** `embedded`, or an address: `redis://HOST:6379`, `postgres://…`. Default: `'embedded'`. */
  readonly engine?: string | undefined;
  /** State folder. Default: that of the command line, so that both share one engine. */
  readonly state?: string | undefined;
  /** Redis 7.2 and later: permits and answers are on disk before they count. Default: `false`. */
  readonly waitForDisk?: boolean | undefined;
  /** Sample brands, to try it: no service, token or cost; nothing is kept. Default: `false`. */
  readonly sample?: boolean | undefined;
  /** Name of the account, for tokens that share a quota. Default: made of address and token. */
  readonly account?: string | undefined;
  /** Plain http to other machines; the token can be read on the way. Default: `false`. */
  readonly allowHttp?: boolean | undefined;
  /** The service's own domain; looking it up shows the quota, free once proven. Default: none. */
  readonly ownDomain?: string | undefined;
  /** Total time of one request. Default: `'40s'`. */
  readonly timeout?: string | undefined;
  /** Requests in flight at once. Default: `64`. */
  readonly concurrency?: number | undefined;
  /** Requests a second over all processes; 0 is unpaced. Default: 90, to this machine unpaced. */
  readonly rate?: number | undefined;
  /** The plan of the account; only a paid one has overage. Default: no overage. */
  readonly plan?: 'free' | 'paid' | undefined;
  /** Requests per period, where the service reports more. Default: what the service reports. */
  readonly quota?: number | undefined;
  /** When the quota renews: each month, never, or on a day (1 to 28). Default: `'month'`. */
  readonly period?: 'month' | 'none' | number | undefined;
  /** Statuses that are not billed, besides 401, 403 and 429. Default: 204, 400, 402 and 5xx. */
  readonly freeStatuses?: string | readonly string[] | undefined;
  /** Money a period beyond the quota; above 0 implies a paid plan. Default: 0; if paid 100. */
  readonly overageBudget?: number | string | undefined;
  /** Price of one request beyond the quota. Default: `'0.1'`. */
  readonly overagePrice?: number | string | undefined;
  /** Three capital letters, a label of amounts; nothing is converted. Default: none. */
  readonly currency?: string | undefined;
  /** Certificates (PEM) to trust besides Node's own. Default: none. */
  readonly caFile?: string | undefined;
  /** Certificate and key (PEM) for Redis and the service, in one file or two. Default: none. */
  readonly clientCert?: string | readonly string[] | undefined;
  /** How far the service's usage header may lag. Default: `'60s'`. */
  readonly usageLag?: string | undefined;
  /** Variables of the command line, for what options leave out. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Sends the requests, in place of sockets with the options `clientCert` and `caFile` and a proxy
   * of `env`: for a proxy of your own, for tracing, for tests. Default: sockets of its own.
   */
  readonly dispatcher?: RequestDispatcher | undefined;
  /** Closes the enricher: calls that are under way reject with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Where the log goes, without the token. Default: nowhere. Example: `console`. */
  readonly log?: EnricherLog | undefined;
  /**
   * Name in `brand-enrich status`, such as `'crm-sync'`. A program that starts again under it has
   * what is left of `maxRequests` and `maxCost`. Default: none, and no caps are kept.
   */
  readonly name?: string | undefined;
}

/** One identifier. Without `kind`: that of the call, else that of the enricher. */
export interface Candidate {
  readonly value: string;
  readonly kind?: IdentifierKind | undefined;
}

/** What a row is looked up by. Several: the first that is usable; blank ones are passed over. */
export type Candidates = string | Candidate | null | undefined | readonly (string | Candidate | null)[];

export interface LookupOptions {
  /** What the value is. Default: the `kind` of the enricher. */
  readonly kind?: IdentifierKind | undefined;
  /** Ends the wait: the call rejects with its reason. What is in flight is still kept. */
  readonly signal?: AbortSignal | undefined;
}

export interface EnrichOptions<Row> extends LookupOptions {
  /** The identifier of one row; where it throws, the row is `invalid`. Default: the row, a text. */
  readonly identifier?: ((row: Row) => Candidates) | undefined;
  /** Rows looked up before the first of them is taken. Default: twice `concurrency`. */
  readonly lookAhead?: number | undefined;
}

/** Codes keep their spelling; messages are for people. */
export interface RowError {
  /** Of the cell, of the failed lookup, or as `stopped`. `retry_later`: not found yet. */
  readonly code:
    | (RowReason['code'] | FailureReason['code'] | StopCode)
    | ('unreadable' | 'unknown_kind' | 'retry_later');
  readonly message: string;
}

/** One row and its result. A `matched` one has a brand, the others have none. */
export type Enriched<Row = string> = {
  readonly input: Row;
  /** What was looked up, normalised; null when there was nothing to look up. */
  readonly kind: IdentifierKind | null;
  readonly identifier: string | null;
  /** Asked for now, or stored from before; null: there is no answer. */
  readonly source: AnswerSource | null;
  /** When the service answered: ISO 8601, UTC. */
  readonly fetchedAt: string | null;
  /**
   * Requests for this row that were or may have been billed: 0 for a stored answer, and for the
   * lookup that another row at the same moment asked for. The sum is what this program spent.
   */
  readonly billed: number;
  /** Why there is no answer, or what is wrong with the identifier; null for a usual answer. */
  readonly error: RowError | null;
  /** What kept a deferred row from being sent; null for other rows. */
  readonly stopped: StopCode | null;
} & (
  | { readonly status: 'matched'; readonly brand: Brand }
  | { readonly status: Exclude<OutcomeStatus, 'matched'>; readonly brand: null }
);

/** Settings of one file, named as in the config file, over those of the enricher. */
export interface FileOptions extends SharedOptions {
  /** Where the enriched file goes. Default: `<name>.enriched.<ext>` beside the input. */
  readonly output?: string | undefined;
  /** Where rows without an answer go. Default: `<name>.errors.<ext>` beside the output. */
  readonly errors?: string | undefined;
  /** Where the report goes, with its page. Default: `<name>.report.json` beside the output. */
  readonly report?: string | undefined;
  /** Where new, changed and gone brands since the output before go. Example: `'changes.csv'`. */
  readonly changes?: string | undefined;
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  /** Stops the run as Ctrl-C does: what is there is written, and the next run goes on. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Columns with the identifiers, `NAME` or `NAME:KIND`; further ones are for rows where the first
   * is blank. Default: chosen by header and values. Example: `'website:domain'` or
   * `['website:domain', 'isin']`.
   */
  readonly column?: string | readonly string[] | undefined;
  /** Go on even if most values do not fit the kind of their column. Default: `false`. */
  readonly allowMismatch?: boolean | undefined;
  /** Column of company names: adds `brand_name_match`, how well the brand's fits. Default: none. */
  readonly nameColumn?: string | undefined;
  /**
   * Conditions on the rows: `COLUMN=VALUE`, `COLUMN:blank` or `COLUMN:filled`. Rows that miss one
   * come back as skipped. Default: all rows. Example: `'country=DE'`.
   */
  readonly where?: string | readonly string[] | undefined;
  /** The sheet of a workbook, by name or by number from 1. Default: the first visible one. */
  readonly sheet?: string | undefined;
  /** The array of JSON rows, as keys: `data.items`. Default: the only one, or the longest. */
  readonly records?: string | undefined;
  /** The character between cells, or the word `tab`. Default: detected. */
  readonly delimiter?: string | undefined;
  /** Encoding of the input. Default: detected. Example: `'windows-1252'`. */
  readonly encoding?: string | undefined;
  /** Whether the first record names the columns. Default: `true`. */
  readonly header?: boolean | undefined;
  /** Lines above the header that are not part of the table. Default: `0`. */
  readonly skipLines?: number | undefined;
  /** Records that are read at most. Default: all. */
  readonly limit?: number | undefined;
  /**
   * Rows with too many or too few cells: read them by position, or mark all of them invalid.
   * Default: invalid, up to 5 % of the rows.
   */
  readonly ragged?: 'take' | 'invalid' | undefined;
  /**
   * If the limit does not cover the file, the highest (or lowest) values of this column first.
   * Default: the order of the file. Example: `'revenue:desc'`.
   */
  readonly priority?: string | undefined;
  /** Failed lookups that end the run: a number, or a share. Default: off. Example: `'5%'`. */
  readonly maxErrors?: number | string | undefined;
  /** Format of the enriched file. Default: by the ending of `output`, else that of the input. */
  readonly format?: 'csv' | 'jsonl' | 'json' | 'xlsx' | 'parquet' | undefined;
  /**
   * Fields of the brand that are columns, by path; `+path` for an unknown field. Default: the
   * standard columns. Example: `['name', 'company.location.region', 'links.twitter']`.
   */
  readonly fields?: string | readonly string[] | undefined;
  /**
   * Fields to write into columns of the file where they are blank; a new name adds a column.
   * Default: none. Example: `['country=company.location.country']`.
   */
  readonly fill?: string | readonly string[] | undefined;
  /** The same, also where the cell is not blank. Default: none. */
  readonly fillOver?: string | readonly string[] | undefined;
  /** Rank by quality score, best first, or keep the order of the input. Default: `'quality'`. */
  readonly sort?: 'quality' | 'none' | undefined;
  /** Write a header line; a list without one gets one. Default: `true`. */
  readonly outputHeader?: boolean | undefined;
  /** Cells to escape where a spreadsheet would run them as a formula. Default: `'ours'`. */
  readonly escapeFormulas?: 'all' | 'ours' | 'none' | undefined;
  /** Prefix of the added columns. Default: `'brand_'`. */
  readonly prefix?: string | undefined;
  /** Rows that the errors file has besides those that failed. Default: none. */
  readonly errorsInclude?: 'not_found' | readonly 'not_found'[] | undefined;
  /** Brands with a lower score (0 to 1) are marked and in the errors file too. Default: off. */
  readonly minQuality?: number | undefined;
  /** Fetch the logos of the report page and embed them in it. Default: `false`. */
  readonly embedLogos?: boolean | undefined;
  /** Invalid rows, and a file without any match, give exit code 1. Default: `false`. */
  readonly strict?: boolean | undefined;
}

/** What a plan depends on. */
export type PlanOptions = Omit<FileOptions, 'onProgress'>;

export interface FileProgress {
  readonly phase: 'reading' | 'asking' | 'parked' | 'writing';
  readonly rows: number;
  /** Distinct identifiers, and those of them that have an answer or failed. */
  readonly wanted: number;
  readonly answered: number;
  /** Requests of this run that were or may have been billed. */
  readonly billed: number;
  readonly inFlight: number;
  /** What the service does instead of answering; null while it answers. */
  readonly outage: string | null;
}

export interface FileResult {
  /** What `brand-enrich run` would have ended with. */
  readonly exitCode: ExitCode;
  /** False: the result is a partial one, and running again goes on. */
  readonly isComplete: boolean;
  /** What stopped the run; null for a complete one. `min-match`: it is held for a person. */
  readonly stopped: StopCode | null;
  /** The same as a sentence. */
  readonly reason: string | null;
  readonly rows: Readonly<StatusCounts>;
  readonly requests: { readonly sent: number; readonly billed: number; readonly overageCost: string };
  /** Against the output before; null if not asked for, or not complete. `since` null: no output. */
  readonly changes: {
    readonly file: string;
    readonly since: string | null;
    readonly new: number;
    readonly changed: number;
    readonly unchanged: number;
    readonly vanished: number;
    /** There before, and their lookup failed now. */
    readonly failed: number;
  } | null;
  /** What became of the columns of `fill` and `fillOver`; null without them. */
  readonly fills: {
    readonly columns: readonly {
      readonly column: string;
      readonly field: string;
      /** Cells that were blank. */
      readonly filled: number;
      /** Cells that say what the brand says. */
      readonly kept: number;
      /** Cells that say something else. */
      readonly differing: number;
    }[];
    /** Rows with too few or too many cells, which are not filled. */
    readonly misfits: number;
    /** Lists the cells that differ; null when none does. */
    readonly file: string | null;
  } | null;
  /** Paths of what was written; null: there was no reason to. */
  readonly output: string;
  readonly errors: string | null;
  readonly report: string;
  readonly page: string | null;
}

/**
 * Looks brands up with the ledger, the stored answers, the pace and the budget that the command
 * line has for the same token and engine.
 *
 * Data never throw. What does: `ConfigError` for options, `AuthenticationError` when the service
 * refuses the token, `RunError` when engine, service or file cannot be used, and
 * `InterruptedError` once the enricher is closed.
 */
export interface Enricher extends AsyncDisposable {
  /** One identifier. Calls at the same moment share their way to the engine. */
  lookup<Input extends Candidates>(identifier: Input, options?: LookupOptions): Promise<Enriched<Input>>;
  /**
   * Rows with their brands, in the order of the input. `lookAhead` rows are looked up ahead, no
   * more; leaving the loop cancels what was not sent yet. If too few of the first answers match
   * (`minMatch`), the rest is not sent: `deferred`.
   */
  enrich<Row extends string>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options?: EnrichOptions<Row>,
  ): AsyncGenerator<Enriched<Row>, void, undefined>;
  enrich<Row>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options: EnrichOptions<Row> & { readonly identifier: (row: Row) => Candidates },
  ): AsyncGenerator<Enriched<Row>, void, undefined>;
  /** One file, as `brand-enrich run` does it. What stops a begun run is in the result. */
  runFile(path: string, options?: FileOptions): Promise<FileResult>;
  /** What `runFile` would do and cost: nothing is sent or written. */
  plan(path: string, options?: PlanOptions): Promise<FilePlan>;
  /** What is used and left of the account's quota and budget; nothing is sent. */
  account(): Promise<AccountState>;
  /**
   * Sends nothing more, waits for what is in flight (at most `timeout`) and lets go of the engine.
   * Calls that are under way reject.
   */
  close(): Promise<void>;
}
