/** A notification as data and as e-mail, without rows, brands and tokens. Pure. */
import { basename } from 'node:path';
import { BrandEnrichError, EXIT, InterruptedError } from '../../core/errors.js';
import { countOf, countText } from '../../core/figures.js';
import { hasNoMatch } from '../../core/outcome.js';
import { DOCUMENT_VERSION, visibleLine, visibleLines } from '../../core/terminal-text.js';
import type { LedgerState } from '../../ledger/ledger.js';
import type { NotifyEvent } from '../../settings/process-settings.js';
import type { Document } from '../documents.js';
import { useOf } from '../facts/judge-account.js';
import type { ChangesReport } from '../output/changes.js';
import { changesText, leftText, rowsText } from '../report/headline.js';
import { noMatchText } from '../report/next-step.js';
import type { RunReport } from '../report/report.js';
import { sayStop, UNREPORTED } from '../words/say-reason.js';

export type Notice = Document<'notice'> & { readonly version: typeof DOCUMENT_VERSION };

export type NoticeScene = Pick<Notice, 'isSample' | 'run'> & { readonly at: number };

/** Returns the notice of a run with a report. `reportPath`: the path of the report. */
export function noticeOfReport(
  event: NotifyEvent,
  scene: NoticeScene,
  report: RunReport,
  reportPath: string,
): Notice {
  const { account, changes, files, requests, rows, run } = report;
  const { sent, billed, unreported, overage, overageCost } = requests;
  const tooMany =
    run.exitCode === EXIT.tooManyErrors ? sayStop({ type: 'too_many_failures' }, 'notice') : null;
  return {
    ...bareNotice(event, scene, report.reason ?? tooMany ?? noMatchText(report, 'notice')),
    stopped: report.stopped,
    rows,
    requests: { sent, billed, unreported, overage, overageCost },
    account,
    changes: changes && changeCounts(changes),
    files: { output: basename(files.output), errors: files.errors && basename(files.errors) },
    report: reportPath,
  };
}

function changeCounts({ file: _, fields: _fields, ...counts }: ChangesReport) {
  return counts;
}

/** Returns the notice of an error that prevented a run; null if a person stopped it. */
export function noticeOfError(error: unknown, scene: NoticeScene): Notice | null {
  if (error instanceof InterruptedError) return null;
  // The message of an unexpected error may contain secrets.
  const reason = error instanceof BrandEnrichError ? error.message : 'unexpected error; see the log';
  return bareNotice('failure', scene, reason);
}

export function noticeOfAccount(
  event: NotifyEvent,
  scene: NoticeScene,
  reason: string,
  state: LedgerState | null,
): Notice {
  return { ...bareNotice(event, scene, reason), account: state && useOf(state) };
}

/** Returns a notice without currency, which the notifier adds. */
export function bareNotice(event: NotifyEvent, scene: NoticeScene, reason: string | null): Notice {
  const { at, isSample, run } = scene;
  const empty = {
    stopped: null,
    rows: null,
    requests: null,
    currency: null,
    account: null,
    changes: null,
    files: null,
    report: null,
  };
  const facts = { event, at: new Date(at).toISOString(), isSample, run, reason };
  return { version: DOCUMENT_VERSION, ...facts, ...empty };
}

export function noticeMail(notice: Notice): { subject: string; text: string } {
  const sample = notice.isSample ? '[sample data] ' : '';
  return { subject: visibleLine(`${sample}${headline(notice)}`), text: visibleLines(linesOf(notice)) };
}

function headline({ event, run, rows }: Notice): string {
  switch (event) {
    case 'finish': {
      const failed = rows === null || rows.failed === 0 ? '' : `, ${countOf(rows.failed, 'row')} failed`;
      const noMatch = rows !== null && hasNoMatch(rows) ? ', nothing matched' : '';
      return `${run.label}: finished${failed || noMatch}`;
    }
    case 'failure':
      return `${run.label}: failed`;
    case 'limit':
      return `80 % of the request limit is used (${run.label})`;
    case 'parked':
      return `${run.label}: parked`;
  }
}

function linesOf({ run, reason, rows, requests, account, changes, files, report, at }: Notice): string[] {
  const lines: string[] = [];
  if (reason !== null) lines.push(reason, '');
  if (rows !== null) lines.push(`rows:      ${rowsText(rows)}`);
  if (requests !== null) {
    const { sent, billed, unreported } = requests;
    const overage =
      requests.overage > 0 ? `, ${countText(requests.overage)} as overage for ${requests.overageCost}` : '';
    lines.push(`requests:  ${countText(sent)} sent, ${countText(billed)} billed${overage}`);
    if (unreported > 0)
      lines.push(`           ${countText(unreported)} more may have been billed: ${UNREPORTED}`);
  }
  if (account !== null) {
    const { used, limit } = account;
    const share = limit === null ? '' : ` of ${countText(limit)}, ${leftText(account)} left`;
    lines.push(`account:   ${countOf(used, 'request')} used${share}`);
  }
  if (changes !== null) lines.push(`changes:   ${changesText(changes)}`);
  if (files !== null) {
    const errors = files.errors === null ? '' : `, rows without an answer: ${files.errors}`;
    lines.push(`output:    ${files.output}${errors}`);
  }
  if (report !== null) lines.push(`report:    ${report}`);
  if (run.id !== null) lines.push(`run:       ${run.id}`);
  lines.push(`time:      ${at.slice(0, 19).replace('T', ' ')} UTC`);
  return lines;
}
