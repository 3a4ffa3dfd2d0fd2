/** PgBouncer of this machine, in session mode, in front of a PostgreSQL server of the tests. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namedUser } from '../../src/engine/embedded/server-user.js';
import { freePort } from './free-port.js';
import { hasProgram, startServer } from './server-process.js';

/** Whether this machine can run one. */
export function hasPgBouncer(): boolean {
  return hasProgram('pgbouncer');
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
  const server = await startServer(['pgbouncer', settings], 'process up', { ...user });
  return {
    port,
    async stop() {
      await server.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
