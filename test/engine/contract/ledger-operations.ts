/** Operations on a ledger for fast-check: small numbers, so that limits and caps are met often. */
import fc from 'fast-check';
import type { RunSettings } from '../../../src/engine/stores/run-store.js';
import type { SettledAs, Spending } from '../../../src/ledger/ledger.js';
import { share } from '../../support/properties.js';
import { ask } from './ledger-script.js';

export const WORKERS = 3;
export const KEYS = 6;
export const ACCOUNTS = 2;

export interface ExchangeOperation {
  readonly type: 'exchange';
  readonly account: number;
  readonly worker: number;
  /** Which of the runs started so far, or null. */
  readonly run: number | null;
  readonly settle: readonly {
    readonly permit: number;
    readonly as: SettledAs;
    readonly period?: string | null;
    readonly isBeyond?: boolean;
  }[];
  readonly reading: {
    quota: number | null;
    usage: number | null;
    period: string | null;
    /** How far the service's clock is behind this machine's; absent: no date. */
    behindMs?: number | undefined;
  } | null;
  readonly isConfirmed: boolean;
  readonly refusedForQuota: boolean;
  readonly pace: { isJudged: boolean; rate: number | null; burst: number; floorMs: number } | null;
  readonly take: readonly number[];
  /** Whether key 0 is of the own domain. */
  readonly isOwn: boolean;
  /** A look for an own domain, or a check of a key. */
  readonly look: 'own' | 'other' | number | null;
  /** Repeats the request for this permit. */
  readonly repeat: number | null;
  readonly permitMs: number;
  readonly hasTurned: boolean;
  readonly usageLagMs: number;
  /** What the worker saw last, a state that the store has not reached, or one of a lost ledger. */
  readonly seen: 'nothing' | 'last' | 'ahead' | 'elsewhere';
}

export type Operation =
  | ExchangeOperation
  | { readonly type: 'show'; readonly account: number; readonly run?: number | null }
  | {
      readonly type: 'open';
      readonly account: number;
      readonly rate: number | null | undefined;
      readonly burst: number;
    }
  | { readonly type: 'observe'; readonly account: number; readonly usage?: number; readonly quota?: number }
  | ({ readonly type: 'raise'; readonly account: number } & Spending)
  | {
      readonly type: 'start';
      readonly account: number;
      readonly key: number;
      readonly settings: Pick<
        RunSettings,
        'plan' | 'quotaCap' | 'overage' | 'maxRequests' | 'maxOverageRequests'
      >;
    }
  | { readonly type: 'heartbeat'; readonly run: number }
  | { readonly type: 'cancel'; readonly run: number }
  | { readonly type: 'halt'; readonly run: number; readonly isHalted: boolean }
  | { readonly type: 'pause_run'; readonly run: number; readonly isPaused: boolean }
  | { readonly type: 'end'; readonly run: number; readonly status: 'completed' | 'stopped' }
  | { readonly type: 'pause'; readonly paused: boolean }
  | { readonly type: 'claim'; readonly worker: number; readonly keys: readonly number[] }
  | { readonly type: 'release'; readonly worker: number; readonly keys: readonly number[] }
  | { readonly type: 'live'; readonly worker: number }
  | { readonly type: 'deregister'; readonly worker: number }
  | { readonly type: 'advance'; readonly ms: number };

/**
 * Multiples of four seconds, some of them negative: no sum comes near the 15 s after which a worker
 * is dead, the one age that a test cannot read from the store.
 */
const STEPS_MS = [
  4_000, 8_000, 20_000, 40_000, 60_000, 64_000, 300_000, 904_000, -20_000, -3_600_000, 86_400_000,
  -86_400_000,
];

const account = fc.oneof(share(6, fc.constant(0)), share(1, fc.nat(ACCOUNTS - 1)));
const worker = fc.oneof(share(4, fc.constant(0)), share(1, fc.nat(WORKERS - 1)));
const keys = fc.uniqueArray(fc.nat(KEYS - 1), { minLength: 1, maxLength: KEYS });
const run = fc.oneof(share(3, fc.constant(0)), share(2, fc.nat(5)));
const rarely = fc.nat(19).map((n) => n === 0);
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const rate = fc.constantFrom(null, 0.5, 3, 33.3, 100);

