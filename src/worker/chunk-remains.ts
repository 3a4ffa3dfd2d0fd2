/** The rest of a chunk after a round: failures, and identifiers, each with its own time. Pure. */
import type { ChunkData } from '../engine/engine.js';
import { RETRY_AFTER_AT_MOST_MS } from '../lookup/protocol.js';
import type { LookupFailure } from '../stores/run-store.js';
import type { Asked } from './asked.js';
import { parkMs } from './retry-policy.js';

type AskedTexts = readonly (readonly [string, Asked])[];

export function failuresOf(data: ChunkData, asked: AskedTexts, prefix: string): LookupFailure[] {
  return asked.flatMap(([text, { result }]) => {
    const key = prefix + text;
    if (result.type === 'failed') {
      const { type: _type, ...failure } = result;
      return [{ key, ...failure }];
    }
    if (result.type !== 'again' || !givesUp(data, text, result)) return [];
    const reason = `${result.reason}; tried ${attemptsOf(data, text) + 1} times`;
    return [{ key, reason: { code: 'answer', text: reason }, billed: false }];
  });
}

/**
 * How long an identifier of a chunk is not to be asked for yet; 0 or less: it is due. Never longer
 * than was asked for when the chunk was parked: a clock that was set back since would make it wait
 * by as much longer.
 */
export function dueInMs({ due, parkedAt }: Partial<ChunkData>, text: string, now: number): number {
  const at = due?.[text];
  if (at === undefined) return 0;
  // Nothing is parked for longer than the longest Retry-After that is believed.
  return Math.min(at - now, parkedAt === undefined ? RETRY_AFTER_AT_MOST_MS : at - parkedAt);
}

/**
 * The chunk as it comes back and the wait until the first of its identifiers is due; null when
 * nothing is left. An identifier that is due later is not asked for sooner because another one is.
 */
export function whatIsLeft(data: ChunkData, asked: AskedTexts, now: number) {
  const identifiers: string[] = [];
  const attempts: Record<string, number> = {};
  const due: Record<string, number> = {};
  let waitMs = Number.POSITIVE_INFINITY;
  for (const [text, { result }] of asked) {
    if (result.type !== 'again' || givesUp(data, text, result)) continue;
    identifiers.push(text);
    const made = attemptsOf(data, text) + (result.countsAsAttempt ? 1 : 0);
    if (made > 0) attempts[text] = made;
    const wait = result.countsAsAttempt ? (parkMs(made, result.retryInMs) ?? 0) : result.retryInMs;
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
  return result.countsAsAttempt && parkMs(attemptsOf(data, text) + 1, result.retryInMs) === null;
}
