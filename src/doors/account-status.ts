/**
 * How account, queue, answers and runs of an engine stand: what `status` says and the dashboard shows.
 */
import type { Settings } from '../config/settings.js';
import type { EngineStores } from '../engine/stores.js';
import type { OutcomeStats } from '../outcomes/store.js';
import type { LedgerState } from '../quota/ledger.js';
import {
  type BudgetState,
  budgetStateOf,
  limitWithBudget,
  type Projection,
  projectPeriodEnd,
} from '../quota/projection.js';
import type { RunRecord } from '../runs/run-store.js';
import type { AccountNames } from './account.js';

export interface AccountStatus {
  readonly engine: EngineStores['kind'];
  /** Where the engine is, without credentials. */
  readonly address: string;
  /** What its settings put at risk, as sentences. */
  readonly warnings: readonly string[];
  /** null, and all that hangs on it, where the settings do not name it. */
  readonly account: string | null;
  readonly ledger: LedgerState | null;
  readonly limit: number | null;
  readonly projection: Projection | null;
  readonly budget: BudgetState | null;
  /** Chunks by state; null where only the queue's owner could tell. */
  readonly queue: Readonly<Record<string, number>> | null;
  readonly outcomes: OutcomeStats;
  /** Newest first. */
  readonly runs: readonly RunRecord[];
}

/** Of an engine's stores what is looked at. */
export interface StatusStores
  extends Pick<EngineStores, 'kind' | 'address' | 'warnings' | 'ledger' | 'outcomes' | 'runs'> {
  queueCounts(name: string): Promise<AccountStatus['queue']>;
}

/** `runsShown`: how many runs at most. Throws what the engine throws. */
export async function readAccountStatus(
  stores: StatusStores,
  names: AccountNames | null,
  terms: Pick<Settings, 'plan' | 'overageBudget' | 'overagePrice'>,
  runsShown: number,
): Promise<AccountStatus> {
  const [runs, ledger, queue, outcomes] = await Promise.all([
    stores.runs.list(runsShown),
    names && stores.ledger.show(names.account),
    names && stores.queueCounts(names.queueName),
    stores.outcomes.stats(),
  ]);
  const { plan, overageBudget: budgetSaid, overagePrice: price } = terms;
  const budget = ledger && budgetStateOf(ledger, { plan, budget: budgetSaid, price });
  const limit = ledger && limitWithBudget(ledger, budget);
  return {
    engine: stores.kind,
    address: stores.address,
    warnings: stores.warnings,
    account: names?.account ?? null,
    ledger,
    limit,
    projection: ledger && projectPeriodEnd(ledger, limit),
    budget,
    queue,
    outcomes,
    runs,
  };
}
