/**
 * Sessions on the private server, and its end. Each process holds a shared advisory lock while it
 * uses the server; the one that can have the lock alone is the last, and stops it. A loop inside
 * does the same a minute after the last was killed, and a guard beside it when there is no loop.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client, ClientConfig } from 'pg';
import { errorText, RunError } from '../../core/errors.js';
import { assertOwnState } from '../../core/folders.js';
import { withinDeadline } from '../../core/lifecycle.js';
import { load } from '../../core/load.js';
import { CONNECT_TIMEOUT_MS } from '../postgres/postgres-server.js';
import { assertOwnHome, findData, SERVER_ROLE, type ServerFolders, serverFolders } from './data-folder.js';
import { LOOK_AGAIN_MS } from './folder-lock.js';
import { HEARTBEAT_FILE, HEARTBEAT_MS, SOCKET_PORT, socketFolder } from './server-process.js';
import { serverUser } from './server-user.js';

const pg = load('pg') as typeof import('pg');

/** Advisory locks: the first number is ours, the second says which. */
const LOCKS = 0x6272616e;
const IN_USE = 1;
const WATCHED = 2;

/** Of the session that a process holds while it uses the server; its number follows. */
const CLIENT_NAME = 'brand-enrich ';
const WATCH_NAME = 'brand-enrich watch';

const STOP_DEADLINE_MS = 10_000;
const WATCH_AGAIN_MS = 1_000;
/** The server ends so long after its last process was killed. */
const UNUSED_MS = 60_000;

/** Returns everything that `pg` would otherwise take from the user's environment. */
export function connectionTo(sockets: string): ClientConfig {
  return {
    host: sockets,
    port: SOCKET_PORT,
    user: SERVER_ROLE,
    database: 'postgres',
    password: '',
    ssl: false,
    client_encoding: 'UTF8',
    // Not empty, which counts as not set.
    options: ' ',
  };
}

/** The error when the server gives no session; `reason`: why. */
export function unreachable({ home, log }: ServerFolders, reason: string): RunError {
  const what = `the embedded engine does not answer (${reason})`;
  const todo = `run again; see its log: ${log}`;
  return new RunError({ code: 'engine-unreachable', what, subject: home, todo });
}

export type Attempt =
  | { readonly type: 'open'; readonly session: Client }
  /**
   * `absent`: no process listens. `changing`: it starts, stops, or recovers. `full`: no session is
   * free. `refused`: it does not let us in.
   */
  | { readonly type: 'absent' | 'changing' | 'full' | 'refused'; readonly reason: string };

/** Opens a session, which counts as a use of the server while it is open. */
export async function openSession(connection: ClientConfig, { home }: ServerFolders): Promise<Attempt> {
  const socket = new Socket();
  const session = newSession({ ...connection, stream: () => socket }, `${CLIENT_NAME}${process.pid}`);
  try {
    await session.connect();
    if (await tryLock(session, 'pg_try_advisory_lock_shared')) {
      // The work of a process keeps it running, not its session.
      socket.unref();
      void beginWatch(connection, join(home, HEARTBEAT_FILE), session);
      return { type: 'open', session };
    }
    await session.end();
    return { type: 'changing', reason: 'it is stopping' };
  } catch (error) {
    await closeQuietly(session);
    return judgeAttempt(error);
  }
}

async function tryLock(session: Client, lock: `pg_try_advisory_lock${'' | '_shared'}`): Promise<boolean> {
  const { rows } = await session.query(`SELECT ${lock}($1, $2) AS has`, [LOCKS, IN_USE]);
  return rows[0]?.has === true;
}

function newSession(connection: ClientConfig, application_name: string): Client {
  const session = new pg.Client({
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...connection,
    application_name,
  });
  // It ends with an error when the server is killed; the listener for `end` handles that.
  session.on('error', () => undefined);
  return session;
}

/** By the codes of the system and of PostgreSQL (appendix A). */
function judgeAttempt(error: unknown): Exclude<Attempt, { type: 'open' }> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = errorText(error);
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED') return { type: 'absent', reason };
  if (code === '53300') return { type: 'full', reason };
  if (/^(28|3D|42|0A)/.test(code)) return { type: 'refused', reason };
  return { type: 'changing', reason };
}

/** True if a server answers, also when no session is free. */
export async function isAnswering(connection: ClientConfig): Promise<boolean> {
  const probe = newSession(connection, 'brand-enrich probe');
  try {
    await probe.connect();
    return true;
  } catch (error) {
    return judgeAttempt(error).type === 'full';
  } finally {
    await closeQuietly(probe);
  }
}

/** Ends the session, and the server with its last one. Never rejects. */
export async function leaveServer(session: Client, { data }: ServerFolders): Promise<void> {
  // Released first: of several that leave at once, one is the last.
  await session
    .query('SELECT pg_advisory_unlock_shared($1, $2)', [LOCKS, IN_USE])
    .then(() => endUnused(session, data))
    .catch(() => undefined);
  await closeQuietly(session);
}

