/**
 * Why a run stopped, and why a lookup failed, as facts: the engine keeps them, programs judge them,
 * and `words/say-reason.ts` says them to each reader.
 */
import type { ReachedLimit } from '../ledger/policy.js';

/**
 * Why workers stopped asking for a run: the first report wins and stays until `clearHalt`.
 *
 *   useless   what comes back is of no use and was or may have been billed, so that asking again
 *             would cost again
 *   doubtful  all is asked, and of some lookups two requests may have been billed whose answers
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
  /** A login page or a proxy in front answers everything with 200, and each answer is paid for. */
  | { readonly how: 'unusable'; readonly answers: number; readonly reason: string }
  /** The address never gave a good answer, and this one does not come from the service. */
  | { readonly how: 'foreign'; readonly service: string; readonly answer: string }
  /** The address never gave a good answer, and refused all without evidence of the service. */
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
   * Not believed until the address gave a good answer. `saysNotFound`: then it becomes a "not
   * found"; any other refusal counts as the service's own.
   */
  | { readonly code: 'unproven'; readonly text: string; readonly saysNotFound: boolean }
  /** Not from the service. */
  | { readonly code: 'foreign'; readonly text: string };
