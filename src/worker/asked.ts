/** The types of one lookup: its context and signals, its reports, its result. */
import type { Brand } from '../brand-api/brand.js';
import type { Client } from '../brand-api/client.js';
import type { Clock } from '../core/clock.js';
import type { Identifier } from '../core/identifier.js';
import type { OutcomeKey } from '../core/outcome.js';
import type { FailureReason, RunHalt } from '../engine/stores/run-reasons.js';
import type { LookupFailure, RunRecord } from '../engine/stores/run-store.js';
import type { Governor } from '../ledger/governor.js';
import type { AddressTrust } from './address-trust.js';
import type { Breaker } from './breaker.js';
import type { RefusalSeries } from './refusal-series.js';
import { BUSY_RETRY_MS } from './retry-policy.js';

/** An answer that this process fetched, as durable as the engine promises. */
export interface FetchedAnswer {
  readonly key: OutcomeKey;
  readonly status: 'matched' | 'not_found';
  /** Set for a "not found" that holds only for a moment: the service is fetching the brand. */
  readonly retryLater: boolean;
  /** The service's JSON as text and parsed; null for `not_found`. */
  readonly profile: { readonly text: string; readonly brand: Brand } | null;
  /** The store's date of the answer, in milliseconds. */
  readonly fetchedAt: number;
}

/** Reports of a worker to runs of its own process; the stores have everything, too. */
export interface WorkerListener {
  onChunk(): void;
  /** Called for a request that was or may have been billed, before `onAnswer`. */
  onBilled?(key: OutcomeKey): void;
  /** Called after each answer of any run. Must not throw. */
  onAnswer(answer: FetchedAnswer): void;
}

export interface AskContext {
  readonly client: Client;
  readonly governor: Governor;
  readonly breaker: Breaker;
  readonly addressTrust: AddressTrust;
  readonly refusals: RefusalSeries;
  readonly clock: Clock;
  /** Returns why a run must not ask any more; undefined if it may. */
  readonly halts: { get(run: string): RunHalt | undefined };
  readonly listener?: Pick<WorkerListener, 'onAnswer' | 'onBilled'> | undefined;
  /** Called for each request. `cutOff`: the stop ended it, and it may have been billed. */
  readonly onSent?: ((run: string, as: 'free' | 'billed' | 'cutOff') => void) | undefined;
  /** Resolves when a failed lookup is as durable as the engine promises. */
  readonly keepFailure: (run: string, failure: LookupFailure) => Promise<void>;
  /** Stops asking for a run: here at once, and in all other workers when it resolves. */
  readonly halt: (run: string, halt: RunHalt) => Promise<void>;
  readonly gauge: {
    inFlight: number;
    sent: number;
    /** Requests that a stop ended, perhaps billed. */
    cutOff: number;
    /** Why the service is unavailable, while the breaker is open. */
    outage: string | null;
    /** When the last identifier with a long wait is asked for again. */
    retryAt: number;
  };
}

/**
 * The result of a lookup, with its requests.
 *   again      not answered and not billed, or claimed by another worker: the job asks again later
 *   failed     this run does not ask again; the next one may, if it is deferred
 *   halted     the whole run must stop asking
 */
export interface Asked {
  readonly result:
    | { readonly type: 'matched' | 'not_found' }
    | {
        readonly type: 'failed';
        readonly reason: FailureReason;
        readonly billed: boolean;
        readonly isDeferred?: boolean;
      }
    | {
        readonly type: 'again';
        readonly retryInMs: number;
        /** Why this attempt failed; null if it is no attempt. */
        readonly failedAttempt: string | null;
      }
    | { readonly type: 'halted'; readonly halt: RunHalt }
    | { readonly type: 'revoked' };
  readonly requests: number;
  readonly billed: number;
}

/** The next step after an answer: an end, or another request for the same identifier. */
export type NextStep = Asked['result'] | { readonly type: 'repeat' };

/** `stop` ends waits before a request; `abort` also ends a request in flight. */
export interface AskSignals {
  readonly stop: AbortSignal;
  /** Replaces `stop` for one identifier of a chunk; aborted no later than `stop`. */
  readonly stopOf?: ((text: string) => AbortSignal | undefined) | undefined;
  readonly abort: AbortSignal;
}

/** A lookup under way, and its requests so far. */
export interface LookupUnderWay {
  readonly context: AskContext;
  readonly run: RunRecord;
  readonly key: string;
  readonly identifier: Identifier;
  readonly signals: AskSignals;
  /** Frees the place in the gate; called when only the answer is left to be recorded. */
  readonly leaveGate: () => void;
  /** Number of this lookup among all of this process. */
  readonly place: number;
  requests: number;
  billed: number;
  /** Requests since the last refusal for pace or quota. */
  tries: number;
  /** Name by `ownOf` if the identifier is the service's own domain. */
  readonly own: string | undefined;
  /** The fault of an unusable answer that may have been billed. */
  unusable: string | null;
}

export function withoutRequest(result: Asked['result']): Asked {
  return { result, requests: 0, billed: 0 };
}

/** Asks again later, without using up an attempt. */
export function later(retryInMs: number): Asked['result'] & { type: 'again' } {
  return { type: 'again', retryInMs, failedAttempt: null };
}

/** The result while another worker, or another chunk of this process, has the key. */
export const BUSY = later(BUSY_RETRY_MS);
export const STOPPED = later(0);
