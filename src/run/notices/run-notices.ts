/** The notifications of one run: parked, 80 % of the limit, and its end. */
import { hostname } from 'node:os';
import { basename, resolve } from 'node:path';
import type { Clock } from '../../core/clock.js';
import { EXIT, type ExitCode, InterruptedError } from '../../core/errors.js';
import type { NotifyEvent } from '../../settings/process-settings.js';
import type { EnrichResult } from '../enrich-file.js';
import type { EnrichProgress } from '../enrich-request.js';
import type { RunReport } from '../report/report.js';
import { sayHalt } from '../words/say-reason.js';
import { type NoticeScene, noticeOfAccount, noticeOfError, noticeOfReport } from './notice.js';
import type { Notifier } from './notifier.js';

export type RunNotices = ReturnType<typeof createRunNotices>;

export function createRunNotices(options: {
  readonly notifier: Notifier;
  readonly input: string;
  readonly isSample: boolean;
  readonly clock: Clock;
}) {
  const { notifier, input, isSample, clock } = options;
  const label = `${hostname()}: ${input === '-' ? 'stdin' : basename(input)}`;
  let isParked = false;
  let id: string | null = null;
  const scene = (): NoticeScene => ({ at: clock.now(), isSample, run: { id, label } });

  return {
    noteProgress({ runId, phase, run, ledger }: EnrichProgress, account: string): void {
      id = runId;
      notifier.notifyNearLimit(account, ledger, scene().run);
      const wasParked = isParked;
      isParked = phase === 'parked';
      if (!isParked || wasParked) return;
      const sentence = run?.halt ? sayHalt(run.halt, 'notice') : 'spending is stopped';
      notifier.notify(
        noticeOfAccount('parked', scene(), `${sentence}; the run continues when it can spend again`, ledger),
      );
    },
    noteEnd(
      { run, ledger, names, end }: EnrichResult,
      report: RunReport,
      exitCode: ExitCode,
      account: string,
    ): void {
      id = run.id;
      notifier.notifyNearLimit(account, ledger, scene().run);
      // A trial ends as intended, and a person who paused it knows.
      const event = end.type === 'declined' || end.type === 'paused' ? null : eventOf(exitCode);
      if (event === null) return;
      const notice = noticeOfReport(event, scene(), report, resolve(names.report));
      // A later start of the same command is still held.
      if (report.stopped === null) notifier.notify(notice);
      else notifier.notifyOnce(notice, `held\n${run.key}\n${run.keyStartedAt}`);
    },
    /** Runs `action`; notifies of its error, unless a person stopped it, and rethrows. */
    async notingErrors<T>(stop: AbortSignal, action: () => Promise<T>): Promise<T> {
      try {
        return await action();
      } catch (error) {
        if (!stop.aborted && !(error instanceof InterruptedError))
          notifier.notify(noticeOfError(error, scene()));
        throw error;
      }
    },
  };
}

/** null: a person stopped the run, and knows. */
function eventOf(exitCode: ExitCode): NotifyEvent | null {
  if (exitCode === EXIT.done || exitCode === EXIT.someFailed) return 'finish';
  if (exitCode === EXIT.interrupted) return null;
  return exitCode === EXIT.limit ? 'parked' : 'failure';
}
