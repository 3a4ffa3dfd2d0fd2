/**
 * How a run shows itself: on a terminal or in a pipe (`run`), or as lines of a log (inboxes and schedules).
 */
import type { Settings } from '../config/settings.js';
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import type { Streams } from '../core/terminal-text.js';
import { isNearLimit, limitOf } from '../ledger/policy.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import { confirmSpending } from './confirm-spending.js';
import type { EnrichProgress, EnrichSurroundings } from './enrich-request.js';
import { createProgressView } from './progress-view.js';

export interface RunView {
  update(progress: EnrichProgress): void;
  /** A sentence for people, as it becomes true. */
  notice(sentence: string): void;
  /** The same for what is said with `--quiet` too. */
  warn(sentence: string): void;
  /** See `EnrichSurroundings`. */
  readonly confirm: EnrichSurroundings['confirm'];
  /** Nothing is shown of the run any more but sentences. */
  end(): void;
}

export interface TerminalViewOptions {
  readonly streams: Pick<Streams, 'stdin' | 'stderr'>;
  readonly settings: Pick<Settings, 'quiet' | 'color' | 'overagePrice' | 'yes' | 'confirmAbove'>;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

export function createTerminalView({ streams, settings, clock, stop }: TerminalViewOptions): RunView {
  const view = createProgressView({
    stream: streams.stderr,
    isQuiet: settings.quiet,
    hasColor: settings.color,
    overagePrice: settings.overagePrice,
    now: clock.monotonic,
  });
  let isOutageShown = false;
  let isNearLimitShown = false;
  return {
    ...view,
    update(progress) {
      view.update(progress);
      const { trouble, ledger } = progress;
      // Once: the progress repeats it.
      if (trouble !== null && !isOutageShown) {
        isOutageShown = true;
        view.warn(`the service is unavailable: ${trouble}; trying again with one request at a time`);
      }
      if (ledger !== null && isNearLimit(ledger) && !isNearLimitShown) {
        isNearLimitShown = true;
        const limit = limitOf(ledger)?.toLocaleString('en-US');
        view.warn(`warning: 80 % of the limit of ${limit} requests is used`);
      }
    },
    confirm: (estimate) => confirmSpending(estimate, settings, { ...streams, stop }, view),
  };
}

/** `about` names the run in each line. `standing` is one for all runs of an account that are under way together. */
export function createLogView(
  log: Log,
  about: Readonly<Record<string, string>>,
  standing: Standing,
): RunView {
  return {
    update: standing.note,
    notice: (sentence) => log.info(about, sentence),
    warn: (sentence) => log.warn(about, sentence),
    async confirm({ requests, overageRequests, maxCost }) {
      log.info({ ...about, requests, overageRequests, maxCost }, 'asking the service');
      return true;
    },
    end: () => undefined,
  };
}

/** Logs an outage of the service and its end, and once that the limit is near, whichever run it shows with. */
export interface Standing {
  note(progress: Pick<EnrichProgress, 'ledger' | 'trouble'>): void;
}

/** `shared`: the worker of all these runs, which knows of trouble before a run has asked; null: each has its own. */
export function createStanding(log: Log, shared: Pick<LookupWorker, 'trouble'> | null): Standing {
  let isNear = false;
  let isOut = false;
  return {
    note(progress) {
      const { ledger } = progress;
      const trouble = shared === null ? progress.trouble : shared.trouble;
      if (trouble !== null && !isOut) log.warn({ reason: trouble }, 'the service is unavailable');
      if (trouble === null && isOut) log.info('the service is available again');
      isOut = trouble !== null;
      if (ledger === null) return;
      if (isNearLimit(ledger) && !isNear) log.warn('80 % of the limit is used');
      isNear = isNearLimit(ledger);
    },
  };
}
