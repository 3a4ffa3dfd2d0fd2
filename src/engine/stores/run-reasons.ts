/**
 * Why a run stopped, and why a lookup failed, as facts with codes that keep their spelling.
 * `worker/judge.ts` concludes them, `words/say-reason.ts` says them to each reader. An `unproven`
 * answer is untrusted, a `foreign` one is not the service's.
 */
import { count, flag, list, oneOf, type Shaped, text, word } from '../../core/shapes.js';
import { REACHED_LIMITS } from '../../ledger/policy.js';

/** `lasting`: a wrong host or certificate. `unanswered`: nothing listens there, and never did. */
const unreached = word('minute', 'lasting', 'unanswered');
export type Unreached = Shaped<typeof unreached>;

const unusableAnswers = oneOf('how', {
  /** In a row: a login page or a proxy answers everything with 200, say. */
  unusable: { answers: count, reason: text },
  /** The address is not trusted, and this answer is not the service's. */
  foreign: { service: text, answer: text },
  /** The address is not trusted, and refused every request without evidence of the service. */
  unproven: { service: text },
});
export type UnusableAnswers = Shaped<typeof unusableAnswers>;

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
  /** Its file changed, say, or an output cannot be written. */
  failed: { reason: text },
  cancelled: {},
  paused: {},
  /** After its trial; `spending_declined` is before anything was spent. */
  declined: {},
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
  /** The stored answer cannot be read. */
  damaged: {},
  /** A later version packed the answer. */
  unknown_dictionary: { dictionary: count },
  /** The stored reason cannot be read. */
  unknown: {},
  /** The service was unavailable for too long. */
  unavailable: {},
  /** Two requests may have been billed, and neither got an answer. */
  lost: {},
  /** Untrusted until the address is; with `saysNotFound` it then becomes a "not found". */
  unproven: { text, saysNotFound: flag },
  foreign: { text },
});
export type FailureReason = Shaped<typeof failureReasonShape>;
