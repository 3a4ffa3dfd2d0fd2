/** The state of an engine for `status` and the dashboard: as data, documents and words. */
import { costOf, requestsFor } from '../core/decimal.js';
import { countOf, countText } from '../core/figures.js';
import { isProcessGone } from '../core/process-identity.js';
import type { Engine } from '../engine/engine.js';
import type { OutcomeStats } from '../engine/stores/outcome-store.js';
import { isAlive, labelText, type Order, type Pause, type RunRecord } from '../engine/stores/run-store.js';
import type { LedgerState } from '../ledger/ledger.js';
import { capOf, holdOf, overageOf } from '../ledger/policy.js';
import { type Projection, projectPeriodEnd } from '../ledger/projection.js';
import type { Document } from '../run/documents.js';
import type { AccountNames } from '../run/enrich-request.js';
import { type JudgedBudget, judgeAccount, judgeBudget, useOf } from '../run/facts/judge-account.js';
import { countsOf, type JudgedRun } from '../run/facts/judge-runs.js';
import { isoTime } from '../run/output/columns.js';
import { sayStop } from '../run/words/say-reason.js';
import type { Settings } from '../settings/settings.js';

export type AccountStatus = Awaited<ReturnType<typeof readAccountStatus>>;

/** The plan in the settings of a process. `isHost`: it enriches files of the account (`up`). */
export interface GivenTerms extends Pick<Settings, 'plan' | 'overageBudget' | 'overagePrice' | 'quota'> {
  readonly isHost?: boolean;
}

