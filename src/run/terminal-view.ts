/** A run on standard error: progress as a bar or lines, sentences, the question before spending. */
import { createInterface } from 'node:readline/promises';
import type { Clock } from '../core/clock.js';
import { costOf } from '../core/decimal.js';
import { InterruptedError } from '../core/errors.js';
import { countOf, countText, durationText } from '../core/figures.js';
import type { Streams } from '../core/terminal-text.js';
import { printControlled, printText, visibleLine, wrapLines } from '../core/terminal-text.js';
import { type Pause, pauseText } from '../engine/stores/run-store.js';
import type { Settings } from '../settings/settings.js';
import type { EnrichProgress, EnrichRuntime } from './enrich-request.js';
import { judgeAccount } from './facts/judge-account.js';
import { isMoreThan, type SpendingQuestion, usesMostOfQuota } from './lookups/spending.js';
import type { TrialResult } from './lookups/trial.js';
import { countedIn } from './report/headline.js';
import type { FileEvent } from './run-file.js';
import { sayEvent } from './run-view.js';

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
const RATE_WINDOW_MS = 10_000;

/** Returns a view that shows a run on the terminal; with `--quiet` only its warnings. */
export function createTerminalView(options: TerminalViewOptions) {
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
    printText(stderr, wrapLines(`${visibleLine(sentence)}\n`, stderr));
  };
  const notice = (sentence: string) => {
    if (!settings.quiet) warn(sentence);
  };
  /** Shows a warning once, although progress repeats it. */
  const warnOnce = (what: string, sentence: string) => {
    if (!warned.has(what)) warn(sentence);
    warned.add(what);
  };
  const isDue = (): boolean => {
    const at = clock.monotonic();
    if (settings.quiet || at - shownAt < everyMs) return false;
    shownAt = at;
    return true;
  };
  /** `share`: how much of the bar is filled, or null without a bar. */
  const showLine = (line: string, share: number | null) => {
    const text = visibleLine(line);
    if (!isBar) {
      printText(stderr, `${text}\n`);
      return;
    }
    // Some terminals report 0 columns.
    const width = (stderr.columns || 80) - 1;
    const shown = share === null ? text.slice(0, width) : barLine(share, text, width, settings.color);
    // Overwrites the line, because clearing it first flickers.
    printControlled(stderr, `\r${shown}\u001b[K`);
    isBarShown = true;
  };
  const showProgress = (progress: EnrichProgress) => {
    if (!isDue()) return;
    const { wanted, answered } = progress;
    marks.push({ at: shownAt, answered });
    while (marks.length > 2 && shownAt - (marks[0]?.at ?? shownAt) > RATE_WINDOW_MS) marks.shift();
    showLine(
      progressText(progress, rateOf(marks), settings.overagePrice),
      wanted > 0 ? answered / wanted : 0,
    );
  };
  const warnOfProgress = ({ outage, ledger }: EnrichProgress) => {
    if (outage !== null)
      warnOnce('outage', `the service is unavailable: ${outage}; lookups continue when it answers`);
    const account = ledger && judgeAccount(ledger);
    const limit = countOf(account?.limit ?? 0, 'request');
    if (account?.isNearLimit)
      warnOnce('limit', `warning: ${countText(account.used)} of the limit of ${limit} are used`);
  };
  const isAskedAbout = (question: SpendingQuestion): boolean =>
    isInteractive &&
    (isTrial(question) ||
      (!hasAgreed && (isMoreThan(question.maxCost, settings.confirmAbove) || usesMostOfQuota(question))));
  const showEstimate = (question: SpendingQuestion) => {
    const { trial, overageRequests, deferred } = question;
    const isAsked = isAskedAbout(question);
    const show = isAsked ? warn : notice;
    if (trial?.isRequested) for (const line of trialLines(trial)) show(line);
    // Shown again after the first request only if that showed costs or a limit.
    const isNews = trial === null || overageRequests > 0 || (deferred ?? 0) > 0;
    if (isAsked || isTrial(question) || isNews) show(questionText(question));
  };
  const questions: Pick<EnrichRuntime, 'confirm' | 'asks' | 'resumes'> = {
    async confirm(question) {
      if (!isAskedAbout(question)) return settings.yes || !isTrial(question);
      hasAgreed = await askOnTerminal(isTrial(question) ? 'continue?' : 'spend it?', options);
      return hasAgreed;
    },
    ...(isInteractive && {
      asks(question: string) {
        clear();
        return askOnTerminal(question, options);
      },
    }),
    // `--yes` agrees to costs, but only a person resumes what a person paused.
    ...(isTerminal &&
      stdin.isTTY === true && {
        resumes: (pause: Pause) => askOnTerminal(`${pauseText(pause)}; resume it?`, options),
      }),
  };

  return {
    show(event: FileEvent): void {
      const said = sayEvent(event, 'terminal');
      if (said !== null) (said.isWarning ? warn : notice)(said.sentence);
      else if (event.type === 'estimated') showEstimate(event.question);
      else if (event.type === 'ended') clear();
      else if (event.type === 'progress') {
        showProgress(event);
        warnOfProgress(event);
      } else if ('rows' in event && isDue()) showLine(`${event.type} ${countOf(event.rows, 'row')}`, null);
    },
    notice,
    warn,
    questions,
    end: clear,
  };
}

