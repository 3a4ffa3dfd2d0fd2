/** Why a run waits, stopped or ended, and why a lookup failed, in the words of its reader. Pure. */
import { countOf, countText, sentenceOf, spanText } from '../../core/figures.js';
import { type Naming, type Phrase, phrase, sayPhrase } from '../../core/phrase.js';
import { shortName, visibleLine } from '../../core/terminal-text.js';
import type {
  FailureReason,
  RunHalt,
  RunStop,
  Unreached,
  UnusableAnswers,
} from '../../engine/stores/run-reasons.js';
import { cancelledText, pausedText, sinceText } from '../../engine/stores/run-store.js';
import type { JudgedRun, RunHold } from '../facts/judge-runs.js';
import { onPage } from './page-words.js';

/** The reader of a text. `inbox` and `page`: a person without a command line. */
export type Reader = 'terminal' | 'program' | 'inbox' | 'page' | 'cell' | 'notice';

/** Returns a setting by the name that the reader uses: `--max-cost`, or `maxCost`. */
export function settingName(key: string, reader: Reader): string {
  return sayTo(reader, phrase`${{ setting: key }}`);
}

/** Returns a text that names settings, for its reader. */
export function sayTo(reader: Reader, text: Phrase): string {
  return sayPhrase(text, namingFor(reader));
}

/** Returns how a reader names settings. */
export function namingFor(reader: Reader): Naming {
  if (reader === 'page') return onPage;
  return reader === 'program' || reader === 'inbox' ? 'keys' : 'flags';
}

/** Says why a run halted, as part of a sentence. */
export function sayHalt(halt: RunHalt, reader: Reader): string {
  switch (halt.why) {
    case 'credentials':
      return `${halt.reason} (status ${halt.status})`;
    case 'limit':
      return sayReached(halt.reached, reader);
    case 'throttled':
      return `the service refused every request as too many for ${Math.round(halt.forMs / 1_000)} s`;
    case 'unreachable':
      return sayUnreached(halt.how, halt.reason);
    case 'useless':
      return sayUseless(halt.useless);
    case 'doubtful':
      return (
        `for ${countOf(halt.identifiers, 'identifier')}, two requests may have been billed and their ` +
        'answers were lost; a run does not retry more often'
      );
    case 'lost':
      return 'the queue lost its chunks';
    case 'unmatched':
      return sayUnmatched(halt);
  }
}

/** Returns `0 of 50 found: is `website` the right column?` */
function sayUnmatched({ matched, answered, columns }: Extract<RunHalt, { why: 'unmatched' }>): string {
  const names = columns.map((name) => `\`${shortName(visibleLine(name))}\``).join(', then ');
  const right = columns.length === 1 ? `is ${names} the right column` : `are ${names} the right columns`;
  return `${countText(matched)} of ${countText(answered)} found: ${right}?`;
}

function sayReached(reached: Extract<RunHalt, { why: 'limit' }>['reached'], reader: Reader): string {
  // Pages and files also reach people without a command line.
  const isPlain = reader === 'page' || reader === 'cell' || reader === 'inbox';
  const byStarts = 'is reached by this run and earlier starts of it';
  switch (reached.name) {
    case 'service':
      return `the service refuses further ${isPlain ? 'lookups' : 'requests'}: its quota is reached`;
    case 'account':
      if (reached.overage === 0) return 'the quota is used up';
      return `the quota and the ${isPlain ? 'budget for extra cost' : 'overage budget'} are used up`;
    case 'quota': {
      const quota = isPlain
        ? `the quota of ${reached.quota} that is set here`
        : `${settingName('quota', reader)} ${reached.quota}`;
      return reached.overage > 0
        ? `${quota} and the ${countOf(reached.overage, 'request')} beyond it that the overage budget ` +
            'allows are used up'
        : `${quota} is used up`;
    }
    case 'maxRequests':
      return isPlain
        ? `the cap of ${countOf(reached.maxRequests, 'paid lookup')} is reached`
        : `${settingName('maxRequests', reader)} ${reached.maxRequests} ${byStarts}`;
    case 'maxCost':
      return isPlain ? 'the cap on money is reached' : `${settingName('maxCost', reader)} ${byStarts}`;
    case 'overstated':
      return (
        `the service refuses every request at a usage of ${reached.usage} and a quota of ` +
        `${reached.quota}: the plan or the overage budget set here is higher than in the account`
      );
  }
}

function sayUnreached(how: Unreached, reason: string): string {
  if (how === 'minute') return `the service was unreachable for a minute: ${reason}`;
  const never = how === 'unanswered' ? ', and this address has never answered' : '';
  return `the service cannot be reached: ${reason}${never}`;
}

function sayUseless(useless: UnusableAnswers): string {
  if (useless.how === 'unusable')
    return `${useless.answers} answers in a row were unusable: ${useless.reason}`;
  const never = `is the address right? ${useless.service} gave this run no good answer`;
  return useless.how === 'unproven'
    ? `${never} and refused every request without a usage header or an error code`
    : `${never}; this one has no usage header, no error code and no JSON object: ${useless.answer}`;
}

