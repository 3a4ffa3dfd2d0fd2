/** The engines of the end-to-end tests; each service of a test has its own account on them. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createDatabase, type PostgresServer, startPostgres } from './postgres-server.js';
import { hasRedisServer, type RedisServer, startRedis } from './redis-server.js';

export interface EngineUnderTest {
  readonly name: 'embedded' | 'redis' | 'postgres';
  /** Why its tests are skipped; null if they run. */
  readonly missing: string | null;
  /** Its tests are tagged as long. */
  readonly isLong?: boolean;
  start(): Promise<void>;
  /** Environment of a process on this engine; `folder` belongs to the test. */
  env(folder: string): Record<string, string>;
  stop(): Promise<void>;
}

/** The same engine, for tests that run on another one with every change. */
export function inLongTests(engine: EngineUnderTest): EngineUnderTest {
  // Not a copy: a server has no address before it is started.
  return Object.assign(Object.create(engine) as EngineUnderTest, { isLong: true });
}

/** For a test that is not about the engine: Redis where it is installed, which starts fastest. */
export async function quickEngine(): Promise<EngineUnderTest> {
  const engine = redisEngine();
  if (engine.missing !== null) return embeddedEngine();
  await engine.start();
  onTestFinished(() => engine.stop());
  return engine;
}

/** One whose server the test starts and stops. */
export function engineAt(name: 'redis' | 'postgres', url: string): EngineUnderTest {
  const embedded = embeddedEngine();
  return { ...embedded, name, env: (folder) => ({ ...embedded.env(folder), BRAND_ENRICH_ENGINE: url }) };
}

export function embeddedEngine(): EngineUnderTest {
  return {
    name: 'embedded',
    missing: null,
    start: async () => undefined,
    env: (folder) => ({ BRAND_ENRICH_STATE: join(folder, 'state') }),
    stop: async () => undefined,
  };
}

export function redisEngine(
  args: readonly string[] = [],
): EngineUnderTest & { readonly server: RedisServer } {
  let server: RedisServer | null = null;
  return {
    name: 'redis',
    missing: hasRedisServer() ? null : 'redis-server is not on this machine (apt-get install redis-server)',
    get server() {
      if (server === null) throw new Error('Redis is not started');
      return server;
    },
    async start() {
      server = await startRedis({ args });
    },
    env(folder) {
      return { BRAND_ENRICH_STATE: join(folder, 'state'), BRAND_ENRICH_ENGINE: this.server.url };
    },
    async stop() {
      await server?.stop();
    },
  };
}

export function postgresEngine(): EngineUnderTest {
  let server: PostgresServer | null = null;
  let url = '';
  return {
    name: 'postgres',
    missing: null,
    async start() {
      server = await startPostgres();
      url = await createDatabase(server);
    },
    env: (folder) => ({ BRAND_ENRICH_STATE: join(folder, 'state'), BRAND_ENRICH_ENGINE: url }),
    async stop() {
      await server?.stop();
    },
  };
}
