/**
 * Chooses the jobs that a worker takes. Others with access to the engine can queue anything, such
 * as a run of another service: those jobs stay, and neither the token nor a request goes out for
 * them.
 */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../core/clock.js';
import { readIdentifierText } from '../core/identifier.js';
import { attempt } from '../core/lifecycle.js';
import { load } from '../core/load.js';
import { type Log, oncePerMinute } from '../core/log.js';
import {
  fitting,
  flag,
  list,
  number,
  object,
  optional,
  record,
  type Shape,
  text,
  whole,
} from '../core/shapes.js';
import { isRepeated } from '../engine/chunk-queue.js';
import type { ChunkData, ChunkJob } from '../engine/engine.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { maskAddress } from '../settings/address-values.js';
import type { AskSignals } from './asked.js';
import { type ChunkContext, type ChunkResult, finishChunk, resolveChunk } from './resolve-chunk.js';

/** Wait of a chunk that belongs to another worker. */
const NOT_OURS_MS = 5_000;
/** Wait of a chunk of a paused run, which sets it aside meanwhile. */
const PAUSED_MS = 1_000;
/** Far more than a run of ours has. */
const IDENTIFIERS_AT_MOST = 10_000;
/** A domain has at most 253 characters; the longest value of a row is far shorter than this. */
const LONGEST_TEXT = 2_048;

function isIdentifierText(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const { value = '' } = readIdentifierText(text) ?? {};
  return (
    text.length <= LONGEST_TEXT &&
    value !== '' &&
    // As in `identify-cell.ts`: a proxy that decodes it would see another path.
    !/(?:^|\/)\.\.?(?:\/|$)/.test(value) &&
    !/\p{Surrogate}/u.test(value)
  );
}

const identifiers = list(fitting<string>(isIdentifierText));
const isFew = (value: unknown) => Array.isArray(value) && value.length <= IDENTIFIERS_AT_MOST;
const fewIdentifiers: typeof identifiers = (value) => identifiers(fitting(isFew)(value));

const chunkShape: Shape<ChunkData> = object({
  run: fitting<string>((value) => text(value) !== ''),
  chunk: whole,
  identifiers: fewIdentifiers,
  attempts: record(whole),
  due: optional(record(number)),
  parkedAt: optional(number),
  isRepeat: optional(flag),
});

export interface ChunkWorkOptions extends AskSignals {
  readonly service: string;
  readonly account: string;
  readonly log: Log;
}

/** Returns the work of one worker on chunks, from the queue and from callers. */
export function createChunkWork(context: ChunkContext, options: ChunkWorkOptions) {
  const { engine, clock, listener } = context;
  const own = createOwnChunks(options, clock);

  async function resolve(
    data: ChunkData,
    signal: AbortSignal | undefined,
    isRepeat: boolean,
    stopOf?: AskSignals['stopOf'],
  ): Promise<ChunkResult> {
    const run = await engine.runs.get(data.run);
    if (run === null || run.status !== 'running') return finishChunk(engine, data);
    if (!own.isOf(run)) return { type: 'parked', data, waitMs: NOT_OURS_MS };
    // A run that has died or was halted meanwhile is ended below.
    const isPaused = run.paused && (await engine.ledger.show(run.settings.account, run.id)).run;
    if (isPaused && isPaused.status === 'paused') return { type: 'parked', data, waitMs: PAUSED_MS };
    const stop = signal ? AbortSignal.any([options.stop, signal]) : options.stop;
    // Every identifier of the chunk adds a listener.
    setMaxListeners(0, stop);
    return resolveChunk(context, run, data, { stop, stopOf, abort: options.abort }, isRepeat);
  }

  return {
    /** Works once over a chunk. `signal` ends it before its next request. Throws engine errors. */
    resolve,
    /** Works on a job of the queue, and parks the rest of its chunk. */
    async process(job: ChunkJob, token?: string, signal?: AbortSignal): Promise<void> {
      const data = own.read(job.data);
      const result: ChunkResult =
        data === null
          ? { type: 'parked', data: job.data, waitMs: NOT_OURS_MS }
          : await resolve(data, signal, isRepeated(job));
      if (result.type === 'finished') {
        listener?.onChunk();
        return;
      }
      // With a lost lock, another worker has the job and parks it.
      if (signal?.aborted) throw new Error('the lock of this chunk was lost');
      await job.updateData(result.data);
      await job.moveToDelayed(clock.now() + result.waitMs, token);
      const { DelayedError } = load('bullmq') as typeof import('bullmq');
      throw new DelayedError();
    },
  };
}

function createOwnChunks({ service, account, log }: ChunkWorkOptions, clock: Clock) {
  const warnOf = (sentence: string) =>
    oncePerMinute<object>(clock, (facts, others) => log.warn({ ...facts, ...others }, sentence));
  const warnOfJob = warnOf('a job on this queue is not a chunk of lookups; it is left alone');
  const warnOfService = warnOf('a run on this queue names another service; its chunks are left alone');
  const warnOfAccount = warnOf('a run on this queue names another account; its chunks are left alone');

  return {
    /** Returns the chunk of a job; null for any other job. */
    read(data: unknown): ChunkData | null {
      const chunk = attempt(() => chunkShape(data), null);
      if (chunk === null) warnOfJob({});
      return chunk;
    },

    isOf({ id, settings }: Pick<RunRecord, 'id' | 'settings'>): boolean {
      if (settings.service !== service) warnOfService({ run: id, host: hostOf(settings.service) });
      else if (settings.account !== account) warnOfAccount({ run: id });
      else return true;
      return false;
    },
  };
}

function hostOf(address: string): string {
  const host = URL.canParse(address) ? new URL(address).host : maskAddress(address);
  return host.slice(0, 100);
}
