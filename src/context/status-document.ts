/** Account, stored answers and runs of an engine as parts of documents. Pure. */
import type { Document } from '../core/documents.js';
import type { LedgerState } from '../ledger/ledger.js';
import { useOf } from '../ledger/policy.js';
import { isoTime } from '../run/output/columns.js';
import type { OutcomeStats } from '../stores/outcome-store.js';
import { answeredOf, foundNothing, type RunRecord, unreportedOf } from '../stores/run-store.js';
import type { AccountStatus } from './account-status.js';

type StatusDocument = Document<'status'>;
type RunDocument = StatusDocument['runs'][number];

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
  { engine, address, warnings, account, ledger, projection, budget, queue, outcomes }: AccountStatus,
  currency: string | null,
): Omit<StatusDocument, 'runs' | 'closedInboxes' | 'spools'> {
  const { waiting = 0, active = 0, delayed = 0 } = queue ?? {};
  const overage = budget?.overageRequests ?? 0;
  return {
    engine,
    address,
    warnings,
    account: account !== null && ledger ? accountDocument(account, ledger) : null,
    budget: budget && { ...budget, overage },
    projection,
    currency,
    queue: queue && { waiting, active, delayed },
    answers: answersDocument(outcomes),
  };
}

/** `status`, `queued`: as judged now. */
export function runDocument(
  run: RunRecord,
  status: RunDocument['status'],
  queued: string | null,
): RunDocument {
  const { id, label, rows, identifiers: distinct, tally, reason, overageBilled: overage } = run;
  const { matched, notFound, failed, stored, left } = partsOf(run);
  // A running run has requests in flight.
  const unreported = ['running', 'held'].includes(status) ? 0 : unreportedOf(run);
  return {
    id,
    label,
    service: run.settings.service,
    account: run.settings.account,
    status,
    isPaused: run.isPaused,
    startedAt: new Date(run.asOf).toISOString(),
    heartbeatAt: new Date(run.beatAt).toISOString(),
    rows,
    identifiers: { distinct, matched, notFound, failed, stored, left },
    requests: { sent: tally.requests, billed: tally.billed, unreported, overage },
    nothingMatched: foundNothing(run),
    queued,
    earlier: run.earlier ?? { starts: 0, billed: 0, unreported: 0, overage: 0 },
    reason,
  };
}

/**
 * Identifiers by outcome; `whole`: the sum, 0 while unknown. No count is negative. A chunk that an
 * engine lost, or has again after a failover, is done twice and finds what it had asked for stored:
 * that is no second identifier. In a finished run, identifiers without a request were stored.
 */
export function partsOf({ tally, identifiers, status }: Pick<RunRecord, 'tally' | 'identifiers' | 'status'>) {
  const { matched, notFound, failed } = tally;
  const twice = Math.max(0, answeredOf({ tally }) - (identifiers ?? Number.POSITIVE_INFINITY));
  const stored = Math.max(0, tally.stored - twice);
  const answered = matched + notFound + failed + stored;
  const rest = Math.max(0, (identifiers ?? 0) - answered);
  const isFinished = status === 'completed';
  return {
    matched,
    notFound,
    failed,
    stored: stored + (isFinished ? rest : 0),
    left: isFinished ? 0 : rest,
    whole: identifiers === null ? 0 : answered + rest,
  };
}
