/** The `StoreCalls` of Redis: one operation is one call of a Lua script. Keys: `README.md`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { RULES } from '../../ledger/rules.js';
import { checked, type StoreCalls, type StoreParam, translated, walkBy } from '../stores/store-calls.js';
import { isReply, storeFailure } from './store-failure.js';

/** Reads a script of this folder. `--- @include "other.lua"` inserts another file, once. */
function loadScript(name: string) {
  const included = new Set<string>();
  const read = (file: string): string => {
    if (included.has(file)) return '';
    included.add(file);
    return readFileSync(new URL(file, import.meta.url), 'utf8').replaceAll(
      /^--- @include "(.+)"\r?\n/gm,
      (_, other: string) => read(other),
    );
  };
  const source = read(name);
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}
type Script = Readonly<ReturnType<typeof loadScript>>;

const SCRIPTS: ReadonlyMap<string, Script> = new Map(
  ['ledger.lua', 'outcomes.lua', 'runs.lua', 'key-values.lua']
    .map(loadScript)
    .flatMap((script) =>
      Array.from(
        script.source.matchAll(/^function operations\.(\w+)/gm),
        ([, name = '']): [string, Script] => [name, script],
      ),
    ),
);

/** Operations that wait for disk and replica. */
const DURABLE: ReadonlySet<string> = new Set([
  ...['exchange', 'open_account', 'observe_account', 'raise_account', 'reset_account'],
  ...['record_outcomes', 'restore_outcomes', 'forget_outcomes'],
  ...['start_run', 'add_failures', 'halt_run', 'end_run'],
  ...['cancel_run', 'cancel_job', 'uncancel_job', 'pause_run', 'pause_owner', 'resume_owner'],
  ...['put_value', 'remove_value', 'claim_value'],
]);

/** The first argument of every script (`prelude.lua`). */
const RULES_ARGUMENT = JSON.stringify(RULES);
/** Keys to look at in one call of a walk: about a millisecond of Redis' time. */
const PAGE_KEYS = 1_000;
/** Enough, because Redis syncs once a second. */
const DISK_TIMEOUT_MS = 3_000;

export interface RedisCallsOptions {
  readonly redis: Redis;
  readonly address: string;
  /** Prefix of every key, and the only declared key of each script. */
  readonly root: string;
  /** Returns 0 outside tests. */
  readonly clockOffsetMs: () => number;
  readonly waitsForDisk: boolean;
  /** True if a write must reach a replica, because a failover loses other writes. */
  readonly waitsForReplica: boolean;
}

export function createRedisCalls(options: RedisCallsOptions): StoreCalls {
  const { redis, address, root, clockOffsetMs, waitsForDisk, waitsForReplica } = options;
  const roundTrips = { count: 0 };

  async function send(script: readonly string[], args: readonly (string | Buffer)[], waits: boolean) {
    roundTrips.count += 1;
    const [command = '', ...named] = script;
    const words = [...named, 1, root, ...args];
    if (!waits) return redis.callBuffer(command, words);
    const pipeline = redis.pipeline().callBuffer(command, words);
    if (waitsForDisk) pipeline.call('WAITAOF', 1, 0, DISK_TIMEOUT_MS);
    if (waitsForReplica) pipeline.call('WAIT', 1, DISK_TIMEOUT_MS);
    return confirmed((await pipeline.exec()) ?? []);
  }

  const call: StoreCalls['call'] = async (answer, operation, ...params) => {
    const script = SCRIPTS.get(operation);
    if (script === undefined) throw new Error(`no script has the operation ${operation}`);
    const args = [RULES_ARGUMENT, clockOffsetMs(), operation, ...params].map(argumentOf);
    const waits = (waitsForDisk || waitsForReplica) && DURABLE.has(operation);
    const sent = send(['EVALSHA', script.sha], args, waits).catch((error: unknown) => {
      if (!isReply(error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return send(['EVAL', script.source], args, waits);
    });
    const reply = await translated(sent, (error) => storeFailure(address, error));
    return checked((given) => answer(replyOf(given)), reply, address);
  };
  return { address, roundTrips, call, walk: walkBy(call, PAGE_KEYS) };
}

function replyOf(reply: unknown): unknown {
  if (!Array.isArray(reply)) return JSON.parse(String(reply));
  return { meta: JSON.parse(String(reply[0])), bytes: reply[1] };
}

/** Returns an argument of a script: the empty text for null, `1` or `0` for a boolean. */
function argumentOf(value: StoreParam): string | Buffer {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'number' ? String(value) : value;
}

/** Returns the script's result if disk and replica have confirmed it. Throws the first error. */
function confirmed(answers: readonly [error: Error | null, result: unknown][]): unknown {
  const [written, ...waits] = answers;
  if (written === undefined || waits.length === 0) throw new Error('no answer');
  for (const [error] of answers) if (error) throw error;
  for (const [, copies] of waits) {
    // WAITAOF answers two counts, of this server and of replicas; WAIT answers one.
    if (Array.isArray(copies) && copies[0] !== 1) throw new Error('the write did not reach the disk in time');
    if (!Array.isArray(copies) && !(Number(copies) >= 1))
      throw new Error('no replica confirmed the write in time, as --wait-for-disk requires');
  }
  return written[1];
}
