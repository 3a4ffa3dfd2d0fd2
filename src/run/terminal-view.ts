/** A run on standard error: progress as bar or lines, sentences, the question before spending. */
import { createInterface } from 'node:readline/promises';
import type { Clock } from '../core/clock.js';
import { costOf } from '../core/decimal.js';
import { InterruptedError } from '../core/errors.js';
import { countOf, countText, durationText } from '../core/figures.js';
import type { Streams } from '../core/terminal-text.js';
import { printControlled, printText, visibleLine } from '../core/terminal-text.js';
import { pauseText } from '../engine/stores/run-store.js';
import type { Settings } from '../settings/settings.js';
import type { EnrichProgress } from './enrich-request.js';
import { judgeAccount } from './facts/judge-account.js';
import { isMoreThan, type SpendingQuestion, usesMostOfQuota } from './lookups/spending.js';
import type { TrialResult } from './lookups/trial.js';
import type { RunView } from './run-view.js';

export interface TerminalViewOptions {
  readonly streams: Pick<Streams, 'stdin' | 'stderr'>;
  readonly settings: Pick<Settings, 'quiet' | 'color' | 'overagePrice' | 'yes' | 'confirmAbove'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly stop: AbortSignal;
}

export type TerminalPrompt = Pick<TerminalViewOptions, 'streams' | 'stop'>;

const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;
/** The rate is measured over about so long. */
const RATE_WINDOW_MS = 10_000;

/** Shows nothing but warnings with `--quiet`. */
export function createTerminalView(options: TerminalViewOptions): RunView {
  const { settings, clock } = options;
  const { stdin, stderr } = options.streams;
  const isTerminal = stderr.isTTY === true;
  const isBar = isTerminal && !settings.quiet;
  const isInteractive = isTerminal && stdin.isTTY === true && !settings.yes;
  const everyMs = isBar ? BAR_EVERY_MS : LINE_EVERY_MS;
  const marks: Mark[] = [];
  const warned = new Set<string>();
  let shownAt = isBar ? Number.NEGATIVE_INFINITY : clock.monotonic();
  let isBarShown = false;
  let hasAgreed = false;

  const clear = () => {
    if (isBarShown) printControlled(stderr, '\r\u001b[2K');
    isBarShown = false;
  };
  const warn = (sentence: string) => {
    clear();
    printText(stderr, `${visibleLine(sentence)}\n`);
  };
  const notice = (sentence: string) => {
    if (!settings.quiet) warn(sentence);
  };
  /** Progress repeats what it says. */
  const warnOnce = (what: string, sentence: string) => {
    if (!warned.has(what)) warn(sentence);
    warned.add(what);
  };
  const showProgress = (progress: EnrichProgress) => {
    const at = clock.monotonic();
    if (settings.quiet || at - shownAt < everyMs) return;
    shownAt = at;
    marks.push({ at, answered: progress.answered });
    while (marks.length > 2 && at - (marks[0]?.at ?? at) > RATE_WINDOW_MS) marks.shift();
    const rate = rateOf(marks);
    if (!isBar) {
      printText(stderr, `${visibleLine(progressText(progress, rate, settings.overagePrice))}\n`);
      return;
    }
    // Some terminals say that they have no columns.
    const width = (stderr.columns || 80) - 1;
    const text = visibleLine(barText(progress, rate, settings.overagePrice));
    const hasBar = progress.phase === 'asking' || progress.phase === 'parked';
    const line = hasBar ? barLine(progress, text, width, settings.color) : text.slice(0, width);
    // Written over, then cut: a line that is cleared first flickers.
    printControlled(stderr, `\r${line}\u001b[K`);
    isBarShown = true;
  };

  return {
    update(progress) {
      showProgress(progress);
      const { outage, ledger } = progress;
      if (outage !== null)
        warnOnce('outage', `the service is unavailable: ${outage}; lookups go on when it answers`);
      const account = ledger && judgeAccount(ledger);
      if (account?.isNearLimit)
        warnOnce('limit', `warning: 80 % of the limit of ${countText(account.limit ?? 0)} requests is used`);
    },
    notice,
    warn,
    isInteractive,
    async confirm(question) {
      const { trial } = question;
      const isTrial = trial?.isRequested === true;
      const isWorthAsking =
        isTrial ||
        (!hasAgreed && (isMoreThan(question.maxCost, settings.confirmAbove) || usesMostOfQuota(question)));
      const asks = isInteractive && isWorthAsking;
      const show = asks ? warn : notice;
      if (isTrial) for (const line of trialLines(trial)) show(line);
      // Said once, unless the first request told of costs or of a limit.
      const isNews = trial === null || question.overageRequests > 0 || (question.deferred ?? 0) > 0;
      if (asks || isTrial || isNews) show(questionText(question));
      if (!asks) return settings.yes || !isTrial;
      hasAgreed = await askOnTerminal(isTrial ? 'continue?' : 'spend it?', options);
      return hasAgreed;
    },
    // `--yes` agrees to costs; only a person takes back what a person ordered.
    ...(isTerminal && stdin.isTTY === true
      ? {
          asks(question) {
            clear();
            return askOnTerminal(question, options);
          },
          resumes: (pause) => askOnTerminal(`${pauseText(pause)}; resume it?`, options),
        }
      : {}),
    end: clear,
  };
}

