/**
 * The notifications of one run: parked, 80 % of the limit, and its end.
 */
import { hostname } from 'node:os';
import { basename, resolve } from 'node:path';
import type { Clock } from '../../core/clock.js';
import type { ExitCode } from '../../core/errors.js';
import type { EnrichProgress, EnrichResult } from '../enrich-request.js';
import type { RunReport } from '../report/report.js';
import { eventOfEnd, type NoticeScene, noticeOfAccount, noticeOfError, noticeOfReport } from './notice.js';
import type { Notifier } from './notifier.js';

export interface RunNotices {
  noteProgress(progress: EnrichProgress, account: string): void;
  noteEnd(result: EnrichResult, report: RunReport, exitCode: ExitCode, account: string): void;
  /** Runs `action`; what prevents the run or breaks it off is notified, unless a person stopped it, and thrown on. */
  notingErrors<T>(stop: AbortSignal, action: () => Promise<T>): Promise<T>;
}

export interface RunNoticesOptions {
  readonly notifier: Notifier;
  readonly input: string;
  readonly isSample: boolean;
  readonly clock: Clock;
}

export function createRunNotices({ notifier, input, isSample, clock }: RunNoticesOptions): RunNotices {
  const label = `${hostname()}: ${input === '-' ? 'stdin' : basename(input)}`;
  let isParked = false;
  let runId: string | null = null;

  const scene = (): NoticeScene => ({ at: clock.now(), isSample, run: { id: runId, label } });

  return {
    noteProgress(progress, account) {
      runId = progress.runId;
      notifier.notifyNearLimit(account, progress.ledger, scene().run);
      const wasParked = isParked;
      isParked = progress.phase === 'parked';
      if (!isParked || wasParked) return;
      const sentence = progress.run?.halt?.sentence ?? 'nothing may be spent';
      notifier.notify(
        noticeOfAccount('parked', scene(), `${sentence}; it goes on by itself`, progress.ledger),
      );
    },
    noteEnd(result, report, exitCode, account) {
      runId = result.run.id;
      notifier.notifyNearLimit(account, result.ledger, scene().run);
      const event = eventOfEnd(exitCode);
      if (event !== null)
        notifier.notify(noticeOfReport(event, scene(), report, resolve(result.names.report)));
    },
    async notingErrors(stop, action) {
      try {
        return await action();
      } catch (error) {
        if (!stop.aborted) notifier.notify(noticeOfError(error, scene()));
        throw error;
      }
    },
  };
}
