/**
 * `engine export` and `engine import`: stored answers and the period's spending on their way from one engine to another. Pages and
 * batches, so that memory does not grow with the store.
 */
import { tmpdir } from 'node:os';
import type { Settings } from '../config/settings.js';
import { type CommandContext, openStores } from '../context/open-context.js';
import { EXIT, type ExitCode, FailFileError, NeverStartError } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import type { Releasers } from '../core/lifecycle.js';
import { printControlled, printJson, printText, visibleLines } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import {
  accountLine,
  answerLine,
  endLine,
  headerLine,
  readHeader,
  readLine,
} from '../engine/export-lines.js';
import { openByteSource, readingStopped } from '../intake/byte-source.js';
import type { Spending } from '../ledger/ledger.js';
import { mayBeCurrent } from '../ledger/period.js';
import { createOutput } from '../run/output/output-file.js';
import type { StoredOutcome } from '../stores/outcome-store.js';

const PROGRESS_EVERY_MS = 250;

/** A line on a terminal that counts; `end` removes it. */
function createCounter({ stderr }: CommandContext, { quiet }: Settings) {
  let shownAt = performance.now();
  let isShown = false;
  return {
    show(count: number, verb: string): void {
      if (stderr.isTTY !== true || quiet || performance.now() - shownAt < PROGRESS_EVERY_MS) return;
      shownAt = performance.now();
      isShown = true;
      printControlled(stderr, `\r\u001b[2K${countOf(count, 'answer')} ${verb}`);
    },
    end(): void {
      if (isShown) printControlled(stderr, '\r\u001b[2K');
      isShown = false;
    },
  };
}

async function spendingOf(engine: Engine): Promise<[account: string, spending: Spending][]> {
  const names = (await engine.ledger.accounts()).sort();
  const found: [string, Spending][] = [];
  for (const name of names) {
    const { period, sent, held, probes, others, quota } = await engine.ledger.show(name);
    // Unknown is spent.
    found.push([name, { period, sent: sent + held + probes, others, quota }]);
  }
  return found;
}

/** Throws NeverStartError, and what opening the engine and writing throw. */
export async function exportEngine(
  settings: Settings,
  context: CommandContext,
  releasers: Releasers,
): Promise<ExitCode> {
  const target = settings.output ?? '-';
  if (target === '-' && settings.json) {
    throw new NeverStartError({
      code: 'usage-invalid',
      what: 'the export and the result cannot both go to standard output',
      subject: '--json',
      todo: 'name a file with -o',
    });
  }
  const engine = await openStores(settings, context, releasers);
  const options = { gzip: target.endsWith('.gz'), bom: false, stdout: context.stdout };
  const output = await createOutput(target, options);
  releasers.push(() => output.discard());
  const counter = createCounter(context, settings);
  releasers.push(() => counter.end());
  await output.write(headerLine({ engine: engine.kind, exportedAt: Date.now() }));
  const lines = new Set<string>();
  const writeAccounts = async () => {
    for (const [account, spending] of await spendingOf(engine)) {
      const line = accountLine(account, spending);
      if (!lines.has(line)) await output.write(line);
      lines.add(line);
    }
  };
  await writeAccounts();
  let answers = 0;
  const unreadable: string[] = [];
  for (let after: string | null = null, isLast = false; !isLast; ) {
    if (context.stop.aborted) throw readingStopped(target);
    const { outcomes, next } = await engine.outcomes.page(after);
    for (const outcome of outcomes) {
      const line = lineOf(outcome);
      if (line === null) unreadable.push(outcome.key);
      else await output.write(line);
      if (line !== null) answers += 1;
    }
    counter.show(answers, 'written');
    after = next;
    isLast = next === null;
  }
  // What a run has spent meanwhile counts too.
  await writeAccounts();
  await output.write(endLine(answers));
  await output.commit();
  counter.end();
  const accounts = new Set([...lines].map((line) => JSON.parse(line).account)).size;
  const result = { file: target, answers, accounts, unreadable: unreadable.length };
  if (settings.json) printJson(context.stdout, result);
  const said = `${countOf(answers, 'answer')} and ${countOf(accounts, 'account')} exported`;
  if (!settings.quiet) printText(context.stderr, `${said}\n`);
  for (const key of unreadable.slice(0, PROBLEMS_SHOWN))
    printText(context.stderr, visibleLines([`${key}: the stored answer is damaged and left out`]));
  return unreadable.length === 0 ? EXIT.done : EXIT.someFailed;
}

