/**
 * Decides when a parked file may continue. Pure.
 *
 *   the account has room      all files continue, except files at their own cap
 *   the account has no room   one file goes ahead about once a minute, with the one probe that the
 *                             ledger allows; the others follow if it succeeds
 *   the service was down      all files try again after a minute
 */
import type { Orders, RunSettings } from '../engine/stores/run-store.js';
import type { LedgerState } from '../ledger/ledger.js';
import { periodOf } from '../ledger/period.js';
import { judgeAccount } from '../run/facts/judge-account.js';
import type { ParkedJob } from './find-files.js';
import { type ParkState, waitsForPerson } from './job-folder.js';

/** The account, and the settings of the inbox and its files. */
export interface AccountView {
  readonly state: LedgerState;
  readonly settings: RunSettings;
  /** Settings of files at their own cap, by folder; unreadable ones are missing. */
  readonly ownSettings: ReadonlyMap<string, RunSettings>;
  /** A free request has just shown the quota, so no file needs to go ahead. */
  readonly isQuotaKnown: boolean;
  readonly now: number;
  /** When a file last went ahead. */
  readonly probedAt: number;
}

/** How long no file is taken or retried after an outage of the service. */
export const OUTAGE_MS = 60_000;
/** With the next look and the run, a raised limit is seen within a minute. */
const AHEAD_EVERY_MS = 45_000;
/** The ledger's own interval between probes. */
const PROBE_EVERY_MS = 60_000;

/** Divides parked files: `ordered` ones are taken now, `others` may be retried. Pure. */
export function followOrders(parked: readonly ParkedJob[], orders: readonly Orders[]) {
  const ordered: ParkedJob[] = [];
  const others: ParkedJob[] = [];
  for (const [index, job] of parked.entries()) {
    const { cancelled = null, paused = null } = orders[index] ?? {};
    const { why } = job.parked.state;
    if (cancelled !== null || why === 'again' || (paused !== null) !== (why === 'paused')) ordered.push(job);
    else if (paused === null && !waitsForPerson(why)) others.push(job);
  }
  return { ordered, others };
}

/** Chooses files to retry. If `goesAhead`, the first file opens the account. Pure. */
export function chooseRetries(
  parked: readonly ParkedJob[],
  view: AccountView,
): { readonly jobs: readonly ParkedJob[]; readonly goesAhead: boolean } {
  const { state, settings, now } = view;
  const limited = parked.filter((job) => job.parked.state.why === 'limit');
  const unavailable = parked.filter(
    ({ parked: { state, at } }) => state.why !== 'limit' && hasPassed(OUTAGE_MS, at, now),
  );
  if (hasRoom(state, settings)) {
    const isCapped = ({ folder, parked: waits }: ParkedJob) => {
      const own = view.ownSettings.get(folder);
      return own !== undefined && isSameMark(waits.state.capMark, capMarkOf(own, state, now), state);
    };
    const free = limited.filter((job) => !isCapped(job));
    return { jobs: [...free, ...unavailable], goesAhead: false };
  }
  const first = limited.find((job) => job.parked.state.capMark === null) ?? limited[0];
  if (first === undefined || !mayGoAhead(view)) return { jobs: unavailable, goesAhead: false };
  return { jobs: [first, ...unavailable], goesAhead: true };
}

function mayGoAhead({ state, isQuotaKnown, now, probedAt }: AccountView): boolean {
  if (isQuotaKnown && (state.asksAt ?? Number.POSITIVE_INFINITY) > state.now) return false;
  const sinceProbeMs = state.now - (state.nextProbeAt - PROBE_EVERY_MS);
  return hasPassed(AHEAD_EVERY_MS, probedAt, now) && sinceProbeMs >= AHEAD_EVERY_MS;
}

/** True also for a future time, written before the clock was set back. */
function hasPassed(ms: number, since: number, now: number): boolean {
  return now - since >= ms || since > now;
}

function hasRoom(state: LedgerState, { overage, quotaCap }: RunSettings): boolean {
  return judgeAccount({ ...state, overage, quotaCap }).hasRoom;
}

/** Returns the state of a file that is parked now. Pure. */
export function parkStateOf(
  why: ParkState['why'],
  state: LedgerState | null,
  settings: RunSettings,
  now: number,
): ParkState {
  const isCapped = why === 'limit' && state !== null && hasRoom(state, settings);
  const capMark = isCapped ? capMarkOf(settings, state, now) : null;
  return { why, capMark };
}

/** Ignores the quota if an emptied engine does not know it. */
function isSameMark(mark: string | null, now: string, { quota }: LedgerState): boolean {
  return quota === null ? mark?.startsWith(now.slice(0, -'null]'.length)) === true : mark === now;
}

/** Changes when a cap, a budget, the quota or the period does. */
function capMarkOf(settings: RunSettings, { quota }: LedgerState, now: number): string {
  const { maxRequests, maxOverageRequests, overage, quotaCap, period } = settings;
  return JSON.stringify([maxRequests, maxOverageRequests, overage, quotaCap, periodOf(now, period), quota]);
}