/**
 * The clock of every store is past February 2020, and far from 2030: it agrees with the one, and
 * disagrees with the other.
 */
const period = fc.oneof(
  share(8, fc.constantFrom(null, '2020-01-01')),
  share(2, fc.constantFrom('none', '2020-02-01', '2030-01-01')),
);

const settlements = (
  permits: number,
  as: readonly SettledAs[],
  dated: fc.Arbitrary<string | null>,
): fc.Arbitrary<ExchangeOperation['settle'][number][]> =>
  fc.array(
    fc.record({ permit: fc.nat(permits), as: fc.constantFrom(...as), period: dated, isBeyond: fc.boolean() }),
    { maxLength: 4 },
  );

const exchange: fc.Arbitrary<ExchangeOperation> = fc.record({
  type: fc.constant('exchange' as const),
  account,
  worker,
  run: fc.option(run, { nil: null, freq: 20 }),
  settle: settlements(40, ['billed', 'billed', 'free', 'maybe_billed', 'maybe_billed'], period),
  reading: fc.option(
    fc.record({
      quota: some(fc.oneof(fc.integer({ min: 3, max: 12 }), fc.constantFrom(20, 30, 2_000))),
      usage: some(fc.oneof(share(9, fc.nat(6)), share(1, fc.constantFrom(1_200, 5_000)))),
      period,
      behindMs: fc.constantFrom(undefined, undefined, 0, -86_400_000, 30 * 86_400_000),
    }),
    { nil: null, freq: 2 },
  ),
  isConfirmed: fc.boolean(),
  refusedForQuota: rarely,
  pace: fc.option(
    fc.record({
      isJudged: fc.boolean(),
      rate,
      burst: fc.constantFrom(1, 2, 10),
      floorMs: fc.constantFrom(0, 0, 700, 5_000),
    }),
    { nil: null, freq: 6 },
  ),
  take: fc.array(fc.nat(KEYS - 1), { maxLength: 4 }),
  isOwn: fc.boolean(),
  look: fc.option(
    fc.oneof(
      share(6, fc.constant<ExchangeOperation['look']>('own')),
      share(1, fc.constant<ExchangeOperation['look']>('other')),
      share(2, fc.nat(KEYS - 1)),
    ),
    { nil: null, freq: 3 },
  ),
  repeat: fc.option(fc.nat(40), { nil: null, freq: 3 }),
  permitMs: fc.constantFrom(6_000, 50_000),
  hasTurned: fc.nat(3).map((n) => n === 0),
  usageLagMs: fc.constantFrom(60_000, 2_000),
  seen: fc.oneof(
    share(20, fc.constantFrom<ExchangeOperation['seen']>('nothing', 'last')),
    share(1, fc.constantFrom<ExchangeOperation['seen']>('ahead', 'elsewhere')),
  ),
});

