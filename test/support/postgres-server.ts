/**
 * A PostgreSQL server on a free port, in a temporary folder that is removed with it. Uses the
 * binaries from npm; as root it runs under another user, since PostgreSQL refuses to run as root.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { findServerBinaries, SERVER_ENV } from '../../src/engine/embedded/server-binaries.js';
import { namedUser } from '../../src/engine/embedded/server-user.js';
import { freePort } from './free-port.js';

export interface PostgresServer {
  /** `postgres://brand:secret-word@127.0.0.1:port/postgres` */
  readonly url: string;
  /** Of the current postmaster. */
  readonly pid: number;
  /** Stops the server like an administrator and starts it again on the same port and data. */
  restart(): Promise<void>;
  /** Sends a signal to the postmaster; resolves once it is gone, unless this only pauses it. */
  kill(signal: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

const PASSWORD = 'secret-word';

/** `settings`: `name=value` lines for its configuration. `env`: added to the server's own. */
export async function startPostgres(
  settings: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const user = process.getuid?.() === 0 ? namedUser() : null;
  const folder = await mkdtemp('/tmp/brand-enrich-pg-');
  await chmod(folder, 0o755);
  const binaries = await findServerBinaries(user, null, folder);
  if (user !== null) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const made = spawnSync(
    'sh',
    [
      '-c',
      `umask 077; printf %s ${PASSWORD} > ${folder}/word && exec "$@"`,
      'sh',
      binaries.initdb,
      '-D',
      data,
      '-U',
      'brand',
      '--pwfile',
      `${folder}/word`,
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--locale',
      'C',
      '--no-sync',
    ],
    { ...user, cwd: folder, env: { ...SERVER_ENV }, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();

  const start = async () => {
    const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
    for (const setting of settings) args.push('-c', setting);
    const child = spawn(binaries.postgres, args, {
      ...user,
      cwd: folder,
      env: { ...SERVER_ENV, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let words = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        words += text;
        if (words.includes('ready to accept connections')) resolve();
      });
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${words}`)));
    });
    child.removeAllListeners('exit');
    return child;
  };
  let child = await start();
  // A test process that exits early takes its server with it.
  const lastResort = () => void child.kill('SIGKILL');
  process.once('exit', lastResort);
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await gone;
  };
  return {
    url: `postgres://brand:${PASSWORD}@127.0.0.1:${port}/postgres`,
    get pid() {
      return child.pid ?? 0;
    },
    async restart() {
      // SIGINT: the fast shutdown, which ends sessions.
      await end('SIGINT');
      child = await start();
    },
    kill: end,
    async stop() {
      await end('SIGCONT');
      await end('SIGQUIT');
      process.off('exit', lastResort);
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