function lineOf(outcome: StoredOutcome): string | null {
  try {
    return answerLine(outcome);
  } catch {
    return null;
  }
}

const LF = 10;
const LONGEST_LINE = 64 * 1_048_576;
const PROBLEMS_SHOWN = 20;
/** What is sent to the engine at once. */
const BATCH_ANSWERS = 200;
const BATCH_BYTES = 4 * 1_048_576;

interface NumberedLine {
  readonly number: number;
  /** null: longer than any that an export has. */
  readonly bytes: Buffer | null;
}

/** Lines without their ends, numbered from 1; empty ones are left out. */
async function* linesOf(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<NumberedLine> {
  let number = 1;
  let parts: Buffer[] = [];
  let length = 0;
  const line = (): NumberedLine => ({
    number,
    bytes: length > LONGEST_LINE ? null : Buffer.concat(parts),
  });
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    let from = 0;
    for (let to = bytes.indexOf(LF); to >= 0; to = bytes.indexOf(LF, from)) {
      parts.push(bytes.subarray(from, to));
      length += to - from;
      if (length > 0) yield line();
      number += 1;
      parts = [];
      length = 0;
      from = to + 1;
    }
    length += bytes.length - from;
    if (length <= LONGEST_LINE) parts.push(bytes.subarray(from));
    else parts = [];
  }
  if (length > 0) yield line();
}

/** Throws NeverStartError for a file that is no export, and what reading it and opening the engine throw. */
export async function importInto(
  input: string,
  settings: Settings,
  context: CommandContext,
  releasers: Releasers,
): Promise<ExitCode> {
  const { stop } = context;
  const source = await openSource(input, context, releasers);
  const lines = linesOf(source)[Symbol.asyncIterator]();
  const first = await lines.next();
  const header = first.done || first.value.bytes === null ? 'it is empty' : readHeader(first.value.bytes);
  if (typeof header === 'string') {
    throw new NeverStartError({
      code: 'usage-invalid',
      what: `this is no export of brand-enrich: ${header}`,
      subject: input === '-' ? 'stdin' : input,
      todo: 'name a file that `brand-enrich engine export` wrote',
    });
  }
  const engine = await openStores(settings, context, releasers);
  const counter = createCounter(context, settings);
  releasers.push(() => counter.end());
  const counts = { answers: 0, taken: 0, known: 0, expired: 0, broken: 0 };
  const problems: string[] = [];
  const accounts = new Map<string, Spending[]>();
  let announced: number | null = null;
  let batch: StoredOutcome[] = [];
  let batchBytes = 0;
  const flush = async () => {
    const { taken, expired } = await engine.outcomes.restore(batch);
    counts.taken += taken;
    counts.expired += expired;
    counts.known += batch.length - taken - expired;
    batch = [];
    batchBytes = 0;
    counter.show(counts.answers, 'read');
  };
  for (;;) {
    if (stop.aborted) throw readingStopped(input);
    const next = await lines.next();
    if (next.done) break;
    const { number, bytes } = next.value;
    const line = bytes === null ? ({ type: 'broken', reason: 'it is too long' } as const) : readLine(bytes);
    if (line.type === 'answer') {
      counts.answers += 1;
      batch.push(line.outcome);
      batchBytes += line.outcome.packed?.length ?? 0;
      if (batch.length >= BATCH_ANSWERS || batchBytes >= BATCH_BYTES) await flush();
    } else if (line.type === 'account') {
      // At once: whatever ends the import, the spending is known.
      await raise(engine, line.account, line.spending);
      accounts.set(line.account, [...(accounts.get(line.account) ?? []), line.spending]);
    } else if (line.type === 'end') announced = line.answers;
    else {
      counts.broken += 1;
      if (problems.length < PROBLEMS_SHOWN) problems.push(`line ${number}: ${line.reason}; left out`);
    }
  }
  await flush();
  counter.end();
  if (announced === null)
    problems.push('the file has no end: it was cut off, and what came after is missing');
  else if (announced !== counts.answers)
    problems.push(
      `the file was written with ${countOf(announced, 'answer')} and has ${countText(counts.answers)}`,
    );
  const verdicts = await judgeAccounts(engine, accounts);
  if (settings.json) printJson(context.stdout, { ...counts, accounts: verdicts, problems });
  else if (!settings.quiet) printText(context.stdout, visibleLines(importLines(counts, verdicts)));
  printText(context.stderr, visibleLines(problems));
  const pending = verdicts.filter(({ result }) => result === 'in flight');
  if (pending.length > 0) {
    throw new FailFileError({
      code: 'engine-held',
      what: 'requests of the period before are in flight, so that its spending could not be taken',
      subject: pending.map(({ account }) => account).join(', '),
      todo: 'import again when the runs on this engine have ended',
    });
  }
  return problems.length === 0 ? EXIT.done : EXIT.someFailed;
}

