/** `engine export` and `engine import`, in pages and batches, so that memory use is constant. */
import { tmpdir } from 'node:os';
import { openStores } from '../app/open-stores.js';
import { ConfigError, EXIT, type ExitCode, readingStopped, usageProblem } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import { byteLines } from '../core/json-text.js';
import type { Releasers } from '../core/lifecycle.js';
import type { StoredOutcome } from '../core/outcome.js';
import { printControlled, printJson, printText, visibleLines } from '../core/terminal-text.js';
import {
  accountLine,
  answerLine,
  cancelLine,
  endLine,
  headerLine,
  pauseLine,
  readHeader,
  readLine,
} from '../engine/export-lines.js';
import { whyUnreadable } from '../engine/stores/profile-codec.js';
import { isOfAll } from '../engine/stores/run-store.js';
import { openByteSource } from '../input/byte-source.js';
import type { LedgerState, Spending } from '../ledger/ledger.js';
import { mayBeCurrent } from '../ledger/period.js';
import { createOutput } from '../run/output/output-file.js';
import { sayFailure } from '../run/words/say-reason.js';
import type { CommandCall } from './answer.js';

const PROGRESS_EVERY_MS = 250;
const PROBLEMS_SHOWN = 20;
/** Longer than any line of an export. */
const LONGEST_LINE = 64 * 1_048_576;
const BATCH_ANSWERS = 200;
const BATCH_BYTES = 4 * 1_048_576;

interface Orders {
  readonly pauses: number;
  readonly cancels: number;
  readonly isPaused: boolean;
}

/** Opens a progress line on the terminal that counts answers; `end` removes the line. */
function openCounter({ stderr, settings: { quiet } }: CommandCall, releasers: Releasers) {
  let shownAt = performance.now();
  let isShown = false;
  const end = () => {
    if (isShown) printControlled(stderr, '\r\u001b[2K');
    isShown = false;
  };
  releasers.push(end);
  return {
    show(count: number, verb: string): void {
      if (stderr.isTTY !== true || quiet || performance.now() - shownAt < PROGRESS_EVERY_MS) return;
      shownAt = performance.now();
      isShown = true;
      printControlled(stderr, `\r\u001b[2K${countOf(count, 'answer')} ${verb}`);
    },
    end,
  };
}

/** Returns our requests that were or may have been billed. */
function sentBy({ sent, held, probes }: LedgerState): number {
  return sent + held + probes;
}

/** Writes an export. Throws `ConfigError`, and as opening the engine and writing do. */
export async function exportEngine(call: CommandCall, releasers: Releasers): Promise<ExitCode> {
  const { settings, stdout, stderr, stop } = call;
  const { json, quiet } = settings;
  const target = settings.output ?? '-';
  if (target === '-' && json) {
    const what = 'the export and the --json result cannot both go to standard output';
    throw new ConfigError(usageProblem(what, '--json', 'name a file with -o'));
  }
  const engine = await openStores(settings, call, releasers);
  const { ledger, runs, outcomes: store } = engine;
  const output = await createOutput(target, {
    gzip: target.endsWith('.gz'),
    bom: false,
    stdout,
    waiting: { stop, emit: ({ text }) => printText(stderr, `${text}\n`) },
  });
  releasers.push(() => output.discard());
  const counter = openCounter(call, releasers);
  await output.write(headerLine({ engine: engine.kind, exportedAt: Date.now() }));
  const accounts = new Set<string>();
  const written = new Set<string>();
  const write = async (line: string) => {
    if (!written.has(line)) await output.write(line);
    written.add(line);
  };
  const orders = { pauses: 0, cancels: 0, isPaused: false };
  const writeState = async () => {
    for (const account of (await ledger.accounts()).sort()) {
      const state = await ledger.show(account);
      const { period, others, quota } = state;
      await write(accountLine(account, { period, sent: sentBy(state), others, quota }));
      accounts.add(account);
    }
    const [pauses, cancels] = await Promise.all([runs.pauses(), runs.cancels()]);
    const isPaused = pauses.some(isOfAll);
    for (const line of [...pauses.map(pauseLine), ...cancels.map(cancelLine)]) await write(line);
    const named = pauses.length - Number(isPaused);
    Object.assign(orders, { pauses: named, cancels: cancels.length, isPaused });
  };
  await writeState();
  let answers = 0;
  const unreadable: string[] = [];
  let after: string | null = null;
  do {
    if (stop.aborted) throw readingStopped(target);
    const { outcomes, next } = await store.page(after);
    for (const outcome of outcomes) {
      let line: string;
      try {
        line = answerLine(outcome);
      } catch {
        const why = sayFailure(whyUnreadable(outcome.packed ?? Buffer.alloc(0)));
        unreadable.push(`${outcome.key}: skipped, because ${why}`);
        continue;
      }
      await output.write(line);
      answers += 1;
    }
    counter.show(answers, 'written');
    after = next;
  } while (after !== null);
  // Again, because runs may have spent and people may have paused or cancelled in the meantime.
  await writeState();
  await output.write(endLine(answers));
  await output.commit();
  counter.end();
  const result = { file: target, answers, accounts: accounts.size, ...orders, unreadable: unreadable.length };
  if (json) printJson(stdout, result);
  const summary = `${countOf(answers, 'answer')} and ${countOf(accounts.size, 'account')} exported`;
  if (!quiet) printText(stderr, `${[summary, ...ordersText(orders)].join('\n')}\n`);
  printText(stderr, visibleLines(unreadable.slice(0, PROBLEMS_SHOWN)));
  return unreadable.length === 0 ? EXIT.done : EXIT.someFailed;
}

