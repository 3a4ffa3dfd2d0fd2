/** The `Ledger` interface over the model: it can be unreachable, lose answers or hold them back. */
import type { Clock } from '../../src/core/clock.js';
import type { ExchangeRequest, Ledger } from '../../src/ledger/ledger.js';
import * as model from './ledger-model.js';

export type ModelLedger = ReturnType<typeof createModelLedger>;

export function createModelLedger(clock: Clock) {
  let epochs = 0;
  const world = new model.ModelWorld(() => {
    epochs += 1;
    return `epoch-${epochs}`;
  });
  const requests: ExchangeRequest[] = [];
  const answers: string[][] = [];
  let reach = 'good' as 'good' | 'out' | 'deaf';
  let held: Promise<void> | null = null;

  const ledger: Ledger = {
    async exchange(request, outcomes = []) {
      requests.push(request);
      answers.push(outcomes.map(({ key }) => key));
      if (reach === 'out') throw new Error('connection refused');
      for (const { key } of request.take)
        if (!world.claims.has(key)) world.claims.set(key, { worker: request.worker, permit: null });
      const recordedAt = outcomes.length > 0 ? clock.now() : null;
      const answer = { ...model.exchange(world, request, clock.now()), recordedAt };
      while (held !== null) await held;
      if (reach === 'deaf') throw new Error('connection lost');
      return answer;
    },
    show: async (account, run) => model.show(world, account, clock.now(), run),
    open: async (account, pace) => model.open(world, account, pace, clock.now()),
    observe: async (account, seen) => model.observe(world, account, seen, clock.now()),
    raise: async (account, spending) => model.raise(world, account, spending, clock.now()),
    accounts: async () => [...world.accounts.keys()],
    async reset(account) {
      world.accounts.delete(account);
      for (const [id, permit] of world.permits) if (permit.account === account) world.permits.delete(id);
    },
  };
  return {
    ...ledger,
    world,
    /** Every requested exchange, failed ones included. */
    requests: requests as readonly ExchangeRequest[],
    /** The keys of the answers that came with each of them. */
    answers: answers as readonly (readonly string[])[],
    /** A run that lives for ever, with the settings that the ledger reads. */
    addRun: (id: string, settings: Partial<model.ModelRun['settings']> = {}) =>
      model.addRun(world, id, settings),
    /** The worker that holds the claim on a key; by default the first that takes it. */
    claim(key: string, worker: string) {
      world.claims.set(key, { worker, permit: null });
    },
    /** `out`: nothing arrives. `deaf`: everything arrives, every answer is lost. */
    setReach(to: typeof reach) {
      reach = to;
    },
    /** Holds all answers back until the returned function is called. */
    hold() {
      let release = () => undefined as undefined;
      held = new Promise((resolve) => {
        release = () => {
          held = null;
          resolve();
        };
      });
      return () => release();
    },
  };
}
