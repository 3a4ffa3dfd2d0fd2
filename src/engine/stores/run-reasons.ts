/**
 * Why a run stopped, and why a lookup failed, as facts with codes that keep their spelling.
 * `worker/judge.ts` concludes them, `words/say-reason.ts` says them to each reader. An `unproven`
 * answer is untrusted, a `foreign` one is not the service's.
 */
import { count, flag, list, oneOf, type Shaped, text, word } from '../../core/shapes.js';
import { REACHED_LIMITS } from '../../ledger/policy.js';

/**
 *   minute      for a minute, though it may be down and come back
 *   lasting     a misspelt host, or a certificate that is not trusted: waiting would not help
 *   unanswered  nothing listens at an address that never answered: more likely a wrong port
 */
const unreached = word('minute', 'lasting', 'unanswered');
export type Unreached = Shaped<typeof unreached>;

const unusableAnswers = oneOf('how', {
  /** Unusable answers in a row: a login page or a proxy answers everything with 200, say. */
  unusable: { answers: count, reason: text },
  /** The address is not trusted, and this answer is not the service's. */
  foreign: { service: text, answer: text },
  /** The address is not trusted, and refused every request without evidence of the service. */
  unproven: { service: text },
});
export type UnusableAnswers = Shaped<typeof unusableAnswers>;

/** A limit, or what speaks against those that are set. */
const reached = oneOf('name', {
  ...REACHED_LIMITS,
  /** The service refuses for quota where plan and overage budget of the run would allow more. */
  overstated: { usage: count, quota: count },
});

/**
 * Why workers stopped asking for a run: the first report wins and stays until `clearHalt`. `reason`
 * and `answer` are words of the service, the network or the system.
 */
export const runHaltShape = oneOf('why', {
  credentials: { reason: text, status: count },
  limit: { reached },
  throttled: { forMs: count },
  unreachable: { how: unreached, reason: text },
  /** The answers are unusable or untrusted, and may be billed: asking again would cost again. */
  useless: { useless: unusableAnswers },
  /** All is asked, and for some lookups two requests were maybe billed, without an answer. */
  doubtful: { identifiers: count },
  /** The queue lost its chunks. */
  lost: {},
  /** Too few of the first answers are matches: a person decides about the rest. */
  unmatched: { matched: count, answered: count, columns: list(text) },
});
export type RunHalt = Shaped<typeof runHaltShape>;

export const runStopShape = oneOf('type', {
  halted: { halt: runHaltShape },
  stopped: {},
  /** An error ended it: its file changed, say, or an output cannot be written. */
  failed: { reason: text },
  cancelled: {},
  paused: {},
  /** After its trial. */
  declined: {},
  /** Before it spent anything. */
  spending_declined: {},
  too_many_failures: {},
  /** Its process, before the next start of the command. */
  killed: {},
  /** The program was closed, or another run of it goes on. */
  closed: {},
  renewed: {},
});
export type RunStop = Shaped<typeof runStopShape>;

/** Why a lookup failed. `text`: what the answer said, and what it cost where that is unclear. */
export const failureReasonShape = oneOf('code', {
  answer: { text },
  /** The answer is stored, and not readable any more. */
  damaged: {},
  /** The answer was packed with a dictionary of a later version. */
  unknown_dictionary: { dictionary: count },
  /** The reason is kept, and not readable any more. */
  unknown: {},
  /** The service has been unavailable for so long that waiting is over. */
  unavailable: {},
  /** Two requests may have been billed, and neither got an answer. */
  lost: {},
  /** Untrusted until the address is; with `saysNotFound` it then becomes a "not found". */
  unproven: { text, saysNotFound: flag },
  /** Not the service's. */
  foreign: { text },
});
export type FailureReason = Shaped<typeof failureReasonShape>;
