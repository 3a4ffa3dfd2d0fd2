/**
 * The `RunStore` as operations of an engine: workers learn whether a process still waits, and the
 * run how far they are. A run that is damaged counts as not there.
 */
import { count, flag, inJson, list, nullOr, object, orElse } from '../core/shapes.js';
import {
  failureReasonShape,
  type RunHalt,
  type RunStop,
  runHaltShape,
  runStopShape,
} from './stores/run-reasons.js';
import {
  type Cancel,
  cancelShape,
  type LookupFailure,
  labelShape,
  type NewRun,
  type Orders,
  orderEndShape,
  ordersShape,
  PAUSE,
  type Pause,
  RUN_PROGRESS,
  RUN_RECORD,
  type RunOwner,
  type RunProgress,
  type RunRecord,
  runSettingsShape,
  type Tally,
} from './stores/run-store.js';
import {
  nothing,
  type StoreCalls,
  type StoreParam,
  some,
  storableJson,
  storableText,
  unfit,
  unreadable,
} from './stores/store-calls.js';

// What is JSON in a run travels as text: an empty list stays a list, an empty object an object.
const recordShape = orElse(
  object({
    ...RUN_RECORD,
    label: inJson(labelShape),
    settings: inJson(runSettingsShape),
    stop: nullOr(inJson(runStopShape)),
  }),
  null,
);
const storedPauseShape = object({ ...PAUSE, label: inJson(labelShape) });
const progressShape = orElse(object({ ...RUN_PROGRESS, halt: nullOr(inJson(runHaltShape)) }), 'damaged');

const failuresShape = some(
  object({
    /** In the list of keys, from 1. */
    position: count,
    // The lookup has failed, whatever became of its reason: it is not bought again.
    reason: orElse(inJson(failureReasonShape), { code: 'unknown' }),
    billed: flag,
    isDeferred: flag,
  }),
);

export type RunStore = ReturnType<typeof createRuns>;

/** Each call is atomic and on the store's own clock. */
export function createRuns({ call, address }: StoreCalls) {
  const change = (operation: string, ...params: StoreParam[]) => call(nothing, operation, ...params);
  return {
    /** A run of a cancelled job is cancelled when it starts. Starting it again changes nothing. */
    async start({ id, key, label, settings, job = id, owner = key }: NewRun): Promise<RunRecord> {
      const given = [id, key, storableJson(label), JSON.stringify(settings), job, owner];
      const record = await call(recordShape, 'start_run', ...given);
      if (record !== null) return record;
      throw unreadable(address);
    },
    get: (id: string) => call(recordShape, 'get_run', id),
    /** All that are alive, then the newest others until there are `limit`; a file is one entry. */
    list: async (limit: number): Promise<RunRecord[]> =>
      whole(await call(orElse(list(recordShape), []), 'list_runs', limit)),
    /** Renews the heartbeat and gives the workers' progress: the one call a waiting run repeats. */
    async heartbeat(id: string): Promise<RunProgress> {
      const progress = await call(nullOr(progressShape), 'heartbeat_run', id);
      if (progress === 'damaged') throw unreadable(address);
      if (progress !== null) return progress;
      const what = 'the engine no longer knows this run (was it flushed, or restored from a backup?)';
      throw unfit(what, address, 'run the same command again');
    },
    setSize: (id: string, { rows, identifiers }: { rows: number; identifiers: number }) =>
      change('set_run_size', id, rows, identifiers),
    /** Takes the sum so far of the reporter `part`; an earlier one changes nothing. */
    addTally: (id: string, part: string, sum: Tally) => change('add_tally', id, part, JSON.stringify(sum)),
    /** Counts a chunk as finished, once, however often it is reported. */
    finishChunk: (id: string, chunk: number) => change('finish_chunk', id, chunk),
    /** Records failed lookups. Each key counts once, and its last report is kept. */
    async fail(id: string, failures: readonly LookupFailure[]): Promise<void> {
      if (failures.length === 0) return;
      const storable = failures.map((failure) => ({ ...failure, reason: storableJson(failure.reason) }));
      await change('add_failures', id, JSON.stringify(storable));
    },
    /** In the order of the keys, final ones of earlier starts included, and null for others. */
    async failures(id: string, keys: readonly string[]) {
      const found = new Array<LookupFailure | null>(keys.length).fill(null);
      if (keys.length === 0) return found;
      const answered = await call(failuresShape, 'get_failures', id, JSON.stringify(keys));
      for (const { position, reason, billed, isDeferred } of answered) {
        const failure = { key: keys[position - 1] ?? '', reason, billed };
        found[position - 1] = { ...failure, ...(isDeferred ? { isDeferred } : {}) };
      }
      return found;
    },
    halt: (id: string, halt: RunHalt) => change('halt_run', id, storableJson(halt)),
    clearHalt: (id: string) => change('clear_halt', id),
    /**
     * Ends a run. Without a `stop` it is complete: caps and `--refresh` of its key begin anew,
     * except under a `keyOfDay`.
     */
    end: (id: string, stop: RunStop | null) =>
      change('end_run', id, stop === null ? 'completed' : 'stopped', stop && storableJson(stop)),
    /**
     * Ends the job of a run for good: nothing else is sent for it, now or by a later run of the
     * job. For a run that stopped it is the job of its owner's latest run. A pause of it ends.
     */
    cancel: (id: string, by: string) => call(orderEndShape, 'cancel_run', id, storableText(by)),
    /** Pauses the owner of a run that has not ended for good. The first pause stays. */
    pause: (id: string, by: string) => call(orderEndShape, 'pause_run', id, storableText(by)),
    /** The same for an owner that may have no run. `label`: for people. `at`: default now. */
    pauseOwner: ({ owner, label, by, run, at = null }: Given<Pause>) =>
      change('pause_owner', owner, storableJson(label), storableText(by), run, at),
    /** The same for a job that may have no run. `at`: default now; does nothing after 90 days. */
    cancelJob: ({ job, by, at = null }: Given<Cancel>) => change('cancel_job', job, storableText(by), at),
    /** Takes back the cancel of a job for later runs; those that it ended stay cancelled. */
    uncancelJob: (job: string) => change('uncancel_job', job),
    /** False if it was not paused. */
    resume: (owner: string) => call(flag, 'resume_owner', owner),
    /** All of them, the oldest first. */
    async pauses(): Promise<Pause[]> {
      const pauses = await call(orElse(list(orElse(storedPauseShape, null)), []), 'list_pauses');
      return whole(pauses).sort((one, other) => one.at - other.at);
    },
    async cancels(): Promise<Cancel[]> {
      const cancels = await call(orElse(list(orElse(cancelShape, null)), []), 'list_cancels');
      return whole(cancels).sort((one, other) => one.at - other.at);
    },
    /** The orders for each of these jobs. */
    async orders(jobs: readonly RunOwner[]): Promise<Orders[]> {
      if (jobs.length === 0) return [];
      const orders = await call(some(ordersShape), 'get_orders', JSON.stringify(jobs));
      if (orders.length !== jobs.length) throw unreadable(address);
      return [...orders];
    },
  };
}

type Given<Order> = Omit<Order, 'at'> & { readonly at?: number | null };

function whole<T>(found: readonly (T | null)[]): T[] {
  return found.filter((each) => each !== null);
}
