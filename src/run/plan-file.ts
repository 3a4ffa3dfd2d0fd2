/** What a run of this file would do, without spending: rows, identifiers, requests and cost. */
import { countsInWords } from '../core/counter.js';
import { costOf } from '../core/decimal.js';
import { BrandEnrichError } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import type { Phrase } from '../core/phrase.js';
import { sayRowReason } from '../core/row-reason.js';
import type { Engine } from '../engine/engine.js';
import { outcomeKeys } from '../engine/stores/outcome-key.js';
import { freshnessOf, type RunSettings } from '../engine/stores/run-store.js';
import { seesRaisedQuota } from '../ledger/policy.js';
import type { Document } from './documents.js';
import { type EnrichRequest, type EnrichRuntime, runKey } from './enrich-request.js';
import { useOf } from './facts/judge-account.js';
import { READ_AT_ONCE, readStored, type Unanswered, unansweredIn } from './lookups/collect-outcomes.js';
import { estimateSpending, ownLimitOf } from './lookups/spending.js';
import { assertPlaces, type OutputNames } from './output/output-names.js';
import { NOTHING_ASKED, type OutputPlan } from './output/output-plan.js';
import { planOutput } from './output/plan-output.js';
import { waysToCover } from './report/next-step.js';
import { rawOf } from './scan/row-spool.js';
import { inputFacts, openAndScan, type Scan } from './scan/scan.js';
import { namingFor, sayTo } from './words/say-reason.js';

export interface PlanRequest
  extends Pick<EnrichRequest, 'input' | 'stdin' | 'settings' | 'only' | 'stateFolder' | 'reader'>,
    Pick<EnrichRuntime, 'table'> {
  /** Null without a service: stored answers and the account are unknown. */
  readonly runSettings: RunSettings | null;
}

/** The contents of `plan`; without a service only the facts of the input are not null. */
export type Plan = Awaited<ReturnType<typeof planFile>>;

/** Runs searched for an earlier start of the same command. */
const RUNS_LOOKED_AT = 200;
const RANKED_SHOWN = 5;

/** Returns the plan. `stores`: null without a service. Throws what reading and choosing throw. */
export function planFile(request: PlanRequest, stores: Engine | null, stop: AbortSignal) {
  return withReleasers(async (releasers) => {
    const quiet = { stop, onRows: () => undefined };
    const { overagePrice, currency, waterfall } = request.settings;
    const { input, scan } = await openAndScan(request, request.table, quiet, releasers);
    const { plan, names } = planOutput(request.input, input.shape, scan, request.settings);
    const unwritable = await whyUnwritable(request, names);
    const warnings = input.warnings.map((each) => sayTo(request.reader, each));
    const { wanted } = scan.answers;
    const account = await openAccount(request, stores, scan.contentHash);
    const least = await countAll(missingIn(scan, account));
    const priority = await planPriorities(scan, account, least);
    let most = least;
    if (waterfall) {
      for (let index = 0; index < scan.identifiers.count; index += 1) scan.answers.want(index);
      most = await countAll(missingIn(scan, account));
    }
    const spending = account && estimateSpending(most, account.state, { ...account, overagePrice });
    const { asked, duplicates, skipped, invalid } = scan.counts;
    const fills = account && (await countFills(scan, plan, account));
    return {
      input: inputFacts(
        { name: input.name, detected: input.detected, warnings: [...warnings, ...unwritable] },
        scan,
      ),
      leftOut: input.shape.leftOut ?? { linesAbove: 0, sheets: [] },
      columns: sayTo(request.reader, scan.chosen.sentence),
      rows: { total: scan.rows.count, asked, duplicates, skipped, invalid },
      reasons: scan.reasons,
      /** The first invalid and unreadable rows. */
      invalid: scan.invalid,
      identifiers: {
        distinct: wanted,
        duplicateRows: duplicates,
        byKind: Object.fromEntries(scan.byKind),
        /** With a fresh answer. */
        stored: account && wanted - least,
      },
      /** Requests needed at least, and with `--waterfall` at most. */
      requests: { least, most },
      spending,
      /** The `maxCost` that just allows this estimate; earlier starts count towards it. */
      cap:
        spending &&
        costOf(spending.overageRequests + (account.state.run?.overageRequests ?? 0), overagePrice),
      /** How to cover the deferred requests; null without any, or while unknown. */
      ways: account && spending?.deferred ? sayTo(request.reader, waysOf(spending, account)) : null,
      priority,
      account: account && useOf({ ...account.state, ...termsOf(account.settings) }),
      /** Of rows with a stored brand; null without `--fill` or a service. */
      fills,
      currency,
      /** The files of a run; `-` is standard output. */
      files: { output: names.complete, errors: names.errors, report: names.report },
    };
  });
}

async function whyUnwritable({ input, reader }: PlanRequest, names: OutputNames): Promise<string[]> {
  try {
    await assertPlaces(input, names);
    return [];
  } catch (error) {
    if (!(error instanceof BrandEnrichError)) throw error;
    const { message } = error.inWords(namingFor(reader));
    return [`a run would stop at once: ${message}`];
  }
}

const termsOf = ({ overage, quotaCap }: RunSettings) => ({ overage, quotaCap });

type KnownAccount = NonNullable<Awaited<ReturnType<typeof openAccount>>>;

