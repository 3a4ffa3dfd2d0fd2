/**
 * The texts of `status`, `ledger show` and `outcomes stats`. Pure.
 */

import type { AccountStatus } from '../context/account-status.js';
import { budgetText, projectionText } from '../context/period-text.js';
import { countOf, countText } from '../core/figures.js';
import { isProcessGone } from '../core/process-identity.js';
import { visibleLines } from '../core/terminal-text.js';
import type { listClosedInboxes } from '../daemon/inbox/inbox-folder-settings.js';
import type { LedgerState } from '../ledger/ledger.js';
import { limitOf, spentOf } from '../ledger/policy.js';
import { RULES } from '../ledger/rules.js';
import { KEEP_ANSWERS_MS } from '../stores/freshness.js';
import type { OutcomeStats } from '../stores/outcome-store.js';
import { foundNothing, type RunRecord, type RunStatus, unreportedOf } from '../stores/run-store.js';
import type { SpooledAnswers } from '../worker/answer-spool.js';

const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

export function ledgerText(account: string, state: LedgerState): string {
  const limit = limitOf(state);
  const used = spentOf(state);
  const lines = [
    `account     ${account}`,
    `period      ${state.period ?? 'not known before the first answer'}`,
    `quota       ${state.quota === null ? 'not known before the first answer' : countText(state.quota)}`,
    `limit       ${limit === null ? 'unknown' : countText(limit)} (quota${state.overage > 0 ? ` and ${countOf(state.overage, 'overage request')}` : ''})`,
    `used        ${countText(used)}: ${countText(state.sent)} sent by us, ${countText(state.held)} in flight, ${countText(state.others)} by others`,
    `service     last reported ${state.usage === null ? 'no usage' : `${countText(state.usage)} used`}`,
  ];
  if (limit !== null) lines.push(`left        ${countText(Math.max(0, limit - used))}`);
  if (state.closedAt !== null)
    lines.push(`closed      the service refused for quota at ${time(state.closedAt)}`);
  if (state.isPaused) lines.push('paused      nothing is spent until `brand-enrich resume`');
  if (state.pace.rate !== null)
    lines.push(`pace        ${state.pace.rate.toFixed(1)} requests a second, burst ${state.pace.burst}`);
  return `${lines.join('\n')}\n`;
}

export function outcomesText(stats: OutcomeStats): string {
  const lines = [
    `stored answers   ${countText(stats.matched)} matched, ${countText(stats.notFound)} not found`,
  ];
  if (stats.oldestFetchedAt !== null && stats.newestFetchedAt !== null) {
    lines.push(`fetched          from ${time(stats.oldestFetchedAt)} to ${time(stats.newestFetchedAt)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Paid answers on this machine's disk; `isOwn`: they belong to this engine. */
export type SpoolStatus = SpooledAnswers & { readonly isOwn: boolean };

function spoolText({ engine, isOwn, answers, folder, since }: SpoolStatus): string {
  const what = `${countOf(answers, 'paid answer')} in ${folder}`;
  const until = `until ${time(since + KEEP_ANSWERS_MS).slice(0, 10)}`;
  const next = 'the next run or worker with this state folder';
  if (isOwn) return `on disk     ${what}: ${next} records them\n`;
  if (engine === null) return `on disk     ${what}, of an unnamed engine: ${next} records them\n`;
  return `on disk     ${what}, of another engine (${engine}): kept for it ${until}\n`;
}

/** A line for each; nothing when all are open. */
export function closedInboxesText(closed: Awaited<ReturnType<typeof listClosedInboxes>>): string {
  return closed
    .map(({ host, folder, why }) => `inbox       ${folder} on ${host} is closed: ${why}\n`)
    .join('');
}

/** `now`: the time by which heartbeats are dated. */
export function statusText(status: AccountStatus, spools: readonly SpoolStatus[], now: number): string {
  const parts = [`engine      ${status.engine} at ${status.address}\n`];
  for (const warning of status.warnings) parts.push(`  note      ${warning}\n`);
  parts.push(
    status.ledger && status.account !== null
      ? ledgerText(status.account, status.ledger)
      : 'account     to see it, name the service and its token (or --account)\n',
  );
  if (status.projection) parts.push(projectionText(status.projection, status.limit));
  if (status.budget) parts.push(budgetText(status.budget));
  if (status.queue) {
    parts.push(
      `queue       ${countOf(status.queue.waiting ?? 0, 'chunk')} waiting, ${countText(status.queue.active ?? 0)} active, ${countText(status.queue.delayed ?? 0)} parked\n`,
    );
  }
  parts.push(outcomesText(status.outcomes), ...spools.map(spoolText), '\n');
  if (status.runs.length === 0) parts.push('no runs yet\n');
  for (const run of status.runs) parts.push(runLine(run, now));
  return parts.join('');
}

/**
 * The status of a run as shown: `dead` when its record says `running` but its process is gone or
 * its heartbeat is old. Waiting twice the usual time allows for clocks that differ; a heartbeat
 * from the future was written before the store's clock was set back.
 */
export function shownStatus({ status, beatAt, settings }: RunRecord, now: number): RunStatus | 'dead' {
  if (status !== 'running') return status;
  const isGone = settings.process !== undefined && isProcessGone(settings.process);
  return isGone || Math.abs(now - beatAt) >= 2 * RULES.runDeadAfterMs ? 'dead' : status;
}

function runLine(run: RunRecord, now: number): string {
  const { tally } = run;
  const answered = countText(tally.matched + tally.notFound + tally.stored);
  const failed = tally.failed === 0 ? '' : `, ${countText(tally.failed)} failed`;
  const sent = countOf(tally.requests, 'request');
  const size =
    run.rows === null ? '' : `, ${countOf(run.rows, 'row')}, ${countOf(run.identifiers ?? 0, 'identifier')}`;
  // A running run has some in flight.
  const status = shownStatus(run, now);
  const unreported = status === 'running' ? 0 : unreportedOf(run);
  const lost =
    unreported === 0
      ? ''
      : `, ${countText(unreported)} more may have been billed by workers that were killed`;
  const reason = status === 'dead' ? 'its process is gone; run the same command again to go on' : run.reason;
  const why = reason ? `: ${reason}` : foundNothing(run) ? ': nothing matched' : '';
  const line = `${run.id}  ${status.padEnd(9)}  ${time(run.asOf)}  ${run.label}${size}, ${answered} answered${failed}, ${sent}, ${countText(tally.billed)} billed${lost}${why}`;
  return visibleLines([line]);
}
