/**
 * Why a run stopped, and why a lookup failed, as facts: `worker/judge.ts` concludes them, engines
 * keep them, programs read them, and `words/say-reason.ts` says them to each reader. Their codes
 * keep their spelling. In the words of the judge an `unproven` answer is untrusted, a `foreign` one
 * is not the service's, and `useless` ones are these and unusable ones.
 */
import type { ReachedLimit } from '../ledger/policy.js';

/**
 * Why workers stopped asking for a run: the first report wins and stays until `clearHalt`.
 *
 *   useless   the answers are unusable or untrusted, and were or may have been billed: asking again
 *             would cost again
 *   doubtful  all is asked, and for some lookups two requests were maybe billed and their answers
 *             were lost
 *   lost      the queue lost its chunks
 *
 * `reason` and `answer` are words of the service, the network or the system.
 */
export type RunHalt =
  | { readonly why: 'credentials'; readonly reason: string; readonly status: number }
  | { readonly why: 'limit'; readonly reached: ReachedLimit | Overstated }
  | { readonly why: 'throttled'; readonly forMs: number }
  | { readonly why: 'unreachable'; readonly how: Unreached; readonly reason: string }
  | { readonly why: 'useless'; readonly useless: UnusableAnswers }
  | { readonly why: 'doubtful'; readonly identifiers: number }
  | { readonly why: 'lost' };

/** The service refuses for quota where plan and overage budget of the run would allow more. */
export interface Overstated {
  readonly name: 'overstated';
  readonly usage: number;
  readonly quota: number;
}

/**
 *   minute      for a minute, though it may be down and come back
 *   lasting     a misspelt host, or a certificate that is not trusted: waiting would not help
 *   unanswered  nothing listens at an address that never answered: more likely a wrong port
 */
export type Unreached = 'minute' | 'lasting' | 'unanswered';

export type UnusableAnswers =
  /** Unusable answers in a row: a login page or a proxy answers everything with 200, say. */
  | { readonly how: 'unusable'; readonly answers: number; readonly reason: string }
  /** The address is not trusted, and this answer is not the service's. */
  | { readonly how: 'foreign'; readonly service: string; readonly answer: string }
  /** The address is not trusted, and refused every request without evidence of the service. */
  | { readonly how: 'unproven'; readonly service: string };

export type RunStop =
  | { readonly type: 'halted'; readonly halt: RunHalt }
  | {
      readonly type:
        | 'stopped'
        | 'cancelled'
        | 'paused'
        /** After its trial. */
        | 'declined'
        /** Before it spent anything. */
        | 'spending_declined'
        | 'too_many_failures'
        /** Its process, before the next start of the command. */
        | 'killed'
        /** The program was closed, or another run of it goes on. */
        | 'closed'
        | 'renewed';
    };

/** Why a lookup failed. `text`: what the answer said, and what it cost where that is unclear. */
export type FailureReason =
  | { readonly code: 'answer'; readonly text: string }
  /** The answer is stored, and not readable any more. */
  | { readonly code: 'damaged' }
  /** The reason is kept, and not readable any more. */
  | { readonly code: 'unknown' }
  /** The service has been unavailable for so long that waiting is over. */
  | { readonly code: 'unavailable' }
  /** Two requests may have been billed, and neither got an answer. */
  | { readonly code: 'lost' }
  /**
   * Untrusted until the address gave a good answer. `saysNotFound`: then it becomes a "not found";
   * any other refusal counts as the service's own.
   */
  | { readonly code: 'unproven'; readonly text: string; readonly saysNotFound: boolean }
  /** Not the service's. */
  | { readonly code: 'foreign'; readonly text: string };
