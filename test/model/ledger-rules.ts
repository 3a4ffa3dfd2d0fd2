/** The ledger by its own rules, and wrong variants of it: each is the model with one change. */
import type { ExchangeAnswer, ExchangeRequest } from '../../src/ledger/ledger.js';
import { exchange, type ModelAccount, type ModelWorld } from './ledger-model.js';
import { accountIn, LIMIT, OWN } from './small-world.js';

export interface LedgerRules {
  exchange(ledger: ModelWorld, request: ExchangeRequest, now: number): ExchangeAnswer;
  /** Whether a worker that looks sees room; it is counted in later, without being asked for. */
  readonly look?: (ledger: ModelWorld) => boolean;
  /** Whether an exchange is on disk before it is answered. */
  readonly isDurable: boolean;
  /** The usage header shows all. Then one of ours at most is to be beyond the limit. */
  readonly isHeaderExact?: boolean;
  /** The month that this worker assumes, instead of the one of the service's `Date`. */
  readonly clockOf?: (worker: number) => number;
}

export const SOUND: LedgerRules = { exchange, isDurable: true };

/** The rules but for what is done to the account before each exchange, or to the request. */
type Change = (account: ModelAccount, request: ExchangeRequest) => Partial<ExchangeRequest>;
const but = (change: Change): LedgerRules => ({
  ...SOUND,
  exchange(ledger, request, now) {
    const changed = change(accountIn(ledger), request);
    return exchange(ledger, { ...request, ...changed }, now);
  },
});

/** At most a quarter of what is left is in flight: others, whom readings show, move the rest. */
export const KEEPS_QUARTER: LedgerRules = {
  ...SOUND,
  isHeaderExact: true,
  exchange: (ledger, request, now) => exchange({ ...ledger, keepsQuarter: true }, request, now),
};

/** Lets all that is left be in flight. */
export const KEEPS_NO_QUARTER: LedgerRules = { ...SOUND, isHeaderExact: true };

/** An exchange that grants whatever is asked for: it does not see the limit. */
function exchangeUnlimited(ledger: ModelWorld, request: ExchangeRequest, now: number): ExchangeAnswer {
  const reading = request.reading && { ...request.reading, quota: 1_000_000 };
  const answer = exchange(ledger, { ...request, reading }, now);
  accountIn(ledger).quota = LIMIT;
  return answer;
}

/** A request that timed out is given back, as if the service could not have billed it. */
export const REFUNDS_TIMEOUTS = but((_, { settle }) => ({
  settle: settle.map((each) => ({ ...each, as: each.as === 'maybe_billed' ? 'free' : each.as })),
}));

/** A permit past its deadline is given back, like a lock with a time to live. */
export const EXPIRES_BACK: LedgerRules = {
  ...SOUND,
  exchange(ledger, request, now) {
    for (const [id, permit] of ledger.permits) {
      if (permit.deadline > now) continue;
      ledger.permits.delete(id);
      accountIn(ledger).held -= 1;
    }
    return exchange(ledger, request, now);
  },
};

/** Reads the count, decides, and counts itself in with a second call. */
export const CHECKS_THEN_INCREMENTS: LedgerRules = {
  ...SOUND,
  look(ledger) {
    const { sent, held, others } = accountIn(ledger);
    return sent + held + others < LIMIT;
  },
  exchange(ledger, request, now) {
    accountIn(ledger).quota = 1_000_000;
    return exchangeUnlimited(ledger, request, now);
  },
};

/** Believes the usage header: room is what it leaves of the quota. */
export const TRUSTS_HEADER: LedgerRules = {
  ...SOUND,
  exchange(ledger, request, now) {
    const account = accountIn(ledger);
    account.usage = Math.max(account.usage ?? 0, request.reading?.usage ?? 0);
    account.quota = account.usage < LIMIT ? 1_000_000 : 0;
    const reading = request.reading && { ...request.reading, quota: account.quota, usage: null };
    const answer = exchange(ledger, { ...request, reading }, now);
    account.quota = LIMIT;
    return answer;
  },
};

/** Answers first and writes to disk later. */
export const NOT_YET_ON_DISK: LedgerRules = { ...SOUND, isDurable: false };

/** Workers name the month by their own clocks, and one of them is ahead. */
export const MONTH_OF_WORKER: LedgerRules = { ...SOUND, clockOf: (worker) => (worker === 0 ? 1 : 0) };

/** Begins a new month at zero, though requests answered before it may be billed in it. */
export const MONTH_FROM_ZERO = but((account) => {
  account.nextSent = 0;
  account.nextDated = 0;
  return {};
});

/** Asks for the next month when the store's clock is in it, though the service's clock is not. */
export const BELIEVES_STORE_CLOCK = but((account, { reading }) => {
  account.behindMs = 0;
  return { reading: reading && { ...reading, date: null } };
});

/** Lets others' part of the usage fall with every reading that is lower. */
export const FALLS_AT_ONCE = but((account, { reading }) => {
  if (typeof reading?.usage === 'number') account.others = 0;
  return {};
});

/** Opens a month because one answer says so, whatever the store's clock says. */
export const BELIEVES_ONE_ANSWER = but((_, { reading, turn }) => ({
  turn: turn && { ...turn, today: reading?.period ?? turn.today },
}));

/** Attributes to others all that the header shows beyond the settled: ours in flight too. */
export const FORGETS_HELD: LedgerRules = {
  ...SOUND,
  exchange(ledger, request, now) {
    if (request.reading === null || request.reading.usage === null) return exchange(ledger, request, now);
    // After these settlements this many are held: added here, they cancel out where the model
    // subtracts them.
    const settled = request.settle.filter(({ permit }) => ledger.permits.has(permit)).length;
    const expired = [...ledger.permits.values()].filter(({ deadline }) => deadline <= now).length;
    const held = accountIn(ledger).held - Math.max(settled, expired);
    const reading = { ...request.reading, usage: request.reading.usage + held };
    return exchange(ledger, { ...request, reading }, now);
  },
};

/** Believes the setting: looks for the own domain are free without proof, at the limit too. */
export const FREE_WITHOUT_PROOF = but((account, { look }) => {
  if (look !== null) Object.assign(account, { lookOf: OWN, lookProven: true });
  return {};
});

/** Takes the first reading that is no higher for a proof, as if the usage header did not lag. */
export const PROVES_AT_ONCE = but(() => ({ usageLagMs: 0 }));

/** Allows for requests of ours that the usage header may not show yet. */
export const ALLOWS_FOR_UNSEEN = but((account) => {
  account.spentAt = 0;
  return {};
});
