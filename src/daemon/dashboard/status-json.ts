/** The dashboard for programs: field by field, so nothing leaks. Pure. */
import { runDocument, statusDocument } from '../../context/status-document.js';
import type { Document } from '../../core/documents.js';
import { DOCUMENT_VERSION } from '../../core/terminal-text.js';
import { isoTime } from '../../run/output/columns.js';
import { scheduleDocument } from '../schedules/schedule-document.js';
import type { DashboardData, DashboardView } from './gather-dashboard.js';
import { holdOf, judgeRuns } from './runs-section.js';

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
  const engineUnavailableSince = isoTime(outageNoticedAt);
  return {
    version: DOCUMENT_VERSION,
    host,
    isStopping,
    engineUnavailableSince,
    serviceOutage,
    data: data === null ? null : dataOf(data, currency),
    // The names of the previous release.
    engineAwayNoticedAt: engineUnavailableSince,
    serviceTrouble: serviceOutage,
  };
}

function dataOf(data: DashboardData, currency: string | null): DashboardDocument['data'] {
  const status = statusDocument(data, currency);
  return {
    at: new Date(data.at).toISOString(),
    hold: holdOf(data.ledger, data.limit),
    ...status,
    runs: judgeRuns(data).map(({ run, standing, queued }) => ({
      ...runDocument(run, standing, queued),
      standing,
    })),
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
    quota: status.account,
  };
}
