/// <reference lib="esnext.disposable" preserve="true" />
/** What a program sees of the library: options, results, and the enricher itself. */
import type { ExitCode } from '../core/errors.js';
import type { IdentifierKind } from '../core/identifier.js';
import type { AnswerSource, OutcomeStatus, StatusCounts } from '../core/outcome.js';
import type { Brand } from '../lookup/brand.js';

/** A log with pino's methods: `pino()`, `fastify.log` and `console` have them. */
export interface EnricherLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Options that can also be given to a single file. Durations read `500ms`, `40s`, `7d`. */
interface SharedOptions {
  /** What identifiers are when nothing else says so. Default `auto`: each by its shape. */
  readonly kind?: IdentifierKind | undefined;
  /** Not found by the first identifier: ask by the next, which costs a request. Default false. */
  readonly waterfall?: boolean | undefined;
  /** Billable requests at most: of all lookups of this enricher, and of each file. */
  readonly maxRequests?: number | undefined;
  /** Overage money at most, counted like `maxRequests`. */
  readonly maxCost?: number | string | undefined;
  /** At the limit: the rest is `deferred`, or waits until there is room again. Default `stop`. */
  readonly onLimit?: 'stop' | 'wait' | undefined;
  /** Stored brands younger than this are not bought again. Default `7d`. */
  readonly maxAge?: string | undefined;
  /** The same for identifiers that were not found. Default `1d`. */
  readonly maxAgeMissing?: string | undefined;
  /** Buy every answer again, once. Default false. */
  readonly refresh?: boolean | undefined;
  /** Return brands with adult content always, or never. Default: the service decides. */
  readonly allowNsfw?: boolean | undefined;
}

/** Named as in `brand-enrich.config.json`; the README's table of settings says more of each. */
export interface EnricherOptions extends SharedOptions {
  /** Address of the service. Needed, unless `sample` or `env` has it. */
  readonly baseUrl?: string | undefined;
  /** Token of the service. Needed, unless `tokenFile`, `sample` or `env` has it. */
  readonly token?: string | undefined;
  /** A file that holds the token and nothing else. */
  readonly tokenFile?: string | undefined;
  /** `embedded`, or a Redis or PostgreSQL address. Default `embedded`. */
  readonly engine?: string | undefined;
  /** State folder. Default: that of the command line, so that both share one engine. */
  readonly state?: string | undefined;
  /** Redis 7.2 and later: permits and answers are on disk before they count. Default false. */
  readonly waitForDisk?: boolean | undefined;
  /** Sample brands, for trying things out: no service, no token, no cost. Default false. */
  readonly sample?: boolean | undefined;
  /** Name of the account, for tokens that share a quota. Default: made of address and token. */
  readonly account?: string | undefined;
  /** Plain http to other machines; the token can be read on the way. Default false. */
  readonly allowHttp?: boolean | undefined;
  /** Go on when nothing is found at an address that never gave a good answer. Default false. */
  readonly allowUnknown?: boolean | undefined;
  /** The service's own brand, which is free to ask for and shows quota and usage. */
  readonly ownDomain?: string | undefined;
  /** Total time of one request. Default `40s`. */
  readonly timeout?: string | undefined;
  /** Keep answers compressed. Default true. */
  readonly compression?: boolean | undefined;
  /** Requests in flight at once. Default 64. */
  readonly concurrency?: number | undefined;
  /** Requests per second, over all processes; 0 is unpaced. Default 90. */
  readonly rate?: number | undefined;
  /** Requests that may be sent at the same moment. Default 10, and 1 with `rate`. */
  readonly burst?: number | undefined;
  /** The plan of the account; only a paid one has overage. Default: no overage. */
  readonly plan?: 'free' | 'paid' | undefined;
  /** Requests per period, where the service reports more. */
  readonly quota?: number | undefined;
  /** When the quota renews: each month, never, or on a day of the month. Default `month`. */
  readonly period?: 'month' | 'none' | number | undefined;
  /** Statuses that are not billed. Default 204, 400, 402 and 5xx. */
  readonly freeStatuses?: readonly string[] | undefined;
  /** Money that may be spent per period beyond the quota. Default 0; 100 with `plan: 'paid'`. */
  readonly overageBudget?: number | string | undefined;
  /** Price of one request beyond the quota. Default 0.1. */
  readonly overagePrice?: number | string | undefined;
  /** Three letters, a label of amounts: nothing is converted. Default: none. */
  readonly currency?: string | undefined;
  /** Certificates (PEM) to trust besides Node's own. */
  readonly caFile?: string | undefined;
  /** How far the service's usage header may lag. Default `60s`. */
  readonly usageLag?: string | undefined;
  /**
   * Environment that fills in what options leave out, by the variables of the command line:
   * `process.env`. Default: nothing is read from it.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where the log goes, without the token. Default: nowhere. */
  readonly log?: EnricherLog | undefined;
  /**
   * Name in `brand-enrich status`. Caps (`maxRequests`, `maxCost`) of the lookups are kept under
   * it, so that a program that crashed goes on with what is left of them. Default: none is kept.
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
  readonly kind?: IdentifierKind | undefined;
  /** Ends the wait: the call rejects with its reason. What is in flight is still kept. */
  readonly signal?: AbortSignal | undefined;
}

