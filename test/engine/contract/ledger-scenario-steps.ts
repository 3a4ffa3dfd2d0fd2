/** The steps of written histories of a ledger, and the shape of such a history. */
import type { ExchangeOperation, Operation } from './ledger-operations.js';

export interface LedgerScenario {
  readonly title: string;
  readonly steps: readonly Operation[];
  /** Answers to all permits asked for, in order. */
  readonly answers: readonly string[];
}

export const start = (
  settings: Partial<Extract<Operation, { type: 'start' }>['settings']> = {},
): Operation[] => [
  {
    type: 'start',
    account: 0,
    key: 0,
    settings: {
      plan: 'unspecified',
      quotaCap: null,
      overage: 0,
      maxRequests: null,
      maxOverageRequests: null,
      ...settings,
    },
  },
  { type: 'claim', worker: 0, keys: [0, 1, 2, 3, 4, 5] },
];
export const ask = (some: Partial<ExchangeOperation> = {}): ExchangeOperation => ({
  type: 'exchange',
  account: 0,
  worker: 0,
  run: 0,
  settle: [],
  reading: null,
  isConfirmed: false,
  refusedForQuota: false,
  pace: null,
  take: [],
  isOwn: false,
  look: null,
  repeat: null,
  permitMs: 5_000_000,
  mayHaveTurned: false,
  usageLagMs: 60_000,
  seen: 'nothing',
  ...some,
});
export const read = (
  usage: number | null,
  quota: number | null = 100,
  period: string | null = '2020-01-01',
) => ask({ isConfirmed: true, reading: { quota, usage, period } });
/** Time passes while the run and its worker keep their heartbeats. */
export const wait = (ms: number): Operation[] => [
  { type: 'advance', ms },
  { type: 'heartbeat', run: 0 },
  { type: 'live', worker: 0 },
];
export const settle = (permit: number, as: 'billed' | 'free' | 'maybe_billed' = 'billed') =>
  ask({ isConfirmed: as === 'billed', settle: [{ permit, as }] });
/** A billed answer with its usage headers and date. */
export const answered = (permit: number, usage: number, quota: number, period: string) =>
  ask({ isConfirmed: true, settle: [{ permit, as: 'billed', period }], reading: { quota, usage, period } });

/**
 * Takes more at once than the quarter of what a small quota leaves: before the account shows that
 * quota. `more`: other steps that take permits.
 */
export const takeAtOnce = (
  take: readonly number[],
  [usage, quota]: readonly [number, number],
  more: readonly Operation[] = [],
): Operation[] => [read(usage, 100, null), ask({ take }), ...more, read(usage, quota, null)];

export const G = 'granted';
export const D = 'denied';
