/** The state of an engine's account, queue, answers and runs, for `status` and the dashboard. */
import type { Settings } from '../config/settings.js';
import { costOf, requestsFor } from '../core/decimal.js';
import { countOf, countText } from '../core/figures.js';
import type { Engine } from '../engine/engine.js';
import type { LedgerState } from '../ledger/ledger.js';
import { capOf, limitOf } from '../ledger/policy.js';
import { type BudgetState, budgetStateOf, type Projection, projectPeriodEnd } from '../ledger/projection.js';
import type { AccountNames } from '../run/enrich-request.js';
import { isAlive, type RunRecord } from '../stores/run-store.js';

export type AccountStatus = Awaited<ReturnType<typeof readAccountStatus>>;

/** The plan by the settings of this process. `isHost`: it enriches the account's files (`up`). */
export interface GivenTerms extends Pick<Settings, 'plan' | 'overageBudget' | 'overagePrice' | 'quota'> {
  readonly isHost?: boolean;
}

/** Terms of a live run, else of `given` if `isHost`, else of the newest run, else of `given`. */
export function termsOf(
  account: string,
  ledger: Pick<LedgerState, 'now' | 'overage' | 'quotaCap'>,
  runs: readonly Pick<RunRecord, 'settings' | 'status' | 'beatAt'>[],
  given: GivenTerms,
): Pick<LedgerState, 'overage' | 'quotaCap'> & Pick<Settings, 'plan'> {
  const ofAccount = runs.filter(({ settings }) => settings.account === account);
  const planOf = ({ plan }: RunRecord['settings']) => (plan === 'unsaid' ? null : plan);
  const live = ofAccount.find((run) => isAlive(run, ledger.now));
  if (live) return { plan: planOf(live.settings), overage: ledger.overage, quotaCap: ledger.quotaCap };
  const [newest] = ofAccount;
  if (newest && given.isHost !== true) {
    const { overage, quotaCap } = newest.settings;
    return { plan: planOf(newest.settings), overage, quotaCap };
  }
  const { plan, overageBudget, overagePrice, quota } = given;
  return { plan, overage: plan === 'paid' ? requestsFor(overageBudget, overagePrice) : 0, quotaCap: quota };
}

/** `queueCounts`: chunks by state. `names` null: no account is set. Throws as the engine does. */
export async function readAccountStatus(
  engine: Engine,
  queueCounts: (name: string) => Promise<Readonly<Record<string, number>> | null>,
  names: AccountNames | null,
  terms: GivenTerms,
  runsShown: number,
) {
  const [runs, seen, queue, outcomes] = await Promise.all([
    engine.runs.list(runsShown),
    names && engine.ledger.show(names.account),
    names && queueCounts(names.queueName),
    engine.outcomes.stats(),
  ]);
  const held = names && seen && termsOf(names.account, seen, runs, terms);
  const ledger = seen && held && { ...seen, overage: held.overage, quotaCap: held.quotaCap };
  const { overagePrice: price } = terms;
  const budget =
    ledger && held && budgetStateOf(ledger, { plan: held.plan, budget: costOf(held.overage, price), price });
  const limit = ledger && limitOf(ledger);
  return {
    engine: engine.kind,
    address: engine.address,
    /** The risks of the engine's settings, as sentences. */
    warnings: engine.warnings,
    account: names?.account ?? null,
    ledger,
    limit,
    projection: ledger && projectPeriodEnd(ledger, limit),
    budget,
    queue,
    outcomes,
    /** Newest first. */
    runs: runs as readonly RunRecord[],
  };
}

/** Half a day is worth saying, an hour is not. */
const days = (value: number) => `${value.toFixed(1).replace(/\.0$/, '')} days`;

/** The lines of `status` about the rest of the billing period. `limit`: null while unknown. */
export function projectionText(projection: Projection, limit: number | null): string {
  const { projected, daysGone, daysLeft, endsOn, limitReachedOn } = projection;
  const over = limit === null ? 0 : projected.total - limit;
  const beyond =
    limitReachedOn === null || over <= 0
      ? ''
      : `; ${countText(over)} more than the limit, which is reached on ${limitReachedOn}`;
  return (
    `projected   ${countOf(projected.total, 'request')} by ${endsOn} at the current rate ` +
    `(${countText(projected.byUs)} by us, ${countText(projected.byOthers)} by others; ${days(daysGone)} gone, ${days(daysLeft)} left)${beyond}\n`
  );
}

/** What the limit consists of. */
export function limitText(state: Pick<LedgerState, 'quota' | 'quotaCap' | 'overage'>): string {
  const { overage } = state;
  const cap = capOf(state);
  if (cap === null) return overage > 0 ? `quota and ${countOf(overage, 'overage request')}` : 'quota';
  return overage > 0 ? `--quota ${cap} and ${countOf(overage, 'request')} beyond it` : `--quota ${cap}`;
}

/** The line of `status` about the overage budget. */
export function budgetText(budget: BudgetState): string {
  const { used, left, overageRequests, price, quotaCap, requestsAllowed, requestsLeft } = budget;
  const rest =
    quotaCap === null
      ? `${left} left for ${countText(requestsLeft)}`
      : `it allows ${countOf(requestsAllowed, 'request')} beyond --quota ${quotaCap}, ${countText(requestsLeft)} left`;
  return `budget      ${used} of ${budget.budget} used: ${countOf(overageRequests, 'request')} beyond the quota at ${price}; ${rest}\n`;
}
