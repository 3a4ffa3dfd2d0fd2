/**
 * What an engine answers to each operation, if it is one of ours: its scripts and functions, and
 * what they read, can be written by other programs. Runs have their own shapes, since one that is
 * damaged counts as not there.
 */
import { isMoment } from '../core/clock.js';
import type { LedgerState, PaceState, RunSpending } from '../ledger/ledger.js';
import type { OutcomeStats } from '../stores/outcome-store.js';
import type { OrderEnd, Orders } from '../stores/run-store.js';
import { isOrder } from './run-shapes.js';
import {
  type Check,
  either,
  isCount,
  isFlag,
  isNone,
  isNumber,
  isText,
  like,
  listOf,
  oneOf,
  someCount,
  textLike,
  tuple,
} from './shapes.js';
import { damaged, type StoreCalls } from './store-calls.js';

/** A walk that has found nothing, a list of nothing: an empty table of Lua would be an object. */
const some = (check: Check) => either(isNone, listOf(check));
const someText = either(isNone, isText);
const someNumber = either(isNone, isNumber);
const someMoment = either(isNone, isMoment);
/** PostgreSQL gives large numbers as text. */
const isInteger = either(isNumber, textLike(/^-?\d+$/));

const state = like<Omit<LedgerState, 'days'> & { days: string }>({
  now: isMoment,
  epoch: isText,
  version: isNumber,
  period: someText,
  behindMs: isNumber,
  isDraining: isFlag,
  isTurnUnconfirmed: isFlag,
  sent: isCount,
  held: isCount,
  probes: isCount,
  others: isCount,
  free: isCount,
  freeOut: isCount,
  own: like<LedgerState['own']>({ of: someText, isProven: isFlag, booked: isCount, rises: isCount }),
  checkedAt: isNumber,
  quota: someCount,
  usage: someCount,
  confirmedAt: isNumber,
  answeredAt: someMoment,
  days: isText,
  closedAt: someMoment,
  nextProbeAt: isMoment,
  restsUntil: isMoment,
  servesOverage: isFlag,
  isPaused: isFlag,
  quotaCap: someCount,
  overage: isCount,
  pace: like<PaceState>({
    version: isNumber,
    rate: someCount,
    burst: isCount,
    floorMs: isNumber,
    acceptedLastSecond: isCount,
    acceptedThisSecond: isCount,
  }),
  run: either(
    isNone,
    like<RunSpending>({
      status: oneOf<RunSpending['status']>({
        alive: true,
        paused: true,
        halted: true,
        dead: true,
        cancelled: true,
      }),
      requests: isCount,
      overageRequests: isCount,
      overageInFlight: isCount,
      overageBilled: isNumber,
      maxRequests: someCount,
      maxOverageRequests: someCount,
    }),
  ),
});

const permit = textLike(/^(?:lost|attempts_exhausted|denied|queued|\d+(?:\.\d+)?(?:e-\d+)?(?: free)?)$/);
const orderEnd = oneOf<OrderEnd>({ done: true, ended: true, unknown: true });
const found = (at: Check) => tuple(at, isFlag, isFlag, isNumber, someNumber, someCount);
const isBytes: Check = (value) => value instanceof Uint8Array;
const withBytes = (meta: Check) => like({ meta, bytes: either(isNone, isBytes) });

const REPLIES: Readonly<Record<string, Check>> = {
  exchange: like({ answers: some(permit), look: either(isNone, permit), state }),
  show_account: state,
  open_account: state,
  observe_account: state,
  raise_account: state,
  account_names: some(isText),
  claim_keys: textLike(/^[fbo]*$/),
  record_outcomes: isInteger,
  read_outcomes: withBytes(some(found(isCount))),
  page_outcomes: withBytes(like({ next: someText, answers: some(found(isText)) })),
  outcome_stats: like<OutcomeStats>({
    matched: isCount,
    notFound: isCount,
    oldestFetchedAt: someNumber,
    newestFetchedAt: someNumber,
  }),
  forget_outcomes: isInteger,
  purge_outcomes: isInteger,
  restore_outcomes: like({ taken: isCount, expired: isCount }),
  list_values: some(like({ name: isText, text: isText, ageMs: isNumber })),
  get_failures: some(like({ position: isCount, reason: isText, billed: isFlag, isDeferred: isFlag })),
  get_orders: some(like<Orders>({ paused: either(isNone, isOrder), cancelled: either(isNone, isOrder) })),
  cancel_run: orderEnd,
  pause_run: orderEnd,
};

/** The same calls, which throw FailFileError `engine-unfit` for an answer that cannot be ours. */
export function withChecks(calls: StoreCalls): StoreCalls {
  function checked(operation: string, answered: unknown): unknown {
    if (REPLIES[operation]?.(answered) === false) throw damaged(calls.address, 'answer');
    return answered;
  }
  return {
    ...calls,
    call: async (operation, ...params) => checked(operation, await calls.call(operation, ...params)),
    async *walk(operation, ...params) {
      for await (const page of calls.walk(operation, ...params)) yield checked(operation, page);
    },
  };
}
