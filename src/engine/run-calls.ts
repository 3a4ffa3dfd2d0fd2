/** The `RunStore` as operations of an engine. */
import type { LookupFailure, OrderEnd, Orders, RunStore } from '../stores/run-store.js';
import { cancelsOf, failureReasonOf, pausesOf, progressOf, runOf } from './run-shapes.js';
import { damaged, type StoreCalls, storableJson, storableText, unfit } from './store-calls.js';

interface FoundFailure {
  readonly reason: string;
  readonly billed: boolean;
  /** In the list of keys, from 1. */
  readonly position: number;
  readonly isDeferred: boolean;
}

export function createRuns({ call, address }: StoreCalls): RunStore {
  const change = async (operation: string, ...params: Parameters<typeof call>[1][]) => {
    await call(operation, ...params);
  };
  return {
    async start({ id, key, label, settings, job = id, owner = key }) {
      const text = JSON.stringify(settings);
      const record = runOf(await call('start_run', id, key, storableText(label), text, job, owner));
      if (record !== null) return record;
      throw damaged(address, 'run');
    },
    async get(id) {
      return runOf(await call('get_run', id));
    },
    async list(limit) {
      const found = (await call('list_runs', limit)) ?? [];
      return Array.isArray(found) ? found.flatMap((each: unknown) => runOf(each) ?? []) : [];
    },
    async heartbeat(id) {
      const answered = await call('heartbeat_run', id);
      const progress = progressOf(answered);
      if (progress !== null) return progress;
      if (answered !== null) throw damaged(address, 'run');
      const what = 'the engine no longer knows this run (was it flushed, or restored from a backup?)';
      throw unfit(what, address, 'run the same command again');
    },
    setSize: (id, { rows, identifiers }) => change('set_run_size', id, rows, identifiers),
    addTally: (id, part, sum) => change('add_tally', id, part, JSON.stringify(sum)),
    finishChunk: (id, chunk) => change('finish_chunk', id, chunk),
    async fail(id, failures) {
      if (failures.length === 0) return;
      const storable = failures.map((failure) => ({ ...failure, reason: storableJson(failure.reason) }));
      await call('add_failures', id, JSON.stringify(storable));
    },
    async failures(id, keys) {
      if (keys.length === 0) return [];
      const found = new Array<LookupFailure | null>(keys.length).fill(null);
      const answered = ((await call('get_failures', id, JSON.stringify(keys))) ?? []) as FoundFailure[];
      for (const { position, reason, billed, isDeferred } of answered) {
        const failure = { key: keys[position - 1] ?? '', reason: failureReasonOf(reason), billed };
        found[position - 1] = { ...failure, ...(isDeferred ? { isDeferred } : {}) };
      }
      return found;
    },
    halt: (id, halt) => change('halt_run', id, storableJson(halt)),
    clearHalt: (id) => change('clear_halt', id),
    end: (id, stop) =>
      change('end_run', id, stop === null ? 'completed' : 'stopped', stop && storableJson(stop)),
    cancel: async (id, by) => (await call('cancel_run', id, storableText(by))) as OrderEnd,
    pause: async (id, by) => (await call('pause_run', id, storableText(by))) as OrderEnd,
    pauseOwner: ({ owner, label, by, run, at = null }) =>
      change('pause_owner', owner, storableText(label), storableText(by), run, at),
    cancelJob: ({ job, by, at = null }) => change('cancel_job', job, storableText(by), at),
    resume: async (owner) => (await call('resume_owner', owner)) === true,
    async pauses() {
      return pausesOf(await call('list_pauses')).sort((one, other) => one.at - other.at);
    },
    async cancels() {
      return cancelsOf(await call('list_cancels')).sort((one, other) => one.at - other.at);
    },
    async orders(jobs) {
      if (jobs.length === 0) return [];
      const orders = (await call('get_orders', JSON.stringify(jobs))) as Orders[] | null;
      if (orders?.length !== jobs.length) throw damaged(address, 'answer');
      return orders;
    },
  };
}
