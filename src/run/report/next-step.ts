/** The next step after a run, in one sentence for page, report and terminal. Pure. */
import { EXIT } from '../../core/errors.js';
import { countOf } from '../../core/figures.js';
import { hasNoMatch } from '../../core/outcome.js';
import { joinPhrases, type Phrase, phrase } from '../../core/phrase.js';
import { shortName } from '../../core/terminal-text.js';
import type { RunSettings } from '../../engine/stores/run-store.js';
import type { Document } from '../documents.js';
import type { OwnLimit } from '../lookups/spending.js';
import type { LookupsEnd } from '../run-end.js';
import { type Reader, sayHalt, sayTo } from '../words/say-reason.js';

/** The parts of a report that decide its next step. */
type Figures = Pick<Document<'report'>, 'run' | 'rows' | 'input' | 'identifiers'>;

/** Returns the next step, or null. `seesQuota`: by `seesRaisedQuota`; `doubt`: by `doubtOf`. */
export function nextStepOf(
  report: Figures,
  end: LookupsEnd,
  plan: RunSettings['plan'],
  reader: Reader,
  { seesQuota = true, hasOutage = false, unreported = 0, doubt = '' as Phrase } = {},
): string | null {
  if (report.run.isComplete && (end.type === 'cancelled' || end.type === 'paused')) return null;
  // `inbox-verdict.ts` judges whether a file of an inbox waits or has failed.
  if (reader === 'inbox' && (hasOutage || !report.run.isComplete))
    return 'reason.txt, next to this report, says what happens next';
  const step = stepOf(report, end, plan, reader, { seesQuota, unreported });
  const isLimit = report.run.exitCode === EXIT.limit && end.type === 'halted' && end.halt.why === 'limit';
  return step && sayTo(reader, isLimit && doubt !== '' ? phrase`${step}. Note: ${doubt}` : step);
}

function stepOf(
  report: Figures,
  end: LookupsEnd,
  plan: RunSettings['plan'],
  reader: Reader,
  { seesQuota, unreported }: { seesQuota: boolean; unreported: number },
): Phrase | null {
  const stored =
    unreported === 0
      ? 'all paid answers are stored'
      : `${countOf(unreported, 'request')} may have been billed and may be sent again; the other ` +
        'paid answers are stored';
  const { run, rows, identifiers } = report;
  const again = reader === 'inbox' ? 'put the file into the inbox again' : 'run the same command again';
  const sentence = end.type === 'halted' ? sayHalt(end.halt, reader) : '';
  const why = end.type === 'halted' ? end.halt.why : null;
  if (end.type === 'declined') return AFTER_TRIAL;
  if (end.type === 'stopped' && end.fault)
    return `interrupted, and then failed: ${end.fault.sentence}; then run the same command again to continue`;
  switch (run.exitCode) {
    case EXIT.done:
      if (identifiers.beingFetched > 0) {
        const fetched = countOf(identifiers.beingFetched, 'identifier');
        return (
          `the service is still fetching ${fetched} (crawl_queued): ${again} in 2 minutes to look up ` +
          'only those'
        );
      }
      return noMatch(report) ?? (rows.invalid > 0 ? `if the invalid rows matter, ${correct(reader)}` : null);
    case EXIT.someFailed:
      if (rows.failed > 0) return `some rows failed: ${again} to retry only those`;
      return phrase`failed because of ${{ setting: 'strict' }}: ${joinPhrases(
        strictReasons(report),
        ', and ',
      )}${rows.invalid > 0 ? `; ${correct(reader)}` : ''}`;
    case EXIT.tooManyErrors:
      return phrase`stopped by ${{ setting: 'maxErrors' }}: run the same command again to continue`;
    case EXIT.credentials:
      return (
        `the service refused the credentials: ${sentence}; check the token, then run the same ` +
        'command again: nothing is lost'
      );
    case EXIT.ioError:
      return why === 'lost'
        ? `stopped: ${sentence}; check the engine, then run the same command again`
        : phrase`stopped: ${sentence}; check ${{
            setting: 'baseUrl',
          }}, the network, its proxy and the service, then run the same command again${
            why === 'useless' ? UNKNOWN_BRANDS : ''
          }`;
    case EXIT.limit:
      if (end.type === 'paused') return `paused: resume it to continue; ${stored}`;
      if (why === 'unmatched')
        return phrase`${sentence} ${countOf(
          identifiers.deferred,
          'identifier is',
          'identifiers are',
        )} left: to look them up anyway, run again with ${{
          set: { minMatch: 0 },
        }}, or choose another column with ${{ choose: 'column', example: 'NAME:KIND' }}`;
      return phrase`stopped: ${sentence}; ${limitAdvice(end, plan, identifiers.deferred, seesQuota)}`;
    case EXIT.interrupted:
      return (
        `${end.type === 'cancelled' ? 'cancelled' : 'interrupted'}: ${stored}; run the same command ` +
        'again to continue'
      );
    default:
      return null;
  }
}

