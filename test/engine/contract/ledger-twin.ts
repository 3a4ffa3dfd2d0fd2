/** Applies the same operations to a real store and to the model, by the store's own time. */
import type { Engine } from '../../../src/engine/engine.js';
import type { ClaimAnswer } from '../../../src/engine/stores/outcome-store.js';
import { ALL_SPENDING, freshnessOf } from '../../../src/engine/stores/run-store.js';
import type { ExchangeRequest, LedgerState, PermitRequest } from '../../../src/ledger/ledger.js';
import * as model from '../../model/ledger-model.js';
import { HALTS } from '../../support/halts.js';
import type { TurnedClock } from './engine-under-test.js';
import { ACCOUNTS, type ExchangeOperation, KEYS, type Operation, WORKERS } from './ledger-operations.js';
import { runSettings } from './run-settings.js';

/** What store and model answered; equal except for rounding. */
interface BothAnswers {
  readonly store: unknown;
  readonly model: unknown;
  /** The store's answers to the permits asked for, if any were. */
  readonly answers: readonly string[];
}

const both = (store: unknown, modelled: unknown, answers: readonly string[] = []): BothAnswers => ({
  store,
  model: modelled,
  answers,
});
const NOTHING = both(null, null);
/** How long ago the period was well over, where an operation asks for the next one. */
const TURN_AGO_MS = 5 * 86_400_000;

export interface LedgerTwin {
  apply(operation: Operation): Promise<BothAnswers>;
}

interface Taken {
  readonly permit: string;
  readonly key: string;
  readonly account: number;
}

/**
 * `name` must be new for the store: accounts, runs, workers and keys are derived from it.
 * `isOneEach`: no worker holds two permits for one key, as in production.
 */
