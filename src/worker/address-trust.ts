/**
 * What one worker knows of the address of its service: of each run whether an answer showed the
 * service, and which refusals are not trusted yet; of all runs how many answers in a row were
 * unusable.
 *
 * Until a run has an answer that shows the service, each worker sends one request at a time for it:
 * a wrong address is paid for once, or five times where it answers in JSON, and not in every slot.
 */
import pLimit from 'p-limit';
import type { NewOutcome } from '../core/outcome.js';
import type { RunStore } from '../engine/run-calls.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { createRecentRuns } from './recent-runs.js';

export interface RunTrust {
  isTrusted: boolean;
  /** Answers that could not be trusted. */
  untrusted: number;
  /** Those of them that are a "not found" once the address is trusted. */
  kept: NewOutcome[];
  /** Lets requests through one by one. */
  readonly line: ReturnType<typeof pLimit>;
}

export type AddressTrust = ReturnType<typeof createAddressTrust>;

/** One per worker. */
export function createAddressTrust(service: string, runs: Pick<RunStore, 'get'>) {
  const trusts = createRecentRuns(
    (): RunTrust => ({ isTrusted: false, untrusted: 0, kept: [], line: pLimit(1) }),
  );
  /** Since the last good answer. */
  let unusable = 0;

  return {
    service,

    /** Trusts a run whose record has answers, which another worker had. */
    of({ id, tally }: Pick<RunRecord, 'id' | 'tally'>): RunTrust {
      const trust = trusts.of(id);
      trust.isTrusted ||= hasAnswers(tally);
      return trust;
    },

    /** True if a run has answers by now; false where the engine cannot say. */
    async hasAnswersOf(run: string): Promise<boolean> {
      const record = await runs.get(run).catch(() => null);
      return record !== null && hasAnswers(record.tally);
    },

    noteGood(): void {
      unusable = 0;
    },

    /** Returns how many there are in a row. */
    noteUnusable(): number {
      unusable += 1;
      return unusable;
    },

    /** A run that its answers halted begins anew when it is resumed. */
    forget(run: string): void {
      trusts.forget(run);
      unusable = 0;
    },
  };
}

export function hasAnswers({ matched, notFound }: RunRecord['tally']): boolean {
  return matched + notFound > 0;
}
