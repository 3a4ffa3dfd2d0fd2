/**
 * The private server, shared by all processes that use a state folder. Who finds none starts it; each holds a session with a shared
 * advisory lock for as long as it works; who can have that lock alone is the last one, and stops the server. A loop inside the server
 * does the same a minute after the last process was killed.
 *
 * A server that ends while somebody works (killed, or stopped by a supervisor together with its clients) is started again.
 */
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { errorText, FailFileError } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import { SESSION_OPTIONS } from '../postgres/postgres-server.js';
import {
  assertUsable,
  findData,
  makeData,
  prepareServerFolders,
  SERVER_ROLE,
  type ServerFolders,
  serverFolders,
  setAside,
} from './data-folder.js';
import { lockFolder } from './folder-lock.js';
import { findServerBinaries, UnusableDataError } from './server-binaries.js';
import {
  assertNoForeignServer,
  clearTheWay,
  HEARTBEAT_FILE,
  HEARTBEAT_MS,
  SOCKET_PORT,
  socketFolder,
  startServer,
} from './server-process.js';
import { type ServerUser, serverUser } from './server-user.js';

/** Advisory locks: the first number is ours, the second says which. */
const LOCKS = 0x6272616e;
const IN_USE = 1;
const WATCHED = 2;

/** Of the session that each process holds as long as it uses the server, before the number of the process. */
const CLIENT_NAME = 'brand-enrich ';
const WATCH_NAME = 'brand-enrich watch';

const CONNECT_TIMEOUT_MS = 5_000;
/** A server that recovers from a crash, or that waits for its last session to end, takes seconds. */
const JOIN_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
/** Who leaves does not wait longer for a server that is being started again. */
const REVIVE_DEADLINE_MS = 3_000;
const LOOK_AGAIN_MS = 25;
/** A server that has neither a socket nor an end after this time is looked at more closely. */
const STUCK_MS = 3_000;
/** The server ends this long after its last process was killed, give or take one look. */
const UNUSED_MS = 60_000;

export interface SharedServer {
  /** What `pg` connects with. */
  readonly connection: ClientConfig;
  readonly folders: ServerFolders;
  /** Ends this process's use, and the server when nobody else uses it. */
  leave(): Promise<void>;
}

export interface JoinServerOptions {
  /** The state folder; made when it is not there. */
  readonly state: string;
  readonly log: Log;
  /** Begin with an empty database where something is that cannot be used; that is put aside. Default false. */
  readonly startsEmpty?: boolean;
}

/**
 * Connects to the server of a state folder, or starts it.
 *
 * Throws {@link FailFileError}: `engine-unfit` when the folder, the data in it or PostgreSQL itself cannot be used, `engine-held` when
 * another machine or container works there, `engine-unreachable` when the server does not answer within a minute.
 */
export async function joinServer({
  state,
  log,
  startsEmpty = false,
}: JoinServerOptions): Promise<SharedServer> {
  const folders = serverFolders(state);
  const user = await serverUser([folders.home, state]);
  await prepareServerFolders(folders, user);
  const sockets = await socketFolder(folders, user);
  const connection = connectionTo(sockets);
  const place = { folders, user, sockets, connection, startsEmpty, log };

  let isLeaving = false;
  let hasLeft = false;
  let session = await openUse(place);
  watchSession();

  /** A session that ends before its time is replaced, with a server below it. */
  function watchSession(): void {
    session.once('end', () => {
      if (!isLeaving) void revive();
    });
  }
  let reviving: Promise<void> | null = null;
  function revive(): Promise<void> {
    reviving ??= (async () => {
      for (;;) {
        try {
          session = await openUse(place);
          break;
        } catch (error) {
          if (isLeaving) return;
          log.warn({ reason: errorText(error) }, 'the private server cannot be started again; trying again');
          await wait(1_000);
        }
      }
      reviving = null;
      if (hasLeft) await leaveServer(session, folders);
      else if (!isLeaving) watchSession();
    })();
    return reviving;
  }
  return {
    connection,
    folders,
    async leave() {
      isLeaving = true;
      if (reviving !== null) await withinDeadline(reviving, REVIVE_DEADLINE_MS);
      hasLeft = true;
      await leaveServer(session, folders);
    },
  };
}