export interface EnrichOptions<Row> extends LookupOptions {
  /** The identifier of one row. Default: the row itself, which is then a text. */
  readonly identifier?: ((row: Row) => Candidates) | undefined;
  /** Rows looked up before the first of them is taken. Default: twice `concurrency`. */
  readonly lookAhead?: number | undefined;
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
  /** Why there is no answer, or what is wrong with the identifier. */
  readonly error: string | null;
} & (
  | { readonly status: 'matched'; readonly brand: Brand }
  | { readonly status: Exclude<OutcomeStatus, 'matched'>; readonly brand: null }
);

/** Settings of one file, named as in the config file, over those of the enricher. */
export interface FileOptions extends SharedOptions {
  /** Default: `<name>.enriched.<ext>` beside the input; likewise the next two. */
  readonly output?: string | undefined;
  readonly errors?: string | undefined;
  readonly report?: string | undefined;
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  /** Stops the run as Ctrl-C does: what is there is written, and the next run goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Columns with the identifiers, `NAME` or `NAME:KIND`. Default: chosen by header and values. */
  readonly column?: readonly string[] | undefined;
  readonly allowMismatch?: boolean | undefined;
  /** The sheet of a workbook, by name or by number from 1. Default: the first visible one. */
  readonly sheet?: string | undefined;
  /** The array of a JSON file with the rows, as keys between dots. Default: the longest. */
  readonly records?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
  readonly header?: boolean | undefined;
  readonly skipLines?: number | undefined;
  /** Records that are read at most. */
  readonly limit?: number | undefined;
  readonly ragged?: 'take' | 'invalid' | undefined;
  readonly priority?: string | undefined;
  /** Failed lookups that end the run: a number, or a share such as `5%`. */
  readonly maxErrors?: number | string | undefined;
  /** Default: that of the input, or of the ending of `output`. */
  readonly format?: 'csv' | 'jsonl' | 'json' | 'xlsx' | 'parquet' | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly sort?: 'quality' | 'none' | undefined;
  /** Default true; a list without a header gets one. */
  readonly outputHeader?: boolean | undefined;
  readonly escapeFormulas?: 'all' | 'ours' | 'none' | undefined;
  readonly prefix?: string | undefined;
  /** Rows that the errors file has besides those that failed. Default: none. */
  readonly errorsInclude?: readonly 'not_found'[] | undefined;
  /** Brands with a lower score are marked, and their rows are in the errors file too. */
  readonly minQuality?: number | undefined;
  readonly embedLogos?: boolean | undefined;
  /** Invalid rows, and a file without any match, give exit code 1. Default false. */
  readonly strict?: boolean | undefined;
}

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
  /** Why the run stopped; null: it did not. */
  readonly reason: string | null;
  readonly rows: Readonly<StatusCounts>;
  readonly requests: { readonly sent: number; readonly billed: number; readonly overageCost: string };
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
 * Data never throw. What does: `NeverStartError` for options, `RefusedError` when the service
 * refuses the token, `FailFileError` when engine, service or file cannot be used, and
 * `InterruptedError` once the enricher is closed.
 */
export interface Enricher extends AsyncDisposable {
  /** One identifier. Calls at the same moment share their way to the engine. */
  lookup(identifier: Candidates, options?: LookupOptions): Promise<Enriched<Candidates>>;
  /**
   * Rows with their brands, in the order of the input. `lookAhead` rows are looked up ahead, no
   * more; leaving the loop cancels what was not sent yet.
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
  /**
   * Sends nothing more, waits for what is in flight (at most `timeout`) and lets go of the engine.
   * Calls that are under way reject.
   */
  close(): Promise<void>;
}
