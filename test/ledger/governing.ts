/** A stage for governors: a clock turned by hand, a ledger over the model, permits followed. */
import { expect } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { SharedGovernor } from '../../src/ledger/governor.js';
import type { Fetched, Observation } from '../../src/ledger/outbox.js';
import type { AskingRun, Grant } from '../../src/ledger/permit-waiters.js';
import { createHandClock } from '../model/hand-clock.js';
import { createModelLedger, type ModelLedger } from '../model/model-ledger.js';
import { deferred } from '../support/deferred.js';

const ACCOUNT = 'account';
/** The total time-out of a request. */
export const TIMEOUT_MS = 40_000;

/** A useful answer without usage headers. */
export const CONFIRMED: Observation = { reading: null, isConfirmed: true };
export const UNCONFIRMED: Observation = { reading: null, isConfirmed: false };

export function headers(quota: number | null, usage: number | null, period: string | null = null) {
  return { reading: { quota, usage, period }, isConfirmed: true };
}

/** A permit request and its result, `waiting` until there is one. */
export interface Asker {
  readonly key: string;
  readonly stop: AbortController;
  /** `granted`, `lost`, `exhausted` ...; `rejected` followed by the reason's message. */
  readonly result: string;
  readonly grant: Grant | null;
  readonly permit: string;
}

/** Why a scripted spool leaves an answer. */
export const LEFT = new Error('on disk alone');

/** A spool that ends an answer when the test says so. */
function createScriptedSpool() {
  const taken: Fetched[] = [];
  const left: Fetched[] = [];
  const ends = new Map<string, ReturnType<typeof deferred<number>>>();
  const endOf = (key: string) => {
    const known = ends.get(key) ?? deferred<number>();
    ends.set(key, known);
    return known;
  };
  return {
    /** What it was to record, and what it was to leave on disk. */
    taken,
    left,
    record(answer: Fetched) {
      taken.push(answer);
      return endOf(answer.outcome.key).promise;
    },
    async leave(answers: readonly Fetched[]) {
      left.push(...answers);
      return LEFT;
    },
    /** Ends an answer of `taken` by its key, taken or not yet: at a date of the store, or left. */
    end(key: string, as: number | 'left'): void {
      const { promise, resolve, reject } = endOf(key);
      promise.catch(() => undefined);
      if (as === 'left') reject(LEFT);
      else resolve(as);
    },
  };
}

export type Stage = Awaited<ReturnType<typeof createStage>>;

export interface StageOptions {
  readonly governors?: number;
  /** Sets the quota before any permit request, as the free request for the own brand does. */
  readonly quota?: number;
  /** The initial pace of the account. */
  readonly pace?: { rate: number | null; burst: number };
  readonly settings?: Parameters<ModelLedger['addRun']>[1];
}

export async function createStage(options: StageOptions = {}) {
  const clock = createHandClock();
  const ledger = createModelLedger(clock);
  const spool = createScriptedSpool();
  ledger.addRun('run', options.settings);
  if (options.pace) await ledger.open(ACCOUNT, options.pace);
  const governors = Array.from(
    { length: options.governors ?? 1 },
    (_, index) =>
      new SharedGovernor({
        ledger,
        spool,
        account: ACCOUNT,
        worker: `worker-${index}`,
        clock,
        log: silentLog(),
        timeoutMs: TIMEOUT_MS,
        usageLagMs: 60_000,
      }),
  );
  const [governor] = governors;
  if (governor === undefined) throw new Error('a stage needs a governor');
  let keys = 0;
  const ask = (key: string, some: { by?: number; run?: Partial<AskingRun> } = {}): Asker => {
    const stop = new AbortController();
    const asker = { key, stop, result: 'waiting', grant: null as Grant | null, permit: '' };
    const run = { id: 'run', period: 'month', maxRate: null, ...some.run } as const;
    governors[some.by ?? 0]?.take(run, key, stop.signal).then(
      (grant) => {
        asker.result = grant.type;
        asker.grant = grant;
        if (grant.type === 'granted') asker.permit = grant.permit;
      },
      (reason: Error) => {
        asker.result = `rejected: ${reason.message}`;
      },
    );
    return asker;
  };
  const askMany = (count: number, some?: Parameters<typeof ask>[1]) =>
    Array.from({ length: count }, () => {
      keys += 1;
      return ask(`key-${keys}`, some);
    });
  const stage = {
    clock,
    ledger,
    spool,
    governors,
    /** The first governor. */
    governor,
    account: () => {
      const account = ledger.world.accounts.get(ACCOUNT);
      if (account === undefined) throw new Error('nothing was asked of the ledger yet');
      return account;
    },
    ask,
    askMany,
    /** The same, once the ledger has answered. */
    async asked(...[count, some]: Parameters<typeof askMany>) {
      const askers = askMany(count, some);
      await clock.rest();
      return askers;
    },
    /** Lets pending work finish and 15 ms pass: as long as a settlement waits to be batched. */
    settleDown: () => clock.advance(15),
  };
  if (options.quota !== undefined) {
    for (const each of governors) each.note(headers(options.quota, 0));
    await stage.settleDown();
  }
  return stage;
}

/** A stage whose account has a pace and at least one useful answer. */
export function createPacedStage(rate: number | null, burst = 1, governors = 1): Promise<Stage> {
  return createStage({ quota: 100_000, governors, pace: { rate, burst } });
}

/** What the service says with a refusal for throughput. */
export const THROTTLED = { isQuota: false, retryAfterMs: null };

/** The permit of a request that is granted at once. */
export async function granted({ clock, ask }: Stage, key: string): Promise<string> {
  const asker = ask(key);
  await clock.rest();
  expect(asker.result).toBe('granted');
  return asker.permit;
}

/** Number of requests per result. */
export function outcomes(askers: readonly Asker[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { result } of askers) counts[result] = (counts[result] ?? 0) + 1;
  return counts;
}