export function createLedgerTwin(
  engine: Engine,
  clock: TurnedClock,
  name: string,
  { isOneEach = false } = {},
): LedgerTwin {
  const { ledger, runs, outcomes } = engine;
  let epoch = '';
  const world = new model.ModelWorld(() => epoch);
  const accounts = Array.from({ length: ACCOUNTS }, (_, i) => `${name}-account-${i}`);
  const workers = Array.from({ length: WORKERS }, (_, i) => `${name}-worker-${i}`);
  const keys = Array.from({ length: KEYS }, (_, i) => `${name}:u:domain:k${i}.example`);
  const started: string[] = [];
  const taken: Taken[] = [];
  const last = new Map<string, LedgerState>();
  const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % list.length];
  const named = (list: readonly string[], index: number) => pick(list, index) ?? '';
  const localNow = () => Date.now() + clock.offsetMs();

  function readingOf({ behindMs, ...reading }: NonNullable<ExchangeOperation['reading']>) {
    return { ...reading, date: behindMs === undefined ? null : localNow() - behindMs };
  }

  /** The store's clock is past 2020, or still in the period of the account. */
  function turnOf(period: string, hasTurned: boolean): ExchangeRequest['turn'] {
    const endsAt = localNow() + (hasTurned ? -TURN_AGO_MS : TURN_AGO_MS);
    return { period, endsAt, today: hasTurned ? '2021-01-01' : period };
  }

  function seenBy(operation: ExchangeOperation, account: string): ExchangeRequest['seen'] {
    const state = last.get(account);
    if (!state || operation.seen === 'nothing') return null;
    const { epoch, version, period, sent, held, others } = state;
    const seen = { epoch, version, period, spent: sent + held, others };
    if (operation.seen === 'ahead') return { ...seen, version: seen.version + 3, spent: seen.spent + 1 };
    return operation.seen === 'elsewhere' ? { ...seen, epoch: 'gone', others: seen.others + 1 } : seen;
  }

  async function exchange(operation: ExchangeOperation): Promise<BothAnswers> {
    const account = named(accounts, operation.account);
    const worker = named(workers, operation.worker);
    const run = operation.run === null ? null : (pick(started, operation.run) ?? null);
    const ours = taken.filter((permit) => permit.account === operation.account);
    // A worker asks for a key once at a time.
    const isOut = (key: string) =>
      [...world.permits.values()].some((permit) => permit.key === key && permit.worker === worker);
    const wantedKeys = operation.take.filter((key) => !isOneEach || !isOut(named(keys, key)));
    const takenKeys = isOneEach ? [...new Set(wantedKeys)] : wantedKeys;
    const take: PermitRequest[] = takenKeys.map((key, index) => ({
      permit: `${name}-permit-${taken.length + index}`,
      key: named(keys, key),
      ...(operation.isOwn && key === 0 ? { own: 'service own' } : {}),
    }));
    for (const wanted of take) taken.push({ ...wanted, account: operation.account });
    let look: ExchangeRequest['look'] = null;
    if (operation.look !== null) {
      const permit = `${name}-permit-${taken.length}`;
      const own = typeof operation.look === 'number' ? null : `service ${operation.look}`;
      const key = typeof operation.look === 'number' ? named(keys, operation.look) : null;
      look = { permit, own, key, quotaCap: null };
      taken.push({ permit, key: key ?? '', account: operation.account });
    }
    const again = operation.repeat === null ? undefined : pick(ours, operation.repeat);
    if (again) take.push({ permit: again.permit, key: again.key });
    const { pace, isConfirmed, refusedForQuota, permitMs, usageLagMs } = operation;
    const version = world.accounts.get(account)?.paceVersion ?? 0;
    const request: ExchangeRequest = {
      ...{ account, worker, run, take, look, isConfirmed, refusedForQuota, permitMs, usageLagMs },
      seen: seenBy(operation, account),
      settle: operation.settle.flatMap(({ permit, as, period = null, isBeyond }) => {
        const held = pick(ours, permit);
        return held ? [{ permit: held.permit, as, period, ...(isBeyond && { isBeyond }) }] : [];
      }),
      reading: operation.reading && readingOf(operation.reading),
      pace: pace && { ifVersion: pace.isJudged ? version : version + 1, ...pace },
      turn: turnOf(world.accounts.get(account)?.period ?? '2020-01-01', operation.hasTurned),
    };
    const answer = await ledger.exchange(request);
    last.set(account, answer.state);
    const answers = [...answer.permits, ...(answer.look === null ? [] : [answer.look])].map((permit) =>
      permit.answer === 'granted' && permit.isFree ? 'free' : permit.answer,
    );
    // Both sides identify the account by the epoch that the store assigned.
    epoch = answer.state.epoch;
    return both(answer, model.exchange(world, request, answer.state.now), answers);
  }

  function claimInModel(worker: string, wanted: readonly string[]): ClaimAnswer[] {
    const now = localNow();
    model.noteHeartbeat(world, worker, now);
    return wanted.map((key) => {
      const claim = world.claims.get(key);
      if (claim?.worker === worker) return 'ours';
      if (claim && model.isWorkerAlive(world, claim.worker, now)) return 'busy';
      const permit = claim?.permit ? world.permits.get(claim.permit) : undefined;
      if (permit && permit.worker !== '' && permit.run !== '') {
        permit.worker = '';
        const name = `${permit.run} ${permit.key}`;
        world.unusable.set(name, (world.unusable.get(name) ?? 0) + 1);
      }
      world.claims.set(key, { worker, permit: null });
      return 'ours';
    });
  }

  /** By run key: what its next start shares with earlier ones. Unset once a run completed. */
  const generations = new Map<string, string>();
  const keyOf = new Map<string, string>();

  async function start(operation: Extract<Operation, { type: 'start' }>): Promise<BothAnswers> {
    const id = `${name}-run-${started.length}`;
    const key = `${name}-key-${operation.key}`;
    const settings = runSettings({ ...operation.settings, account: named(accounts, operation.account) });
    const record = await runs.start({ id, key, owner: id, label: { host: 'etl-1', name: name }, settings });
    started.push(id);
    keyOf.set(id, key);
    const generation = generations.get(key) ?? id;
    generations.set(key, generation);
    world.runs.set(id, { generation, heartbeatAt: record.heartbeatAt, status: 'running', settings });
    return both(record.status, 'running');
  }

  /** The run of a slot, if one has been started. */
  function runIn(slot: number) {
    const id = pick(started, slot);
    const run = id === undefined ? undefined : world.runs.get(id);
    return id === undefined || run === undefined ? null : { id, run };
  }

  async function changeRun(operation: Extract<Operation, { type: 'heartbeat' | 'cancel' | 'end' }>) {
    const found = runIn(operation.run);
    if (found === null) return NOTHING;
    const { id, run } = found;
    const isRunning = run.status === 'running';
    if (operation.type === 'heartbeat') await runs.heartbeat(id);
    else if (operation.type === 'cancel') {
      await runs.cancel(id, 'ada');
      if (isRunning || run.status === 'stopped') run.status = 'cancelled';
    } else await runs.end(id, operation.status === 'completed' ? null : { type: 'stopped' });
    if (isRunning && operation.type === 'end') run.status = operation.status;
    if (isRunning && operation.type !== 'cancel') {
      const key = keyOf.get(id) ?? '';
      const current = generations.get(key);
      if (run.status !== 'completed') generations.set(key, current ?? run.generation);
      else if (current === run.generation) generations.delete(key);
    }
    const record = await runs.get(id);
    if (operation.type === 'heartbeat' && isRunning) run.heartbeatAt = record?.heartbeatAt ?? 0;
    return both(
      [record?.status, record?.spent, record?.overageBilled],
      [run.status, world.spent.get(id) ?? 0, world.overageBilled.get(id) ?? 0],
    );
  }

  return {
    async apply(operation) {
      const account = 'account' in operation ? named(accounts, operation.account) : '';
      function corrected<T>(
        state: LedgerState,
        change: (world: model.ModelWorld, account: string, by: T, now: number) => LedgerState,
        by: T,
      ): BothAnswers {
        epoch = state.epoch;
        return both(state, change(world, account, by, state.now));
      }
      switch (operation.type) {
        case 'exchange':
          return exchange(operation);
        case 'start':
          return start(operation);
        case 'heartbeat':
        case 'cancel':
        case 'end':
          return changeRun(operation);
        case 'show': {
          const run = operation.run == null ? undefined : pick(started, operation.run);
          const state = await ledger.show(account, run);
          return both(state, model.show(world, account, state.now, run));
        }
        case 'open':
          return corrected(await ledger.open(account, operation), model.open, operation);
        case 'observe':
          return corrected(await ledger.observe(account, operation), model.observe, operation);
        case 'raise':
          return corrected(await ledger.raise(account, operation), model.raise, operation);
        case 'halt': {
          const { id, run } = runIn(operation.run) ?? {};
          if (id === undefined || run === undefined) return NOTHING;
          if (operation.isHalted) await runs.halt(id, HALTS.credentials);
          else await runs.clearHalt(id);
          run.isHalted = operation.isHalted;
          return NOTHING;
        }
        case 'pause_run': {
          const { id, run } = runIn(operation.run) ?? {};
          if (id === undefined || run === undefined) return NOTHING;
          const isOver = run.status === 'completed' || run.status === 'cancelled';
          run.isPaused = operation.isPaused && !isOver;
          if (operation.isPaused) return both(await runs.pause(id, 'ada'), isOver ? 'ended' : 'done');
          await runs.resume(id);
          return NOTHING;
        }
        case 'pause':
          if (operation.paused) await runs.pauseOwner({ ...ALL_SPENDING, by: 'ada' });
          else await runs.resume(ALL_SPENDING.owner);
          world.isPaused = operation.paused;
          return NOTHING;
        case 'claim': {
          const worker = named(workers, operation.worker);
          const wanted = operation.keys.map((key) => named(keys, key));
          const run = await runs.get(started[0] ?? '');
          if (!run) return NOTHING;
          const claimed = await outcomes.claim(worker, wanted, freshnessOf(run));
          return both(claimed, claimInModel(worker, wanted));
        }
        case 'release': {
          const worker = named(workers, operation.worker);
          const dropped = operation.keys.map((key) => named(keys, key));
          await outcomes.release(worker, dropped);
          for (const key of dropped) if (world.claims.get(key)?.worker === worker) world.claims.delete(key);
          return NOTHING;
        }
        case 'live':
          await outcomes.heartbeat(named(workers, operation.worker));
          model.noteHeartbeat(world, named(workers, operation.worker), localNow());
          return NOTHING;
        case 'deregister':
          await outcomes.deregister(named(workers, operation.worker));
          world.heartbeats.delete(named(workers, operation.worker));
          return NOTHING;
        case 'advance':
          clock.advance(operation.ms);
          return NOTHING;
      }
    },
  };
}
