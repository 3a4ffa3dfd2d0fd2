/** An engine holds queue, ledger, outcomes and runs. One code path runs on all engines. */
import type { Job, Processor, Queue, Worker } from 'bullmq';
import type { Clock } from '../core/clock.js';
import type { RunError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunStore } from './run-calls.js';
import type { KeyValueStore } from './stores/key-value-store.js';
import type { OutcomeStore } from './stores/outcome-store.js';
import type { ScheduledJobData, ScheduledJobs } from './stores/scheduled-jobs.js';

export interface EngineOptions {
  readonly log: Log;
  /** For looking: opening engine and queues writes nothing where it need not. Default false. */
  readonly isReadOnly?: boolean | undefined;
  /** After it, calls hardly wait for an unavailable engine. */
  readonly stop?: AbortSignal | undefined;
  /** Empties the database first. Default false. */
  readonly forgets?: boolean;
  /** Tests only: added to the store's clock, in whole milliseconds. */
  readonly clockOffsetMs?: () => number;
  /** Tests only: what the daily purge waits with. */
  readonly upkeepClock?: Clock;
}

/** The payload of one BullMQ job: identifiers and bookkeeping, never rows, brands or tokens. */
export interface ChunkData {
  readonly run: string;
  /** Number of the chunk within its run, from 0. */
  readonly chunk: number;
  /** Identifier texts (`kind:value`) still to be answered. */
  readonly identifiers: readonly string[];
  /** Attempts that ended without an answer, by identifier text. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Earliest time of the next request (ms since 1970), by identifier text; absent: at once. */
  readonly due?: Readonly<Record<string, number>>;
  /** When `due` was written, by the same clock: no wait is longer than it was then. */
  readonly parkedAt?: number;
  /** True if a worker had it before and was killed; absent where only the job says so. */
  readonly isRepeat?: boolean;
}

export type ChunkJob = Job<ChunkData, void, 'chunk'>;
export type BullChunkQueue = Queue<ChunkData, void, 'chunk'>;
export type ChunkWorker = Worker<ChunkData, void, 'chunk'>;
/** With three parameters BullMQ hands over the signal that a lost lock aborts. */
export type ChunkProcessor = Processor<ChunkData, void, 'chunk'>;

export type ChunkPlace = Pick<ChunkData, 'run' | 'chunk'>;

/** A queue for a run: adds chunks, lists them, takes them back. Workers process them. */
export interface ChunkQueue {
  /**
   * Adds chunks of one run, which has `ahead` unfinished chunks in the queue. Runs take turns, one
   * chunk each. Keeps those that exist. After an error some may exist: adding again is safe.
   */
  add(chunks: readonly ChunkData[], ahead: number): Promise<void>;
  /** Numbers of a run's chunks that wait, are parked or are being worked on. */
  chunksOf(run: string): Promise<number[]>;
  /** Chunks of all runs that wait or are parked; the first 20,000 of each. */
  idleChunks(): Promise<ChunkPlace[]>;
  /** Takes a chunk back as its last worker left it, to be added again. Null if a worker has it. */
  setAside(place: ChunkPlace): Promise<ChunkData | null>;
  /** Takes a chunk back. False if a worker has it. */
  withdraw(place: ChunkPlace): Promise<boolean>;
  counts(): Promise<ChunkCounts>;
  close(): Promise<void>;
}

/** How many chunks wait, are being worked on, and are parked until a time. */
export type ChunkCounts = Readonly<Record<'waiting' | 'active' | 'delayed', number>>;

/** Of all clients and programs that use the server or database. */
type ServerFacts = Readonly<{ version: string; sessions: number; bytes: number }>;

/** `code`: the same while the text changes with its figures. `text`: a sentence. */
export interface EngineWarning {
  readonly code: string;
  readonly text: string;
}

export interface Engine {
  readonly kind: 'embedded' | 'redis' | 'postgres';
  /** Where it is, for people; never with credentials. */
  readonly address: string;
  /** The queue of this name, to add chunks to. The caller closes it. */
  openChunkQueue(name: string): ChunkQueue;
  /** Share of the engine's memory that is free, 0 to 1; null when it has no limit. */
  freeMemory(): Promise<number | null>;
  /** Random, kept in the engine, and the same for all. Empty where only `isReadOnly` opened it. */
  readonly id: string;
  readonly ledger: Ledger;
  readonly outcomes: OutcomeStore;
  readonly runs: RunStore;
  readonly keyValues: KeyValueStore;
  readonly scheduledJobs: ScheduledJobs;
  /** What a loss of power could cost, if anything, and other warnings at start. */
  readonly warnings: readonly EngineWarning[];
  /** The caller closes it, and the workers. */
  openQueue(name: string): BullChunkQueue;
  /** A worker that takes `concurrency` chunks at once, from `run()` on. */
  openWorker(name: string, processor: ChunkProcessor, concurrency: number): ChunkWorker;
  openScheduledJobWorker(
    name: string,
    processor: Processor<ScheduledJobData, void, 'tick'>,
    concurrency: number,
  ): Worker<ScheduledJobData, void, 'tick'>;
  facts(): Promise<ServerFacts>;
  /** Counts calls to the engine's stores since it was opened: for measuring, not for deciding. */
  readonly roundTrips: { readonly count: number };
  /** Returns why it can never work again, or null; absent where that cannot be known. */
  readonly loss?: () => RunError | null;
  close(): Promise<void>;
}
