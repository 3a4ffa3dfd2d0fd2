/**
 * One chunk through claim, permit, lookup, record: the heart. Whatever is left to do afterwards comes back as a
 * shorter chunk and a wait; nothing is waited for in here except permits and answers.
 *
 * At least once: a chunk may run twice, even at the same time. Claims keep it from paying twice, and every report
 * to the run's store is idempotent or says what was just done.
 */
import type { ChunkData, Engine } from '../engine/engine.js';
import { parseIdentifierText } from '../model.js';
import { outcomeKeyPrefix } from '../outcomes/key.js';
import {
  freshnessOf,
  type LookupFailure,
  type RunHalt,
  type RunRecord,
  type Tally,
} from '../runs/run-store.js';
import { type AskContext, type Asked, ask } from './ask.js';
import { BUSY_RETRY_MS, parkMs } from './retry-policy.js';

export interface ChunkContext extends AskContext {
  readonly engine: Engine;
  readonly worker: string;
  /** The one gate of the process: so many lookups at once, whatever the number of chunks. */
  readonly limit: <T>(task: () => Promise<T>) => Promise<T>;
  /** Runs that must not be asked for any more, as far as this process knows. */
  readonly halts: Map<string, RunHalt>;
  /** Keys that some chunk of this process is at work on. */
  readonly underWay: Set<string>;
}

export type ChunkResult =
  | { readonly type: 'finished' }
  | { readonly type: 'parked'; readonly data: ChunkData; readonly waitMs: number };

/** Works on `data` for a run that is running; a dead one is noticed by the ledger. `stop` ends it early with the rest parked; `abort` also ends requests under way. */
export async function resolveChunk(
  context: ChunkContext,
  run: RunRecord,
  data: ChunkData,
  signals: { stop: AbortSignal; abort: AbortSignal },
): Promise<ChunkResult> {
  if (context.halts.has(run.id)) return finishChunk(context.engine, data);

  const prefix = outcomeKeyPrefix(run.settings.service, run.settings.allowNsfw);
  // A claim cannot tell two chunks of one worker apart: only one of them may have a key, until its claim is dropped.
  const { underWay } = context;
  const taken = data.identifiers.filter((text) => underWay.has(prefix + text));
  const free = data.identifiers.filter((text) => !underWay.has(prefix + text));
  for (const text of free) underWay.add(prefix + text);
  const asked = taken.map((text): [string, Asked] => [text, busy()]);
  try {
    const ours = await claimAndAsk(context, run, free, prefix, signals);
    await release(context, ours, prefix);
    asked.push(...ours);
  } finally {
    for (const text of free) underWay.delete(prefix + text);
  }
  await report(context, run, data, asked, prefix);
  return whatIsLeft(context, run, data, asked);
}

/** What each came to; those with a fresh answer are left out. Throws only when nothing is under way any more. */
async function claimAndAsk(
  context: ChunkContext,
  run: RunRecord,
  texts: readonly string[],
  prefix: string,
  signals: { stop: AbortSignal; abort: AbortSignal },
): Promise<[string, Asked][]> {
  if (texts.length === 0) return [];
  const claims = await context.engine.outcomes.claim({
    worker: context.worker,
    run: run.id,
    keys: texts.map((text) => prefix + text),
    freshness: freshnessOf(run),
  });
  const settled = await Promise.allSettled(
    texts.map(async (text, index): Promise<[string, Asked] | null> => {
      const claim = claims[index];
      if (claim === 'fresh') return null;
      if (claim !== 'ours') return [text, busy()];
      return [text, await context.limit(() => askUnlessHalted(context, run, prefix + text, text, signals))];
    }),
  );
  return settled.flatMap((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value === null ? [] : [each.value];
  });
}