/** Returns pauses and cancels as a line, or no line without any. */
function ordersText({ pauses, cancels, isPaused }: Orders): string[] {
  const counts = [pauses > 0 && countOf(pauses, 'pause'), cancels > 0 && countOf(cancels, 'cancel')];
  const orders = counts.filter((each) => each !== false);
  if (isPaused) orders.push('all spending is paused');
  return orders.length === 0 ? [] : [`with ${orders.join(', ')}`];
}

/** Reads an export. Throws `ConfigError` for other files, and as reading and opening do. */
export async function importInto(call: CommandCall, releasers: Releasers): Promise<ExitCode> {
  const { settings, stdin, stdout, stderr, stop } = call;
  const [input = '-'] = call.args;
  const source = input === '-' ? null : await openByteSource(input, { spoolFolder: tmpdir(), stop });
  releasers.push(() => source?.close());
  const lines = byteLines(source?.read() ?? stdin, LONGEST_LINE);
  const [, first = null] = (await lines.next()).value ?? [];
  const header = first === null ? 'it is empty' : readHeader(first);
  if (typeof header === 'string') {
    const what = `this is not a brand-enrich export: ${header}`;
    const todo = 'name a file that `brand-enrich engine export` wrote';
    throw new ConfigError(usageProblem(what, input === '-' ? 'stdin' : input, todo));
  }
  const { ledger, runs, outcomes } = await openStores(settings, call, releasers);
  const counter = openCounter(call, releasers);
  const counts = { answers: 0, taken: 0, known: 0, expired: 0, broken: 0 };
  const orders = { pauses: 0, cancels: 0, isPaused: false };
  const problems: string[] = [];
  /** The last line of each account. */
  const accounts = new Map<string, Spending>();
  let announced: number | null = null;
  let batch: StoredOutcome[] = [];
  let batchBytes = 0;
  const flush = async () => {
    const { taken, expired } = await outcomes.restore(batch);
    counts.taken += taken;
    counts.expired += expired;
    counts.known += batch.length - taken - expired;
    batch = [];
    batchBytes = 0;
    counter.show(counts.answers, 'read');
  };
  for await (const [number, bytes] of lines) {
    if (stop.aborted) throw readingStopped(input);
    const line = bytes === null ? ({ type: 'broken', reason: 'it is too long' } as const) : readLine(bytes);
    if (line.type === 'answer') {
      counts.answers += 1;
      batch.push(line.outcome);
      batchBytes += line.outcome.packed?.length ?? 0;
      if (batch.length >= BATCH_ANSWERS || batchBytes >= BATCH_BYTES) await flush();
    } else if (line.type === 'account') {
      const { type, account, ...spending } = line;
      const { now, period } = await ledger.show(account);
      // Counted at once, because the import may be interrupted. Ignores spending of a past period.
      if (spending.period === period || mayBeCurrent(spending.period, now))
        await ledger.raise(account, spending);
      accounts.set(account, spending);
    } else if (line.type === 'pause') {
      if (isOfAll(line)) orders.isPaused = true;
      else orders.pauses += 1;
      await runs.pauseOwner(line);
    } else if (line.type === 'cancel') {
      orders.cancels += 1;
      await runs.cancelJob(line);
    } else if (line.type === 'end') announced = line.answers;
    else {
      counts.broken += 1;
      if (problems.length < PROBLEMS_SHOWN) problems.push(`line ${number}: ${line.reason}; skipped`);
    }
  }
  await flush();
  counter.end();
  if (announced === null) problems.push('the file is cut off: its last lines are missing');
  else if (announced !== counts.answers) {
    const written = countOf(announced, 'answer');
    problems.push(`the file should have ${written}, but has ${countText(counts.answers)}`);
  }
  const verdicts: ReturnType<typeof verdictOf>[] = [];
  for (const [account, spending] of accounts)
    verdicts.push(verdictOf(account, spending, await ledger.show(account)));
  if (settings.json) printJson(stdout, { ...counts, ...orders, accounts: verdicts, problems });
  else if (!settings.quiet) {
    const known = `${countText(counts.taken)} imported, ${countText(counts.known)} already stored`;
    const read = `${countOf(counts.answers, 'answer')} read: ${known}`;
    const first = `${read}, ${countText(counts.expired)} older than 30 days`;
    printText(stdout, visibleLines([first, ...ordersText(orders), ...verdicts.map(accountText)]));
  }
  printText(stderr, visibleLines(problems));
  return problems.length === 0 ? EXIT.done : EXIT.someFailed;
}

/** Returns whether the ledger now counts the spending that the export has for an account. */
function verdictOf(account: string, { period, sent, others }: Spending, state: LedgerState) {
  const spent = sent + others;
  const isSame = period === state.period || [period, state.period].includes('none') || period === null;
  const isCounted = isSame && sentBy(state) + state.others >= spent;
  return { account, period, spent, result: isCounted ? 'counted' : 'another period' };
}

function accountText({ account, period, spent, result }: ReturnType<typeof verdictOf>): string {
  const of = period === null || period === 'none' ? '' : ` of the period from ${period}`;
  const end = result === 'counted' ? 'counted' : `skipped: ${result}`;
  return `account ${account}: ${countOf(spent, 'request')}${of} ${end}`;
}