/** Returns the terms of a live run, or of `given` if `isHost`, or of the newest run, or `given`. */
export function termsOf(
  account: string,
  ledger: Pick<LedgerState, 'now' | 'overage' | 'quotaCap'>,
  runs: readonly Pick<RunRecord, 'settings' | 'status' | 'heartbeatAt'>[],
  given: GivenTerms,
): Pick<LedgerState, 'overage' | 'quotaCap'> & Pick<Settings, 'plan'> {
  const ofAccount = runs.filter(({ settings }) => settings.account === account);
  const planOf = ({ plan }: RunRecord['settings']) => (plan === 'unspecified' ? null : plan);
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

const RUNS_LOOKED_AT = 10;

/** Reads an account under the terms of {@link termsOf}, as `status` shows it. */
export async function readOwnAccount(
  { ledger, runs }: Pick<Engine, 'ledger' | 'runs'>,
  account: string,
  given: GivenTerms,
  read: (account: string) => Promise<LedgerState> = (name) => ledger.show(name),
): Promise<LedgerState> {
  const state = await read(account);
  const { overage, quotaCap } = termsOf(account, state, await runs.list(RUNS_LOOKED_AT), given);
  return { ...state, overage, quotaCap };
}

/** The most other accounts that are read, because anyone who writes to the engine can name some. */
const OTHERS_READ = 50;

/** Reads an engine; throws its errors. `queueCounts`: chunks by state. `names`: null if not set. */
export async function readAccountStatus(
  engine: Engine,
  queueCounts: (name: string) => Promise<Readonly<Record<string, number>> | null>,
  names: AccountNames | null,
  given: GivenTerms,
  runsShown: number,
) {
  const [runs, pauses, state, queue, outcomes] = await Promise.all([
    engine.runs.list(runsShown),
    engine.runs.pauses(),
    names && engine.ledger.show(names.account),
    names && queueCounts(names.queueName),
    engine.outcomes.stats(),
  ]);
  const terms = names && state && termsOf(names.account, state, runs, given);
  const ledger = state && terms && { ...state, overage: terms.overage, quotaCap: terms.quotaCap };
  const { overagePrice: price } = given;
  const budget =
    ledger && terms && judgeBudget(ledger, { plan: terms.plan, budget: costOf(terms.overage, price), price });
  const alive = runs.filter(({ status }) => status === 'running').map((run) => run.settings.account);
  const others = [...new Set(alive.filter((each) => each !== names?.account))].slice(0, OTHERS_READ);
  // Our account is shown even if an account of others cannot be read.
  const states = await Promise.all(others.map((each) => engine.ledger.show(each).catch(() => undefined)));
  const clock = state ?? states[0] ?? (runs[0] && (await engine.ledger.show(runs[0].settings.account)));
  return {
    engine: engine.kind,
    address: engine.address,
    warnings: engine.warnings,
    account: names?.account ?? null,
    ledger,
    /** Null if neither runs nor settings name a plan. */
    plan: terms?.plan ?? null,
    projection: ledger && projectPeriodEnd(ledger, judgeAccount(ledger).limit),
    budget,
    queue,
    outcomes,
    /** Live runs first, then the newest. */
    runs: runs as readonly RunRecord[],
    /** By the engine's clock, which dates runs; this machine's may differ a lot. */
    storeNow: clock?.now ?? Date.now(),
    gone: goneAmong(runs),
    otherHolds: new Map(others.map((each, at) => [each, holdBy(states[at])])),
    pauses: pauses as readonly Pause[],
  };
}

const holdBy = (state: LedgerState | undefined) => (state ? holdOf(state) : null);

/** Returns the ids of running runs whose process on this machine has ended. */
export function goneAmong(
  runs: readonly Pick<RunRecord, 'id' | 'status' | 'settings'>[],
): ReadonlySet<string> {
  const isGone = ({ status, settings }: Pick<RunRecord, 'status' | 'settings'>) =>
    status === 'running' && settings.process !== undefined && isProcessGone(settings.process);
  return new Set(runs.filter(isGone).map(({ id }) => id));
}

const days = (value: number) => `${value.toFixed(1).replace(/\.0$/, '')} days`;

/** Returns the line of `status` on the rest of the billing period. `limit`: null while unknown. */
export function projectionText(projection: Projection, limit: number | null): string {
  const { projected, daysGone, daysLeft, endsOn, limitReachedOn } = projection;
  const over = limit === null ? 0 : projected.total - limit;
  const beyond =
    limitReachedOn === null || over <= 0
      ? ''
      : `; ${countText(over)} more than the limit, which is reached on ${limitReachedOn}`;
  return (
    `projected   ${countOf(projected.total, 'request')} by ${endsOn} at the current rate ` +
    (`(${countText(projected.byUs)} by us, ${countText(projected.byOthers)} by others; ` +
      `${days(daysGone)} gone, ${days(daysLeft)} left)${beyond}\n`)
  );
}

/** Returns the parts of the limit in words. */
export function limitText(state: Pick<LedgerState, 'quota' | 'quotaCap' | 'overage'>): string {
  const [overage, cap] = [overageOf(state), capOf(state)];
  if (cap === null) return overage > 0 ? `quota and ${countOf(overage, 'overage request')}` : 'quota';
  return overage > 0 ? `--quota ${cap} and ${countOf(overage, 'request')} beyond it` : `--quota ${cap}`;
}

/** Returns the line of `status` on the overage budget. */
export function budgetText(budget: JudgedBudget): string {
  const { used, left, overageRequests, price, quotaCap, requestsLeft } = budget;
  const rest =
    quotaCap === null
      ? `${left} left for ${countText(requestsLeft)}`
      : `--quota ${quotaCap} leaves it unused`;
  return (
    `budget      ${used} of ${budget.budget} used: ${countOf(overageRequests, 'request')} beyond the ` +
    `quota at ${price}; ${rest}\n`
  );
}

type StatusDocument = Document<'status'>;
type RunDocument = StatusDocument['runs'][number];

/** Returns a person's pause or cancel for programs; null without an order. */
export function orderDocument(order: Order | null): RunDocument['paused'] {
  return order && { by: order.by, at: new Date(order.at).toISOString() };
}

export function accountDocument(name: string, ledger: LedgerState): NonNullable<StatusDocument['account']> {
  const { usage, isPaused, pace, days } = ledger;
  const times = { closedAt: isoTime(ledger.closedAt), answeredAt: isoTime(ledger.answeredAt) };
  return { name, ...useOf(ledger), usage, ...times, isPaused, ratePerSecond: pace.rate, days };
}

export function answersDocument(stats: OutcomeStats): StatusDocument['answers'] {
  const { matched, notFound, oldestFetchedAt: oldest, newestFetchedAt: newest } = stats;
  return { matched, notFound, oldestFetchedAt: isoTime(oldest), newestFetchedAt: isoTime(newest) };
}

/** Returns what `status` and the dashboard share, except the runs. */
export function statusDocument(
  { engine, address, warnings, account, ledger, projection, budget, queue, outcomes, pauses }: AccountStatus,
  currency: string | null,
): Omit<StatusDocument, 'runs' | 'closedInboxes' | 'spools'> {
  const { waiting = 0, active = 0, delayed = 0 } = queue ?? {};
  return {
    engine,
    address,
    warnings: warnings.map(({ text }) => text),
    account: account !== null && ledger ? accountDocument(account, ledger) : null,
    budget: budget && budgetDocument(budget),
    projection,
    currency,
    queue: queue && { waiting, active, delayed },
    answers: answersDocument(outcomes),
    pauses: pauses.map(({ label, run, by, at }) => {
      return { name: label.name, label: labelText(label), run, by, since: new Date(at).toISOString() };
    }),
  };
}

function budgetDocument({ overageRequests: overage, ...budget }: JudgedBudget): StatusDocument['budget'] {
  return { ...budget, overage };
}

/** Returns a judged run for programs. */
export function runDocument(judged: JudgedRun): RunDocument {
  const { run, standing: status, why, unreported } = judged;
  const { id, label, rows, identifiers: distinct, tally, stop, overageBilled: overage } = run;
  const { matched, notFound, failed, stored, left } = countsOf(run);
  const { starts = 0, billed = 0, unreported: lost = 0, overage: beyond = 0 } = run.earlier ?? {};
  return {
    id,
    label: labelText(label),
    service: run.settings.service,
    account: run.settings.account,
    status,
    isPaused: run.paused !== null,
    paused: orderDocument(run.paused),
    cancelled: orderDocument(run.cancelled),
    startedAt: new Date(run.asOf).toISOString(),
    heartbeatAt: new Date(run.heartbeatAt).toISOString(),
    rows,
    identifiers: { distinct, matched, notFound, failed, stored, left },
    requests: { sent: tally.requests, billed: tally.billed, unreported, overage },
    nothingMatched: judged.state === 'nothing matched',
    queued: why?.type === 'queued' ? why.behind : null,
    earlier: { starts, billed, unreported: lost, overage: beyond },
    reason: stop && sayStop(stop, 'terminal'),
  };
}
