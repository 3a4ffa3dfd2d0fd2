/** The `RunStore`, which connects processes and workers. A damaged record counts as missing. */
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

// JSON inside a run travels as text, because Lua cannot tell an empty list from an empty object.
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
    /** Place in the list of keys, from 1. */
    position: count,
    // A lookup with a damaged reason still counts as failed: it is not bought again.
    reason: orElse(inJson(failureReasonShape), { code: 'unknown' }),
    billed: flag,
    isDeferred: flag,
  }),
);

export type RunStore = ReturnType<typeof createRuns>;

/** Returns the calls; each is atomic and uses the store's own clock. */
export function createRuns({ call, address }: StoreCalls) {
  const change = (operation: string, ...params: StoreParam[]) => call(nothing, operation, ...params);
  return {
    /** Starts a run, cancelled at once if its job is. Starting it again changes nothing. */
    async start({ id, key, label, settings, job = id, owner = key }: NewRun): Promise<RunRecord> {
      const given = [id, key, storableJson(label), JSON.stringify(settings), job, owner];
      const record = await call(recordShape, 'start_run', ...given);
      if (record !== null) return record;
      throw unreadable(address);
    },
    get: (id: string) => call(recordShape, 'get_run', id),
    /** Lists all live runs, then the newest others up to `limit`, with one entry for each file. */
    list: async (limit: number): Promise<RunRecord[]> =>
      whole(await call(orElse(list(recordShape), []), 'list_runs', limit)),
    /** Renews the heartbeat and returns the workers' progress. A waiting run only repeats this. */
    async heartbeat(id: string): Promise<RunProgress> {
      const progress = await call(nullOr(progressShape), 'heartbeat_run', id);
      if (progress === 'damaged') throw unreadable(address);
      if (progress !== null) return progress;
      const what = 'the engine no longer knows this run (was it flushed, or restored from a backup?)';
      throw unfit(what, address, 'run the same command again');
    },
    setSize: (id: string, { rows, identifiers }: { rows: number; identifiers: number }) =>
      change('set_run_size', id, rows, identifiers),
    /** Sets the total so far of the reporter `part`. A total that arrives late changes nothing. */
    addTally: (id: string, part: string, sum: Tally) => change('add_tally', id, part, JSON.stringify(sum)),
    /** Counts a chunk as finished, once, however often it is reported. */
    finishChunk: (id: string, chunk: number) => change('finish_chunk', id, chunk),
    /** Records failed lookups. Each key counts once, with its last report. */
    async fail(id: string, failures: readonly LookupFailure[]): Promise<void> {
      if (failures.length === 0) return;
      const storable = failures.map((failure) => ({ ...failure, reason: storableJson(failure.reason) }));
      await change('add_failures', id, JSON.stringify(storable));
    },
    /** Returns one entry per key: its failure, also a final one of an earlier start, or null. */
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
     * Ends a run. Without a `stop` it is complete, and the next run of its key begins with new
     * caps and a new `--refresh`, except under a `keyOfDay`.
     */
    end: (id: string, stop: RunStop | null) =>
      change('end_run', id, stop === null ? 'completed' : 'stopped', stop && storableJson(stop)),
    /**
     * Cancels the job of a run for good: no run sends another request for it. If the run stopped,
     * cancels the job of its owner's latest run. A pause of the owner ends.
     */
    cancel: (id: string, by: string) => call(orderEndShape, 'cancel_run', id, storableText(by)),
    /** Pauses the owner of a run that has not ended for good. An earlier pause stays as it is. */
    pause: (id: string, by: string) => call(orderEndShape, 'pause_run', id, storableText(by)),
    /** Pauses an owner, with or without a run. `label`: for people. `at`: default now. */
    pauseOwner: ({ owner, label, by, run, at = null }: Given<Pause>) =>
      change('pause_owner', owner, storableJson(label), storableText(by), run, at),
    /** Cancels a job, with or without a run. `at`: default now; ignored if over 90 days ago. */
    cancelJob: ({ job, by, at = null }: Given<Cancel>) => change('cancel_job', job, storableText(by), at),
    /** Allows later runs of a cancelled job. Runs that the cancel ended stay cancelled. */
    uncancelJob: (job: string) => change('uncancel_job', job),
    /** Ends a pause. Returns false if the owner was not paused. */
    resume: (owner: string) => call(flag, 'resume_owner', owner),
    /** Returns all pauses, the oldest first. */
    async pauses(): Promise<Pause[]> {
      const pauses = await call(orElse(list(orElse(storedPauseShape, null)), []), 'list_pauses');
      return whole(pauses).sort((one, other) => one.at - other.at);
    },
    /** Returns all cancels, the oldest first. */
    async cancels(): Promise<Cancel[]> {
      const cancels = await call(orElse(list(orElse(cancelShape, null)), []), 'list_cancels');
      return whole(cancels).sort((one, other) => one.at - other.at);
    },
    /** Returns cancel and pause of each of these jobs, in their order. */
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