/** Returns the advice on columns for a complete run without a match, else null. */
export function noMatchText(report: Figures, reader: Reader): string | null {
  const text = noMatch(report);
  return text && sayTo(reader, text);
}

function noMatch({ run, rows, input, identifiers }: Figures): Phrase | null {
  if (!run.isComplete || !hasNoMatch(rows)) return null;
  if (rows.failed > 0 && rows.not_found === 0) return 'Nothing matched: every lookup failed.';
  if (input.where?.rows === 0)
    return `Nothing was looked up: no row has ${input.where.conditions.map(shortName).join(' and ')}.`;
  const columns = input.columns
    .map(({ name, kind }) => `"${shortName(name)}"${kind === null ? '' : ` as ${kind}`}`)
    .join(', ');
  const only = input.columns.length === 1;
  if (identifiers.distinct === 0) return `Nothing matched: no row has an identifier in ${columns}.`;
  return phrase`Nothing matched: identifiers were read from ${columns}. Are ${
    only ? 'that column and its kind' : 'those columns and their kinds'
  } right? ${{ choose: 'column', example: 'NAME:KIND' }} chooses others.`;
}

const UNKNOWN_BRANDS = phrase`; if the service is known not to have these brands, use ${{
  set: { minMatch: 0 },
}}`;

const TRIAL_OVER = 'the trial is over: every paid answer is stored';
const AFTER_TRIAL = phrase`${TRIAL_OVER}; to continue, run the same command without ${{
  setting: 'try',
}}, or answer y`;

function correct(reader: Reader): string {
  const run = reader === 'inbox' ? 'put that file into the inbox' : 'run that file';
  return `correct them in the errors file and ${run}: only those rows are looked up`;
}

function strictReasons({ run, rows }: Figures): Phrase[] {
  const reasons: Phrase[] = [];
  if (rows.invalid > 0) reasons.push(countOf(rows.invalid, 'row is invalid', 'rows are invalid'));
  if (run.nothingMatched)
    reasons.push(phrase`nothing matched; check that ${{ setting: 'column' }} and its kind are right`);
  return reasons;
}

function limitAdvice(
  end: LookupsEnd,
  plan: RunSettings['plan'],
  deferred: number,
  seesQuota: boolean,
): Phrase {
  const left = `${countOf(deferred, 'identifier is', 'identifiers are')} left`;
  const again = 'run the same command again to continue';
  if (end.type !== 'halted' || end.halt.why !== 'limit') return `${left}; ${again}`;
  const { name } = end.halt.reached;
  if (name === 'overstated')
    return phrase`${left}: set ${{ setting: 'plan' }} and ${
      OVERAGE_BUDGET
    } to what the account has, or raise them in the account; ${again}`;
  // The same command would stop at once, because its earlier starts count.
  if (name === 'maxRequests' || name === 'maxCost')
    return phrase`${left}; to continue, run it again with a higher ${{ setting: name }}`;
  const cap = name === 'quota' ? name : null;
  return phrase`${left}: ${waysToCover(cap, plan, seesQuota)}; ${again}`;
}

/** Says what covers deferred requests. `cap`: the setting reached; null for quota or budget. */
export function waysToCover(cap: OwnLimit | null, plan: RunSettings['plan'], seesQuota: boolean): Phrase {
  if (cap === 'quota')
    return phrase`a higher ${{ setting: cap }} or the next period would cover more of them`;
  if (cap !== null) return phrase`a higher ${{ setting: cap }} would cover more of them`;
  return seesQuota ? RAISES[plan] : RAISES_UNSEEN;
}

const OVERAGE_BUDGET = { setting: 'overageBudget' } as const;

const RAISES_UNSEEN = phrase`a higher ${
  OVERAGE_BUDGET
} would cover them, or a raised quota, which this plan does not show by itself: set ${{
  setting: 'ownDomain',
}}, or use \`brand-enrich ledger check\` or \`brand-enrich ledger observe --quota N\``;

const RAISES: Record<RunSettings['plan'], Phrase> = {
  paid: phrase`a higher ${OVERAGE_BUDGET} (or quota) would cover them`,
  free: 'a raised quota or the next period would cover them',
  unspecified: phrase`a raised quota or the next period would cover them, or ${{
    set: { plan: 'paid', overageBudget: 'AMOUNT' },
  }} if the plan bills overage`,
};
