/**
 * Progress for people: a bar on a terminal, a line every ten seconds in a pipe. All of it goes to standard error.
 * What is shown comes from the pipeline; nothing is decided here.
 */

import { costOf } from '../core/decimal.js';
import { countOf, countText, durationText } from '../core/figures.js';
import { printControlled, printText, visibleLine } from '../core/terminal-text.js';
import { limitOf, spentOf } from '../ledger/policy.js';
import type { EnrichProgress } from './enrich-request.js';

export interface ProgressView {
  update(progress: EnrichProgress): void;
  /** A sentence of its own, above the bar. */
  notice(sentence: string): void;
  /** The same for what is said with `--quiet` too. */
  warn(sentence: string): void;
  end(): void;
}

export interface ProgressViewOptions {
  readonly stream: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  readonly isQuiet: boolean;
  readonly hasColor: boolean;
  /** For the money shown. */
  readonly overagePrice: string;
  /** Milliseconds, by a clock that is never set. */
  readonly now: () => number;
}

const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;
/** The rate is measured over about so long. */
const RATE_WINDOW_MS = 10_000;

export function createProgressView(options: ProgressViewOptions): ProgressView {
  const { stream, isQuiet, now } = options;
  const isBar = stream.isTTY === true && !isQuiet;
  const everyMs = isBar ? BAR_EVERY_MS : LINE_EVERY_MS;
  const marks: { at: number; answered: number }[] = [];
  let shownAt = isBar ? Number.NEGATIVE_INFINITY : now();
  let isBarShown = false;

  const clear = () => {
    if (isBarShown) printControlled(stream, '\r\u001b[2K');
    isBarShown = false;
  };
  const say = (sentence: string) => {
    clear();
    printText(stream, `${visibleLine(sentence)}\n`);
  };
  return {
    update(progress) {
      if (isQuiet) return;
      const at = now();
      if (at - shownAt < everyMs) return;
      shownAt = at;
      marks.push({ at, answered: progress.answered });
      while (marks.length > 2 && at - (marks[0]?.at ?? at) > RATE_WINDOW_MS) marks.shift();
      const text = visibleLine(progressText(progress, rateOf(marks), options.overagePrice));
      if (!isBar) {
        printText(stream, `${text}\n`);
        return;
      }
      const width = (stream.columns ?? 80) - 1;
      clear();
      printControlled(
        stream,
        progress.phase === 'reading' ? text.slice(0, width) : barLine(progress, text, width, options),
      );
      isBarShown = true;
    },
    notice(sentence) {
      if (!isQuiet) say(sentence);
    },
    warn: say,
    end: clear,
  };
}

function rateOf(marks: readonly { at: number; answered: number }[]): number | null {
  const first = marks[0];
  const last = marks.at(-1);
  if (!first || !last || last.at - first.at < 500) return null;
  return ((last.answered - first.answered) * 1_000) / (last.at - first.at);
}

/** One line of plain words: rows, lookups, rate, time left, requests billed, money, what is left. */
export function progressText(progress: EnrichProgress, rate: number | null, price: string): string {
  if (progress.phase === 'reading') return `reading: ${countOf(progress.rows, 'row')}`;
  if (progress.phase === 'writing') return `writing: ${countOf(progress.rows, 'row')}`;
  const parts = [`${countText(progress.answered)}/${countOf(progress.wanted, 'lookup')}`];
  if (progress.phase === 'parked') parts.push('parked');
  if (rate !== null && rate > 0) {
    parts.push(`${countText(Math.round(rate))}/s`);
    parts.push(`${durationText((progress.wanted - progress.answered) / rate)} left`);
  }
  if (progress.inFlight > 0) parts.push(`${countText(progress.inFlight)} in flight`);
  parts.push(`${countText(progress.run?.tally.billed ?? 0)} billed`);
  if (progress.trouble !== null) parts.push(`waiting: ${progress.trouble}`);
  const { ledger } = progress;
  if (ledger) {
    const limit = limitOf(ledger);
    const spent = spentOf(ledger);
    const overage = ledger.run?.overageBilled ?? 0;
    if (overage > 0) parts.push(`${costOf(overage, price)} overage spent`);
    if (limit !== null) parts.push(`${countText(Math.max(0, limit - spent))} of ${countText(limit)} left`);
    if (ledger.isPaused) parts.push('paused');
  }
  return parts.join(', ');
}

/** Cut to the terminal's width, so that a redraw stays on one line. Colour codes take no room. */
function barLine(
  progress: EnrichProgress,
  text: string,
  width: number,
  { hasColor }: Pick<ProgressViewOptions, 'hasColor'>,
): string {
  const share = progress.wanted > 0 ? progress.answered / progress.wanted : 0;
  const full = Math.round(Math.min(1, share) * BAR_WIDTH);
  const done = '█'.repeat(full).slice(0, width);
  const rest = '░'.repeat(BAR_WIDTH - full).slice(0, width - done.length);
  const words = ` ${text}`.slice(0, Math.max(0, width - BAR_WIDTH));
  return hasColor ? `\u001b[36m${done}\u001b[2m${rest}\u001b[0m${words}` : `${done}${rest}${words}`;
}
