/**
 * Judges the address of the service. Until an answer proves that it is the service, a worker sends
 * one request at a time for a run: a wrong address costs one, or five if it answers in JSON.
 */
import pLimit from 'p-limit';
import type { NewOutcome } from '../core/outcome.js';
import type { RunStore } from '../engine/run-calls.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { createRecentRuns } from './recent-runs.js';

export interface RunTrust {
  isTrusted: boolean;
  /** Number of answers that could not be trusted. */
  untrusted: number;
  /** Their "not found" answers, to record once the address is trusted. */
  kept: NewOutcome[];
  /** Lets requests pass one by one. */
  readonly oneByOne: ReturnType<typeof pLimit>;
}

export type AddressTrust = ReturnType<typeof createAddressTrust>;

/** Creates the trust of one worker. */
export function createAddressTrust(service: string, runs: Pick<RunStore, 'get'>) {
  const trusts = createRecentRuns(
    (): RunTrust => ({ isTrusted: false, untrusted: 0, kept: [], oneByOne: pLimit(1) }),
  );
  /** Unusable answers since the last good one. */
  let unusable = 0;

  return {
    service,

    /** Returns the trust of a run. A record with answers, perhaps of another worker, is proof. */
    of({ id, tally }: Pick<RunRecord, 'id' | 'tally'>): RunTrust {
      const trust = trusts.of(id);
      trust.isTrusted ||= hasAnswers(tally);
      return trust;
    },

    /** True if a run has answers by now; false if the engine cannot say. */
    async hasAnswersOf(run: string): Promise<boolean> {
      const record = await runs.get(run).catch(() => null);
      return record !== null && hasAnswers(record.tally);
    },

    noteGood(): void {
      unusable = 0;
    },

    /** Returns the number of unusable answers in a row. */
    noteUnusable(): number {
      unusable += 1;
      return unusable;
    },

    /** Forgets a run that its answers halted: once resumed, it must prove the address again. */
    forget(run: string): void {
      trusts.forget(run);
      unusable = 0;
    },
  };
}

export function hasAnswers({ matched, notFound }: RunRecord['tally']): boolean {
  return matched + notFound > 0;
}