/** An operation of this type and weight, whose other fields are arbitrary. */
const of = <T extends Operation['type'], F extends object>(
  weight: number,
  type: T,
  fields: { [K in keyof F]: fc.Arbitrary<F[K]> },
) => ({ weight, arbitrary: fc.record(fields).map((given) => ({ type, ...given })) });
const oneIn = (count: number) => fc.nat(count - 1).map((n) => n === 0);
const settings = (maxRequests: fc.Arbitrary<number>) =>
  fc.record({
    plan: fc.constantFrom('free' as const, 'paid' as const, 'unspecified' as const),
    quotaCap: some(fc.nat(6)),
    overage: fc.nat(3),
    maxRequests: some(maxRequests),
    maxOverageRequests: some(fc.nat(2)),
  });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  share(4, exchange),
  of(3, 'claim', { worker, keys }),
  of(3, 'advance', { ms: fc.constantFrom(...STEPS_MS) }),
  of(3, 'heartbeat', { run }),
  of(2, 'start', { account, key: fc.nat(1), settings: settings(fc.nat(6)) }),
  of(1, 'show', { account, run: some(run) }),
  of(1, 'open', { account, rate: fc.option(rate, { nil: undefined }), burst: fc.constantFrom(1, 10) }),
  share(
    1,
    fc.record(
      { type: fc.constant('observe' as const), account, usage: fc.nat(8), quota: fc.nat(8) },
      { requiredKeys: ['type', 'account'] },
    ),
  ),
  of(1, 'raise', { account, period, sent: fc.nat(6), others: fc.nat(6), quota: some(fc.nat(12)) }),
  of(1, 'release', { worker, keys }),
  of(1, 'live', { worker }),
  of(1, 'deregister', { worker }),
  of(1, 'cancel', { run }),
  of(1, 'halt', { run, isHalted: oneIn(3) }),
  of(1, 'pause_run', { run, isPaused: oneIn(3) }),
  of(1, 'end', { run, status: fc.constantFrom('completed' as const, 'stopped' as const) }),
  of(1, 'pause', { paused: oneIn(4) }),
);

/** A worker's routine: its run is alive, and it holds the claims on the keys of its permits. */
const work: fc.Arbitrary<Operation[]> = exchange.map((request) => [
  { type: 'heartbeat', run: request.run ?? 0 },
  { type: 'claim', worker: request.worker, keys: request.take },
  request,
]);
const step = fc.oneof(share(2, work), share(3, fc.tuple(operation)));

/** A history of a store. It begins with a run and a claim, without which nothing can be taken. */
export const operations: fc.Arbitrary<Operation[]> = fc
  .tuple(settings(fc.integer({ min: 3, max: 8 })), fc.array(step, { minLength: 5, maxLength: 30 }))
  .map(([given, rest]) => [
    { type: 'start', account: 0, key: 0, settings: given },
    { type: 'claim', worker: 0, keys: [0, 1, 2, 3, 4, 5] },
    ...rest.flat(),
  ]);

/** An exchange at the turn of a month: readings of both, and answers of both and of neither. */
const atTurn = fc
  .record({
    run: fc.nat(1),
    settle: settlements(
      60,
      ['billed', 'maybe_billed', 'maybe_billed'],
      fc.constantFrom(null, null, '2020-01-01', '2020-02-01'),
    ),
    reading: some(
      fc.record({
        quota: fc.constantFrom(4, 4, 4, null),
        usage: fc.nat(14),
        period: fc.constantFrom('2020-01-01', '2020-02-01', '2020-02-01'),
      }),
    ),
    take: keys,
    permitMs: fc.constantFrom(6_000, 500_000),
    usageLagMs: fc.constantFrom(60_000, 2_000),
  })
  .map((some) => ask({ isConfirmed: true, ...some }));
const paid = { plan: 'paid' as const, quotaCap: null, overage: 20, maxRequests: null };

/** A month that turns for two runs, one with a cap on overage. */
export const turns: fc.Arbitrary<Operation[]> = fc
  .array(fc.tuple(fc.constantFrom(0, 0, 0, 4_000, 8_000, 64_000, 904_000), atTurn), {
    minLength: 5,
    maxLength: 30,
  })
  .map((steps) => [
    { type: 'start', account: 0, key: 0, settings: { ...paid, maxOverageRequests: null } },
    { type: 'start', account: 0, key: 1, settings: { ...paid, maxOverageRequests: 3 } },
    ...steps.flatMap(([ms, each]): Operation[] => [
      ...(ms > 0 ? [{ type: 'advance' as const, ms }] : []),
      { type: 'heartbeat', run: 0 },
      { type: 'heartbeat', run: 1 },
      { type: 'claim', worker: 0, keys: [0, 1, 2, 3, 4, 5] },
      each,
    ]),
    { type: 'show', account: 0, run: 0 },
    { type: 'show', account: 0, run: 1 },
  ]);
