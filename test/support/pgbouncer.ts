/** PgBouncer of this machine, in session mode, in front of a PostgreSQL server of the tests. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namedUser } from '../../src/engine/embedded/server-user.js';
import { freePort } from './free-port.js';

/** Whether this machine can run one; suites that need it are skipped, not failed, without it. */
export function hasPgBouncer(): boolean {
  return spawnSync('pgbouncer', ['--version'], { stdio: 'ignore' }).status === 0;
}

/** `url`: of the server. Every database of it has the same name at `port`. */
export async function startPgBouncer(url: string): Promise<{ port: number; stop(): Promise<void> }> {
  const { hostname, port: serverPort, username, password } = new URL(url);
  const folder = await mkdtemp(join(tmpdir(), 'brand-enrich-pgbouncer-'));
  const port = await freePort();
  const settings = join(folder, 'pgbouncer.ini');
  await chmod(folder, 0o755);
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = session
server_idle_timeout = 1
`,
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? namedUser() : null;
  const child = spawn('pgbouncer', [settings], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PgBouncer did not start: ${words}`)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words += text;
      if (words.includes('process up')) resolve();
    });
  });
  const lastResort = () => void child.kill('SIGKILL');
  process.once('exit', lastResort);
  return {
    port,
    async stop() {
      process.off('exit', lastResort);
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
