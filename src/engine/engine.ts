/** The interface of an engine, which holds queue, ledger, outcomes and runs. */
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
  /** True for commands that only show: opening writes nothing it can avoid. Default false. */
  readonly isReadOnly?: boolean | undefined;
  /** Once aborted, calls wait 3 s instead of 2 minutes for an unavailable engine. */
  readonly stop?: AbortSignal | undefined;
  /** True to empty the database first. Default false. */
  readonly forgets?: boolean;
  /** Tests only: whole milliseconds to add to the store's clock. */
  readonly clockOffsetMs?: () => number;
  /** Tests only: the clock of the daily purge. */
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
  /** When `due` was written, by the same clock: caps the wait if the clock is set back. */
  readonly parkedAt?: number;
  /** True if a killed worker had the chunk before; absent if only the BullMQ job knows. */
  readonly isRepeat?: boolean;
}

export type ChunkJob = Job<ChunkData, void, 'chunk'>;
export type BullChunkQueue = Queue<ChunkData, void, 'chunk'>;
export type ChunkWorker = Worker<ChunkData, void, 'chunk'>;
/** A processor with three parameters gets a signal from BullMQ, aborted when the lock is lost. */
export type ChunkProcessor = Processor<ChunkData, void, 'chunk'>;

export type ChunkPlace = Pick<ChunkData, 'run' | 'chunk'>;

/** The queue as a run uses it. Workers take the chunks. */
export interface ChunkQueue {
  /**
   * Adds chunks of one run, which has `ahead` unfinished chunks in the queue. Runs take turns, one
   * chunk each. Existing chunks stay as they are, so the call can be repeated after an error.
   */
  add(chunks: readonly ChunkData[], ahead: number): Promise<void>;
  /** Returns the numbers of a run's chunks that wait, are parked or have a worker. */
  chunksOf(run: string): Promise<number[]>;
  /** Returns waiting and parked chunks of all runs: the first 20,000 of each state. */
  idleChunks(): Promise<ChunkPlace[]>;
  /** Removes a chunk and returns it as its last worker left it; null while a worker has it. */
  setAside(place: ChunkPlace): Promise<ChunkData | null>;
  /** Removes a chunk. Returns false while a worker has it. */
  withdraw(place: ChunkPlace): Promise<boolean>;
  counts(): Promise<ChunkCounts>;
  close(): Promise<void>;
}

/** Numbers of chunks; `delayed`: parked. */
export type ChunkCounts = Readonly<Record<'waiting' | 'active' | 'delayed', number>>;

/** Facts about the whole server or database, other programs' sessions and data included. */
type ServerFacts = Readonly<{ version: string; sessions: number; bytes: number }>;

/** `code` stays the same when figures in `text`, a sentence, change. */
export interface EngineWarning {
  readonly code: string;
  readonly text: string;
}

export interface Engine {
  readonly kind: 'embedded' | 'redis' | 'postgres';
  /** For people, without credentials. */
  readonly address: string;
  /** Opens the queue of this name to add chunks to. The caller closes it. */
  openChunkQueue(name: string): ChunkQueue;
  /** Returns the free share of the engine's memory, 0 to 1; null if it has no limit. */
  freeMemory(): Promise<number | null>;
  /** Random and stored in the engine. Empty until a process opens it without `isReadOnly`. */
  readonly id: string;
  readonly ledger: Ledger;
  readonly outcomes: OutcomeStore;
  readonly runs: RunStore;
  readonly keyValues: KeyValueStore;
  readonly scheduledJobs: ScheduledJobs;
  /** Found on opening: for instance, that a loss of power could lose data. */
  readonly warnings: readonly EngineWarning[];
  /** Opens a queue; the caller closes it, as well as the workers below. */
  openQueue(name: string): BullChunkQueue;
  /** Opens a worker that takes `concurrency` chunks at once, after `run()` is called. */
  openWorker(name: string, processor: ChunkProcessor, concurrency: number): ChunkWorker;
  openScheduledJobWorker(
    name: string,
    processor: Processor<ScheduledJobData, void, 'tick'>,
    concurrency: number,
  ): Worker<ScheduledJobData, void, 'tick'>;
  facts(): Promise<ServerFacts>;
  /** Calls to the stores since the engine was opened, for measurements. */
  readonly roundTrips: { readonly count: number };
  /** Returns why the engine can never work again, or null; absent if it cannot be known. */
  readonly loss?: () => RunError | null;
  close(): Promise<void>;
}
