/**
 * Sessions on the private server, and its end. Each process holds a shared advisory lock while it
 * uses the server. The process that can get the lock exclusively is the last, and stops the server.
 * If the last process is killed, a loop inside the server stops it after a minute.
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

/** Advisory locks have two numbers: ours for all, then the lock's. */
const LOCKS = 0x6272616e;
const IN_USE = 1;
const WATCHED = 2;

/** Name of the session of a process that uses the server; the process id follows. */
const CLIENT_NAME = 'brand-enrich ';
const WATCH_NAME = 'brand-enrich watch';

const STOP_DEADLINE_MS = 10_000;
const WATCH_AGAIN_MS = 1_000;
/** Time from the kill of the last process to the end of the server. */
const UNUSED_MS = 60_000;

/** Returns all settings of a connection, so that `pg` takes none from the user's environment. */
export function connectionTo(sockets: string): ClientConfig {
  return {
    host: sockets,
    port: SOCKET_PORT,
    user: SERVER_ROLE,
    database: 'postgres',
    password: '',
    ssl: false,
    client_encoding: 'UTF8',
    // An empty text would count as not set.
    options: ' ',
  };
}

/** Returns the error for a server that opens no session. */
export function unreachable({ home, log }: ServerFolders, reason: string): RunError {
  const what = `the embedded engine does not answer (${reason})`;
  const todo = `run again; see its log: ${log}`;
  return new RunError({ code: 'engine-unreachable', what, subject: home, todo });
}

export type Attempt =
  | { readonly type: 'open'; readonly session: Client }
  /**
   * `absent`: no server listens. `changing`: the server starts, stops or recovers. `full`: no
   * session is free. `refused`: the server does not let us in.
   */
  | { readonly type: 'absent' | 'changing' | 'full' | 'refused'; readonly reason: string };

/** Opens a session, which keeps the server running while it is open. */
export async function openSession(connection: ClientConfig, { home }: ServerFolders): Promise<Attempt> {
  const socket = new Socket();
  const session = newSession({ ...connection, stream: () => socket }, `${CLIENT_NAME}${process.pid}`);
  try {
    await session.connect();
    if (await tryLock(session, 'pg_try_advisory_lock_shared')) {
      // The session must not keep the process running.
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
  // A killed server also raises an error here. Only the listener for `end` handles it.
  session.on('error', () => undefined);
  return session;
}

/** Judges by error codes of the system and of PostgreSQL (its manual, appendix A). */
function judgeAttempt(error: unknown): Exclude<Attempt, { type: 'open' }> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = errorText(error);
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED') return { type: 'absent', reason };
  if (code === '53300') return { type: 'full', reason };
  if (/^(28|3D|42|0A)/.test(code)) return { type: 'refused', reason };
  return { type: 'changing', reason };
}

/** True if a server answers, even without a free session. */
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

/** Ends the session, and after the last session the server. Never rejects. */
export async function leaveServer(session: Client, { data }: ServerFolders): Promise<void> {
  // Release first, so that one of several processes that leave at once finds itself the last.
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

/** `version`: of a running server (`18.4`), else of the data (`17`). `users`: process ids. */
interface ServerLook {
  readonly version: string | null;
  readonly users: readonly number[];
  readonly sessions: number;
}

/** Describes the server without starting it; `stopsUnused` stops it if no process uses it. */
export async function inspectServer(state: string, { stopsUnused }: { readonly stopsUnused: boolean }) {
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
      const isEnded = stopsUnused && seen.users.length === 0 && (await endUnused(session, folders.data));
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
 * Starts the server's loop unless it runs; tries again until `user` ends. The loop outlives this
 * process, because the server does not check for its client while a statement runs.
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
      // The loop must not keep the process running.
      socket.unref();
      await session.query(watchLoop(heartbeat));
      return;
    } catch {
      // No session was free, or the server ended this one.
      await wait(WATCH_AGAIN_MS, undefined, { ref: false });
    } finally {
      void session.end().catch(() => undefined);
    }
  }
}

/** Ends the server from within, since this process may not know its id and has another user. */
const END_SERVER = `EXECUTE format('COPY (SELECT 1) TO PROGRAM %L',
  'kill -INT ' || split_part(pg_read_file('postmaster.pid'), E'\\n', 1))`;

/** Returns the loop as SQL. It runs until the server ends; a second loop ends at once. */
function watchLoop(heartbeat: string): string {
  const looks = Math.round(UNUSED_MS / HEARTBEAT_MS);
  // Random, because the path may contain any other quote.
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