const isTrial = ({ trial }: SpendingQuestion): boolean => trial?.isRequested === true;

function questionText(question: SpendingQuestion): string {
  const { requests, withinQuota, quotaLeft, overageRequests, maxCost, deferred, trial } = question;
  const parts = [`${countOf(requests, trial === null ? 'identifier' : 'more identifier')} to look up`];
  const isCapped = (deferred ?? 0) > 0 && overageRequests === 0 && withinQuota !== quotaLeft;
  if (withinQuota !== null) parts.push(`${countText(withinQuota)} within the ${isCapped ? 'caps' : 'quota'}`);
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
  const rest = countedIn(others).map(([, text]) => `, ${text}`);
  return [
    `tried ${countOf(tried, 'identifier')}: ${countText(matched)} matched${share}${rest.join('')}`,
    ...brands.map(
      ({ identifier, name, domain, score }) =>
        `  ${identifier}: ${name ?? 'no name'}, ${domain ?? 'no domain'}, ` +
        `${score === null ? 'unscored' : `score ${score}`}`,
    ),
  ];
}

/** Asks a person; an ended input is no. Throws `InterruptedError` on Ctrl-C, or `stop`'s reason. */
export async function askOnTerminal(
  question: string,
  { streams: { stdin, stderr }, stop }: TerminalPrompt,
): Promise<boolean> {
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    // `question` never settles after Ctrl-C, a key here, or Ctrl-D, which closes the input.
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

/** Returns one line: outcomes, requests spent of the limit, rate and time left. */
export function progressText(progress: EnrichProgress, rate: number | null, price: string): string {
  const { isParked, answered, wanted, ledger, run, outage, queued } = progress;
  const { matched = 0, stored = 0, billed = 0 } = run?.tally ?? {};
  const account = ledger && judgeAccount(ledger);
  const overage = ledger?.run?.overageBilled ?? 0;
  const isPaused = run?.isPaused ?? ledger?.isPaused ?? false;
  const waits = isPaused ? 'paused' : isParked ? 'parked' : queued;
  return [
    `${countText(answered)} of ${countText(wanted)}`,
    ...(waits === null ? [] : [waits]),
    ...(outage === null ? [] : [`waiting: ${outage}`]),
    `${countText(matched)} matched`,
    ...(stored > 0 ? [`${countText(stored)} stored`] : []),
    account?.limit == null
      ? `${countText(billed)} billed`
      : `${countText(account.used)} of ${countText(account.limit)} spent`,
    ...(overage > 0 ? [`${costOf(overage, price)} overage`] : []),
    ...(rate !== null && rate > 0
      ? [`${countText(Math.round(rate))}/s`, `${durationText((wanted - answered) / rate)} left`]
      : []),
  ].join(' · ');
}

/** Cuts the line to the terminal's width, where colour codes take no room. */
function barLine(share: number, text: string, width: number, hasColor: boolean): string {
  const full = Math.round(Math.min(1, share) * BAR_WIDTH);
  const done = '█'.repeat(full).slice(0, width);
  const rest = '░'.repeat(BAR_WIDTH - full).slice(0, width - done.length);
  const words = ` ${text}`.slice(0, Math.max(0, width - BAR_WIDTH));
  return hasColor ? `\u001b[36m${done}\u001b[2m${rest}\u001b[0m${words}` : `${done}${rest}${words}`;
}