interface Place {
  readonly folders: ServerFolders;
  readonly user: ServerUser | null;
  readonly sockets: string;
  readonly connection: ClientConfig;
  readonly startsEmpty: boolean;
  readonly log: Log;
}

/** All that `pg` would otherwise take from the user's environment is said. */
function connectionTo(sockets: string): ClientConfig {
  return {
    host: sockets,
    port: SOCKET_PORT,
    user: SERVER_ROLE,
    database: 'postgres',
    password: '',
    ssl: false,
    client_encoding: 'UTF8',
    options: SESSION_OPTIONS,
  };
}

async function openUse(place: Place): Promise<Client> {
  const { log, folders } = place;
  const giveUpAt = performance.now() + JOIN_DEADLINE_MS;
  let saysFull = true;
  let last = 'it does not answer';
  for (let _tries = 1; performance.now() < giveUpAt; _tries += 1) {
    const attempt = await openSession(place.connection, join(folders.home, HEARTBEAT_FILE));
    if (attempt.type === 'open') return attempt.session;
    last = attempt.reason;
    if (attempt.type === 'refused') throw unreachable(folders, attempt.reason);
    if (attempt.type === 'absent') await start(place, giveUpAt);
    if (attempt.type === 'full' && saysFull) {
      saysFull = false;
      log.warn('200 sessions use the embedded engine; waiting for one to end');
    }
    if (attempt.type !== 'absent') await wait(LOOK_AGAIN_MS);
  }
  throw unreachable(folders, last);
}

function unreachable({ home, log }: ServerFolders, reason: string): FailFileError {
  return new FailFileError({
    code: 'engine-unreachable',
    what: `the embedded engine does not answer (${reason})`,
    subject: home,
    todo: `run again; its log is ${log}`,
  });
}

type Attempt =
  | { readonly type: 'open'; readonly session: Client }
  /** Nobody listens. `changing`: it starts, stops, or recovers. `full`: no session is free. `refused`: it will not let us in. */
  | { readonly type: 'absent' | 'changing' | 'full' | 'refused'; readonly reason: string };

async function openSession(connection: ClientConfig, heartbeat: string): Promise<Attempt> {
  const session = newSession(connection, `${CLIENT_NAME}${process.pid}`);
  try {
    await session.connect();
    const { rows } = await session.query<{ has: boolean }>(
      'SELECT pg_try_advisory_lock_shared($1, $2) AS has',
      [LOCKS, IN_USE],
    );
    if (rows[0]?.has === true) {
      beginWatch(connection, heartbeat);
      return { type: 'open', session };
    }
    await session.end();
    return { type: 'changing', reason: 'it is being stopped' };
  } catch (error) {
    await closeQuietly(session);
    return judgeAttempt(error);
  }
}

