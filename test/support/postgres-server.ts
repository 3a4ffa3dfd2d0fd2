/** A PostgreSQL server on a free port; as root it runs as another user, as PostgreSQL demands. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { findServerBinaries, SERVER_ENV } from '../../src/engine/embedded/server-binaries.js';
import { namedUser } from '../../src/engine/embedded/server-user.js';
import { freePort } from './free-port.js';
import { startServer } from './server-process.js';

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

const PASSWORD = 'secret-word';

/** `settings`: `name=value` lines for its configuration. `env`: added to the server's own. */
export async function startPostgres(
  settings: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) {
  const user = process.getuid?.() === 0 ? namedUser() : null;
  const folder = await mkdtemp('/tmp/brand-enrich-pg-');
  await chmod(folder, 0o755);
  const binaries = await findServerBinaries(user, null, folder);
  if (user !== null) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const word = `${folder}/word`;
  const options = '-U brand -A scram-sha-256 -E UTF8 --locale C --no-sync'.split(' ');
  const made = spawnSync(
    'sh',
    [
      ...['-c', `umask 077; printf %s ${PASSWORD} > ${word} && exec "$@"`, 'sh', binaries.initdb],
      ...['-D', data, '--pwfile', word, ...options],
    ],
    { ...user, cwd: folder, env: { ...SERVER_ENV }, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();

  const where = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
  const command = [binaries.postgres, ...where, ...settings.flatMap((setting) => ['-c', setting])];
  const start = () =>
    startServer(command, 'ready to accept connections', {
      ...user,
      cwd: folder,
      env: { ...SERVER_ENV, ...env },
    });
  let server = await start();
  return {
    url: `postgres://brand:${PASSWORD}@127.0.0.1:${port}/postgres`,
    /** Of the current postmaster. */
    get pid() {
      return server.pid;
    },
    /** Stops the server like an administrator and starts it again on the same port and data. */
    async restart(): Promise<void> {
      // SIGINT: the fast shutdown, which ends sessions.
      await server.kill('SIGINT');
      server = await start();
    },
    kill: (signal: NodeJS.Signals) => server.kill(signal),
    async stop(): Promise<void> {
      await server.kill('SIGCONT');
      await server.kill('SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The address of a new empty database on this server. */
export async function createDatabase(server: PostgresServer): Promise<string> {
  const name = `db_${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}
