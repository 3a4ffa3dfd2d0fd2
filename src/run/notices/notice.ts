/**
 * A notification: the content of a webhook, and which event the end of a run is.
 * Pure. Counts, money and names; no row, no brand, no token.
 */
import { basename } from 'node:path';
import type { NotifyEvent } from '../../config/process-settings.js';
import { BrandEnrichError, EXIT, type ExitCode, InterruptedError } from '../../core/errors.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { limitOf, spentOf } from '../../ledger/policy.js';
import { noMatchText } from '../report/headline.js';
import type { RunReport } from '../report/report.js';

/** Fields are added without a new version; receivers tolerate them. */
export interface Notice {
  readonly version: 1;
  readonly event: NotifyEvent;
  /** When, as ISO 8601 text. */
  readonly at: string;
  /** Sample data: nothing of it is real. */
  readonly isSample: boolean;
  /** `id` is null when there is no run yet. `label` is host and file name. */
  readonly run: { readonly id: string | null; readonly label: string };
  /** One sentence for people; null when there is nothing to say. */
  readonly reason: string | null;
  readonly rows: RunReport['rows'] | null;
  readonly requests: Pick<
    RunReport['requests'],
    'sent' | 'billed' | 'unreported' | 'overage' | 'overageCost'
  > | null;
  readonly account: AccountFacts | null;
  /** Names without folders. */
  readonly files: { readonly output: string; readonly errors: string | null } | null;
  /** Absolute path of the JSON report. */
  readonly report: string | null;
}

interface AccountFacts {
  readonly period: string | null;
  readonly quota: number | null;
  /** Quota and overage; null while no quota is known. */
  readonly limit: number | null;
  /** Requests in flight included. */
  readonly used: number;
  readonly left: number | null;
}

export interface NoticeScene {
  readonly at: number;
  readonly isSample: boolean;
  readonly run: Notice['run'];
}

/** The event of a run's end; null: a person stopped it, and knows. */
export function eventOfEnd(exitCode: ExitCode): NotifyEvent | null {
  switch (exitCode) {
    case EXIT.done:
    case EXIT.someFailed:
      return 'finish';
    case EXIT.limit:
      return 'parked';
    case EXIT.interrupted:
      return null;
    default:
      return 'failure';
  }
}

/** `reportPath`: where the report lies. */
export function noticeOfReport(
  event: NotifyEvent,
  scene: NoticeScene,
  report: RunReport,
  reportPath: string,
): Notice {
  const { account, files, requests, rows } = report;
  const { sent, billed, unreported, overage, overageCost } = requests;
  return {
    ...bareNotice(event, scene, report.reason ?? reasonOfExit(report.run.exitCode) ?? noMatchText(report)),
    rows,
    requests: { sent, billed, unreported, overage, overageCost },
    account:
      account &&
      accountFacts(
        account.period,
        account.quota,
        account.limit,
        account.sent + account.inFlight + account.others,
      ),
    files: { output: nameOf(files.output), errors: files.errors === null ? null : nameOf(files.errors) },
    report: reportPath,
  };
}

/** What prevented a run; null when it was a person. */
export function noticeOfError(error: unknown, scene: NoticeScene): Notice | null {
  if (error instanceof InterruptedError) return null;
  // The words of a bug may hold anything.
  const reason = error instanceof BrandEnrichError ? error.message : 'unexpected trouble; the log says more';
  return bareNotice('failure', scene, reason);
}

export function noticeOfAccount(
  event: NotifyEvent,
  scene: NoticeScene,
  reason: string,
  state: LedgerState | null,
): Notice {
  const account = state && accountFacts(state.period, state.quota, limitOf(state), spentOf(state));
  return { ...bareNotice(event, scene, reason), account };
}

export function bareNotice(event: NotifyEvent, scene: NoticeScene, reason: string | null): Notice {
  return {
    version: 1,
    event,
    at: new Date(scene.at).toISOString(),
    isSample: scene.isSample,
    run: scene.run,
    reason,
    rows: null,
    requests: null,
    account: null,
    files: null,
    report: null,
  };
}

function accountFacts(
  period: string | null,
  quota: number | null,
  limit: number | null,
  used: number,
): AccountFacts {
  return { period, quota, limit, used, left: limit === null ? null : Math.max(0, limit - used) };
}

function reasonOfExit(exitCode: ExitCode): string | null {
  return exitCode === EXIT.tooManyErrors ? 'more lookups failed than --max-errors allows' : null;
}

/** `-` is standard output. */
function nameOf(path: string): string {
  return path === '-' ? path : basename(path);
}
