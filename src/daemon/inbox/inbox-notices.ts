/**
 * Notifications about the files of an inbox, sent once each file has been moved: so the report is
 * where the notification says.
 */
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { DaemonContext } from '../../context/daemon-context.js';
import type { EnrichProgress, EnrichResult } from '../../run/enrich-request.js';
import { bareNotice, type Notice, noticeOfReport } from '../../run/notices/notice.js';
import type { RunReport } from '../../run/report/report.js';
import type { JobEnd } from './inbox-verdict.js';
import type { Job } from './job-folder.js';

export function createInboxNotices(
  { notifier, clock }: Pick<DaemonContext, 'notifier' | 'clock'>,
  isSample: boolean,
) {
  /** By the folder of the job. */
  const reports = new Map<string, { readonly report: RunReport; readonly file: string }>();
  let isRefusalNotified = false;

  const runOf = (job: Job, id: string | null) => ({ id, label: `${hostname()}: ${job.file}` });

  return {
    noteProgress(job: Job, progress: EnrichProgress, account: string): void {
      notifier.notifyNearLimit(account, progress.ledger, runOf(job, progress.runId));
    },
    /** Its report is written, still in the folder of processing. */
    noteReport(job: Job, result: EnrichResult, report: RunReport, account: string): void {
      reports.set(job.folder, { report, file: basename(result.names.report) });
      notifier.notifyNearLimit(account, result.ledger, runOf(job, result.run.id));
    },
    /** `folder`: where the file and its results are now; null: back where they were taken from. */
    noteEnd(job: Job, end: JobEnd, folder: string | null): void {
      const written = reports.get(job.folder);
      reports.delete(job.folder);
      const event = eventOf(end, job);
      if (event === null || (end.type === 'refused' && isRefusalNotified)) return;
      if (end.type === 'refused') isRefusalNotified = true;
      const run = runOf(job, written?.report.run.id ?? null);
      const scene = { at: clock.now(), isSample, run };
      const reason = reasonOf(end);
      if (written === undefined || folder === null) {
        notifier.notify(bareNotice(event, scene, reason));
        return;
      }
      const notice = noticeOfReport(event, scene, written.report, join(folder, written.file));
      // A file that is done has no reason of its own; that nothing matched is worth one.
      notifier.notify(end.type === 'done' ? notice : { ...notice, reason });
    },
  };
}

/** A file that is parked again is not news, and one that is tried again has not ended. */
function eventOf(end: JobEnd, job: Job): Notice['event'] | null {
  if (end.type === 'done') return 'finish';
  if (end.type === 'parked') return job.record.parked === null ? 'parked' : null;
  return end.type === 'failed' || end.type === 'refused' ? 'failure' : null;
}

/** Reasons have several lines; the first one says it. */
function reasonOf(end: JobEnd): string | null {
  if (end.type === 'refused') return end.why;
  return 'reason' in end ? (end.reason.split('\n', 1)[0] ?? null) : null;
}
