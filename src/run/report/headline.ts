/** The mark of a run, and its outcome in one sentence. Pure. */
import { EXIT, type ExitCode } from '../../core/errors.js';
import { countOf, countText } from '../../core/figures.js';
import { hasNoMatch, type StatusCounts } from '../../core/outcome.js';
import type { Document } from '../documents.js';
import type { ChangesReport } from '../output/changes.js';
import { UNREPORTED } from '../words/say-reason.js';
import type { Mark } from './kit/parts.js';
import type { RunReport } from './report.js';

/** The share of matches below which few rows matched. */
const FEW = 0.1;

/** Returns the mark of a run: its words, and their tone on page and terminal. */
export function verdictOf({ run, rows, input }: Pick<RunReport, 'run' | 'rows' | 'input'>): Mark {
  if (!run.isComplete) {
    const bad: readonly ExitCode[] = [EXIT.credentials, EXIT.ioError, EXIT.tooManyErrors];
    return ['Partial', bad.includes(run.exitCode) ? 'bad' : 'warn'];
  }
  const { failed, invalid, matched, not_found: notFound } = rows;
  if (input.records === 0) return ['Finished, no rows', 'calm'];
  if (failed > 0) {
    const tone = failed > matched + notFound ? 'bad' : 'warn';
    return [`Finished, ${countOf(failed, 'row')} failed`, tone];
  }
  if (invalid === input.records) return ['Finished, every row is invalid', 'bad'];
  if (hasNoMatch(rows)) return ['Finished, nothing matched', 'warn'];
  if (matched < FEW * (matched + notFound + invalid)) return ['Finished, few matched', 'warn'];
  return ['Finished', 'good'];
}

/** Returns each status with a count above 0, and both as text: `1 not found`. */
export function countedIn(counts: Partial<StatusCounts>): [status: keyof StatusCounts, text: string][] {
  const counted = Object.entries(counts).filter(([, count]) => count > 0);
  return counted.map(([status, count]) => [
    status as keyof StatusCounts,
    `${countText(count)} ${status.replace('_', ' ')}`,
  ]);
}

const textOf = ([, text]: readonly [string, string]) => text;

/** Returns `3 matched, 1 not found`, or `none` without rows. */
export function rowsText(rows: Partial<StatusCounts>): string {
  return countedIn(rows).map(textOf).join(', ') || 'none';
}

/** Returns `3 new, 1 changed, 0 vanished`; for a first output only the number of brands. */
export function changesText(
  changes: Pick<ChangesReport, 'since' | 'new' | 'changed' | 'vanished' | 'failed'>,
) {
  const { since, new: added, changed, vanished, failed } = changes;
  if (since === null) return `${countText(added)} new, because there is no earlier output`;
  const unknown = failed === 0 ? '' : `, ${countText(failed)} unknown because their lookup failed`;
  return `${countText(added)} new, ${countText(changed)} changed, ${countText(vanished)} vanished${unknown}`;
}

/** Returns `12 of 980 compared with the brand's are below 0.75`. */
export function namesText({ compared, low, threshold }: NonNullable<RunReport['nameMatch']>): string {
  return `${countText(low)} of ${countText(compared)} compared with the brand's are below ${threshold}`;
}

/** Returns `12 filled, 80 agree, 3 differ` for a column that `--fill` names. */
export function fillText({
  filled,
  kept,
  differing,
}: NonNullable<Document<'report'>['fills']>['columns'][number]): string {
  return `${countText(filled)} filled, ${countText(kept)} agree, ${countText(differing)} differ`;
}

/** Returns `19 more, in flight when their worker ended; they may be sent again`. */
export function unreportedText({ requests, run }: Pick<RunReport, 'requests' | 'run'>): string {
  const again = run.isComplete ? '' : '; they may be sent again';
  return `${countText(requests.unreported)} more, ${UNREPORTED}${again}`;
}

/** Returns the requests left, as `1,900 (100 at extra cost)`; null while the limit is unknown. */
export function leftText({ quota, cap, used, left }: NonNullable<RunReport['account']>): string | null {
  if (left === null) return null;
  const extra = left - Math.max(0, (cap ?? quota ?? 0) - used);
  return `${countText(left)}${extra > 0 ? ` (${countText(extra)} at extra cost)` : ''}`;
}

/** Says how many requests of the overage are in doubt; empty if none is. */
export function doubtOfOverage({ overage, unreported }: RunReport['requests']): string {
  const doubtful = Math.min(overage, unreported);
  return doubtful === 0 ? '' : ` at most: ${countText(doubtful)} of them perhaps not billed`;
}

/** Returns the outcomes of the rows in one sentence. */
export function headlineOf({ input, rows, run, requests, stopped, reason }: RunReport): string {
  const { records } = input;
  if (records === 0) return 'The file has no rows.';
  const unmatched = countedIn({ ...rows, matched: 0 });
  const others = unmatched
    .map(textOf)
    .join(', ')
    .replace(/deferred$/, 'not looked up yet');
  const money =
    requests.billed === 0
      ? 'nothing was billed'
      : `${countOf(requests.billed, 'request was', 'requests were')} billed`;
  const perhaps = requests.unreported > 0 ? `, perhaps ${countText(requests.unreported)} more` : '';
  const brands = brandsText(rows.matched, records);
  const opening = run.isComplete ? brands : `So far, ${brands.charAt(0).toLowerCase()}${brands.slice(1)}`;
  const head = stopped === 'min-match' ? `${reason} ` : '';
  return `${head}${opening}${others === '' ? '' : ` (${others})`}; ${money}${perhaps}.`;
}

/** Returns `252 of 300 rows have a brand`. */
export function brandsText(matched: number, records: number): string {
  if (records === 1) return matched === 1 ? 'The only row has a brand' : 'The only row has no brand';
  if (matched === records) return `All ${countText(records)} rows have a brand`;
  if (matched === 0) return `None of the ${countText(records)} rows has a brand`;
  return `${countText(matched)} of ${countText(records)} rows ${matched === 1 ? 'has' : 'have'} a brand`;
}
