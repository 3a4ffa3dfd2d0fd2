/**
 * The end of a run in words that a person can read: what came out, what it cost, where it lies, what to do next.
 */

import { EXIT, type ExitCode } from '../core/errors.js';
import { countOf, countText, durationText } from '../core/figures.js';
import { visibleLines } from '../core/terminal-text.js';
import type { RunHalt } from '../stores/run-store.js';
import { isOverstated } from '../worker/halt-reasons.js';
import type { EnrichRequest, EnrichResult } from './enrich-request.js';
import { noMatchText } from './report/headline.js';
import type { RunReport } from './report/report.js';

export function summaryText(
  request: EnrichRequest,
  result: EnrichResult,
  report: RunReport,
  exitCode: ExitCode,
  /** Where the report lies as a page; null when there is none. */
  page: string | null,
): string {
  const { rows, requests, account, identifiers } = report;
  const lines: string[] = [''];
  const named = [
    ['matched', rows.matched],
    ['not found', rows.not_found],
    ['failed', rows.failed],
    ['invalid', rows.invalid],
    ['skipped', rows.skipped],
    ['deferred', rows.deferred],
  ] as const;
  const counted = named
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${countText(value)} ${name}`);
  lines.push(`${countOf(report.input.records, 'row')}: ${counted.join(', ') || 'none'}`);
  const meanwhile =
    requests.savedByOthers > 0
      ? ` ${countText(requests.savedByOthers)} bought by another run meanwhile,`
      : '';
  lines.push(
    `${countOf(identifiers.distinct, 'distinct identifier')}: ${countOf(requests.sent, 'request')}, ${countText(requests.billed)} billed; ` +
      `${countText(identifiers.stored)} known from before,${meanwhile} ${duplicatesText(identifiers.duplicateRows)}`,
  );
  if (requests.unreported > 0)
    lines.push(`${countText(requests.unreported)} more may have been billed by workers that were killed`);
  if (requests.overage > 0)
    lines.push(`overage: ${countOf(requests.overage, 'request')}, ${requests.overageCost} spent`);
  if (account?.limit !== null && account) {
    const spent = account.sent + account.inFlight + account.others;
    lines.push(
      `account: ${countText(spent)} of ${countText(account.limit)} used this period${sharesOf(account)}, ${countText(Math.max(0, account.limit - spent))} left`,
    );
  }
  if (identifiers.beingFetched > 0) {
    lines.push(
      `${countOf(identifiers.beingFetched, 'of those not found is', 'of those not found are')} still being fetched by the service (crawl_queued): run the same command again in 2 minutes to ask for those alone`,
    );
  }
  const { quality } = report;
  if (rows.matched > 0) {
    lines.push(
      `quality of ${countOf(quality.high + quality.acceptable + quality.poor + quality.unscored, 'brand')}: ${countText(quality.high)} high, ${countText(quality.acceptable)} acceptable, ${countText(quality.poor)} poor` +
        (quality.unscored > 0 ? `, ${countText(quality.unscored)} unscored` : ''),
    );
  }
  if (report.fetchedAt.scoresMayHaveDrifted) {
    lines.push('note: stored and new scores are more than 7 days apart; --refresh makes them comparable');
  }
  for (const [reason, number] of Object.entries(report.failures).slice(0, 5))
    lines.push(`failed ${countText(number)} x: ${reason}`);
  for (const { line, reason } of report.input.examples.slice(0, 3)) lines.push(`line ${line}: ${reason}`);
  lines.push(
    `output: ${report.files.output === '-' ? 'standard output' : report.files.output}${result.isComplete ? '' : ' (partial)'}`,
  );
  if (report.files.errors) lines.push(`rows to look at: ${report.files.errors}`);
  lines.push(
    `report: ${page === null ? '' : `${page}, for programs `}${result.names.report}; took ${durationText(report.seconds)}`,
  );
  const noMatch = noMatchText(report);
  if (noMatch !== null) lines.push(noMatch);
  const next = whatNext(request, result, report, exitCode);
  if (next !== '') lines.push(next);
  return visibleLines(lines);
}

/** Who used it, where it was not us alone. */
function sharesOf({ sent, inFlight, others }: NonNullable<RunReport['account']>): string {
  if (others === 0 && inFlight === 0) return '';
  const flying = inFlight === 0 ? '' : `, ${countText(inFlight)} in flight`;
  return ` (${countText(sent)} by us${flying}, ${countText(others)} by others)`;
}

const duplicatesText = (rows: number) => `${countOf(rows, 'duplicate row')} cost nothing`;

/** Why a run has not come to a good end, in one line; empty when it has. For `--quiet`, where nothing else is said. */
export function stopText(
  request: EnrichRequest,
  result: EnrichResult,
  report: RunReport,
  exitCode: ExitCode,
): string {
  const next = whatNext(request, result, report, exitCode);
  return next === '' ? '' : visibleLines([`brand-enrich: ${result.inputName}: ${next}`]);
}

function whatNext(
  request: EnrichRequest,
  result: EnrichResult,
  report: RunReport,
  exitCode: ExitCode,
): string {
  const { end } = result;
  switch (exitCode) {
    case EXIT.done:
      return '';
    case EXIT.someFailed:
      if (report.rows.failed > 0)
        return 'some rows failed: run the same command again to ask for those alone';
      return `with --strict this run has failed: ${strictReasons(report).join(', and ')}`;
    case EXIT.tooManyErrors:
      return 'stopped by --max-errors: run the same command again to go on';
    case EXIT.credentials:
      return `the service refused the credentials: ${end.type === 'halted' ? end.halt.sentence : ''}; check BRAND_API_TOKEN, then run again: nothing is lost`;
    case EXIT.trouble:
      if (end.type === 'halted' && end.halt.why === 'lost') {
        return `stopped: ${end.halt.sentence}; check the engine, then run the same command again`;
      }
      return `stopped: ${end.type === 'halted' ? end.halt.sentence : ''}; check --base-url, the network (HTTPS_PROXY is not used) and the service, then run the same command again`;
    case EXIT.limit:
      return end.type === 'halted'
        ? `stopped: ${end.halt.sentence}; ${limitAdvice(request, result, end.halt)}`
        : '';
    case EXIT.interrupted:
      if (end.type === 'cancelled')
        return 'cancelled with `brand-enrich cancel`: every paid answer is kept; run the same command again to go on';
      return 'interrupted: every paid answer is kept; run the same command again to go on';
    default:
      return '';
  }
}

/** What `--strict` takes for a failure in a run of which no row failed. */
function strictReasons({ run, rows }: RunReport): string[] {
  const reasons: string[] = [];
  if (rows.invalid > 0) reasons.push(countOf(rows.invalid, 'row is invalid', 'rows are invalid'));
  if (run.nothingMatched) reasons.push('nothing matched; see that --column names the right column and kind');
  return reasons;
}

/** Names the flag and what it would buy. */
function limitAdvice(request: EnrichRequest, result: EnrichResult, halt: RunHalt): string {
  const { plan } = request.settings;
  const left = countOf(result.facts.identifiers.deferred, 'identifier is', 'identifiers are');
  const again = 'run the same command again to go on';
  if (halt.why !== 'limit') return `${left} left; ${again}`;
  const cap = /--max-(?:requests|cost)/.exec(halt.sentence)?.[0];
  if (cap !== undefined) return `${left} left; a higher ${cap} would ask for more of them: ${again}`;
  if (/^--quota/.test(halt.sentence)) {
    return `${left} left; a higher --quota, or the next period, would bring more of them: ${again}`;
  }
  if (isOverstated(halt)) {
    return `${left} left: say with --plan and --overage-budget what the account has, or raise it there; ${again}`;
  }
  const raise =
    plan === 'paid'
      ? 'a higher --overage-budget (or a raised quota) would buy them'
      : plan === 'free'
        ? 'they need a raised quota or the next period'
        : 'a raised quota or the next period would bring them, or --plan paid --overage-budget AMOUNT if the plan bills overage';
  return `${left} left: ${raise}; ${again}`;
}