async function askUnlessHalted(
  context: ChunkContext,
  run: RunRecord,
  key: string,
  text: string,
  signals: { stop: AbortSignal; abort: AbortSignal },
): Promise<Asked> {
  const known = context.halts.get(run.id);
  if (known) return { result: { type: 'halted', halt: known }, requests: 0, billed: 0 };
  const asked = await ask(context, run, key, parseIdentifierText(text), signals);
  if (asked.result.type === 'halted' && !context.halts.has(run.id)) {
    context.halts.set(run.id, asked.result.halt);
    await context.engine.runs.halt(run.id, asked.result.halt);
  }
  return asked;
}

function busy(): Asked {
  return {
    result: {
      type: 'again',
      countsAsAttempt: false,
      retryInMs: BUSY_RETRY_MS,
      reason: 'another worker is asking',
    },
    requests: 0,
    billed: 0,
  };
}

/** Recording drops a claim; whatever ended otherwise gives it back. */
async function release(
  context: ChunkContext,
  asked: readonly (readonly [string, Asked])[],
  prefix: string,
): Promise<void> {
  const unanswered = asked.filter(
    ([, { result }]) => result.type !== 'matched' && result.type !== 'not_found',
  );
  if (unanswered.length > 0) {
    await context.engine.outcomes.release(
      context.worker,
      unanswered.map(([text]) => prefix + text),
    );
  }
}

async function report(
  context: ChunkContext,
  run: RunRecord,
  data: ChunkData,
  asked: readonly (readonly [string, Asked])[],
  prefix: string,
): Promise<void> {
  const failures: LookupFailure[] = [];
  let matched = 0;
  let notFound = 0;
  let requests = 0;
  let billed = 0;
  for (const [text, one] of asked) {
    requests += one.requests;
    billed += one.billed;
    const { result } = one;
    if (result.type === 'matched') matched += 1;
    else if (result.type === 'not_found') notFound += 1;
    else if (result.type === 'failed')
      failures.push({ key: prefix + text, reason: result.reason, billed: result.billed });
    else if (result.type === 'again' && givesUp(data, text, result)) {
      failures.push({
        key: prefix + text,
        reason: `${result.reason}; asked ${attemptsOf(data, text) + 1} times over`,
        billed: false,
      });
    }
  }
  if (failures.length > 0) await context.engine.runs.fail(run.id, failures);
  const stored = data.identifiers.length - asked.length;
  const tally: Tally = { matched, notFound, failed: failures.length, stored, requests, billed };
  if (Object.values(tally).some((count) => count > 0)) await context.engine.runs.addTally(run.id, tally);
}

function attemptsOf(data: ChunkData, text: string): number {
  return data.attempts[text] ?? 0;
}

function givesUp(data: ChunkData, text: string, result: Asked['result'] & { type: 'again' }): boolean {
  return result.countsAsAttempt && parkMs(attemptsOf(data, text) + 1, result.retryInMs) === null;
}

async function whatIsLeft(
  context: ChunkContext,
  run: RunRecord,
  data: ChunkData,
  asked: readonly (readonly [string, Asked])[],
): Promise<ChunkResult> {
  const identifiers: string[] = [];
  const attempts: Record<string, number> = {};
  let waitMs = Number.POSITIVE_INFINITY;
  for (const [text, { result }] of asked) {
    if (result.type === 'halted' || result.type === 'revoked') return finishChunk(context.engine, data);
    if (result.type !== 'again' || givesUp(data, text, result)) continue;
    identifiers.push(text);
    const made = attemptsOf(data, text) + (result.countsAsAttempt ? 1 : 0);
    if (made > 0) attempts[text] = made;
    const wait = result.countsAsAttempt ? (parkMs(made, result.retryInMs) ?? 0) : result.retryInMs;
    waitMs = Math.min(waitMs, wait);
  }
  if (identifiers.length === 0) return finishChunk(context.engine, data);
  return { type: 'parked', data: { run: run.id, chunk: data.chunk, identifiers, attempts }, waitMs };
}

/** Nothing is left to do for this chunk, or nobody waits for it. */
export async function finishChunk(engine: Engine, data: ChunkData): Promise<ChunkResult> {
  await engine.runs.finishChunk(data.run, data.chunk);
  return { type: 'finished' };
}
