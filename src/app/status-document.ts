/** Account, stored answers and runs of an engine as parts of documents. Pure. */
import type { OutcomeStats } from '../engine/stores/outcome-store.js';
import { labelText, type Order } from '../engine/stores/run-store.js';
import type { LedgerState } from '../ledger/ledger.js';
import type { Document } from '../run/documents.js';
import { type JudgedBudget, useOf } from '../run/facts/judge-account.js';
import { type JudgedRun, partsOf } from '../run/facts/judge-runs.js';
import { isoTime } from '../run/output/columns.js';
import { sayStop } from '../run/words/say-reason.js';
import type { AccountStatus } from './account-status.js';

type StatusDocument = Document<'status'>;
type RunDocument = StatusDocument['runs'][number];

/** A person's pause or cancel; null: there is none. */
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

/** What `status` and the dashboard have in common, except the runs. */
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

/** A run as it is judged now. */
export function runDocument(judged: JudgedRun): RunDocument {
  const { run, standing: status, why, unreported } = judged;
  const { id, label, rows, identifiers: distinct, tally, stop, overageBilled: overage } = run;
  const { matched, notFound, failed, stored, left } = partsOf(run);
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
