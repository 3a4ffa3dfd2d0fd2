/** The dashboard for programs: field by field, so nothing leaks. Times are ISO 8601, UTC. Pure. */
import { roomOf } from '../../ledger/policy.js';
import { isoTime } from '../../run/output/columns.js';
import { foundNothing } from '../../stores/run-store.js';
import type { EndedRun } from '../schedules/schedule-book.js';
import type { DashboardData, DashboardView } from './gather-dashboard.js';
import { holdOf, judgeRuns, partsOf } from './runs-section.js';

/** `data` null: the engine has not answered yet. */
export function statusOf({ host, data, awayNoticedAt, serviceTrouble, isStopping }: DashboardView) {
  return {
    host,
    isStopping,
    engineAwayNoticedAt: isoTime(awayNoticedAt),
    serviceTrouble,
    data: data === null ? null : dataOf(data),
  };
}

function dataOf(data: DashboardData) {
  const { ledger, outcomes: answers } = data;
  return {
    at: isoTime(data.at),
    engine: data.engine,
    account: data.account,
    hold: holdOf(ledger, data.limit),
    quota: ledger && {
      period: ledger.period,
      quota: ledger.quota,
      limit: data.limit,
      sent: ledger.sent,
      inFlight: ledger.held,
      others: ledger.others,
      left: roomOf(ledger),
      closedAt: isoTime(ledger.closedAt),
      pacePerSecond: ledger.pace.rate,
    },
    budget: data.budget,
    projection: data.projection,
    queue: data.queue && {
      waiting: data.queue.waiting ?? 0,
      active: data.queue.active ?? 0,
      delayed: data.queue.delayed ?? 0,
    },
    answers: {
      matched: answers.matched,
      notFound: answers.notFound,
      oldestFetchedAt: isoTime(answers.oldestFetchedAt),
      newestFetchedAt: isoTime(answers.newestFetchedAt),
    },
    runs: judgeRuns(data).map(({ run, standing, queued }) => {
      const { matched, notFound, failed, stored, left } = partsOf(run);
      return {
        id: run.id,
        label: run.label,
        standing,
        queued,
        startedAt: isoTime(run.asOf),
        heardAt: isoTime(run.beatAt),
        rows: run.rows,
        identifiers: run.identifiers,
        counts: { matched, notFound, failed, stored, left },
        requests: run.tally.requests,
        billed: run.tally.billed,
        earlier: run.earlier ?? { starts: 0, billed: 0 },
        nothingMatched: foundNothing(run),
        reason: run.reason,
      };
    }),
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
    schedules: data.schedules.map(({ schedule, nextAt, isRunning, isHostAway, ended, runs }) => {
      const { name, line, cron, tz, host, source = null } = schedule;
      const shown = { name, line, cron, tz, host, source, isHostAway, isRunning, nextAt: isoTime(nextAt) };
      return { ...shown, last: ended && endedOf(ended), runs: runs.map(endedOf) };
    }),
  };
}

function endedOf({ startedAt, endedAt, exitCode, sentence, output }: EndedRun) {
  return { startedAt: isoTime(startedAt), endedAt: isoTime(endedAt), exitCode, sentence, output };
}
