/**
 * Judges what an account may do, from the store's numbers alone. An account's modes:
 *
 *   opening   no useful answer since a run began (or for 5 minutes): requests go one at a time,
 *             not counting those of dead processes, so that a wrong token or a spent quota costs
 *             one request. Left by the first useful answer.
 *   open      requests go while sent + held + others < limit. Left at the limit or on a refusal.
 *   waiting   the last permits are out: they settle or run out. Left when one does.
 *   exhausted sent + others >= limit, or refused for quota. One probe a minute where a refusal is
 *             free. Left by a raised quota, a raised budget or a new period.
 *   resting   the ledger went back in time: the usage header must catch up first.
 *   paused    a person stopped all spending, or that of the asking run. Left by `resume`.
 */
import { clockText, countOf, countText, spanText } from '../core/figures.js';
import { type Phrase, phrase } from '../core/phrase.js';
import { count, type OneOf } from '../core/shapes.js';
import { type LedgerState, ownOf, type RunSpending } from './ledger.js';
import { RULES } from './rules.js';

export type Denial =
  | { readonly type: 'wait'; readonly retryInMs: number }
  /** Only this run waits; other runs do not. */
  | { readonly type: 'paused'; readonly retryInMs: number }
  | { readonly type: 'exhausted'; readonly limit: ReachedLimit }
  | { readonly type: 'revoked'; readonly why: 'dead' | 'cancelled' | 'halted' };

/** The limit that allows no further request, named after its setting if the user set it. */
export const REACHED_LIMITS = {
  /** The service refuses more requests. */
  service: {},
  /** The quota of the account, and the requests beyond it that the budget allows. */
  account: { overage: count },
  quota: { quota: count, overage: count },
  maxRequests: { maxRequests: count },
  maxCost: {},
};
export type ReachedLimit = OneOf<'name', typeof REACHED_LIMITS>;

/** Returns `--quota` if it is below the service's quota, or that is unknown; else null. */
export function capOf({ quota, quotaCap }: Pick<LedgerState, 'quota' | 'quotaCap'>): number | null {
  return quotaCap !== null && quotaCap < (quota ?? Infinity) ? quotaCap : null;
}

type Limits = Pick<LedgerState, 'quota' | 'quotaCap' | 'overage'>;

/** Returns the requests that the budget allows beyond the quota; 0 with a lower `--quota`. */
export function overageOf(state: Limits): number {
  return state.quota !== null && capOf(state) !== null ? 0 : state.overage;
}

/** Returns the most requests of the period; null while the quota is unknown. */
export function limitOf(state: Limits): number | null {
  const quota = capOf(state) ?? state.quota;
  return quota === null ? null : quota + overageOf(state);
}

/** Returns the overage that `--max-cost` still allows, or Infinity. Possible overage counts. */
export function overageLeftFor(run: RunSpending | null): number {
  if (run === null || run.maxOverageRequests === null) return Infinity;
  return Math.max(0, run.maxOverageRequests - run.overageRequests - run.overageInFlight);
}

type Spent = Pick<LedgerState, 'sent' | 'held' | 'probes' | 'others'>;

/** Returns the requests of the period, with others' and those in flight, without free ones. */
export function spentOf({ sent, held, probes, others }: Spent): number {
  return sent + held + probes + others;
}

/** Returns our requests in flight, with free ones. */
export function inFlightOf(state: Pick<LedgerState, 'held' | 'probes' | 'freeOut'>): number {
  return state.held + state.probes + state.freeOut;
}

/** Returns the requests that are left; null while no quota is known. */
export function roomOf(state: Spent & Limits): number | null {
  const limit = limitOf(state);
  return limit === null ? null : Math.max(0, limit - spentOf(state));
}

/** Why an account may not spend until others change something. */
export type Hold = 'paused' | 'closed' | 'used up';

/** Returns null if the account may spend, or only waits for requests in flight. */
export function holdOf(
  state: Limits & Pick<LedgerState, 'isPaused' | 'closedAt' | 'isTurnUnconfirmed' | 'sent' | 'others'>,
): Hold | null {
  if (state.isPaused) return 'paused';
  // The next request goes alone and finds out.
  if (state.isTurnUnconfirmed) return null;
  if (state.closedAt !== null) return 'closed';
  const limit = limitOf(state);
  return limit !== null && state.sent + state.others >= limit ? 'used up' : null;
}

/** Waits from here on are worth a message. */
export const FAR_MS = 10_000;

/** Returns when a long wait that the service asked for (Retry-After) ends, or null. */
export function waitsUntil({ now, pace }: Pick<LedgerState, 'now' | 'pace'>): number | null {
  return pace.floorMs >= FAR_MS ? now + pace.floorMs : null;
}

export const sayWait = (until: number) => `the service asks to wait until ${clockText(until)}`;

/** True if an account at its limit notices a raised quota: by free refusals or by proven looks. */
export function seesRaisedQuota(
  plan: 'free' | 'paid' | 'unspecified' | null,
  state: Pick<LedgerState, 'own'> | null,
): boolean {
  return plan !== 'paid' || state?.own.isProven === true;
}

