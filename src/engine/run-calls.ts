/** The `RunStore` as operations of an engine. A run that is damaged counts as not there. */
import { count, flag, inJson, list, nullOr, object, orElse } from '../core/shapes.js';
import {
  nothing,
  type StoreCalls,
  type StoreParam,
  some,
  storableJson,
  storableText,
  unfit,
  unreadable,
} from './store-calls.js';
import { failureReasonShape, runHaltShape, runStopShape } from './stores/run-reasons.js';
import {
  cancelShape,
  type LookupFailure,
  labelShape,
  orderEndShape,
  ordersShape,
  PAUSE,
  RUN_PROGRESS,
  RUN_RECORD,
  type RunStore,
  runSettingsShape,
} from './stores/run-store.js';

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

export function createRuns({ call, address }: StoreCalls): RunStore {
  const change = (operation: string, ...params: StoreParam[]) => call(nothing, operation, ...params);
  return {
    async start({ id, key, label, settings, job = id, owner = key }) {
      const given = [id, key, storableJson(label), JSON.stringify(settings), job, owner];
      const record = await call(recordShape, 'start_run', ...given);
      if (record !== null) return record;
      throw unreadable(address);
    },
    get: (id) => call(recordShape, 'get_run', id),
    list: async (limit) => whole(await call(orElse(list(recordShape), []), 'list_runs', limit)),
    async heartbeat(id) {
      const progress = await call(nullOr(progressShape), 'heartbeat_run', id);
      if (progress === 'damaged') throw unreadable(address);
      if (progress !== null) return progress;
      const what = 'the engine no longer knows this run (was it flushed, or restored from a backup?)';
      throw unfit(what, address, 'run the same command again');
    },
    setSize: (id, { rows, identifiers }) => change('set_run_size', id, rows, identifiers),
    addTally: (id, part, sum) => change('add_tally', id, part, JSON.stringify(sum)),
    finishChunk: (id, chunk) => change('finish_chunk', id, chunk),
    async fail(id, failures) {
      if (failures.length === 0) return;
      const storable = failures.map((failure) => ({ ...failure, reason: storableJson(failure.reason) }));
      await change('add_failures', id, JSON.stringify(storable));
    },
    async failures(id, keys) {
      if (keys.length === 0) return [];
      const found = new Array<LookupFailure | null>(keys.length).fill(null);
      const answered = await call(failuresShape, 'get_failures', id, JSON.stringify(keys));
      for (const { position, reason, billed, isDeferred } of answered) {
        const failure = { key: keys[position - 1] ?? '', reason, billed };
        found[position - 1] = { ...failure, ...(isDeferred ? { isDeferred } : {}) };
      }
      return found;
    },
    halt: (id, halt) => change('halt_run', id, storableJson(halt)),
    clearHalt: (id) => change('clear_halt', id),
    end: (id, stop) =>
      change('end_run', id, stop === null ? 'completed' : 'stopped', stop && storableJson(stop)),
    cancel: (id, by) => call(orderEndShape, 'cancel_run', id, storableText(by)),
    pause: (id, by) => call(orderEndShape, 'pause_run', id, storableText(by)),
    pauseOwner: ({ owner, label, by, run, at = null }) =>
      change('pause_owner', owner, storableJson(label), storableText(by), run, at),
    cancelJob: ({ job, by, at = null }) => change('cancel_job', job, storableText(by), at),
    uncancelJob: (job) => change('uncancel_job', job),
    resume: (owner) => call(flag, 'resume_owner', owner),
    async pauses() {
      const pauses = await call(orElse(list(orElse(storedPauseShape, null)), []), 'list_pauses');
      return whole(pauses).sort((one, other) => one.at - other.at);
    },
    async cancels() {
      const cancels = await call(orElse(list(orElse(cancelShape, null)), []), 'list_cancels');
      return whole(cancels).sort((one, other) => one.at - other.at);
    },
    async orders(jobs) {
      if (jobs.length === 0) return [];
      const orders = await call(some(ordersShape), 'get_orders', JSON.stringify(jobs));
      if (orders.length !== jobs.length) throw unreadable(address);
      return [...orders];
    },
  };
}

/** Those that are not damaged. */
function whole<T>(found: readonly (T | null)[]): T[] {
  return found.filter((each) => each !== null);
}
