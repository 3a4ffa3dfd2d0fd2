/**
 * Histories that reach the ledger's rules for pace, doubts, caps, deadlines and runs, which random
 * ones seldom do. Each runs on the store and on the model, and states what became of the permits
 * asked for, in order.
 */
import type { LedgerScenario } from './ledger-scenario-steps.js';
import { answered, ask, D, G, read, settle, start, wait } from './ledger-scenario-steps.js';

export const LEDGER_SPENDING_SCENARIOS: readonly LedgerScenario[] = [
  {
    title: 'a usage header that lags behind held permits is not taken for spending by others',
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
    title: 'the pace spreads requests over the second, and refuses those beyond it',
    steps: [
      ...start(),
      read(0),
      ask({ pace: { isJudged: true, rate: 3, burst: 2, floorMs: 0 }, take: [0, 1, 2, 3, 4, 5, 0, 1] }),
    ],
    answers: [G, G, G, G, G, D, D, D],
  },
  {
    title: 'a pace judged by an old version is left unchanged',
    steps: [
      ...start(),
      read(0),
      ask({ pace: { isJudged: false, rate: 0.5, burst: 1, floorMs: 5_000 }, take: [0, 1, 2] }),
    ],
    answers: [G, G, G],
  },
  {
    title: 'nothing is sent before the time that Retry-After set',
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
    title: 'a key doubted twice in a run is not asked for again, a key billed once is',
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
    title: 'a permit given back is given back to the caps too, overage included',
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
    title: 'a request is overage if it is beyond the quota when settled, whatever it looked like when taken',
    steps: [
      ...start({ overage: 9 }),
      read(0, 2),
      ask({ take: [0, 1, 2, 3, 4] }),
      settle(4),
      settle(0, 'free'),
      settle(3),
      settle(2),
      settle(1, 'doubtful'),
      { type: 'show', account: 0, run: 0 },
    ],
    answers: [G, G, G, G, G],
  },
  {
    title: 'the answer that shows a raised quota or a new period is no overage',
    steps: [
      ...start(),
      { type: 'open', account: 0, rate: undefined, burst: 1 },
      read(1, 1, '2020-01-01'),
      ...wait(64_000),
      ask({ take: [0] }),
      answered(0, 2, 5, '2020-01-01'),
      ask({ take: [1, 2, 3] }),
      answered(1, 3, 5, '2020-01-01'),
      answered(2, 1, 5, '2020-02-01'),
      answered(3, 2, 5, '2020-02-01'),
      { type: 'show', account: 0, run: 0 },
    ],
    answers: [G, G, G, G],
  },
  {
    title: 'the cap on overage is used up fully, and a free answer releases its part',
    steps: [
      ...start({ plan: 'paid', overage: 9, maxOverageRequests: 2 }),
      read(0, 2),
      ask({ take: [0, 1, 2, 3, 4] }),
      settle(0, 'free'),
      settle(1),
      ask({ take: [0, 1] }),
      settle(2),
      settle(3),
      ask({ take: [2] }),
      settle(5),
      ask({ take: [2] }),
      { type: 'show', account: 0, run: 0 },
    ],
    answers: [G, G, G, G, D, G, D, D, D],
  },
  {
    title: 'a run takes no permit that could push the requests of another run over its cap',
    steps: [
      ...start({ plan: 'paid', overage: 9, maxOverageRequests: 1 }),
      ...start({ plan: 'paid', overage: 9, maxOverageRequests: 3 }).map((step) => ({ ...step, key: 1 })),
      read(0, 4),
      ask({ take: [0, 1, 2] }),
      // The fifth may make one of the first run's an overage, the sixth two of them.
      ask({ run: 1, take: [3, 4, 5] }),
      settle(0),
      ask({ run: 1, take: [5] }),
      settle(1, 'free'),
      settle(2),
      ask({ run: 1, take: [5] }),
    ],
    answers: [G, G, G, G, G, D, D, G],
  },
  {
    title: 'permits past their deadline count as sent, and release others at no cost',
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
    title:
      'the last permits of a dead worker are waited for as long as a heartbeat, not as long as a request',
    steps: [
      ...start(),
      { type: 'release', worker: 0, keys: [0] },
      { type: 'claim', worker: 1, keys: [0] },
      read(0, 2),
      ask({ worker: 1, take: [0] }),
      ask({ take: [1] }),
      ask({ take: [2] }),
      ...wait(20_000),
      ask({ take: [2] }),
      ask({ settle: [{ permit: 0, as: 'free' }], take: [2] }),
      { type: 'show', account: 0, run: 0 },
    ],
    answers: [G, G, D, D, D],
  },
  {
    title: 'a lone request of a dead worker is waited for as long as a heartbeat',
    steps: [
      ...start(),
      { type: 'release', worker: 0, keys: [0] },
      { type: 'claim', worker: 1, keys: [0] },
      ask({ worker: 1, take: [0] }),
      ask({ take: [1] }),
      ...wait(20_000),
      ask({ take: [1] }),
      ask({ take: [2] }),
    ],
    answers: [G, D, G, D],
  },
  {
    title: "so is a dead worker's probe after a refusal",
    steps: [
      ...start(),
      { type: 'release', worker: 0, keys: [0] },
      { type: 'claim', worker: 1, keys: [0] },
      read(0, 4),
      ask({ refusedForQuota: true }),
      ...wait(64_000),
      ask({ worker: 1, take: [0] }),
      ...wait(64_000),
      ask({ take: [1] }),
    ],
    answers: [G, G],
  },
  {
    title: 'a clock that is set back by three days makes nothing wait, and frees nothing',
    steps: [
      ...start(),
      read(0, 3),
      ask({ pace: { isJudged: true, rate: 3, burst: 1, floorMs: 5_000 } }),
      ...wait(8_000),
      ask({ take: [0], permitMs: 6_000 }),
      ...wait(-259_200_000),
      ask({ take: [1] }),
      ...wait(8_000),
      ask({ take: [2, 3] }),
    ],
    answers: [G, G, G, D],
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
    title: 'a ledger that went back is restored, and rests until the header has caught up',
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
