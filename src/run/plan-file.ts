/**
 * What a run of this file would do, found out without spending anything: rows, identifiers, what is stored, what
 * would be asked for and what that costs.
 */
import { withReleasers } from '../core/lifecycle.js';
import type { Freshness } from '../core/outcome.js';
import type { Engine } from '../engine/engine.js';
import type { LedgerState } from '../ledger/ledger.js';
import { limitOf, spentOf } from '../ledger/policy.js';
import { outcomeKeyPrefix } from '../stores/outcome-key.js';
import type { RunSettings } from '../stores/run-store.js';
import type { EnrichRequest, EnrichSurroundings } from './enrich-request.js';
import { unanswered } from './lookups/collect-outcomes.js';
import { unansweredByWorth } from './lookups/priority-order.js';
import { estimateSpending, type SpendingEstimate } from './lookups/spending.js';
import { runKey } from './run-key.js';
import { openTable } from './scan/open-table.js';
import { type Scan, scanInput } from './scan/scan.js';
import { openSpoolFolder } from './scan/spool-file.js';

export interface PlanRequest
  extends Pick<EnrichRequest, 'input' | 'stdin' | 'intake' | 'scan' | 'stateFolder' | 'overagePrice'>,
    Pick<EnrichSurroundings, 'table'> {
  /** null: no service is named, so nothing is known of stored answers and of the account. */
  readonly settings: RunSettings | null;
}

export interface Plan {
  readonly input: string;
  readonly warnings: readonly string[];
  readonly columns: string;
  readonly rows: { readonly total: number } & Scan['counts'];
  /** Why rows are invalid, unreadable or skipped, the 20 most frequent first. */
  readonly reasons: Readonly<Record<string, number>>;
  /** The same of the skipped rows alone. */
  readonly skipReasons: Readonly<Record<string, number>>;
  readonly examples: Scan['examples'];
  readonly identifiers: { readonly distinct: number; readonly byKind: Readonly<Record<string, number>> };
  /** Identifiers with a fresh answer; null without a service. */
  readonly stored: number | null;
  /** Requests needed at least, and with `--waterfall` at most. */
  readonly requests: { readonly least: number; readonly most: number };
  readonly spending: SpendingEstimate | null;
  /** What would be bought first; null without `--priority`. */
  readonly priority: PriorityPlan | null;
  readonly account: {
    readonly quota: number | null;
    readonly limit: number | null;
    readonly used: number;
  } | null;
}

/** One identifier (`kind:value`) with what its best row says in the column of `--priority`; null: nothing. */
interface RankedIdentifier {
  readonly identifier: string;
  readonly value: string | null;
}

interface PriorityPlan {
  /** For people: `bought first: the highest "revenue"`. */
  readonly sentence: string;
  /** The most valuable ones that are not stored, at most 5. */
  readonly first: readonly RankedIdentifier[];
  /** The least valuable one that the limit still covers; null when it covers all, none, or is unknown. */
  readonly last: RankedIdentifier | null;
}

const READ_AT_ONCE = 500;

/** `stores` null where no service is named. Throws what reading the input and choosing columns throw. */
export function planFile(request: PlanRequest, stores: Engine | null, stop: AbortSignal): Promise<Plan> {
  return withReleasers(async (releasers) => {
    const folder = await openSpoolFolder(request.stateFolder);
    const table = request.table ?? (await openTable(request, folder, stop));
    const { input } = table;
    releasers.push(() => input.close());
    const scan = await scanInput(
      table,
      { ...request.scan, folder, stop, onRows: () => undefined },
      releasers,
    );
    const wanted = scan.answers.wanted;
    const { settings } = request;
    const state = stores && settings ? await showAsRun(request, settings, stores, input.contentHash()) : null;
    const areMissing = async (texts: readonly string[]): Promise<boolean[]> => {
      if (!stores || !settings || !state) return texts.map(() => true);
      return withoutAnswer(texts, stores, settings, state.now);
    };
    const least = await countMissing(scan, areMissing);
    const priority = await planPriorities(
      scan,
      areMissing,
      state && settings && coveredBy(least, state, settings),
    );
    let most = least;
    if (request.scan.waterfall) {
      for (let index = 0; index < scan.identifiers.count; index += 1) scan.answers.want(index);
      most = await countMissing(scan, areMissing);
    }
    const limits = settings ?? { overage: 0, quotaCap: null };
    return {
      input: input.name,
      warnings: input.warnings,
      columns: scan.chosen.sentence,
      rows: { total: scan.rows.count, ...scan.counts },
      reasons: mostFrequent(scan.reasons),
      skipReasons: mostFrequent(scan.skipReasons),
      examples: scan.examples,
      identifiers: { distinct: wanted, byKind: Object.fromEntries(scan.byKind) },
      stored: state === null ? null : wanted - least,
      requests: { least, most },
      spending:
        state && settings
          ? estimateSpending(most, state, { settings, overagePrice: request.overagePrice })
          : null,
      priority,
      account: state && {
        quota: state.quota,
        limit: limitOf({ ...state, overage: limits.overage, quotaCap: limits.quotaCap }),
        used: spentOf(state),
      },
    };
  });
}

