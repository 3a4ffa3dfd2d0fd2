/**
 * The question before money is spent: on a terminal a run that may cost more than `--confirm-above` asks first; elsewhere the cost
 * is said before it is spent.
 */
import { createInterface } from 'node:readline/promises';
import type { Settings } from '../config/settings.js';
import { InterruptedError } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import type { Streams } from '../core/terminal-text.js';
import { isMoreThan, type SpendingEstimate } from './lookups/spending.js';
import type { ProgressView } from './progress-view.js';

/** False: a person said no, or ended the input. Throws `InterruptedError` for Ctrl-C, and the reason of `stop`. */
export async function confirmSpending(
  estimate: SpendingEstimate,
  settings: Pick<Settings, 'yes' | 'confirmAbove'>,
  terminal: Pick<Streams, 'stdin' | 'stderr'> & { readonly stop: AbortSignal },
  view: Pick<ProgressView, 'notice'>,
): Promise<boolean> {
  const { requests, withinQuota, overageRequests, maxCost } = estimate;
  const parts = [`${countOf(requests, 'identifier')} to ask for`];
  if (withinQuota !== null) parts.push(`${countText(withinQuota)} within the quota`);
  if (overageRequests > 0)
    parts.push(`up to ${countText(overageRequests)} as overage for at most ${maxCost}`);
  const deferred = estimate.deferred ?? 0;
  if (deferred > 0) parts.push(`${countText(deferred)} beyond the limit`);
  const sentence = parts.join(', ');
  view.notice(sentence);
  const isTerminal = terminal.stdin.isTTY === true && terminal.stderr.isTTY === true;
  if (settings.yes || !isTerminal || !isMoreThan(maxCost, settings.confirmAbove)) return true;
  return ask(terminal);
}

async function ask({ stdin, stderr, stop }: Parameters<typeof confirmSpending>[2]): Promise<boolean> {
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    // Neither would end the question by itself: on a terminal Ctrl-C is a key, and Ctrl-D closes the input.
    const broken = new Promise<string>((resolve, reject) => {
      prompt.once('SIGINT', () => reject(atTheQuestion()));
      prompt.once('close', () => resolve('n'));
    });
    const answer = await Promise.race([prompt.question('spend it? [y/N] ', { signal: stop }), broken]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

function atTheQuestion(): InterruptedError {
  return new InterruptedError({
    code: 'interrupted',
    subject: 'the question "spend it?"',
    todo: 'nothing was spent or written; run again',
  });
}