async function openSource(
  input: string,
  { stdin, stop }: CommandContext,
  releasers: Releasers,
): Promise<AsyncIterable<Buffer | string>> {
  if (input === '-') return stdin;
  const source = await openByteSource(input, null, { spoolFolder: tmpdir(), stop });
  releasers.push(() => source.close());
  return source.read();
}

type Verdict = 'counted' | 'another period' | 'in flight';

interface AccountVerdict {
  readonly account: string;
  readonly period: string | null;
  readonly spent: number;
  readonly result: Verdict;
}

/** The spending of a period that is over says nothing of this one. */
async function raise(engine: Engine, account: string, spending: Spending): Promise<void> {
  const { now, period } = await engine.ledger.show(account);
  if (spending.period === period || mayBeCurrent(spending.period, now))
    await engine.ledger.raise(account, spending);
}

/** Judged by what the ledger says now, of each account by the last line that it had. */
async function judgeAccounts(
  engine: Engine,
  accounts: ReadonlyMap<string, readonly Spending[]>,
): Promise<AccountVerdict[]> {
  const verdicts: AccountVerdict[] = [];
  for (const [account, lines] of accounts) {
    const given = lines.at(-1);
    if (given === undefined) continue;
    const { now, period, sent, held, probes, others } = await engine.ledger.show(account);
    const spent = given.sent + given.others;
    const isCounted = sent + held + probes + others >= spent;
    const isSame =
      given.period === null || given.period === period || period === 'none' || given.period === 'none';
    const isLater = !isSame && period !== null && (given.period ?? '') > period;
    const result: Verdict =
      isSame && isCounted
        ? 'counted'
        : isLater && mayBeCurrent(given.period, now)
          ? 'in flight'
          : 'another period';
    verdicts.push({ account, period: given.period, spent, result });
  }
  return verdicts;
}

function importLines(
  counts: Readonly<Record<'answers' | 'taken' | 'known' | 'expired' | 'broken', number>>,
  accounts: readonly AccountVerdict[],
): string[] {
  const lines = [
    `${countOf(counts.answers, 'answer')} read: ${countText(counts.taken)} imported, ${countText(counts.known)} stored already, ${countText(counts.expired)} older than 30 days`,
  ];
  for (const { account, period, spent, result } of accounts) {
    const of = period === null || period === 'none' ? '' : ` of the period from ${period}`;
    const what = `account ${account}: ${countOf(spent, 'request')}${of}`;
    lines.push(result === 'counted' ? `${what} counted` : `${what} left out: ${result}`);
  }
  return lines;
}
