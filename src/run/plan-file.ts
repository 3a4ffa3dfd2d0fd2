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
  /** null: no service is named, so nothing is known of stored answers and of the account. */
  readonly runSettings: RunSettings | null;
}

/** What `plan` prints; everything but what was read is null where no service is named. */
export type Plan = Awaited<ReturnType<typeof planFile>>;

/** Runs that are looked through for an earlier start of the same command. */
const RUNS_LOOKED_AT = 200;
const RANKED_SHOWN = 5;

/** `stores` null: no service is named. Throws what reading input and choosing columns throw. */
export function planFile(request: PlanRequest, stores: Engine | null, stop: AbortSignal) {
  return withReleasers(async (releasers) => {
    const quiet = { stop, onRows: () => undefined };
    const { overagePrice, currency, waterfall } = request.settings;
    const { input, scan } = await openAndScan(request, request.table, quiet, releasers);
    const { plan, names } = planOutput(request.input, input.shape, scan, request.settings);
    const unwritable = await whyUnwritable(request, names);
    const warnings = input.warnings.map((each) => sayTo(request.reader, each));
    const { wanted } = scan.answers;
    const known = await openAccount(request, stores, scan.contentHash);
    const least = await countAll(missingIn(scan, known));
    const priority = await planPriorities(scan, known, least);
    let most = least;
    if (waterfall) {
      for (let index = 0; index < scan.identifiers.count; index += 1) scan.answers.want(index);
      most = await countAll(missingIn(scan, known));
    }
    const spending = known && estimateSpending(most, known.state, { ...known, overagePrice });
    const { asked, duplicates, skipped, invalid } = scan.counts;
    const fills = known && (await countFills(scan, plan, known));
    return {
      input: inputFacts(
        { name: input.name, detected: input.detected, warnings: [...warnings, ...unwritable] },
        scan,
      ),
      leftOut: input.shape.leftOut ?? { linesAbove: 0, sheets: [] },
      columns: sayTo(request.reader, scan.chosen.sentence),
      rows: { total: scan.rows.count, asked, duplicates, skipped, invalid },
      /** Of invalid and unreadable rows, and of skipped ones. */
      reasons: scan.reasons,
      /** The first invalid and unreadable ones. */
      invalid: scan.invalid,
      identifiers: {
        distinct: wanted,
        duplicateRows: duplicates,
        byKind: Object.fromEntries(scan.byKind),
        /** With a fresh answer. */
        stored: known && wanted - least,
      },
      /** Requests needed at least, and with `--waterfall` at most. */
      requests: { least, most },
      spending,
      /** `maxCost` with which it costs no more: what earlier starts cost counts towards it. */
      cap:
        spending && costOf(spending.overageRequests + (known.state.run?.overageRequests ?? 0), overagePrice),
      /** How the deferred could be covered; null: there are none, or that is unknown. */
      ways: known && spending?.deferred ? sayTo(request.reader, waysOf(spending, known)) : null,
      /** What would be bought first; null without `--priority`. */
      priority,
      account: known && useOf({ ...known.state, ...termsOf(known.settings) }),
      /** Of rows with a stored brand; null: nothing is filled, or no service is named. */
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

/** The account as a run would find it, with what earlier starts sent. null: no service is named. */
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
  // Its own caps are those that would be said now.
  const { maxRequests, maxOverageRequests } = settings;
  const run = state.run && { ...state.run, maxRequests, maxOverageRequests };
  return { stores, settings, state: { ...state, run } };
}

function waysOf(spending: ReturnType<typeof estimateSpending>, { state, settings }: KnownAccount): Phrase {
  const { plan } = settings;
  return waysToCover(ownLimitOf(spending, state, settings), plan, seesRaisedQuota(plan, state));
}

/** Wanted identifiers without a fresh answer, judged now, in batches. */
async function* missingIn(
  scan: Scan,
  known: KnownAccount | null,
  order: 'file' | 'priority' = 'file',
): AsyncGenerator<Unanswered[]> {
  for (const batch of unansweredIn(scan, READ_AT_ONCE, order)) {
    if (known === null) {
      yield batch;
      continue;
    }
    const found = await readFresh(batch, known);
    yield batch.filter((_, at) => found[at] === null);
  }
}

async function countAll(batches: AsyncIterable<readonly unknown[]>): Promise<number> {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
}

/** What would become of the user's own columns, as far as brands are stored. */
async function countFills(scan: Scan, plan: OutputPlan, known: KnownAccount) {
  if (plan.fills.length === 0) return null;
  // Loaded when needed: plans are mostly without.
  const { createFiller, FillCounts } = await import('./output/fill.js');
  const { joinRow, nameMatchOf } = await import('./output/join-rows.js');
  const { createRenderer } = await import('./output/render.js');
  const fill = createFiller(plan);
  const { answers, rows } = scan;
  const renderer = createRenderer(plan);
  for (const batch of unansweredIn(scan, READ_AT_ONCE)) {
    const found = await readFresh(batch, known);
    for (const [at, { index }] of batch.entries()) {
      const stored = found[at] ?? null;
      const answer = stored && readStored(stored);
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

/** What would be bought first of `requests` identifiers; null without `--priority`. */
async function planPriorities(scan: Scan, known: KnownAccount | null, requests: number) {
  const { priorities } = scan;
  if (priorities === null) return null;
  const deferred = known && estimateSpending(requests, known.state, { ...known, overagePrice: '1' }).deferred;
  /** How many of the requests the limit covers; null when it covers all, or is unknown. */
  const covered = deferred === null || deferred === 0 ? null : requests - deferred;
  /** The most valuable not stored (`kind:value`), with what their best rows say; null: nothing. */
  const first: { readonly identifier: string; readonly value: string | null }[] = [];
  /** The least valuable one that the limit covers; null: it covers all, none, or is unknown. */
  let last: (typeof first)[number] | null = null;
  let count = 0;
  for await (const batch of missingIn(scan, known, 'priority')) {
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

/** A plan for programs: what `plan --json` prints. Pure. */
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