function questionText(question: SpendingQuestion): string {
  const { requests, withinQuota, quotaLeft, overageRequests, maxCost, deferred, trial } = question;
  const parts = [`${countOf(requests, trial === null ? 'identifier' : 'more identifier')} to look up`];
  if (withinQuota !== null) parts.push(`${countText(withinQuota)} within the quota`);
  if (quotaLeft !== null && usesMostOfQuota(question))
    parts.push(
      withinQuota === quotaLeft
        ? 'all of the quota left'
        : `more than half of the ${countText(quotaLeft)} left`,
    );
  if (overageRequests > 0)
    parts.push(`up to ${countText(overageRequests)} as overage for at most ${maxCost}`);
  if (deferred !== null && deferred > 0) parts.push(`${countText(deferred)} beyond the limit`);
  return parts.join(', ');
}

function trialLines({ counts, brands }: TrialResult): string[] {
  const { matched = 0, ...others } = counts;
  const tried = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const share = tried === 0 ? '' : ` (${Math.round((matched / tried) * 100)} %)`;
  const rest = Object.entries(others).map(
    ([status, count]) => `, ${countText(count)} ${status.replace('_', ' ')}`,
  );
  return [
    `tried ${countOf(tried, 'identifier')}: ${countText(matched)} matched${share}${rest.join('')}`,
    ...brands.map(
      ({ identifier, name, domain, score }) =>
        `  ${identifier}: ${name || 'no name'}, ${domain || 'no domain'}, ` +
        `${score === null ? 'unscored' : `score ${score}`}`,
    ),
  ];
}

