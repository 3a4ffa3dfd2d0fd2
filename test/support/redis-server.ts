/**
 * A private Redis server for tests: a free port on loopback, data in a temporary folder, removed
 * with the test. Null where the machine has no `redis-server`.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Of the current process. */
  readonly pid: number;
  /** Sends a signal and, for one that ends it, waits until it is gone. The data remain. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and data. */
  restart(): Promise<void>;
  /** Ends it permanently and removes its data. */
  stop(): Promise<void>;
}

const ENDING: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGINT'];
const STARTS_WITHIN_MS = 20_000;

/** Whether this machine can run one; suites that need it are skipped, not failed, without it. */
export function hasRedisServer(): boolean {
  return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * Starts a server without persistence unless `args` say otherwise (`['--appendonly', 'yes']`). A
 * password in `args` (`--requirepass`) is not put into `url`.
 */
export async function startRedis(options: { args?: readonly string[] } = {}): Promise<RedisServer> {
  if (!hasRedisServer())
    throw new Error('redis-server is not on this machine (apt-get install redis-server)');
  const folder = await mkdtemp(join(tmpdir(), 'brand-enrich-redis-'));
  const port = await freePort();
  const launch = () => launchRedis(port, folder, options.args ?? []);
  let child = await launch();

  async function kill(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    if (ENDING.includes(signal)) await gone;
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    async restart() {
      await kill('SIGTERM');
      child = await launch();
    },
    async stop() {
      await kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function launchRedis(port: number, folder: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const abort = AbortSignal.timeout(STARTS_WITHIN_MS);
  let said = '';
  try {
    await new Promise<void>((resolve, reject) => {
      abort.addEventListener('abort', () => reject(new Error(`redis-server did not start: ${said}`)));
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${said}`)));
      child.stdout.on('data', (bytes: Buffer) => {
        said += bytes.toString();
        if (said.includes('Ready to accept connections')) resolve();
      });
    });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  child.removeAllListeners('exit');
  child.stdout.removeAllListeners('data');
  child.stdout.resume();
  return child;
}
