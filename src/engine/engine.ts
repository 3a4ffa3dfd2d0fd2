/**
 * What an engine is: a place where queue, ledger, outcomes and runs live. One code path runs everywhere; only
 * the engine below it differs. Which one is opened is `open-engine.ts`'s.
 */
import type { Job, Queue, Worker } from 'bullmq';
import type { Ledger } from '../ledger/ledger.js';
import type { KeyValueStore } from '../stores/key-value-store.js';
import type { OutcomeStore } from '../stores/outcome-store.js';
import type { RunStore } from '../stores/run-store.js';
import type { ScheduledJobProcessor, ScheduledJobs, ScheduledJobWorker } from '../stores/scheduled-jobs.js';

export type EngineKind = 'embedded' | 'redis' | 'postgres';

/** One chunk: the payload of one BullMQ job. Identifiers and bookkeeping only, never rows, brands or tokens. */
export interface ChunkData {
  readonly run: string;
  /** Number of the chunk within its run, from 0. */
  readonly chunk: number;
  /** Identifier texts (`kind:value`) still to be answered. */
  readonly identifiers: readonly string[];
  /** Attempts that ended without an answer, by identifier text; absent: none. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Not asked for before this time (milliseconds since 1970), by identifier text; absent: at once. */
  readonly due?: Readonly<Record<string, number>>;
  /** When that was written, by the same clock: nothing is due later than it was then, however the clock was set since. */
  readonly parkedAt?: number;
}

export type ChunkJob = Job<ChunkData, void, 'chunk'>;
export type BullChunkQueue = Queue<ChunkData, void, 'chunk'>;
export type ChunkWorker = Worker<ChunkData, void, 'chunk'>;
/** Three parameters, so that BullMQ hands over the signal that a lost lock aborts. */
export type ChunkProcessor = (job: ChunkJob, token?: string, signal?: AbortSignal) => Promise<void>;

/** Where a chunk is in a queue. */
export interface ChunkPlace {
  readonly run: string;
  readonly chunk: number;
}

/** What a run needs of a queue: to add chunks, to see which are there, and to take them back. Working on them is a worker's. */
export interface ChunkQueue {
  /** Adds chunks; those that are there stay as they are. After an error some may be there: adding again adds the rest. */
  add(chunks: readonly ChunkData[]): Promise<void>;
  /** Numbers of a run's chunks that wait, are parked or are being worked on. */
  chunksOf(run: string): Promise<number[]>;
  /** Chunks of all runs that wait or are parked; the first 20,000 of each. */
  idleChunks(): Promise<ChunkPlace[]>;
  /** Takes a chunk back. False: somebody is working on it. */
  withdraw(place: ChunkPlace): Promise<boolean>;
  counts(): Promise<ChunkCounts>;
  close(): Promise<void>;
}

/** How many chunks wait, are being worked on, and are parked until a time. */
type ChunkCounts = Readonly<Record<'waiting' | 'active' | 'delayed', number>>;

interface ServerFacts {
  /** Its product and version. */
  readonly version: string;
  /** Sessions of all clients, ours included. */
  readonly sessions: number;
  /** Size of the data, of other programs too where they share a database. */
  readonly bytes: number;
}

export interface Engine {
  readonly kind: EngineKind;
  /** Where it is, for people; never with credentials. */
  readonly address: string;
  /** The queue of this name, to add chunks to. The caller closes it. */
  openChunkQueue(name: string): ChunkQueue;
  /** Share of the engine's memory that is free, 0 to 1; null when it has no limit. */
  freeMemory(): Promise<number | null>;
  /** Random, and kept in it: the same for all who open it, and for no other engine. */
  readonly id: string;
  readonly ledger: Ledger;
  readonly outcomes: OutcomeStore;
  readonly runs: RunStore;
  readonly keyValues: KeyValueStore;
  readonly scheduledJobs: ScheduledJobs;
  /** What a loss of power could cost, as a sentence; empty when nothing. And other things worth a warning at start. */
  readonly warnings: readonly string[];
  /** A queue to add to. The caller closes it. */
  openQueue(name: string): BullChunkQueue;
  /** A worker that takes `concurrency` chunks at once; it starts at `run()`. The caller closes it. */
  openWorker(name: string, processor: ChunkProcessor, concurrency: number): ChunkWorker;
  /** A worker that takes up to `concurrency` scheduled jobs at once; it starts at `run()`. The caller closes it. */
  openScheduledJobWorker(
    name: string,
    processor: ScheduledJobProcessor,
    concurrency: number,
  ): ScheduledJobWorker;
  /** What the server says of itself. */
  facts(): Promise<ServerFacts>;
  /** Counts calls to the engine's stores since it was opened: for measuring, not for deciding. */
  readonly roundTrips: { readonly count: number };
  close(): Promise<void>;
}
