/**
 * A notice in the words of an e-mail. Pure.
 */
import { countOf, countText } from '../../core/figures.js';
import { hasNoMatch } from '../../core/outcome.js';
import { visibleLine, visibleLines } from '../../core/terminal-text.js';
import type { Notice } from './notice.js';

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

function linesOf({ run, reason, rows, requests, account, files, report, at }: Notice): string[] {
  const lines: string[] = [];
  if (reason !== null) lines.push(reason, '');
  if (rows !== null) {
    const named = Object.entries(rows).filter(([, value]) => value > 0);
    const shown = named.map(([status, value]) => `${countText(value)} ${status.replace('_', ' ')}`);
    lines.push(`rows:      ${shown.join(', ') || 'none'}`);
  }
  if (requests !== null) {
    const overage =
      requests.overage > 0 ? `, ${countText(requests.overage)} as overage for ${requests.overageCost}` : '';
    lines.push(`requests:  ${countText(requests.sent)} sent, ${countText(requests.billed)} billed${overage}`);
    if (requests.unreported > 0)
      lines.push(
        `           ${countText(requests.unreported)} more may have been billed by workers that were killed`,
      );
  }
  if (account !== null) {
    const { used, limit, left } = account;
    const share = limit === null || left === null ? '' : ` of ${countText(limit)}, ${countText(left)} left`;
    lines.push(`account:   ${countOf(used, 'request')} used${share}`);
  }
  if (files !== null)
    lines.push(
      `output:    ${files.output}${files.errors === null ? '' : `, rows to look at: ${files.errors}`}`,
    );
  if (report !== null) lines.push(`report:    ${report}`);
  if (run.id !== null) lines.push(`run:       ${run.id}`);
  lines.push(`time:      ${at.slice(0, 19).replace('T', ' ')} UTC`);
  return lines;
}
