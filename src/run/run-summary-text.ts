/** The end of a run in words: what came out, what it cost, where it is, what to do next. */
import { EXIT } from '../core/errors.js';
import { countOf, countText, durationText } from '../core/figures.js';
import type { StatusCounts } from '../core/outcome.js';
import { shortName, visibleLines } from '../core/terminal-text.js';
import {
  changesText,
  countedIn,
  doubtOfOverage,
  fillText,
  leftText,
  namesText,
  unreportedText,
  verdictOf,
} from './report/headline.js';
import type { Tone } from './report/kit/parts.js';
import { noMatchText } from './report/next-step.js';
import type { RunReport } from './report/report.js';
import type { FinishedRun } from './run-file.js';

const COLORS = { good: 32, warn: 33, bad: 31, calm: 2 } as const;

const TONES: Readonly<Record<keyof StatusCounts, Tone>> = {
  matched: 'good',
  not_found: 'warn',
  failed: 'bad',
  invalid: 'warn',
  skipped: 'calm',
  deferred: 'warn',
};

type Line = readonly [name: string, text: string];

/** Returns the summary in columns, the report last. Safe for terminals. */
export function summaryText(run: FinishedRun, hasColor: boolean): string {
  const { report, page, result } = run;
  const paint = (tone: Tone, text: string) => (hasColor ? `\u001b[${COLORS[tone]}m${text}\u001b[0m` : text);
  const parts = countedIn(report.rows).map(([status, text]) => paint(TONES[status], text));
  const records = countOf(report.input.records, 'row');
  const facts: Line[] = [...factsOf(run), ['took', durationText(report.seconds)]];
  const files: Line[] = [...filesOf(run), ['report', page ?? result.names.report]];
  const width = Math.max(...[...facts, ...files].map(([name]) => name.length));
  const inColumns = (lines: readonly Line[]) =>
    visibleLines(lines.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`));
  const closing = visibleLines(closingOf(run));
  const [mark, tone] = verdictOf(report);
  const [first, last] = report.stopped === 'min-match' ? [closing, ''] : ['', closing];
  const counts = parts.length === 0 ? '' : `: ${parts.join(', ')} of ${records}`;
  const head = `${first}${paint(tone, mark)}${counts}\n`;
  return ['', head, inColumns(facts), ...(last === '' ? [] : [last]), inColumns(files)].join('\n');
}

function factsOf({ report }: FinishedRun): Line[] {
  const { rows, requests, account, identifiers, quality } = report;
  const meanwhile =
    requests.savedByOthers > 0
      ? ` ${countText(requests.savedByOthers)} bought meanwhile by another run,`
      : '';
  const lines: Line[] = [
    [
      countOf(identifiers.distinct, 'distinct identifier'),
      `${countOf(requests.sent, 'request')}, ${countText(requests.billed)} billed; ` +
        `${countText(identifiers.stored)} already stored,${meanwhile} ` +
        `${countOf(identifiers.duplicateRows, 'duplicate row')} at no cost`,
    ],
  ];
  if (requests.unreported > 0) lines.push(['perhaps billed', unreportedText(report)]);
  if (requests.overage > 0)
    lines.push([
      'overage',
      `${countOf(requests.overage, 'request')}, ${requests.overageCost} spent${doubtOfOverage(requests)}`,
    ]);
  if (account && account.limit !== null) {
    const used = `${countText(account.used)} of ${countText(account.limit)} used this period`;
    lines.push(['account', `${used}${sharesOf(account)}, ${leftText(account)} left`]);
  }
  if (rows.matched > 0) {
    const { high, acceptable, poor, unscored } = quality;
    lines.push([
      `quality of ${countOf(high + acceptable + poor + unscored, 'brand')}`,
      `${countText(high)} high, ${countText(acceptable)} acceptable, ${countText(poor)} poor` +
        (unscored > 0 ? `, ${countText(unscored)} unscored` : ''),
    ]);
  }
  for (const column of report.fills?.columns ?? []) lines.push([shortName(column.column), fillText(column)]);
  if (report.fills && report.fills.misfits > 0)
    lines.push(['not filled', `${countOf(report.fills.misfits, 'row')} with too few or too many cells`]);
  if (report.nameMatch) lines.push(['names', namesText(report.nameMatch)]);
  if (report.fetchedAt.scoresMayHaveDrifted)
    lines.push(['note', 'stored and new scores are more than 7 days apart; --refresh fetches all again']);
  for (const [reason, count] of Object.entries(report.failures).slice(0, 5))
    lines.push([`failed ${countText(count)} x`, reason]);
  for (const { line, reason } of report.input.examples.slice(0, 3)) lines.push([`line ${line}`, reason]);
  return lines;
}

function filesOf({ report: { changes, files, fills }, result }: FinishedRun): Line[] {
  const output = files.output === '-' ? 'standard output' : files.output;
  const lines: Line[] = [['output', `${output}${result.isComplete ? '' : ' (partial)'}`]];
  if (files.errors) lines.push(['rows without an answer', files.errors]);
  if (fills?.file) lines.push(['cells that differ', fills.file]);
  if (changes) lines.push(['changes', `${changesText(changes)}: ${changes.file}`]);
  return lines;
}

function closingOf({ report }: FinishedRun): string[] {
  const closing = new Set([noMatchText(report, 'terminal'), report.next]);
  return [...closing].filter((line) => line !== null);
}

/** Says who used the account; empty if all of its use is ours and settled. */
function sharesOf({ sent, inFlight, others }: NonNullable<RunReport['account']>): string {
  if (others === 0 && inFlight === 0) return '';
  const flying = inFlight === 0 ? '' : `, ${countText(inFlight)} in flight`;
  return ` (${countText(sent)} by us${flying}, ${countText(others)} by others)`;
}

/** Returns in one line why a run ended badly, or ''. `--quiet` prints nothing else. */
export function stopText({ result, report, exitCode }: FinishedRun): string {
  const { next } = report;
  if (next === null || (exitCode === EXIT.done && result.end.type !== 'declined')) return '';
  return visibleLines([`brand-enrich: ${result.input.name}: ${next}`]);
}
