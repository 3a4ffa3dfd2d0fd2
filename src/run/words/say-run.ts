/** Why a run does not go on, or ended as it did: a clause for a terminal, sentences for a page. */
import { sentenceOf, spanText } from '../../core/figures.js';
import { cancelledText, pausedText, sinceText } from '../../engine/stores/run-store.js';
import type { JudgedRun, RunHold } from '../facts/judge-runs.js';
import { sayStop, settingName } from './say-reason.js';

/** What is said of requests that only the ledger counts for a run. */
export const UNREPORTED = 'in flight when their worker ended';

/** null: there is nothing to say beside its state. `now`: by the clock that dates its heartbeat. */
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
          `${why.goesOn ? '“Resume” continues it.' : 'Resume it, then run the same command again.'}`
        );
      return (
        `${sinceText(why.order)}; \`brand-enrich resume ${run.id}\` ` +
        `${why.goesOn ? 'continues it' : 'allows it, then run the same command again'}`
      );
    case 'gone':
      return isPage
        ? `Its process is gone. ${goesOnText(why.goesOn)}`
        : `its process is gone; ${why.goesOn ? TAKEN_OVER : AGAIN}`;
    case 'silent':
      return isPage
        ? `No heartbeat for ${spanText(now - run.heartbeatAt)}: it was killed, or lost its engine. ` +
            `${goesOnText(why.goesOn)}`
        : `it has no heartbeat: it was killed, or lost its engine; ${why.goesOn ? TAKEN_OVER : AGAIN}`;
    case 'cancelled':
      return isPage ? sentenceOf(cancelledText(why.order)) : cancelledText(why.order);
    case 'held':
      return isPage ? `Waiting: ${sayHold(why.hold, reader)}.` : sayHold(why.hold, reader);
    case 'nothing matched':
      return isPage ? 'Nothing matched: are the column and its kind right?' : 'nothing matched';
    case 'stopped':
      if (!isPage) return sayStop(why.stop, reader);
      // The label beside it says as much.
      if (why.stop.type === 'stopped' || why.stop.type === 'cancelled') return null;
      return sentenceOf(sayStop(why.stop, reader));
  }
}

const AGAIN = 'run the same command again to continue';
const TAKEN_OVER = 'the next watcher or scheduled start goes on with it';

function goesOnText(isTakenOver: boolean): string {
  return `${sentenceOf(isTakenOver ? TAKEN_OVER : AGAIN)} Paid answers are stored.`;
}

/** Why a run, or its account, may not spend: a clause. */
export function sayHold(hold: RunHold, reader: 'terminal' | 'page'): string {
  switch (hold) {
    case 'paused':
      return reader === 'page' ? 'spending is paused' : '`brand-enrich resume` allows spending again';
    case 'closed':
      return 'the service refuses further requests until the quota is raised or the next period begins';
    case 'used up':
      return 'the limit is used up; it continues when quota or budget is raised or the next period begins';
    case 'capped':
      return `its ${reader === 'page' ? 'own ' : ''}${settingName('maxRequests', reader)} is reached`;
  }
}
