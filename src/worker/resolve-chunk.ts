/**
 * One chunk through claim, permit, lookup and record. It waits only for permits and answers: what
 * has to wait longer comes back as a shorter chunk to park. A chunk may run twice, even at the same
 * time: claims keep it from paying twice, and reports to the run's store may be repeated.
 */
import { RETRY_AFTER_AT_MOST_MS } from '../brand-api/protocol.js';
import { parseIdentifierText } from '../core/identifier.js';
import type { ChunkData, Engine } from '../engine/engine.js';
import { type OutcomeKeyOf, outcomeKeys } from '../engine/stores/outcome-key.js';
import { freshnessOf, type LookupFailure, type RunRecord } from '../engine/stores/run-store.js';
import { ask } from './ask.js';
import {
  type AskContext,
  type Asked,
  type AskSignals,
  BUSY,
  later,
  type WorkerListener,
  withoutRequest,
} from './asked.js';
import { parkMs } from './retry-policy.js';
import type { RunTallies, RunTally } from './run-tallies.js';

/** Identifiers due within this time count as due. */
const DUE_SOON_MS = 50;

export interface ChunkContext extends AskContext {
  readonly engine: Engine;
  readonly worker: string;
  readonly listener?: WorkerListener | undefined;
  /** The gate of the process: limits the lookups at once, over all chunks. */
  readonly limit: <T>(task: () => Promise<T>) => Promise<T>;
  /** Chunks pass the gate in order, so that a cap buys the top of a file. */
  readonly turns: { last: Promise<unknown> };
  /** Keys that a chunk of this process is working on. */
  readonly underWay: Set<string>;
  readonly tallies: RunTallies;
}

export type ChunkResult =
  | { readonly type: 'finished' }
  | { readonly type: 'parked'; readonly data: ChunkData; readonly waitMs: number };

/** Works on a chunk of a live run. `isRepeat`: another worker had it and was killed. */
export async function resolveChunk(
  context: ChunkContext,
  run: RunRecord,
  chunk: ChunkData,
  signals: AskSignals,
  isRepeat = false,
): Promise<ChunkResult> {
  if (context.halts.get(run.id)) return finishChunk(context.engine, chunk);

  const keyOf = outcomeKeys(run.settings.service, run.settings.allowNsfw);
  const mayHaveFailed = isRepeat || run.hasEarlierFailures;
  const data = mayHaveFailed ? await withoutFailed(context.engine, chunk, keyOf) : chunk;
  // A claim cannot tell two chunks of one worker apart, so only one may have a key at a time.
  const { underWay } = context;
  const now = context.clock.now();
  const asked: [string, Asked][] = [];
  const free: string[] = [];
  for (const text of data.identifiers) {
    const waitMs = dueInMs(data, text, now);
    if (waitMs > DUE_SOON_MS) asked.push([text, withoutRequest(later(waitMs))]);
    else if (underWay.has(keyOf(text))) asked.push([text, withoutRequest(BUSY)]);
    else free.push(text);
  }
  for (const text of free) underWay.add(keyOf(text));
  const tally = context.tallies.of(run.id);
  try {
    const ours = await claimAndAsk(context, run, free, keyOf, signals, tally);
    // Recording drops a claim; every other end must give it back.
    const isAnswered = ({ result: { type } }: Asked) => type === 'matched' || type === 'not_found';
    const keys = ours.flatMap(([text, each]) => (isAnswered(each) ? [] : [keyOf(text)]));
    if (keys.length > 0) await context.engine.outcomes.release(context.worker, keys);
    asked.push(...ours);
  } finally {
    for (const text of free) underWay.delete(keyOf(text));
  }
  const failures = failuresOf(data, asked, keyOf);
  if (failures.length > 0) await context.engine.runs.fail(run.id, failures);
  // A repeated chunk finds answers that its first worker has counted.
  if (!isRepeat) tally.add('stored', chunk.identifiers.length - asked.length);
  await tally.flush();
  if (asked.some(([, { result }]) => result.type === 'halted' || result.type === 'revoked')) {
    return finishChunk(context.engine, data);
  }
  const left = whatIsLeft(data, asked, context.clock.now());
  return left === null ? finishChunk(context.engine, data) : { type: 'parked', ...left };
}

async function withoutFailed(engine: Engine, data: ChunkData, keyOf: OutcomeKeyOf): Promise<ChunkData> {
  const keys = data.identifiers.map((text) => keyOf(text));
  const failures = await engine.runs.failures(data.run, keys);
  return { ...data, identifiers: data.identifiers.filter((_text, at) => failures[at] === null) };
}