/** Runs that are looked through for an earlier start of the same command. */
const RUNS_LOOKED_AT = 200;

/**
 * The account as a run of this file would find it: with what earlier starts of the same command sent, as long as none of them
 * was the last.
 */
async function showAsRun(
  { intake, scan }: PlanRequest,
  settings: RunSettings,
  stores: Engine,
  contentHash: string,
): Promise<LedgerState> {
  const key = runKey(contentHash, { intake, scan, settings });
  const started = (await stores.runs.list(RUNS_LOOKED_AT)).find((run) => run.key === key);
  const isOpen = started !== undefined && started.status !== 'completed';
  const state = await stores.ledger.show(settings.account, isOpen ? started.id : undefined);
  if (state.run === null) return state;
  // Its own caps are those that would be said now.
  const { maxRequests, maxOverageRequests } = settings;
  return { ...state, run: { ...state.run, maxRequests, maxOverageRequests } };
}

function mostFrequent(reasons: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...reasons].sort((a, b) => b[1] - a[1]).slice(0, 20));
}

type AreMissing = (texts: readonly string[]) => Promise<readonly boolean[]>;

async function countMissing(scan: Scan, areMissing: AreMissing): Promise<number> {
  let missing = 0;
  for (const batch of unanswered(scan, READ_AT_ONCE)) {
    const without = await areMissing(batch.map(({ text }) => text));
    missing += without.filter(Boolean).length;
  }
  return missing;
}

/** Which of these have no fresh answer, judged at `now`. */
async function withoutAnswer(
  texts: readonly string[],
  stores: Engine,
  settings: RunSettings,
  now: number,
): Promise<boolean[]> {
  const prefix = outcomeKeyPrefix(settings.service, settings.allowNsfw);
  const freshness: Freshness = {
    asOf: now,
    maxAgeMs: settings.maxAgeMs,
    maxAgeMissingMs: settings.maxAgeMissingMs,
    notBefore: settings.refresh ? now : 0,
  };
  const found = await stores.outcomes.read(
    texts.map((text) => prefix + text),
    freshness,
  );
  return found.map((outcome) => outcome === null);
}

/** How many of the requests the limit covers; null when it covers all, or is unknown. */
function coveredBy(requests: number, state: LedgerState, settings: RunSettings): number | null {
  const { deferred } = estimateSpending(requests, state, { settings, overagePrice: '1' });
  return deferred === null || deferred === 0 ? null : requests - deferred;
}

const SHOWN = 5;
/**
 * `covered`: requests that the limit covers; null when it covers all or is unknown. `areMissing` tells which of these
 * identifiers have no fresh answer. null without `--priority`.
 */
async function planPriorities(
  scan: Pick<Scan, 'identifiers' | 'answers' | 'priorities'>,
  areMissing: (texts: readonly string[]) => Promise<readonly boolean[]>,
  covered: number | null,
): Promise<PriorityPlan | null> {
  const { priorities } = scan;
  if (priorities === null) return null;
  const first: RankedIdentifier[] = [];
  let last: RankedIdentifier | null = null;
  let count = 0;
  for (const batch of unansweredByWorth(scan, READ_AT_ONCE)) {
    const missing = await areMissing(batch.map(({ text }) => text));
    for (const [at, { index, text }] of batch.entries()) {
      if (!missing[at]) continue;
      count += 1;
      const ranked = { identifier: text, value: priorities.valueOf(index) };
      if (first.length < SHOWN) first.push(ranked);
      if (count === covered) last = ranked;
    }
    if (count >= Math.max(SHOWN, covered ?? 0)) break;
  }
  return { sentence: priorities.sentence, first, last };
}
