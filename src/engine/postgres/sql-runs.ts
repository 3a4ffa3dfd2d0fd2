/**
 * The `RunStore` over SQL.
 */
import { FailFileError } from '../../core/errors.js';
import type { LookupFailure, RunProgress, RunRecord, RunStore } from '../../stores/run-store.js';
import type { StoreCalls } from './database.js';
import { storableText } from './database.js';

interface FoundFailure {
  readonly position: number;
  readonly reason: string;
  readonly billed: boolean;
  readonly isDeferred: boolean;
}

/** @param address Where the store is, for messages. */
export function createSqlRuns(calls: StoreCalls, address: string): RunStore {
  return {
    async start(run) {
      const settings = JSON.stringify(run.settings);
      return (await calls.value(
        'start_run',
        run.id,
        run.key,
        storableText(run.label),
        settings,
      )) as RunRecord;
    },
    async get(id) {
      return (await calls.value('get_run', id)) as RunRecord | null;
    },
    async list(limit) {
      return (await calls.value('list_runs', limit)) as RunRecord[];
    },
    async heartbeat(id) {
      const progress = (await calls.value('beat_run', id)) as RunProgress | null;
      if (progress !== null) return progress;
      throw new FailFileError({
        code: 'engine-unfit',
        what: 'the engine no longer knows this run (was it restored from a backup?)',
        subject: address,
        todo: 'run the same command again',
      });
    },
    async setSize(id, size) {
      await calls.value('set_run_size', id, size.rows, size.identifiers);
    },
    async addTally(id, part, sum) {
      await calls.value('add_tally', id, part, JSON.stringify(sum));
    },
    async finishChunk(id, chunk) {
      await calls.value('finish_chunk', id, chunk);
    },
    async fail(id, failures) {
      if (failures.length === 0) return;
      const storable = failures.map((failure) => ({ ...failure, reason: storableText(failure.reason) }));
      await calls.value('add_failures', id, JSON.stringify(storable));
    },
    async failures(id, keys) {
      const found = new Array<LookupFailure | null>(keys.length).fill(null);
      const rows = ((await calls.value('get_failures', id, JSON.stringify(keys))) ?? []) as FoundFailure[];
      for (const { position, reason, billed, isDeferred } of rows) {
        const key = keys[position - 1];
        if (key === undefined) continue;
        found[position - 1] = { key, reason, billed, ...(isDeferred ? { isDeferred } : {}) };
      }
      return found;
    },
    async halt(id, halt) {
      await calls.value('halt_run', id, halt.why, storableText(halt.sentence));
    },
    async clearHalt(id) {
      await calls.value('clear_halt', id);
    },
    async end(id, status, reason) {
      await calls.value('end_run', id, status, reason === null ? null : storableText(reason));
    },
    async cancel(id) {
      return (await calls.value('cancel_run', id)) === true;
    },
  };
}
