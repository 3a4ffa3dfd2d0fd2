/**
 * The `RunStore` on Redis: each operation is one call of one script.
 */
import { FailFileError } from '../../core/errors.js';
import type { LookupFailure, RunHalt, RunRecord, RunStore } from '../../stores/run-store.js';
import { createReplyReader, list, texts } from './reply-reader.js';
import { readRunRecord, readTally, runFields, tallyFields } from './run-record.js';
import { loadScript } from './script.js';
import type { StoreConnection } from './store-connection.js';

const RUNS = loadScript('runs.lua');

const HALTS: readonly RunHalt['why'][] = [
  'credentials',
  'limit',
  'throttled',
  'unreachable',
  'useless',
  'lost',
  'doubtful',
];

function readHalt(why: string | null, sentence: string): RunHalt | null {
  const known = HALTS.find((halt) => halt === why);
  return known === undefined ? null : { why: known, sentence };
}

/** `d` for deferred, `b` or `f` for billed or free, then the reason. */
const packFailure = ({ billed, reason, isDeferred }: LookupFailure) =>
  (isDeferred === true ? 'd' : billed ? 'b' : 'f') + reason;

function unpackFailure(key: string, packed: string): LookupFailure {
  const failure = { key, reason: packed.slice(1), billed: packed[0] !== 'f' };
  return packed[0] === 'd' ? { ...failure, isDeferred: true } : failure;
}

export function createRedisRuns(store: StoreConnection): RunStore {
  return {
    async start(run) {
      const fields = [run.id, run.key, run.settings.account, ...runFields(run)];
      const record = readRunRecord(texts(await store.call(RUNS, 'start', fields, 'on-disk')));
      if (record === null) throw new Error('a run that was just started is not there');
      return record;
    },
    async get(id) {
      return readRunRecord(texts(await store.call(RUNS, 'get', [id])));
    },
    async list(limit) {
      if (limit <= 0) return [];
      const records = list(await store.call(RUNS, 'list', [limit]));
      return records
        .map((flat) => readRunRecord(texts(flat)))
        .filter((run): run is RunRecord => run !== null);
    },
    async heartbeat(id) {
      const fields = texts(await store.call(RUNS, 'heartbeat', [id]));
      if (fields.length === 0) {
        throw new FailFileError({
          code: 'engine-unfit',
          what: 'the engine no longer knows this run (was it flushed or restored?)',
          subject: store.address,
          todo: 'run the same command again',
        });
      }
      const reply = createReplyReader(fields);
      const chunks = reply.number();
      const tally = readTally(reply);
      const halt = readHalt(reply.someText(), reply.text());
      return { chunks, tally, halt, isCancelled: reply.flag(), isPaused: reply.flag() };
    },
    async setSize(id, { rows, identifiers }) {
      await store.call(RUNS, 'setFields', [id, 'rows', rows, 'identifiers', identifiers]);
    },
    async addTally(id, part, sum) {
      await store.call(RUNS, 'addTally', [id, part, ...tallyFields(sum)]);
    },
    async finishChunk(id, chunk) {
      await store.call(RUNS, 'finishChunk', [id, chunk]);
    },
    async fail(id, failures) {
      if (failures.length === 0) return;
      const fields = failures.flatMap((failure) => [failure.key, packFailure(failure)]);
      await store.call(RUNS, 'fail', [id, ...fields], 'on-disk');
    },
    async failures(id, keys) {
      if (keys.length === 0) return [];
      const packed = texts(await store.call(RUNS, 'failures', [id, ...keys]));
      return keys.map((key, index) => {
        const failure = packed[index] ?? '';
        return failure === '' ? null : unpackFailure(key, failure);
      });
    },
    async halt(id, { why, sentence }) {
      await store.call(RUNS, 'halt', [id, why, sentence], 'on-disk');
    },
    async clearHalt(id) {
      await store.call(RUNS, 'clearHalt', [id]);
    },
    async end(id, status, reason) {
      await store.call(RUNS, 'finish', [id, status, reason], 'on-disk');
    },
    async cancel(id) {
      return createReplyReader(texts(await store.call(RUNS, 'cancel', [id], 'on-disk'))).flag();
    },
  };
}
