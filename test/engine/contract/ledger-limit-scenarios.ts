/**
 * Histories that reach the ledger's rules of limits, probes, periods and readings, which made-up ones seldom do. Each is done to the
 * store and to the model, and says in passing what became of the permits asked for, in order.
 */
import type { LedgerScenario } from './ledger-scenario-steps.js';
import { ask, D, G, read, settle, start, wait } from './ledger-scenario-steps.js';

export const LEDGER_LIMIT_SCENARIOS: readonly LedgerScenario[] = [
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
];
