/** The end of a run in words: what came out, what it cost, where it is, what to do next. */
import { EXIT } from '../core/errors.js';
import { countOf, countText, durationText } from '../core/figures.js';
import { visibleLines } from '../core/terminal-text.js';
import { isOverstated } from '../worker/halt-reasons.js';
import { noMatchText, rowsText } from './report/headline.js';
import type { RunReport } from './report/report.js';
import type { FinishedRun } from './run-file.js';

export function summaryText(run: FinishedRun): string {
  const { result, report, page } = run;
  const { rows, requests, account, identifiers, quality, files } = report;
  const meanwhile =
    requests.savedByOthers > 0
      ? ` ${countText(requests.savedByOthers)} bought meanwhile by another run,`
      : '';
  const lines = [
    '',
    `${countOf(report.input.records, 'row')}: ${rowsText(rows)}`,
    `${countOf(identifiers.distinct, 'distinct identifier')}: ${countOf(requests.sent, 'request')}, ${countText(requests.billed)} billed; ` +
      `${countText(identifiers.stored)} already stored,${meanwhile} ${countOf(identifiers.duplicateRows, 'duplicate row')} at no cost`,
  ];
  if (requests.unreported > 0)
    lines.push(`${countText(requests.unreported)} more may have been billed: their workers were killed`);
  if (requests.overage > 0)
    lines.push(`overage: ${countOf(requests.overage, 'request')}, ${requests.overageCost} spent`);
  if (account && account.limit !== null) {
    const spent = account.sent + account.inFlight + account.others;
    lines.push(
      `account: ${countText(spent)} of ${countText(account.limit)} used this period${sharesOf(account)}, ${countText(Math.max(0, account.limit - spent))} left`,
    );
  }
  if (identifiers.beingFetched > 0)
    lines.push(
      `${countOf(identifiers.beingFetched, 'identifier that was not found is', 'identifiers that were not found are')} still being fetched by the service (crawl_queued): run the same command again in 2 minutes to look up only those`,
    );
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
  const closing = [noMatchText(report) ?? '', whatNext(run)];
  return visibleLines([...lines, ...closing.filter((line) => line !== '')]);
}

/** Who used it, where we were not the only one. */
function sharesOf({ sent, inFlight, others }: NonNullable<RunReport['account']>): string {
  if (others === 0 && inFlight === 0) return '';
  const flying = inFlight === 0 ? '' : `, ${countText(inFlight)} in flight`;
  return ` (${countText(sent)} by us${flying}, ${countText(others)} by others)`;
}

/** Why a run ended badly, in one line; empty when it did not. `--quiet` prints nothing else. */
export function stopText(run: FinishedRun): string {
  const next = whatNext(run);
  return next === '' ? '' : visibleLines([`brand-enrich: ${run.result.inputName}: ${next}`]);
}

function whatNext(run: FinishedRun): string {
  const { result, report, exitCode } = run;
  const { end } = result;
  const sentence = end.type === 'halted' ? end.halt.sentence : '';
  if (end.type === 'declined') return AFTER_TRIAL;
  switch (exitCode) {
    case EXIT.someFailed:
      if (report.rows.failed > 0) return 'some rows failed: run the same command again to retry only those';
      return `failed because of --strict: ${strictReasons(report).join(', and ')}`;
    case EXIT.tooManyErrors:
      return 'stopped by --max-errors: run the same command again to continue';
    case EXIT.credentials:
      return `the service refused the credentials: ${sentence}; check the token, then run the same command again: nothing is lost`;
    case EXIT.ioError:
      return end.type === 'halted' && end.halt.why === 'lost'
        ? `stopped: ${sentence}; check the engine, then run the same command again`
        : `stopped: ${sentence}; check --base-url, the network, its proxy and the service, then run the same command again`;
    case EXIT.limit:
      return `stopped: ${sentence}; ${limitAdvice(run)}`;
    case EXIT.interrupted:
      return `${end.type === 'cancelled' ? 'cancelled with `brand-enrich cancel`' : 'interrupted'}: all paid answers are stored; run the same command again to continue`;
    default:
      return '';
  }
}

const AFTER_TRIAL =
  'that was the trial: every paid answer is stored; to continue, run the same command without --try, or answer y';

/** The reasons why `--strict` fails a run without failed rows. */
function strictReasons({ run, rows }: RunReport): string[] {
  const reasons: string[] = [];
  if (rows.invalid > 0) reasons.push(countOf(rows.invalid, 'row is invalid', 'rows are invalid'));
  if (run.nothingMatched) reasons.push('nothing matched; check that --column and its kind are right');
  return reasons;
}

/** Names the flag and its effect. */
function limitAdvice({ request, result: { end, facts } }: FinishedRun): string {
  const left = `${countOf(facts.identifiers.deferred, 'identifier is', 'identifiers are')} left`;
  const again = 'run the same command again to continue';
  if (end.type !== 'halted' || end.halt.why !== 'limit') return `${left}; ${again}`;
  const { sentence } = end.halt;
  const cap = /--max-(?:requests|cost)/.exec(sentence)?.[0];
  if (cap !== undefined) return `${left}; a higher ${cap} would cover more of them: ${again}`;
  if (sentence.startsWith('--quota'))
    return `${left}; a higher --quota or the next period would cover more of them: ${again}`;
  if (isOverstated(end.halt))
    return `${left}: set --plan and --overage-budget to what the account has, or raise them in the account; ${again}`;
  return `${left}: ${RAISES[request.settings.plan]}; ${again}`;
}

/** How to cover the remaining identifiers, by plan. */
const RAISES: Record<FinishedRun['request']['settings']['plan'], string> = {
  paid: 'a higher --overage-budget (or quota) would cover them',
  free: 'a raised quota or the next period would cover them',
  unsaid:
    'a raised quota or the next period would cover them, or --plan paid --overage-budget AMOUNT if the plan bills overage',
};
