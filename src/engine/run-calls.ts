/** The `RunStore` as operations of an engine. */
import type { LookupFailure, RunProgress, RunRecord, RunSettings, RunStore } from '../stores/run-store.js';
import { type StoreCalls, storableText, unfit } from './store-calls.js';

type Answered = Omit<RunRecord, 'settings'> & { readonly settings: string };

/** Settings of a run travel as JSON text: an empty list stays a list, an empty object an object. */
function recordOf(answered: Answered): RunRecord {
  return { ...answered, settings: JSON.parse(answered.settings) as RunSettings };
}

interface FoundFailure extends Omit<LookupFailure, 'key' | 'isDeferred'> {
  /** In the list of keys, from 1. */
  readonly position: number;
  readonly isDeferred: boolean;
}

export function createRuns({ call, address }: StoreCalls): RunStore {
  const change = async (operation: string, ...params: Parameters<typeof call>[1][]) => {
    await call(operation, ...params);
  };
  return {
    async start({ id, key, label, settings }) {
      const record = await call('start_run', id, key, storableText(label), JSON.stringify(settings));
      return recordOf(record as Answered);
    },
    async get(id) {
      const record = (await call('get_run', id)) as Answered | null;
      return record && recordOf(record);
    },
    async list(limit) {
      return (((await call('list_runs', limit)) ?? []) as Answered[]).map(recordOf);
    },
    async heartbeat(id) {
      const progress = (await call('beat_run', id)) as RunProgress | null;
      if (progress !== null) return progress;
      const what = 'the engine no longer knows this run (was it flushed, or restored from a backup?)';
      throw unfit(what, address, 'run the same command again');
    },
    setSize: (id, { rows, identifiers }) => change('set_run_size', id, rows, identifiers),
    addTally: (id, part, sum) => change('add_tally', id, part, JSON.stringify(sum)),
    finishChunk: (id, chunk) => change('finish_chunk', id, chunk),
    async fail(id, failures) {
      if (failures.length === 0) return;
      const storable = failures.map((failure) => ({ ...failure, reason: storableText(failure.reason) }));
      await call('add_failures', id, JSON.stringify(storable));
    },
    async failures(id, keys) {
      if (keys.length === 0) return [];
      const found = new Array<LookupFailure | null>(keys.length).fill(null);
      const answered = ((await call('get_failures', id, JSON.stringify(keys))) ?? []) as FoundFailure[];
      for (const { position, reason, billed, isDeferred } of answered) {
        const key = keys[position - 1] ?? '';
        found[position - 1] = { key, reason, billed, ...(isDeferred ? { isDeferred } : {}) };
      }
      return found;
    },
    halt: (id, { why, sentence }) => change('halt_run', id, why, storableText(sentence)),
    clearHalt: (id) => change('clear_halt', id),
    end: (id, status, reason) => change('end_run', id, status, reason && storableText(reason)),
    setPaused: async (id, isPaused) => (await call('set_run_paused', id, isPaused)) === true,
    cancel: async (id) => (await call('cancel_run', id)) === true,
  };
}
