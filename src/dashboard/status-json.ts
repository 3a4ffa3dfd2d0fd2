/** The dashboard for programs: field by field, so nothing leaks. Pure. */
import { runDocument, statusDocument } from '../app/status-document.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import { scheduleDocument } from '../jobs/schedules/schedule-document.js';
import { holdOf } from '../ledger/policy.js';
import type { Document } from '../run/documents.js';
import { judgeRuns } from '../run/facts/judge-runs.js';
import { isoTime } from '../run/output/columns.js';
import type { DashboardData, DashboardView } from './gather-dashboard.js';

type DashboardDocument = Document<'dashboard'>;

/** `data` null: the engine has not answered yet. */
export function statusOf({
  host,
  data,
  outageNoticedAt,
  serviceOutage,
  isStopping,
  currency,
}: DashboardView): DashboardDocument & { version: typeof DOCUMENT_VERSION } {
  return {
    version: DOCUMENT_VERSION,
    host,
    isStopping,
    engineUnavailableSince: isoTime(outageNoticedAt),
    serviceOutage,
    data: data === null ? null : dataOf(data, currency),
  };
}

function dataOf(data: DashboardData, currency: string | null): DashboardDocument['data'] {
  return {
    at: new Date(data.at).toISOString(),
    hold: data.ledger && holdOf(data.ledger),
    ...statusDocument(data, currency),
    runs: judgeRuns(data).map(runDocument),
    inboxes: data.inboxes.map(({ folder, closed, waiting, queued, inProgress }) => ({
      folder,
      closed,
      queued,
      inProgress,
      waiting:
        waiting?.map(({ file, folder, since, reason }) => {
          return { file, folder, since: isoTime(since || null), reason };
        }) ?? null,
    })),
    schedules: data.schedules.map(scheduleDocument),
  };
}
