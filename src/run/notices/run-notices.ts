/** The notifications of one run: parked, 80 % of the limit, and its end. */
import { hostname } from 'node:os';
import { basename, resolve } from 'node:path';
import type { Clock } from '../../core/clock.js';
import { EXIT, type ExitCode, InterruptedError } from '../../core/errors.js';
import type { NotifyEvent } from '../../settings/process-settings.js';
import type { FileEvent } from '../run-file.js';
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
  let id: string | null = null;
  const scene = (): NoticeScene => ({ at: clock.now(), isSample, run: { id, label } });

  function noteEnd({ result, report, exitCode }: Extract<FileEvent, { type: 'ended' }>): void {
    const { run, ledger, names, end } = result;
    id = run.id;
    notifier.notifyNearLimit(run.settings.account, ledger, scene().run);
    // A trial ends as intended, and a person who paused it knows.
    const event = end.type === 'declined' || end.type === 'paused' ? null : eventOf(exitCode);
    if (event === null) return;
    const notice = noticeOfReport(event, scene(), report, resolve(names.report));
    // A later start of the same command is still held.
    if (report.stopped === null) notifier.notify(notice);
    else notifier.notifyOnce(notice, `held\n${run.key}\n${run.keyStartedAt}`);
  }

  return {
    note(event: FileEvent): void {
      if (event.type === 'ended') noteEnd(event);
      if (event.type === 'progress') {
        id = event.record.id;
        notifier.notifyNearLimit(event.record.settings.account, event.ledger, scene().run);
      }
      if (event.type !== 'parked') return;
      const reason = `${sayHalt(event.halt, 'notice')}; the run continues when it can spend again`;
      notifier.notify(noticeOfAccount('parked', scene(), reason, event.ledger));
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
