/** A private Redis server on a free port, with its data in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { hasProgram, startServer } from './server-process.js';

export type RedisServer = Awaited<ReturnType<typeof startRedis>>;

/** Whether this machine can run one. */
export function hasRedisServer(): boolean {
  return hasProgram('redis-server');
}

/**
 * Starts a server without persistence unless `args` say otherwise (`['--appendonly', 'yes']`). A
 * password in `args` (`--requirepass`) is not put into `url`.
 */
export async function startRedis({ args = [] }: { args?: readonly string[] } = {}) {
  if (!hasRedisServer())
    throw new Error('redis-server is not on this machine (apt-get install redis-server)');
  const folder = await mkdtemp(join(tmpdir(), 'brand-enrich-redis-'));
  const port = await freePort();
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const launch = () =>
    startServer(['redis-server', ...where, '--save', '', ...args], 'Ready to accept connections');
  let server = await launch();
  const kill = (signal: NodeJS.Signals) => server.kill(signal);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    /** Of the current process. */
    get pid() {
      return server.pid;
    },
    /** The data remain. */
    kill,
    /** Starts it again on the same port and data. */
    async restart(): Promise<void> {
      await kill('SIGTERM');
      server = await launch();
    },
    /** Ends it permanently and removes its data. */
    async stop(): Promise<void> {
      await kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