async function endUnused(session: Client, data: string): Promise<boolean> {
  if (!(await tryLock(session, 'pg_try_advisory_lock'))) return false;
  await session.query(`DO $$ BEGIN ${END_SERVER}; END $$`).catch(() => undefined);
  const giveUpAt = performance.now() + STOP_DEADLINE_MS;
  while (existsSync(join(data, 'postmaster.pid')) && performance.now() < giveUpAt) await wait(LOOK_AGAIN_MS);
  return true;
}

async function closeQuietly(session: Client): Promise<void> {
  await withinDeadline(session.end(), 1_000).catch(() => undefined);
}

/** `version`: `17` of the data, `18.4` of a server that runs. `users`: numbers of processes. */
interface ServerLook {
  readonly version: string | null;
  readonly users: readonly number[];
  readonly sessions: number;
}

/**
 * Looks at the private server without starting it; `stops` ends an unused one. Throws {@link
 * RunError} `engine-unreachable` if it does not answer.
 */
export async function lookAtServer(state: string, { stops }: { readonly stops: boolean }) {
  const folders = serverFolders(await realpath(state).catch(() => state));
  const none: ServerLook = { version: null, users: [], sessions: 0 };
  assertOwnState(state);
  if (!existsSync(folders.home)) return { folders, ...none, isRunning: false };
  assertOwnHome(folders);
  const finding = await findData(folders);
  const version = finding.type === 'ready' ? String(finding.major) : null;
  const connection = connectionTo(socketFolder(folders, serverUser()));
  const giveUpAt = performance.now() + STOP_DEADLINE_MS;
  for (;;) {
    const session = newSession(connection, 'brand-enrich look');
    try {
      await session.connect();
      const { rows } = await session.query<ServerLook>(LOOK);
      const [seen = none] = rows;
      const isEnded = stops && seen.users.length === 0 && (await endUnused(session, folders.data));
      return { folders, ...seen, isRunning: !isEnded };
    } catch (error) {
      const { type, reason } = judgeAttempt(error);
      if (type === 'absent') return { folders, ...none, version, isRunning: false };
      if (type === 'refused' || performance.now() > giveUpAt) throw unreachable(folders, reason);
      await wait(LOOK_AGAIN_MS);
    } finally {
      await closeQuietly(session);
    }
  }
}

const LOOK = `
SELECT current_setting('server_version') AS version,
  (SELECT count(*)::int - 1 FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND application_name <> '${WATCH_NAME}') AS sessions,
  ARRAY(SELECT DISTINCT substr(a.application_name, ${CLIENT_NAME.length + 1})::int
          FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE l.locktype = 'advisory' AND l.classid = ${LOCKS} AND l.objid = ${IN_USE}
           AND a.application_name ~ '^${CLIENT_NAME}[0-9]+$'
         ORDER BY 1) AS users`;

/**
 * Begins the loop unless it runs, until `user` ends. Its session outlives this process: while a
 * statement runs, the server does not check whether the client is there.
 */
async function beginWatch(connection: ClientConfig, heartbeat: string, user: Client): Promise<void> {
  let isUsed = true;
  user.once('end', () => {
    isUsed = false;
  });
  while (isUsed) {
    const socket = new Socket();
    const session = newSession({ ...connection, stream: () => socket }, WATCH_NAME);
    try {
      await session.connect();
      // The loop alone does not keep this process running.
      socket.unref();
      await session.query(watchLoop(heartbeat));
      return;
    } catch {
      // No session was free, or this one was ended.
      await wait(WATCH_AGAIN_MS, undefined, { ref: false });
    } finally {
      void session.end().catch(() => undefined);
    }
  }
}

/** Ends the server from within, where its process number and user are known, unlike here. */
const END_SERVER = `EXECUTE format('COPY (SELECT 1) TO PROGRAM %L',
  'kill -INT ' || split_part(pg_read_file('postmaster.pid'), E'\\n', 1))`;

/** Runs until the server ends, even without its client. One at a time; a second ends at once. */
function watchLoop(heartbeat: string): string {
  const looks = Math.round(UNUSED_MS / HEARTBEAT_MS);
  // The path may hold any other quote.
  const quote = `$w${randomBytes(8).toString('hex')}$`;
  return `
DO ${quote}
DECLARE v_unused int := 0;
BEGIN
  IF NOT pg_try_advisory_lock(${LOCKS}, ${WATCHED}) THEN RETURN; END IF;
  LOOP
    BEGIN
      EXECUTE format('COPY (SELECT now()) TO %L', '${heartbeat.replaceAll("'", "''")}');
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    IF EXISTS (SELECT FROM pg_locks
                WHERE locktype = 'advisory' AND classid = ${LOCKS} AND objid = ${IN_USE}) THEN
      v_unused := 0;
    ELSE
      v_unused := v_unused + 1;
    END IF;
    IF v_unused > ${looks} AND pg_try_advisory_lock(${LOCKS}, ${IN_USE}) THEN
      ${END_SERVER};
      RETURN;
    END IF;
    COMMIT;
    PERFORM pg_sleep(${HEARTBEAT_MS / 1000});
  END LOOP;
END ${quote}`;
}