/** False: declined or input ended. Throws `InterruptedError` on Ctrl-C, and `stop`'s reason. */
export async function askOnTerminal(
  question: string,
  { streams: { stdin, stderr }, stop }: TerminalPrompt,
): Promise<boolean> {
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    // Neither would end the question on its own: on a terminal Ctrl-C is a key, and Ctrl-D closes
    // the input.
    const broken = new Promise<string>((resolve, reject) => {
      prompt.once('SIGINT', () => {
        const todo = 'nothing more was spent; run again';
        reject(new InterruptedError({ code: 'interrupted', subject: `the question "${question}"`, todo }));
      });
      prompt.once('close', () => resolve('n'));
    });
    const answer = await Promise.race([prompt.question(`${question} [y/N] `, { signal: stop }), broken]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

type Mark = Readonly<Record<'at' | 'answered', number>>;

function rateOf(marks: readonly Mark[]): number | null {
  const first = marks[0];
  const last = marks.at(-1);
  if (!first || !last || last.at - first.at < 500) return null;
  return ((last.answered - first.answered) * 1_000) / (last.at - first.at);
}

/** One line of progress: rows, lookups, rate, time left, requests billed, money, room left. */
export function progressText(progress: EnrichProgress, rate: number | null, price: string): string {
  const { phase, rows, answered, wanted, ledger } = progress;
  if (phase === 'reading' || phase === 'writing') return `${phase}: ${countOf(rows, 'row')}`;
  const parts = [`${countText(answered)}/${countOf(wanted, 'lookup')}`, ...waitsOf(progress)];
  parts.push(...paceOf(progress, rate));
  if (progress.inFlight > 0) parts.push(`${countText(progress.inFlight)} in flight`);
  parts.push(`${countText(progress.run?.tally.billed ?? 0)} billed`);
  if (progress.outage !== null) parts.push(`waiting: ${progress.outage}`);
  if (ledger) {
    const { limit, left } = judgeAccount(ledger);
    const overage = ledger.run?.overageBilled ?? 0;
    if (overage > 0) parts.push(`${costOf(overage, price)} overage spent`);
    if (limit !== null) parts.push(`${countText(left ?? 0)} of ${countText(limit)} left`);
  }
  if (progress.run?.isPaused ?? ledger?.isPaused) parts.push('paused');
  return parts.join(', ');
}

/** The words beside the bar: what came out, what is spent of the limit, rate and time left. */
export function barText(progress: EnrichProgress, rate: number | null, price: string): string {
  const { phase, rows, answered, wanted, ledger, run, outage } = progress;
  if (phase === 'reading' || phase === 'writing') return `${phase} ${countOf(rows, 'row')}`;
  const { matched = 0, stored = 0, billed = 0 } = run?.tally ?? {};
  const account = ledger && judgeAccount(ledger);
  const overage = ledger?.run?.overageBilled ?? 0;
  const isPaused = run?.isPaused ?? ledger?.isPaused ?? false;
  return [
    `${countText(answered)} of ${countText(wanted)}`,
    ...(isPaused ? ['paused'] : waitsOf(progress)),
    ...(outage === null ? [] : [`waiting: ${outage}`]),
    `${countText(matched)} matched`,
    ...(stored > 0 ? [`${countText(stored)} stored`] : []),
    account?.limit == null
      ? `${countText(billed)} billed`
      : `${countText(account.used)} of ${countText(account.limit)} spent`,
    ...(overage > 0 ? [`${costOf(overage, price)} overage`] : []),
    ...paceOf(progress, rate),
  ].join(' · ');
}

function waitsOf({ phase, queued }: EnrichProgress): string[] {
  if (phase === 'parked') return ['parked'];
  return queued ? [queued] : [];
}

function paceOf({ wanted, answered }: EnrichProgress, rate: number | null): string[] {
  if (rate === null || rate <= 0) return [];
  return [`${countText(Math.round(rate))}/s`, `${durationText((wanted - answered) / rate)} left`];
}

/** Cut to the terminal's width, so that a redraw stays on one line. Colour codes take no room. */
function barLine(progress: EnrichProgress, text: string, width: number, hasColor: boolean): string {
  const share = progress.wanted > 0 ? progress.answered / progress.wanted : 0;
  const full = Math.round(Math.min(1, share) * BAR_WIDTH);
  const done = '█'.repeat(full).slice(0, width);
  const rest = '░'.repeat(BAR_WIDTH - full).slice(0, width - done.length);
  const words = ` ${text}`.slice(0, Math.max(0, width - BAR_WIDTH));
  return hasColor ? `\u001b[36m${done}\u001b[2m${rest}\u001b[0m${words}` : `${done}${rest}${words}`;
}