/** Returns a warning if requests for the own domain seem to be billed, else null. */
export function ownDomainWarning(
  state: Pick<LedgerState, 'own'> | null,
  { service, ownDomain }: { readonly service: string; readonly ownDomain: string | null },
): Phrase | null {
  if (state === null || ownDomain === null || state.own.of !== ownOf(service, ownDomain)) return null;
  if (state.own.isProven || state.own.rises === 0) return null;
  const warning =
    `${ownDomain} seems to be billed: the usage rose after it was looked up, without other requests of ` +
    `ours. Such lookups count as spent, at most ${RULES.looksADay} a day. Unless others use the account`;
  const setting = { setting: 'ownDomain' };
  return phrase`${setting} ${warning}, set ${setting} to the domain of the service itself, or leave it out`;
}

/** Returns a doubt about the usage that the service shows, or ''. */
export function doubtOf(
  state: Pick<LedgerState, 'usage' | 'lastUsage' | 'sent' | 'held' | 'probes' | 'behindMs'>,
): Phrase {
  const { usage, lastUsage, sent, held, probes, behindMs } = state;
  if (Math.abs(behindMs) > RULES.dateAgreesMs)
    return `the engine's clock is ${spanText(Math.abs(behindMs))} ${
      behindMs > 0 ? 'ahead of' : 'behind'
    } the service's: set the one that is wrong`;
  if (usage === null || lastUsage === null) return '';
  if (2 * lastUsage < usage) {
    const fell = `the usage fell from ${countText(usage)} to ${countText(lastUsage)} within the billing`;
    const period = { choose: 'period', example: 'DAY' };
    return phrase`${fell} period: if the quota renews on another day, set ${period}`;
  }
  if (usage <= 2 * (sent + held + probes)) return '';
  return (
    `the usage of ${countText(usage)} is far above our ${countOf(sent, 'request')}: if nobody else uses ` +
    'the account, `brand-enrich ledger observe --usage N` corrects it'
  );
}

/** Returns why a permit was denied, by the state that came with the denial. */
export function judgeDenial(state: LedgerState): Denial {
  const { run, now, pace } = state;
  if (run === null || run.status === 'dead') return { type: 'revoked', why: 'dead' };
  if (run.status === 'cancelled' || run.status === 'halted') return { type: 'revoked', why: run.status };
  if (run.status === 'paused') return { type: 'paused', retryInMs: 1_000 };
  const hold = holdOf(state);
  if (hold === 'paused') return wait(1_000);
  if (state.restsUntil > now) return wait(Math.min(state.restsUntil - now, 5_000));
  const out = state.held + state.probes;
  if (hold === 'closed') return state.probes > 0 ? wait(200) : exhausted(state, { name: 'service' });
  if (!state.isTurnUnconfirmed && roomOf(state) === 0)
    return out > 0 ? wait(100) : exhausted(state, accountLimit(state));
  const { maxRequests } = run;
  // Permits that the run's key holds on another account do not come back here.
  const held = Math.min(run.held, out);
  if (maxRequests !== null && run.requests >= maxRequests)
    return capped(held, { name: 'maxRequests', maxRequests });
  // The service bills overage beyond its own quota. Permits of others may still leave room in it,
  // so they count for how much of the run's may be overage.
  const quota = state.quota ?? state.quotaCap ?? Infinity;
  const isBeyond = state.sent + state.others >= quota && run.overageInFlight === 0;
  if (overageLeftFor(run) === 0 && state.sent + out + state.others >= quota)
    return capped(isBeyond ? held : out, { name: 'maxCost' });
  if (pace.floorMs > 0) return wait(Math.min(pace.floorMs, 1_000));
  return wait(pace.rate === null ? 50 : Math.min(Math.max(1_000 / pace.rate, 20), 1_000));
}

function wait(retryInMs: number): Denial {
  return { type: 'wait', retryInMs };
}

/** Ends the run, or waits for a request that asks for the next period, if this one is over. */
function exhausted({ asksAt, now, ...state }: LedgerState, limit: ReachedLimit): Denial {
  if (asksAt === null || asksAt - now > RULES.turnMarginMs) return { type: 'exhausted', limit };
  // That request goes a minute after all others, so that its usage header hardly lags.
  const aloneAt = state.closedAt === null ? state.confirmedAt + RULES.probeEveryMs : 0;
  const inMs = Math.max(asksAt, aloneAt, state.nextProbeAt) - now;
  return wait(Math.min(Math.max(inMs, 100), 5_000));
}

/** Waits while held permits count, since one that is given back makes room under a cap. */
function capped(held: number, limit: ReachedLimit): Denial {
  return held > 0 ? wait(100) : { type: 'exhausted', limit };
}

function accountLimit(state: LedgerState): ReachedLimit {
  const overage = overageOf(state);
  const quota = capOf(state);
  return quota === null ? { name: 'account', overage } : { name: 'quota', quota, overage };
}

/**
 * True for a 429 that is for the quota: by the service's code, by a usage at the limit, or by our
 * own count, since the header may lag: the refused request would have been the last one.
 */
export function isQuotaRefusal(
  code: 'quota' | 'throughput' | null,
  reading: { readonly quota: number | null; readonly usage: number | null },
  state: LedgerState | null,
): boolean {
  if (code !== null) return code === 'quota';
  const { quota, usage } = reading;
  if (quota !== null && usage !== null && usage >= quota + (state?.overage ?? 0)) return true;
  if (state === null) return false;
  return state.sent + state.others + 1 >= (limitOf(state) ?? Infinity);
}

/** How long all requests may be refused as too many before the rest is deferred: 5 minutes + 1. */
export const THROTTLED_GIVE_UP_MS = 360_000;
/** The same without a hint at a pace, and with too few requests for a 5-minute window. */
export const THROTTLED_GIVE_UP_SILENT_MS = 45_000;
