/**
 * When a parked file may continue. Where asking is not free, one file goes ahead about once a
 * minute with the one probe that the ledger allows, and the others follow if it succeeds. Pure.
 *
 *   the account has room           all continue, except files held back by their own cap only
 *   it has none, as far as known   one goes ahead, when a probe is due
 *   the service was down           all try again after a minute
 */
import type { Orders, RunSettings } from '../engine/stores/run-store.js';
import type { LedgerState } from '../ledger/ledger.js';
import { periodOf } from '../ledger/period.js';
import { judgeAccount } from '../run/facts/judge-account.js';
import type { ParkedJob } from './find-files.js';
import { type ParkState, waitsForPerson } from './job-folder.js';

/** The account with the policy of the folder's files. */
export interface AccountView {
  readonly state: LedgerState;
  readonly settings: RunSettings;
  /** Those of files at their own cap, by folder, without those that cannot be read. */
  readonly ownSettings: ReadonlyMap<string, RunSettings>;
  /** A free request has just shown the quota: no file needs to go ahead for it. */
  readonly isQuotaKnown: boolean;
  readonly now: number;
  /** When a file last went ahead. */
  readonly probedAt: number;
}

/** No file is taken, and none retried, for this long while the service is down. */
export const OUTAGE_MS = 60_000;
/** A raised limit should be seen within a minute, including the next look and the file. */
const AHEAD_EVERY_MS = 45_000;
/** The ledger's own interval between probes. */
const PROBE_EVERY_MS = 60_000;

/**
 * Divides parked files by what is ordered for them. `ordered` are taken up, to end, to wait for
 * another reason, or because a person asked; `others` may be retried.
 */
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

/** Chooses files to retry. `goesAhead`: the first opens the account, so that a probe is due. */
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

/** A future date was written before the clock was set back. */
function hasPassed(ms: number, since: number, now: number): boolean {
  return now - since >= ms || since > now;
}

function hasRoom(state: LedgerState, { overage, quotaCap }: RunSettings): boolean {
  return judgeAccount({ ...state, overage, quotaCap }).hasRoom;
}

/** Returns what a parked file waits for. */
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

/** A quota that an emptied engine does not know has not changed. */
function isSameMark(mark: string | null, now: string, { quota }: LedgerState): boolean {
  return quota === null ? mark?.startsWith(now.slice(0, -'null]'.length)) === true : mark === now;
}

/** Changes when a cap, a budget, the quota or the period does. */
function capMarkOf(settings: RunSettings, { quota }: LedgerState, now: number): string {
  const { maxRequests, maxOverageRequests, overage, quotaCap, period } = settings;
  return JSON.stringify([maxRequests, maxOverageRequests, overage, quotaCap, periodOf(now, period), quota]);
}
