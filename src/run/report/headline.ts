/** The first two sentences of the page: the result, and what to do next. */
import { EXIT, type ExitCode } from '../../core/errors.js';
import { countOf, countText } from '../../core/figures.js';
import { hasNoMatch, type StatusCounts } from '../../core/outcome.js';
import type { Mark } from './markup.js';
import type { RunReport } from './report.js';

/** The run's mark beside its name: complete, complete with failures or no match, or partial. */
export function verdictOf(report: RunReport): Mark {
  if (!report.run.isComplete) {
    const bad: readonly ExitCode[] = [EXIT.credentials, EXIT.ioError, EXIT.tooManyErrors];
    return ['Partial', bad.includes(report.run.exitCode) ? 'bad' : 'warn'];
  }
  const { failed, matched, not_found: notFound } = report.rows;
  const tone = failed > matched + notFound ? 'bad' : 'warn';
  if (failed > 0) return [`Complete, ${countOf(failed, 'row')} failed`, tone];
  return hasNoMatch(report.rows) ? ['Complete, nothing matched', 'warn'] : ['Complete', 'good'];
}

/** The advice on columns for a complete run without a match; null: a match, or not complete. */
export function noMatchText({ run, rows, input, identifiers }: RunReport): string | null {
  if (!run.isComplete || !hasNoMatch(rows)) return null;
  if (rows.failed > 0 && rows.not_found === 0) return 'Nothing matched: every lookup failed.';
  const columns = input.columns
    .map(({ name, kind }) => `"${name}"${kind === null ? '' : ` as ${kind}`}`)
    .join(', ');
  const only = input.columns.length === 1;
  if (identifiers.distinct === 0) return `Nothing matched: no row has an identifier in ${columns}.`;
  return `Nothing matched: identifiers were read from ${columns}. Are ${only ? 'that column and its kind' : 'those columns and their kinds'} right? --column NAME:KIND chooses others.`;
}

/** `3 matched, 1 not found`; `none` where there are no rows. */
export function rowsText(rows: StatusCounts): string {
  const counted = Object.entries(rows).filter(([, count]) => count > 0);
  return (
    counted.map(([status, count]) => `${countText(count)} ${status.replace('_', ' ')}`).join(', ') || 'none'
  );
}

/** The outcomes of the rows, in one sentence. */
export function headlineOf({ input, rows, run, requests }: RunReport): string {
  const { records } = input;
  if (records === 0) return 'The file has no rows.';
  const words = { not_found: 'not found', deferred: 'not looked up yet' } as Readonly<Record<string, string>>;
  const others = (['not_found', 'failed', 'invalid', 'skipped', 'deferred'] as const)
    .filter((status) => rows[status] > 0)
    .map((status) => `${countText(rows[status])} ${words[status] ?? status}`)
    .join(', ');
  const money =
    requests.billed === 0
      ? 'nothing was billed'
      : `${countOf(requests.billed, 'request was', 'requests were')} billed`;
  const brands = brandsText(rows.matched, records);
  const opening = run.isComplete ? brands : `So far, ${brands.charAt(0).toLowerCase()}${brands.slice(1)}`;
  return `${opening}${others === '' ? '' : ` (${others})`}; ${money}.`;
}

function brandsText(matched: number, records: number): string {
  if (records === 1) return matched === 1 ? 'The only row has a brand' : 'The only row has no brand';
  if (matched === records) return `All ${countText(records)} rows have a brand`;
  if (matched === 0) return `None of the ${countText(records)} rows has a brand`;
  return `${countText(matched)} of ${countText(records)} rows ${matched === 1 ? 'has' : 'have'} a brand`;
}

/** What to do next; null when there is nothing to do. */
export function nextStepOf(report: RunReport): string | null {
  const { run, reason, rows, identifiers } = report;
  const because = reason === null ? '' : ` (${reason})`;
  const left = countOf(identifiers.deferred, 'identifier is', 'identifiers are');
  const nothing = noMatchText(report);
  if (run.status === 'declined')
    return 'That was the trial. Every paid answer is stored: to continue, run the same command without --try.';
  switch (run.exitCode) {
    case EXIT.done:
      if (identifiers.beingFetched > 0) {
        const fetched = countOf(identifiers.beingFetched, 'identifier');
        return `The service is still fetching ${fetched} (crawl_queued): run the same command again in 2 minutes to look up only those.`;
      }
      if (nothing !== null || rows.invalid === 0) return nothing;
      return 'If the invalid rows matter, correct them in the errors file and run that file: only those rows are looked up.';
    case EXIT.someFailed:
      if (rows.failed > 0) return 'Run the same command again: only the failed rows are looked up.';
      if (nothing !== null) return nothing;
      return 'Correct the invalid rows in the errors file and run that file: only those rows are looked up.';
    case EXIT.tooManyErrors:
      return 'Stopped because more lookups failed than --max-errors allows. The causes are below; run the same command again to continue.';
    case EXIT.credentials:
      return `The service refused the credentials${because}. Check the token, then run the same command again: nothing is lost.`;
    case EXIT.ioError:
      return `The service could not be reached, or another server answered${because}. Check its address, then run the same command again: nothing is lost.`;
    case EXIT.limit:
      return `Stopped at a limit${because}; ${left} left. Run the same command again when quota or budget allow it: the run continues where it stopped.`;
    case EXIT.interrupted:
      return 'Interrupted. All paid answers are stored: run the same command again to continue.';
    default:
      return null;
  }
}
