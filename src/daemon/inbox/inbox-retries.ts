/**
 * When a parked file of an inbox may continue. Asking is free where the service's own brand is
 * known; elsewhere one file goes ahead about once a minute with the one probe that the ledger
 * allows, and the others follow if it succeeds. Pure.
 *
 *   the account has room           all continue, except files held back by their own cap only
 *   it has none, as far as known   one goes ahead, when a probe is due
 *   the service was down           all try again after a minute
 */
import { z } from 'zod';
import { readJson } from '../../core/json-text.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { mayHaveTurned, periodOf } from '../../ledger/period.js';
import { roomOf } from '../../ledger/policy.js';
import type { RunSettings } from '../../stores/run-store.js';
import type { ParkedJob } from './job-folder.js';

const parkStateShape = z.object({
  why: z.enum(['limit', 'throttled', 'unreachable', 'credentials', 'lost', 'doubtful']),
  /** Its own caps, whose change it waits for; null: it waits for the account. */
  capMark: z.string().nullable(),
});
type ParkState = z.infer<typeof parkStateShape>;
/** A parked state that cannot be read is that of a file that waits for the account. */
const ACCOUNT_STATE: ParkState = { why: 'limit', capMark: null };

/** The account with the policy of the folder's files. */
export interface AccountView {
  readonly state: LedgerState;
  readonly settings: RunSettings;
  /** A free request has just shown the quota: no file needs to go ahead for it. */
  readonly isQuotaTold: boolean;
  /** This machine's clock, in milliseconds. */
  readonly now: number;
  /** When a file last went ahead, by the same clock. */
  readonly wentAheadAt: number;
}

const OUTAGE_MS = 60_000;
/** A raised limit should be seen within a minute, including the next look and the file. */
const AHEAD_EVERY_MS = 45_000;
/** The ledger's own interval between probes. */
const PROBE_EVERY_MS = 60_000;

/** `goesAhead`: the first is the one that does; it opens the account, so that a probe is due. */
export function chooseRetries(
  parked: readonly ParkedJob[],
  view: AccountView,
): { readonly jobs: readonly ParkedJob[]; readonly goesAhead: boolean } {
  const { state, settings, now } = view;
  const states = new Map(
    parked.map((job) => [job, readJson(job.parkState, parkStateShape) ?? ACCOUNT_STATE]),
  );
  const limited = parked.filter((job) => states.get(job)?.why === 'limit');
  const unavailable = parked.filter(
    (job) => states.get(job)?.why !== 'limit' && hasPassed(OUTAGE_MS, job.parkedAt, now),
  );
  if (hasRoom(state, settings)) {
    const mark = capMarkOf(settings, state, now);
    const free = limited.filter((job) => states.get(job)?.capMark !== mark);
    return { jobs: [...free, ...unavailable], goesAhead: false };
  }
  const first = limited.find((job) => states.get(job)?.capMark === null) ?? limited[0];
  if (first === undefined || !mayGoAhead(view)) return { jobs: unavailable, goesAhead: false };
  return { jobs: [first, ...unavailable], goesAhead: true };
}

function mayGoAhead({ state, settings, isQuotaTold, now, wentAheadAt }: AccountView): boolean {
  if (isQuotaTold && !mayHaveTurned(state.period, settings.period, now)) return false;
  const sinceProbeMs = state.now - (state.nextProbeAt - PROBE_EVERY_MS);
  return hasPassed(AHEAD_EVERY_MS, wentAheadAt, now) && sinceProbeMs >= AHEAD_EVERY_MS;
}

/** Whether so much time has passed. A future date was written before the clock was set back. */
function hasPassed(ms: number, since: number, now: number): boolean {
  return now - since >= ms || since > now;
}

/** Whether a request could be taken, as the files of this folder see the account. */
function hasRoom(state: LedgerState, { overage, quotaCap }: RunSettings): boolean {
  const room = roomOf({ ...state, overage, quotaCap });
  return state.closedAt === null && (room === null || room > 0);
}

/** The facts about a parked file for `chooseRetries`. */
export function parkStateOf(
  why: ParkState['why'],
  state: LedgerState | null,
  settings: RunSettings,
  now: number,
): string {
  const isCapped = why === 'limit' && state !== null && hasRoom(state, settings);
  const capMark = isCapped ? capMarkOf(settings, state, now) : null;
  return JSON.stringify({ why, capMark } satisfies ParkState);
}

/** Changes when a cap, a budget, the quota or the period does. */
function capMarkOf(settings: RunSettings, { quota }: LedgerState, now: number): string {
  const { maxRequests, maxOverageRequests, overage, quotaCap, period } = settings;
  return JSON.stringify([maxRequests, maxOverageRequests, overage, quotaCap, quota, periodOf(now, period)]);
}