function newSession(connection: ClientConfig, name: string): Client {
  const session = new Client({
    ...connection,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // It ends with an error when the server is killed; what follows is the listener's for `end`.
  session.on('error', () => undefined);
  return session;
}

/** By the codes of the system and of PostgreSQL (appendix A). */
function judgeAttempt(error: unknown): Exclude<Attempt, { type: 'open' }> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = errorText(error);
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return { type: 'absent', reason };
  if (code === '53300') return { type: 'full', reason };
  if (/^(28|3D|42|0A)/.test(code)) return { type: 'refused', reason };
  return { type: 'changing', reason };
}

async function start(place: Place, giveUpAt: number): Promise<void> {
  const { folders, connection, startsEmpty, log } = place;
  const lock = await lockFolder(folders.home, giveUpAt - performance.now());
  try {
    if (await isAnswering(connection)) return;
    try {
      await startLocked(place, giveUpAt);
    } catch (error) {
      if (!startsEmpty || !(error instanceof UnusableDataError)) throw error;
      const aside = await setAside(folders);
      log.warn(
        { folder: aside, reason: error.message },
        'what the embedded engine held is put aside; it begins empty',
      );
      await startLocked(place, giveUpAt);
    }
  } finally {
    await lock.release();
  }
}

async function startLocked(
  { folders, user, sockets, connection, log }: Place,
  giveUpAt: number,
): Promise<void> {
  const finding = await findData(folders);
  assertUsable(finding, folders);
  await assertNoForeignServer(folders, () =>
    log.warn(
      'this state folder was used on another machine or in another container; looking whether it still is',
    ),
  );
  const major = finding.type === 'ready' ? finding.major : null;
  const binaries = await findServerBinaries({ user, major, folder: folders.home });
  if (finding.type === 'none') await makeData(folders, binaries, user);
  const stuckAt = performance.now() + STUCK_MS;
  const answers = () => isAnswering(connection);
  while (performance.now() < giveUpAt) {
    const result = await startServer(folders, sockets, binaries, user, answers);
    if (result.type === 'running') return;
    if (result.type === 'failed') throw startFailure(folders, result.reason);
    if (await answers()) return;
    if (performance.now() > stuckAt) await clearTheWay(folders, sockets);
    await wait(LOOK_AGAIN_MS * 4);
  }
}

async function isAnswering(connection: ClientConfig): Promise<boolean> {
  const probe = newSession(connection, 'brand-enrich probe');
  try {
    await probe.connect();
    return true;
  } catch (error) {
    // Without a free session it answers all the same.
    return judgeAttempt(error).type === 'full';
  } finally {
    await closeQuietly(probe);
  }
}

const START_FAILURES: readonly (readonly [pattern: RegExp, todo: string])[] = [
  [/No space left|quota exceeded/i, 'make room on that disk, then run again'],
  [/Read-only file system/i, 'name a folder that can be written to with --state'],
  [
    /invalid permissions|Operation not permitted|could not (?:bind|create) Unix|could not create any Unix/i,
    'this file system knows neither modes nor sockets: name a folder on a local disk with --state',
  ],
];

function startFailure({ home, log }: ServerFolders, reason: string): FailFileError {
  const what = `the embedded engine cannot start (${reason})`;
  const known = START_FAILURES.find(([pattern]) => pattern.test(reason))?.[1];
  if (known !== undefined)
    return new FailFileError({ code: 'engine-unfit', what, subject: home, todo: known });
  return new UnusableDataError({
    code: 'engine-unfit',
    what,
    subject: home,
    todo: `see ${log}; restore the folder from a backup, name another with --state, or begin without what it knew with --start-empty`,
  });
}

/** Ends the session, and the server with it when no other process uses it. Never rejects: a server that is gone is no trouble. */
async function leaveServer(session: Client, { data }: ServerFolders): Promise<void> {
  // Let go of before it is asked for alone: of several who leave at the same moment one is the last.
  await session
    .query('SELECT pg_advisory_unlock_shared($1, $2)', [LOCKS, IN_USE])
    .then(() => endUnused(session, data))
    .catch(() => undefined);
  await closeQuietly(session);
}

/** Ends the server when no process uses it; false when one does. */
async function endUnused(session: Client, data: string): Promise<boolean> {
  const { rows } = await session.query<{ has: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS has', [
    LOCKS,
    IN_USE,
  ]);
  if (rows[0]?.has !== true) return false;
  await session.query(`DO $$ BEGIN ${END_SERVER}; END $$`).catch(() => undefined);
  await untilStopped(data);
  return true;
}

function closeQuietly(session: Client): Promise<unknown> {
  return withinDeadline(
    session.end().catch(() => undefined),
    1_000,
  );
}

/** What can be seen of the private server without starting it. */
export interface ServerLook {
  readonly folders: ServerFolders;
  /** `17` of the data, `18.4` of a server that runs; null: there are no data. */
  readonly version: string | null;
  readonly isRunning: boolean;
  /** Numbers of the processes that use it. */
  readonly users: readonly number[];
  /** Of all sessions, those of this look left aside. */
  readonly sessions: number;
}