/** Returns the results, without fresh answers. Throws only after all its lookups have ended. */
async function claimAndAsk(
  context: ChunkContext,
  run: RunRecord,
  texts: readonly string[],
  keyOf: OutcomeKeyOf,
  signals: AskSignals,
  tally: RunTally,
): Promise<[string, Asked][]> {
  if (texts.length === 0) return [];
  const { limit, turns } = context;
  const earlier = turns.last;
  const results: Asked[] = [];
  const errors: unknown[] = [];
  const underWay: Promise<void>[] = [];
  const askOne = async (text: string, at: number, leave: () => void): Promise<void> => {
    try {
      const stop = signals.stopOf?.(text);
      const own = stop === undefined ? signals : { ...signals, stop };
      const asked = await ask(context, run, keyOf(text), parseIdentifierText(text), own, leave);
      const { result } = asked;
      if (result.type === 'halted' && !context.halts.get(run.id)) await context.halt(run.id, result.halt);
      tally.addAsked(asked);
      results[at] = asked;
    } catch (error) {
      errors.push(error);
    } finally {
      leave();
    }
  };
  const enterAll = async (): Promise<void> => {
    const keys = texts.map((text) => keyOf(text));
    const claims = await context.engine.outcomes.claim(context.worker, keys, freshnessOf(run));
    if (claims.includes('ours')) await earlier;
    for (const [at, text] of texts.entries()) {
      if (claims[at] === 'fresh') continue;
      if (claims[at] !== 'ours') results[at] = withoutRequest(BUSY);
      else underWay.push(askOne(text, at, await enterGate(limit)));
    }
  };
  const entered = enterAll();
  turns.last = Promise.allSettled([earlier, entered]).then(() => undefined);
  await entered.finally(() => Promise.all(underWay));
  if (errors.length > 0) throw errors[0];
  return texts.flatMap((text, at) => (results[at] === undefined ? [] : [[text, results[at]]]));
}

/** Waits for a place, which the result frees. Queued tasks would outlive the young heap. */
function enterGate(limit: ChunkContext['limit']): Promise<() => void> {
  return new Promise((enter) => {
    void limit(() => new Promise<void>((leave) => enter(leave)));
  });
}

/** Ends a chunk with nothing left to look up, or one that no run waits for. */
export async function finishChunk(engine: Engine, data: ChunkData): Promise<ChunkResult> {
  await engine.runs.finishChunk(data.run, data.chunk);
  return { type: 'finished' };
}

type AskedTexts = readonly (readonly [string, Asked])[];

export function failuresOf(data: ChunkData, asked: AskedTexts, keyOf: OutcomeKeyOf): LookupFailure[] {
  return asked.flatMap(([text, { result }]) => {
    const key = keyOf(text);
    if (result.type === 'failed') {
      const { type: _type, ...failure } = result;
      return [{ key, ...failure }];
    }
    if (result.type !== 'again' || !givesUp(data, text, result)) return [];
    const reason = `${result.failedAttempt}; tried ${attemptsOf(data, text) + 1} times`;
    return [{ key, reason: { code: 'answer', text: reason }, billed: false }];
  });
}

/** Returns an identifier's wait; no longer than when it was parked, if the clock was set back. */
export function dueInMs({ due, parkedAt }: Partial<ChunkData>, text: string, now: number): number {
  const at = due?.[text];
  if (at === undefined) return 0;
  return Math.min(at - now, parkedAt === undefined ? RETRY_AFTER_AT_MOST_MS : at - parkedAt);
}

/** Returns the chunk to park and the wait for its first identifier; null if nothing is left. */
export function whatIsLeft(data: ChunkData, asked: AskedTexts, now: number) {
  const identifiers: string[] = [];
  const attempts: Record<string, number> = {};
  const due: Record<string, number> = {};
  let waitMs = Number.POSITIVE_INFINITY;
  for (const [text, { result }] of asked) {
    if (result.type !== 'again' || givesUp(data, text, result)) continue;
    identifiers.push(text);
    const isAttempt = result.failedAttempt !== null;
    const made = attemptsOf(data, text) + (isAttempt ? 1 : 0);
    if (made > 0) attempts[text] = made;
    const wait = isAttempt ? (parkMs(made, result.retryInMs) ?? 0) : result.retryInMs;
    if (wait > 0) due[text] = now + wait;
    waitMs = Math.min(waitMs, wait);
  }
  if (identifiers.length === 0) return null;
  const left = { run: data.run, chunk: data.chunk, identifiers, attempts };
  return { data: Object.keys(due).length > 0 ? { ...left, due, parkedAt: now } : left, waitMs };
}

function attemptsOf(data: ChunkData, text: string): number {
  return data.attempts[text] ?? 0;
}

function givesUp(data: ChunkData, text: string, result: Asked['result'] & { type: 'again' }): boolean {
  return result.failedAttempt !== null && parkMs(attemptsOf(data, text) + 1, result.retryInMs) === null;
}
