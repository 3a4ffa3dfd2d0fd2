/**
 * Histories that reach the rules of time and of rare states, which made-up ones seldom do. Each is done to the store and to
 * the model, and says in passing what became of the permits asked for, in order.
 */
import type { ExchangeOperation, Operation } from './ledger-operations.js';

export interface LedgerScenario {
  readonly title: string;
  readonly steps: readonly Operation[];
  /** Answers to all permits asked for, in order. */
  readonly answers: readonly string[];
}

const start = (settings: Partial<Extract<Operation, { type: 'start' }>['settings']> = {}): Operation[] => [
  {
    type: 'start',
    account: 0,
    key: 0,
    settings: {
      plan: 'unsaid',
      quotaCap: null,
      overage: 0,
      maxRequests: null,
      maxOverageRequests: null,
      ...settings,
    },
  },
  { type: 'claim', worker: 0, keys: [0, 1, 2, 3, 4, 5] },
];
const ask = (some: Partial<ExchangeOperation> = {}): ExchangeOperation => ({
  type: 'exchange',
  account: 0,
  worker: 0,
  run: 0,
  settle: [],
  reading: null,
  heard: false,
  refusedForQuota: false,
  pace: null,
  take: [],
  repeat: null,
  permitMs: 5_000_000,
  mayHaveTurned: false,
  seen: 'nothing',
  ...some,
});
const read = (usage: number | null, quota: number | null = 100, period: string | null = '2030-01-01') =>
  ask({ heard: true, reading: { quota, usage, period } });
/** Time passes; the run and its worker live on. */
const wait = (ms: number): Operation[] => [
  { type: 'advance', ms },
  { type: 'beat', run: 0 },
  { type: 'live', worker: 0 },
];
const settle = (permit: number, as: 'billed' | 'free' | 'doubtful' = 'billed') =>
  ask({ heard: as === 'billed', settle: [{ permit, as }] });

const G = 'granted';
const D = 'denied';