/** Looks, and with `stops` ends a server that nobody uses. Throws {@link FailFileError} `engine-unreachable` when it does not answer. */
export async function lookAtServer(
  state: string,
  { stops }: { readonly stops: boolean },
): Promise<ServerLook> {
  const folders = serverFolders(state);
  const isThere = await stat(folders.home).then(
    () => true,
    () => false,
  );
  const none = { folders, version: null, isRunning: false, users: [], sessions: 0 };
  if (!isThere) return none;
  const finding = await findData(folders);
  const still = { ...none, version: finding.type === 'ready' ? String(finding.major) : null };
  const connection = connectionTo(await socketFolder(folders, await serverUser([folders.home, state])));
  const giveUpAt = performance.now() + STOP_DEADLINE_MS;
  for (;;) {
    const session = newSession(connection, 'brand-enrich look');
    try {
      await session.connect();
      const { rows } = await session.query<Pick<ServerLook, 'users' | 'sessions'> & { version: string }>(
        LOOK,
      );
      const [seen = { version: '', users: [], sessions: 0 }] = rows;
      const isEnded = stops && seen.users.length === 0 && (await endUnused(session, folders.data));
      return { folders, ...seen, isRunning: !isEnded };
    } catch (error) {
      const { type, reason } = judgeAttempt(error);
      if (type === 'absent') return still;
      if (type === 'refused' || performance.now() > giveUpAt) throw unreachable(folders, reason);
      await wait(LOOK_AGAIN_MS);
    } finally {
      await closeQuietly(session);
    }
  }
}

const LOOK = `
SELECT current_setting('server_version') AS version,
  (SELECT count(*)::int - 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> '${WATCH_NAME}') AS sessions,
  ARRAY(SELECT DISTINCT substr(a.application_name, ${CLIENT_NAME.length + 1})::int FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE l.locktype = 'advisory' AND l.classid = ${LOCKS} AND l.objid = ${IN_USE} AND a.application_name ~ '^${CLIENT_NAME}[0-9]+$'
         ORDER BY 1) AS users`;

async function untilStopped(data: string): Promise<void> {
  const giveUpAt = performance.now() + STOP_DEADLINE_MS;
  while (performance.now() < giveUpAt) {
    const isThere = await stat(join(data, 'postmaster.pid')).then(
      () => true,
      () => false,
    );
    if (!isThere) return;
    await wait(LOOK_AGAIN_MS);
  }
}

/** Begins the loop unless it runs. Its session outlives this process: the server does not look for the client of a running statement. */
function beginWatch(connection: ClientConfig, heartbeat: string): void {
  const socket = new Socket();
  const session = new Client({
    ...connection,
    application_name: WATCH_NAME,
    stream: () => socket,
  });
  session.on('error', () => undefined);
  void (async () => {
    await session.connect();
    // The loop alone does not keep this process running.
    socket.unref();
    await session.query(watchLoop(heartbeat));
  })()
    .catch(() => undefined)
    .finally(() => void session.end().catch(() => undefined));
}

/**
 * Ends the server from within, where its number and its user are known, whatever this process may see of them.
 */
const END_SERVER = `EXECUTE format('COPY (SELECT 1) TO PROGRAM %L',
  'kill -INT ' || split_part(pg_read_file('postmaster.pid'), E'\\n', 1))`;

/** Runs until the server ends, also when the client that began it is gone. One at a time; a second one ends at once. */
function watchLoop(heartbeat: string): string {
  const looks = Math.round(UNUSED_MS / HEARTBEAT_MS);
  return `
DO $$
DECLARE v_unused int := 0;
BEGIN
  IF NOT pg_try_advisory_lock(${LOCKS}, ${WATCHED}) THEN RETURN; END IF;
  LOOP
    BEGIN
      EXECUTE format('COPY (SELECT now()) TO %L', '${heartbeat.replaceAll("'", "''")}');
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    IF EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = ${LOCKS} AND objid = ${IN_USE}) THEN
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
END $$`;
}
