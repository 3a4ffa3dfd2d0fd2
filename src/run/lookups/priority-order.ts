/**
 * In which order what is missing is asked for with `--priority`, and how far ahead it may be queued. Workers anywhere
 * take chunks as they come, so with less left than there is to ask for, only what can be paid for is handed out at a time: whatever
 * is worth less waits until that is settled.
 */
import type { LedgerState } from '../../ledger/ledger.js';
import { overageLeftFor, spentOf } from '../../ledger/policy.js';
import { CHUNK_SIZE } from '../../worker/lookup-worker.js';
import type { Scan } from '../scan/scan.js';

type Ranked = Pick<Scan, 'identifiers' | 'answers' | 'priorities'>;

/** Wanted identifiers without an answer, most valuable first, in batches of `size`. Without priorities there are none. */
export function* unansweredByWorth(
  { identifiers, answers, priorities }: Ranked,
  size: number,
): Generator<{ readonly index: number; readonly text: string }[]> {
  if (priorities === null) return;
  let batch: { index: number; text: string }[] = [];
  for (const index of priorities.order(identifiers.count)) {
    if (!answers.isWanted(index) || answers.status(index) !== null) continue;
    batch.push({ index, text: identifiers.at(index) });
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Requests that this run may still send, by quota, overage and its own caps; null while no quota is known. The state
 * is the run's own (`accountOfRun`).
 */
export function requestsLeft(state: LedgerState): number | null {
  const { run, overage } = state;
  if (state.quota === null && state.quotaCap === null) return null;
  const quota = Math.min(state.quota ?? Number.POSITIVE_INFINITY, state.quotaCap ?? Number.POSITIVE_INFINITY);
  const spent = spentOf(state);
  const withinQuota = Math.max(0, quota - spent);
  const overageLeft = Math.max(0, overage - Math.max(0, spent - quota));
  const overageOfRun = overageLeftFor(run);
  const requestsOfRun = (run?.maxRequests ?? Number.POSITIVE_INFINITY) - (run?.requests ?? 0);
  return Math.max(0, Math.min(withinQuota + Math.min(overageLeft, overageOfRun), requestsOfRun));
}

/**
 * Chunks that may be handed out before those are settled. One at least, because it finds out what is not known, and
 * one worker asks for a chunk in its order.
 */
export function chunksAhead(state: LedgerState): number {
  return Math.max(1, Math.floor((requestsLeft(state) ?? 0) / CHUNK_SIZE));
}