export const LEDGER_SCENARIOS: readonly LedgerScenario[] = [
  {
    title: 'eight requests may be out while the quota is unknown',
    steps: [...start(), ask({ heard: true, take: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] })],
    answers: [G, G, G, G, G, G, G, G, D, D],
  },
  {
    title: 'after five minutes without an answer one goes alone',
    steps: [...start(), read(0), ...wait(300_000), ...wait(4_000), ask({ take: [0, 1] })],
    answers: [G, D],
  },
  {
    title: 'before five minutes are over they go together',
    steps: [...start(), read(0), ...wait(64_000), ...wait(64_000), ...wait(64_000), ask({ take: [0, 1] })],
    answers: [G, G],
  },
  {
    title: 'a probe beyond the limit that was billed shows that overage is served, and no other follows',
    steps: [
      ...start(),
      { type: 'open', account: 0, rate: undefined, burst: 1 },
      read(0, 1),
      ask({ take: [0, 1] }),
      settle(0),
      ...wait(64_000),
      ask({ take: [2, 3] }),
      settle(2),
      ...wait(64_000),
      ...wait(64_000),
      ask({ take: [4] }),
      ask({ take: [5], mayHaveTurned: true }),
    ],
    answers: [G, D, G, D, D, G],
  },
  {
    title: 'a paid plan is not probed, however long it takes',
    steps: [...start({ plan: 'paid' }), read(1, 1), ...wait(64_000), ask({ take: [0] })],
    answers: [D],
  },
  {
    title: 'after a refusal for quota one probe a minute goes out, and a billed one reopens the account',
    steps: [
      ...start(),
      read(0, 10),
      ask({ refusedForQuota: true, take: [0] }),
      ...wait(64_000),
      ask({ take: [1, 2] }),
      ask({ settle: [{ permit: 1, as: 'free' }], refusedForQuota: true, take: [2] }),
      ...wait(64_000),
      ask({ take: [3] }),
      settle(4),
      ask({ take: [4, 5] }),
    ],
    answers: [D, G, D, D, G, G, G],
  },
  {
    title: 'a raised quota reopens the account, a lower one does not',
    steps: [
      ...start(),
      read(0, 10),
      ask({ refusedForQuota: true }),
      read(0, 9),
      ask({ take: [0] }),
      read(0, 12),
      ask({ take: [1] }),
    ],
    answers: [D, G],
  },
  {
    title: 'a new period waits for what is out, which counts in its own period',
    steps: [
      ...start(),
      read(50),
      ask({ take: [0] }),
      read(0, 100, '2030-02-01'),
      ask({ heard: true, take: [1] }),
      settle(0),
      ask({ heard: true, take: [2] }),
      read(0, 100, '2030-02-01'),
      ask({ take: [3] }),
      read(70, 100, '2030-01-01'),
    ],
    answers: [G, D, G, G],
  },
  {
    title: 'a new period without a fall in usage opens after a quarter of an hour',
    steps: [
      ...start(),
      read(50),
      read(60, 100, '2030-02-01'),
      ask({ take: [0] }),
      settle(0, 'free'),
      ...wait(904_000),
      ask({ heard: true, take: [1] }),
      read(60, 100, '2030-02-01'),
      ask({ take: [2] }),
    ],
    answers: [G, G, G],
  },
  {
    title: 'a period once passed does not come back',
    steps: [
      ...start(),
      read(50, 100, '2030-03-01'),
      read(0, 100, '2030-02-01'),
      read(0, 100, '2030-04-01'),
      read(0, 100, '2030-04-01'),
    ],
    answers: [],
  },
  {
    title: 'an account without periods takes every reading as its own',
    steps: [...start(), read(5, 100, 'none'), read(7, 100, '2030-02-01'), read(2, 100, null)],
    answers: [],
  },
  {
    title: 'a jump in usage is believed when it is seen again a minute later, and the next one anew',
    steps: [
      ...start(),
      read(10, 90_000),
      read(5_000, 90_000),
      ...wait(40_000),
      read(5_000, 90_000),
      ...wait(20_000),
      read(5_000, 90_000),
      read(12_000, 90_000),
      ...wait(40_000),
      read(12_000, 90_000),
      ...wait(64_000),
      read(12_000, 90_000),
    ],
    answers: [],
  },
  {
    title: 'a jump that is not seen again is forgotten',
    steps: [
      ...start(),
      read(10, 90_000),
      read(5_000, 90_000),
      ...wait(40_000),
      read(10, 90_000),
      ...wait(40_000),
      read(5_000, 90_000),
    ],
    answers: [],
  },
  {
    title: 'the usage header lags behind what is held, and nobody is invented',
    steps: [
      ...start(),
      read(0, 10),
      ask({ take: [0, 1, 2, 3] }),
      read(2, 10),
      settle(0),
      read(4, 10),
      read(7, 10),
      read(1, 10),
    ],
    answers: [G, G, G, G],
  },
  {
    title: 'the pace spreads requests over the second, and refuses what lies beyond it',
    steps: [
      ...start(),
      read(0),
      ask({ pace: { isJudged: true, rate: 3, burst: 2, floorMs: 0 }, take: [0, 1, 2, 3, 4, 5, 0, 1] }),
    ],
    answers: [G, G, G, G, G, D, D, D],
  },
  {
    title: 'a pace that was judged by an old version is left as it is',
    steps: [
      ...start(),
      read(0),
      ask({ pace: { isJudged: false, rate: 0.5, burst: 1, floorMs: 5_000 }, take: [0, 1, 2] }),
    ],
    answers: [G, G, G],
  },
  {
    title: 'nobody sends before the floor that Retry-After set',
    steps: [
      ...start(),
      read(0),
      ask({ pace: { isJudged: true, rate: null, burst: 1, floorMs: 5_000 }, take: [0] }),
      ...wait(4_000),
      ask({ pace: { isJudged: true, rate: null, burst: 1, floorMs: 100 }, take: [1] }),
      ...wait(4_000),
      ask({ take: [2] }),
    ],
    answers: [D, G, G],
  },
  {
    title: 'a key that was doubted twice in a run is not asked for again, a key billed once is',
    steps: [
      ...start(),
      read(0),
      ask({ take: [0, 1] }),
      ask({
        settle: [
          { permit: 0, as: 'doubtful' },
          { permit: 1, as: 'billed' },
        ],
        take: [0, 1],
      }),
      ask({
        settle: [
          { permit: 2, as: 'doubtful' },
          { permit: 3, as: 'billed' },
        ],
        take: [0, 1],
      }),
    ],
    answers: [G, G, G, G, 'spent', G],
  },
  {
    title: 'what is given back is given back to the caps too, overage included',
    steps: [
      ...start({ overage: 5, maxRequests: 3, maxOverageRequests: 1 }),
      read(0, 1),
      ask({ take: [0, 1, 2] }),
      settle(1, 'free'),
      ask({ take: [3, 4] }),
    ],
    answers: [G, G, D, G, D],
  },
  {
    title: 'permits past their deadline count as sent, and free the others for nothing',
    steps: [
      ...start(),
      read(0, 2),
      ask({ take: [0, 1], permitMs: 6_000 }),
      ...wait(8_000),
      ask({ settle: [{ permit: 0, as: 'free' }], take: [2] }),
    ],
    answers: [G, G, D],
  },
  {
    title: 'of two live runs the lower quota and the lower overage hold, until it is dead',
    steps: [
      ...start({ quotaCap: 4, overage: 2 }),
      {
        type: 'start',
        account: 0,
        key: 1,
        settings: { plan: 'paid', quotaCap: 2, overage: 0, maxRequests: null, maxOverageRequests: null },
      },
      read(0, 3),
      ask({ take: [0, 1, 2] }),
      ...wait(40_000),
      ask({ take: [3, 4, 5, 0] }),
    ],
    answers: [G, G, D, G, G, G, D],
  },
  {
    title: 'a ledger that went back is brought up, and rests until the header has caught up',
    steps: [
      ...start(),
      read(0, 10),
      ask({ take: [0], seen: 'ahead' }),
      ...wait(40_000),
      ask({ take: [1], seen: 'last' }),
      ...wait(20_000),
      ask({ take: [2, 3] }),
    ],
    answers: [D, D, G, D],
  },
];