/** Says why a lookup failed, as part of a sentence. */
export function sayFailure(reason: FailureReason): string {
  switch (reason.code) {
    case 'answer':
      return reason.text;
    case 'damaged':
      return (
        'the stored answer is damaged; `brand-enrich outcomes forget` removes it, and the next run ' +
        'asks again'
      );
    case 'unknown_dictionary':
      return (
        `the stored answer was packed with dictionary ${reason.dictionary}, which this version does ` +
        'not know; it is not bought again: read it with the version of brand-enrich that stored it, ' +
        'or a later one'
      );
    case 'unknown':
      return 'the engine no longer has a readable reason';
    case 'unavailable':
      return 'the service gave no good answer for 30 minutes';
    case 'lost':
      return (
        'not retried: two requests may have been billed, and their answers were lost with killed ' +
        'workers or connections'
      );
    case 'unproven':
      return (
        `${reason.text}, not believed: the address gave this run no good answer, and this one has ` +
        'neither a usage header nor an error code'
      );
    case 'foreign':
      return `${reason.text}, but not from the service: no usage header, no error code, no JSON object`;
  }
}

/** Says why a run ended before it was complete, as part of a sentence. */
export function sayStop(stop: RunStop, reader: Reader): string {
  switch (stop.type) {
    case 'halted':
      return sayHalt(stop.halt, reader);
    case 'stopped':
      return 'the run was stopped';
    case 'failed':
      return stop.reason;
    case 'cancelled':
      return 'the run was cancelled';
    case 'paused':
      return 'the run was paused';
    case 'declined':
      return 'the run ended after its trial';
    case 'spending_declined':
      return 'you declined the spending';
    case 'too_many_failures':
      return `more lookups failed than ${settingName('maxErrors', reader)} allows`;
    case 'killed':
      return 'its process was killed';
    case 'closed':
      return 'the program closed it';
    case 'renewed':
      return 'another run of the program continues it';
  }
}

/** Says in a row why its identifier was not looked up. */
export function sayDeferred(stop: RunStop, reader: Reader): string {
  return `not looked up: ${sayStop(stop, reader)}`;
}

/** The words for requests that only the ledger counts for a run. */
export const UNREPORTED = 'in flight when their worker ended';

/** Says more of a run than its state, or null. `now`: by the clock that dates its heartbeat. */
export function sayRun(
  { run, why }: Pick<JudgedRun, 'run' | 'why'>,
  reader: 'terminal' | 'page',
  now: number,
): string | null {
  const isPage = reader === 'page';
  switch (why?.type) {
    case undefined:
      return null;
    case 'queued':
      return isPage ? `Waiting: ${why.behind}; runs take turns.` : why.behind;
    case 'paused':
      if (isPage)
        return (
          `${sentenceOf(pausedText(why.order))} ` +
          `${why.continues ? '“Resume” continues it.' : 'Resume it, then run the same command again.'}`
        );
      return (
        `${sinceText(why.order)}; \`brand-enrich resume ${run.id}\` ` +
        `${why.continues ? 'continues it' : 'allows it, then run the same command again'}`
      );
    case 'gone':
      return isPage
        ? `Its process is gone. ${continuationText(why.continues)}`
        : `its process is gone; ${why.continues ? TAKEN_OVER : AGAIN}`;
    case 'silent':
      return isPage
        ? `No heartbeat for ${spanText(now - run.heartbeatAt)}: it was killed, or lost its engine. ` +
            `${continuationText(why.continues)}`
        : `it has no heartbeat: it was killed, or lost its engine; ${why.continues ? TAKEN_OVER : AGAIN}`;
    case 'cancelled':
      return isPage ? sentenceOf(cancelledText(why.order)) : cancelledText(why.order);
    case 'held':
      return isPage ? `Waiting: ${sayHold(why.hold, reader)}.` : sayHold(why.hold, reader);
    case 'nothing matched':
      return isPage ? 'Nothing matched: are the column and its kind right?' : 'nothing matched';
    case 'stopped':
      if (!isPage) return sayStop(why.stop, reader);
      // The label of the run says so already.
      if (why.stop.type === 'stopped' || why.stop.type === 'cancelled') return null;
      return sentenceOf(sayStop(why.stop, reader));
  }
}

const AGAIN = 'run the same command again to continue';
const TAKEN_OVER = 'the next watcher or scheduled start continues it';

function continuationText(isTakenOver: boolean): string {
  return `${sentenceOf(isTakenOver ? TAKEN_OVER : AGAIN)} Paid answers are stored.`;
}

/** Says why a run or its account may not spend, as a clause. */
export function sayHold(hold: RunHold, reader: 'terminal' | 'page'): string {
  switch (hold) {
    case 'paused':
      return reader === 'page' ? 'spending is paused' : '`brand-enrich resume` allows spending again';
    case 'closed':
      return 'the service refuses further requests until the quota is raised or the next period begins';
    case 'used up':
      return 'the limit is used up until quota or budget is raised or the next period begins';
    case 'capped':
      return `its ${reader === 'page' ? 'own ' : ''}${settingName('maxRequests', reader)} is reached`;
  }
}
