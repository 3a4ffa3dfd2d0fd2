/** Facts about a Redis server, and whether it is safe for the ledger and paid answers. */
import type { Redis } from 'ioredis';
import type { EngineWarning } from '../engine.js';
import { unfit } from '../stores/store-calls.js';

export type ServerFacts = Readonly<Awaited<ReturnType<typeof readServerFacts>>>;

const OLDEST_VERSION = [6, 2] as const;
const WAITAOF_SINCE = [7, 2] as const;
const LITTLE_MEMORY = 0.1;

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ours = 0, theirs = 0] = version.split('.').map(Number);
  return ours > major || (ours === major && theirs >= minor);
}

/** Returns the free share of memory, 0 to 1; null if the server has no limit. */
export function freeShare(facts: Pick<ServerFacts, 'maxmemory' | 'usedMemory'>): number | null {
  return facts.maxmemory > 0 ? Math.max(0, 1 - facts.usedMemory / facts.maxmemory) : null;
}

/**
 * Judges a server. `waitsForDisk`: only `WAITAOF` makes a write durable there, and `mayWaitForDisk`
 * allows it. Throws `RunError` `engine-unfit` with the command that fixes the server.
 */
export function judgeServer(facts: ServerFacts, address: string, mayWaitForDisk: boolean) {
  if (facts.version !== null && !isAtLeast(facts.version, OLDEST_VERSION))
    throw unfit(`Redis ${facts.version} is too old`, address, 'use Redis 6.2 or later, or Valkey');
  if (facts.isReplica)
    throw unfit('this Redis is a read-only replica', address, 'use the address of the primary');
  if (facts.maxmemoryPolicy !== null && facts.maxmemoryPolicy !== 'noeviction') {
    throw unfit(
      `Redis may evict stored answers and the ledger (maxmemory-policy ${facts.maxmemoryPolicy})`,
      address,
      'run "redis-cli CONFIG SET maxmemory-policy noeviction", put the setting into redis.conf, ' +
        'and run again',
    );
  }
  const free = freeShare(facts);
  const { appendOnly, appendFsync, version } = facts;
  const hasWaitAof = version !== null && isAtLeast(version, WAITAOF_SINCE);
  const waitsForDisk = appendOnly === true && appendFsync === 'everysec' && hasWaitAof && mayWaitForDisk;
  const known = [
    facts.maxmemoryPolicy === null && 'eviction-unknown',
    !waitsForDisk && lossOf(facts),
  ] as const;
  const warnings: EngineWarning[] = known.flatMap((code) => (code ? [{ code, text: WARNINGS[code] }] : []));
  if (free !== null && free < LITTLE_MEMORY)
    warnings.push({ code: 'memory-low', text: `Only ${Math.floor(free * 100)} % of Redis' memory is free.` });
  return { waitsForDisk, warnings };
}

const WARNINGS = {
  'eviction-unknown':
    'Redis does not report its maxmemory-policy: make sure that it is noeviction, or stored answers and ' +
    'the ledger can be evicted.',
  'append-only-unknown':
    'Redis does not report whether it has an append-only file: without one, a restart loses everything ' +
    'since the last snapshot.',
  'append-only-off':
    'Redis has no append-only file: a restart loses everything since the last snapshot. Set "appendonly ' +
    'yes".',
  'sync-off':
    'A power loss can cost everything that Redis has not synced to disk (appendfsync no), usually up to ' +
    '30 s.',
  'sync-each-second':
    'A power loss can cost up to 1 s of permits and answers (appendfsync everysec); "appendfsync always" ' +
    'prevents that.',
};

/** Returns what a restart or a power loss can cost; null if nothing. */
function lossOf({ appendOnly, appendFsync }: ServerFacts): keyof typeof WARNINGS | null {
  if (appendOnly === null) return 'append-only-unknown';
  if (!appendOnly) return 'append-only-off';
  if (appendFsync === 'always') return null;
  return appendFsync === 'no' ? 'sync-off' : 'sync-each-second';
}

export function parseInfo(info: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of info.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0 && !line.startsWith('#')) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

async function readConfig(redis: Redis, name: string): Promise<string | null> {
  try {
    const reply: unknown = await redis.config('GET', name);
    const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
    return typeof value === 'string' ? value : null;
  } catch {
    // Managed services forbid CONFIG.
    return null;
  }
}

export async function readServerFacts(redis: Redis) {
  const info = parseInfo(await redis.info());
  const aof = info.get('aof_enabled');
  return {
    /** Compatible Redis version (Valkey reports 7.2.4); null if not reported. */
    version: info.get('redis_version') ?? null,
    /** Null if neither INFO nor CONFIG reports it. */
    maxmemoryPolicy: info.get('maxmemory_policy') ?? (await readConfig(redis, 'maxmemory-policy')),
    maxmemory: Number(info.get('maxmemory') ?? 0),
    usedMemory: Number(info.get('used_memory') ?? 0),
    appendOnly: aof === undefined ? null : aof === '1',
    /** `always`, `everysec` or `no`; null without an append-only file or if CONFIG is forbidden. */
    appendFsync: aof === '1' ? await readConfig(redis, 'appendfsync') : null,
    isReplica: info.get('role') === 'slave',
  };
}
