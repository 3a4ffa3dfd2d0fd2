/** The end of a run in words: what came out, what it cost, where it is, what to do next. */
import { EXIT } from '../core/errors.js';
import { countOf, countText, durationText } from '../core/figures.js';
import { visibleLines } from '../core/terminal-text.js';
import { rowsText, verdictOf } from './report/headline.js';
import { noMatchText } from './report/next-step.js';
import type { RunReport } from './report/report.js';
import type { FinishedRun } from './run-file.js';

/** Codes of terminals for the colours of a verdict. */
const COLORS = { good: 32, warn: 33, bad: 31, calm: 2 } as const;

/** Safe for terminals. `hasColor`: its first line has the colour of the verdict. */
export function summaryText(run: FinishedRun, hasColor = false): string {
  const { result, report, page } = run;
  const { rows, requests, account, identifiers, quality, files } = report;
  const meanwhile =
    requests.savedByOthers > 0
      ? ` ${countText(requests.savedByOthers)} bought meanwhile by another run,`
      : '';
  const outcome = visibleLines([`${countOf(report.input.records, 'row')}: ${rowsText(rows)}`]);
  const color = COLORS[verdictOf(report)[1]];
  const lines = [
    `${countOf(identifiers.distinct, 'distinct identifier')}: ${countOf(requests.sent, 'request')}, ${countText(requests.billed)} billed; ` +
      `${countText(identifiers.stored)} already stored,${meanwhile} ${countOf(identifiers.duplicateRows, 'duplicate row')} at no cost`,
  ];
  if (requests.unreported > 0)
    lines.push(`${countText(requests.unreported)} more may have been billed: their workers were killed`);
  if (requests.overage > 0)
    lines.push(`overage: ${countOf(requests.overage, 'request')}, ${requests.overageCost} spent`);
  if (account && account.limit !== null) {
    const spent = account.used;
    lines.push(
      `account: ${countText(spent)} of ${countText(account.limit)} used this period${sharesOf(account)}, ${countText(Math.max(0, account.limit - spent))} left`,
    );
  }
  if (rows.matched > 0) {
    const { high, acceptable, poor, unscored } = quality;
    lines.push(
      `quality of ${countOf(high + acceptable + poor + unscored, 'brand')}: ${countText(high)} high, ${countText(acceptable)} acceptable, ${countText(poor)} poor` +
        (unscored > 0 ? `, ${countText(unscored)} unscored` : ''),
    );
  }
  if (report.fetchedAt.scoresMayHaveDrifted)
    lines.push('note: stored and new scores are more than 7 days apart; --refresh fetches all again');
  for (const [reason, count] of Object.entries(report.failures).slice(0, 5))
    lines.push(`failed ${countText(count)} x: ${reason}`);
  for (const { line, reason } of report.input.examples.slice(0, 3)) lines.push(`line ${line}: ${reason}`);
  lines.push(
    `output: ${files.output === '-' ? 'standard output' : files.output}${result.isComplete ? '' : ' (partial)'}`,
  );
  if (files.errors) lines.push(`rows without an answer: ${files.errors}`);
  lines.push(
    `report: ${page === null ? '' : `${page} and `}${result.names.report}; took ${durationText(report.seconds)}`,
  );
  const closing = new Set([noMatchText(report, 'terminal'), report.next].filter((line) => line !== null));
  const first = hasColor ? `\u001b[${color}m${outcome.trimEnd()}\u001b[0m\n` : outcome;
  return `\n${first}${visibleLines([...lines, ...closing])}`;
}

/** Who used it, where we were not the only one. */
function sharesOf({ sent, inFlight, others }: NonNullable<RunReport['account']>): string {
  if (others === 0 && inFlight === 0) return '';
  const flying = inFlight === 0 ? '' : `, ${countText(inFlight)} in flight`;
  return ` (${countText(sent)} by us${flying}, ${countText(others)} by others)`;
}

/** Why a run ended badly, in one line; empty when it did not. `--quiet` prints nothing else. */
export function stopText({ result, report, exitCode }: FinishedRun): string {
  const { next } = report;
  if (next === null || (exitCode === EXIT.done && result.end.type !== 'declined')) return '';
  return visibleLines([`brand-enrich: ${result.inputName}: ${next}`]);
}
