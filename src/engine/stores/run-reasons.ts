/**
 * Why a run stopped and why a lookup failed, as codes whose spelling never changes, since scripts
 * read them. `worker/judge.ts` decides on them, and `words/say-reason.ts` puts them into words.
 */
import { count, flag, list, oneOf, type Shaped, text, word } from '../../core/shapes.js';
import { REACHED_LIMITS } from '../../ledger/policy.js';

/** `lasting`: a wrong host or certificate. `unanswered`: nothing has ever listened there. */
const unreached = word('minute', 'lasting', 'unanswered');
export type Unreached = Shaped<typeof unreached>;

const unusableAnswers = oneOf('how', {
  /** Unusable answers in a row, for instance from a login page that answers everything with 200. */
  unusable: { answers: count, reason: text },
  /** The address is not trusted yet, and this answer is not the service's. */
  foreign: { service: text, answer: text },
  /** The address is not trusted yet, and refused every request without evidence of the service. */
  unproven: { service: text },
});
export type UnusableAnswers = Shaped<typeof unusableAnswers>;

const reached = oneOf('name', {
  ...REACHED_LIMITS,
  /** The service refuses for its quota, although the run's plan and overage budget allow more. */
  overstated: { usage: count, quota: count },
});

/**
 * Why workers stopped asking for a run. The first report stays until `clearHalt`. `reason` and
 * `answer` are words of the service, the network or the system.
 */
export const runHaltShape = oneOf('why', {
  credentials: { reason: text, status: count },
  limit: { reached },
  throttled: { forMs: count },
  unreachable: { how: unreached, reason: text },
  /** The answers are unusable or untrusted and may be billed, so asking again would cost again. */
  useless: { useless: unusableAnswers },
  /** All are asked, but some lookups have no answer after two requests that may be billed. */
  doubtful: { identifiers: count },
  /** The queue lost the run's chunks. */
  lost: {},
  /** Too few of the first answers are matches; a person decides about the rest. */
  unmatched: { matched: count, answered: count, columns: list(text) },
});
export type RunHalt = Shaped<typeof runHaltShape>;

export const runStopShape = oneOf('type', {
  halted: { halt: runHaltShape },
  stopped: {},
  /** For instance, the input changed or an output cannot be written. */
  failed: { reason: text },
  cancelled: {},
  paused: {},
  /** A person declined after the trial. */
  declined: {},
  /** A person declined before anything was spent. */
  spending_declined: {},
  too_many_failures: {},
  /** The run's process was killed; found by the next start of the command. */
  killed: {},
  /** The program was closed, or another of its runs continues. */
  closed: {},
  renewed: {},
});
export type RunStop = Shaped<typeof runStopShape>;

/** Why a lookup failed. `text`: the answer's words, and its cost if that is unclear. */
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
  /** The address is not trusted yet; once it is, `saysNotFound` makes this a "not found". */
  unproven: { text, saysNotFound: flag },
  /** The answer is not the service's. */
  foreign: { text },
});
export type FailureReason = Shaped<typeof failureReasonShape>;