/** Returns the account as a run would find it, after earlier starts; null without a service. */
async function openAccount(
  { settings: asked, runSettings: settings }: PlanRequest,
  stores: Engine | null,
  contentHash: string,
) {
  if (stores === null || settings === null) return null;
  const key = runKey(contentHash, { settings: asked, runSettings: settings });
  const started = (await stores.runs.list(RUNS_LOOKED_AT)).find((run) => run.key === key);
  const isOpen = started !== undefined && started.status !== 'completed';
  const state = await stores.ledger.show(settings.account, isOpen ? started.id : undefined);
  // The caps of this command replace those of its earlier start.
  const { maxRequests, maxOverageRequests } = settings;
  const run = state.run && { ...state.run, maxRequests, maxOverageRequests };
  return { stores, settings, state: { ...state, run } };
}

function waysOf(spending: ReturnType<typeof estimateSpending>, { state, settings }: KnownAccount): Phrase {
  const { plan } = settings;
  return waysToCover(ownLimitOf(spending, state, settings), plan, seesRaisedQuota(plan, state));
}

/** Yields wanted identifiers without a fresh answer, in batches. */
async function* missingIn(
  scan: Scan,
  account: KnownAccount | null,
  order: 'file' | 'priority' = 'file',
): AsyncGenerator<Unanswered[]> {
  for (const batch of unansweredIn(scan, READ_AT_ONCE, order)) {
    if (account === null) {
      yield batch;
      continue;
    }
    const stored = await readFresh(batch, account);
    yield batch.filter((_, at) => stored[at] === null);
  }
}

async function countAll(batches: AsyncIterable<readonly unknown[]>): Promise<number> {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
}

/** Counts the cells of the user's own columns that stored brands would fill. */
async function countFills(scan: Scan, plan: OutputPlan, account: KnownAccount) {
  if (plan.fills.length === 0) return null;
  // Loaded on demand, because most plans fill nothing.
  const { createFiller, FillCounts } = await import('./output/fill.js');
  const { joinRow, nameMatchOf } = await import('./output/join-rows.js');
  const { createRenderer } = await import('./output/render.js');
  const fill = createFiller(plan);
  const { answers, rows } = scan;
  const renderer = createRenderer(plan);
  for (const batch of unansweredIn(scan, READ_AT_ONCE)) {
    const stored = await readFresh(batch, account);
    for (const [at, { index }] of batch.entries()) {
      const outcome = stored[at] ?? null;
      const answer = outcome && readStored(outcome);
      if (answer === null || !('profile' in answer) || answer.profile === null) continue;
      const { text: profile, brand } = answer.profile;
      const rendered = renderer.answer({ ...NOTHING_ASKED, status: answer.status, profile, brand });
      answers.set(index, answer.status, null, rendered);
    }
  }
  const counts = new FillCounts(plan);
  for (const batch of rows.records()) {
    for (const record of batch) {
      const { status, index } = joinRow(record, answers);
      if (status !== 'matched') continue;
      const rendered = answers.rendered(index);
      if (fill !== null) counts.add(fill(rawOf(record), rendered.fill, nameMatchOf(record, rendered)));
    }
  }
  const { columns, misfits } = counts;
  return { columns, misfits };
}

function readFresh(batch: readonly Unanswered[], { stores, settings, state }: KnownAccount) {
  const keyOf = outcomeKeys(settings.service, settings.allowNsfw);
  return stores.outcomes.read(
    batch.map(({ text }) => keyOf(text)),
    freshnessOf({ asOf: state.now, keyStartedAt: state.now, settings }),
  );
}

/** Returns the first of `requests` identifiers to be bought; null without `--priority`. */
async function planPriorities(scan: Scan, account: KnownAccount | null, requests: number) {
  const { priorities } = scan;
  if (priorities === null) return null;
  const deferred =
    account && estimateSpending(requests, account.state, { ...account, overagePrice: '1' }).deferred;
  /** How many of the requests the limit covers; null when it covers all, or is unknown. */
  const covered = deferred === null || deferred === 0 ? null : requests - deferred;
  /** The most valuable identifiers (`kind:value`), each with the value of its best row, if any. */
  const first: { readonly identifier: string; readonly value: string | null }[] = [];
  /** The last identifier that the limit covers; null if it covers all or none, or is unknown. */
  let last: (typeof first)[number] | null = null;
  let count = 0;
  for await (const batch of missingIn(scan, account, 'priority')) {
    for (const { index, text } of batch) {
      count += 1;
      const ranked = { identifier: text, value: priorities.valueOf(index) };
      if (first.length < RANKED_SHOWN) first.push(ranked);
      if (count === covered) last = ranked;
    }
    if (count >= Math.max(RANKED_SHOWN, covered ?? 0)) break;
  }
  return { sentence: priorities.sentence, first, last };
}

const REASONS_AT_MOST = 20;

/** Returns a plan as `plan --json` prints it. Pure. */
export function planDocument({
  columns: _,
  cap: __,
  invalid: ___,
  spending: estimate,
  ...plan
}: Plan): Document<'plan'> {
  const { invalid, skipped } = plan.reasons;
  const reasons = countsInWords([...invalid, ...skipped], sayRowReason, REASONS_AT_MOST);
  const skipReasons = countsInWords(skipped, sayRowReason);
  if (estimate === null) return { ...plan, reasons, skipReasons, spending: null };
  const { overageRequests: overage, maxCost: overageCost, ...spending } = estimate;
  return { ...plan, reasons, skipReasons, spending: { ...spending, overage, overageCost } };
}
