/**
 * The engine on a private server that all processes of a state folder share. The first process
 * starts it, the last stops it, and a server that ends too early is started again.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'pg';
import { errorText, type RunError } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import { phrase } from '../../core/phrase.js';
import type { Engine, EngineOptions } from '../engine.js';
import { openEngineOn } from '../postgres/open-postgres-engine.js';
import { ForeignSchemaError, unfit } from '../stores/store-calls.js';
import {
  assertNotStopped,
  FORGETFUL,
  findData,
  lossOfData,
  makeData,
  noteUse,
  OR_EMPTY,
  prepareServerFolders,
  removeDrafts,
  type ServerFolders,
  setAside,
  todoForMachine,
  UNUSABLE_TODO,
} from './data-folder.js';
import { LOOK_AGAIN_MS, lockFolder, removeStaleSockets } from './folder-lock.js';
import { refuseEmptyLocks, stopStaleServer } from './lock-files.js';
import { findServerBinaries, removeOtherCopies, UnusableDataError } from './server-binaries.js';
import { assertNoForeignServer, type StartResult, socketFolder, startServer } from './server-process.js';
import { connectionTo, isAnswering, leaveServer, openSession, unreachable } from './server-sessions.js';
import { serverUser } from './server-user.js';

/** Enough for a server that recovers from a crash or waits for its last session to end. */
const JOIN_DEADLINE_MS = 60_000;
/** Longest wait of an ending process for a server that is being restarted. */
const REVIVE_DEADLINE_MS = 3_000;
/** Time after which a start checks whether a server without a socket still holds the lock files. */
const STUCK_MS = 3_000;

interface EmbeddedEngineOptions extends EngineOptions {
  /** The state folder; made if missing. */
  readonly folder: string;
  /** True to set unusable data aside and start with an empty database. Default false. */
  readonly startsEmpty?: boolean | undefined;
}

/** Most sessions of one process, of the server's 200. */
const SESSIONS = 6;

/** Opens a postgres engine on the private server. Throws as `joinServer` and `openEngineOn` do. */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<Engine> {
  const { folder, ...rest } = options;
  const forgets = existsSync(join(folder, FORGETFUL));
  const startsEmpty = forgets || options.startsEmpty === true;
  const { log, stop = new AbortController().signal } = options;
  const shared = await joinServer(folder, startsEmpty, log, stop);
  const server = {
    connection: shared.connection,
    address: folder,
    todo: `run again; see the log of the embedded engine: ${shared.logFile}`,
    sessions: SESSIONS,
    redact: (text: string) => text,
    loss: shared.loss,
  };
  try {
    const engine = await openEngineOn('embedded', server, { ...rest, forgets });
    const close = () => engine.close().finally(() => shared.leave());
    return { ...engine, loss: shared.loss, close };
  } catch (error) {
    await shared.leave();
    if (!startsEmpty || !(error instanceof ForeignSchemaError)) throw error;
    await shared.replace(error);
    return openEmbeddedEngine(options);
  }
}

/**
 * Connects to the server of a state folder, or starts it; with `startsEmpty`, sets unusable data
 * aside. Throws `engine-unfit`, `engine-held` if another machine uses the folder,
 * `engine-unreachable` if the server does not answer within a minute, and `InterruptedError`.
 */
export async function joinServer(state: string, startsEmpty: boolean, log: Log, stop: AbortSignal) {
  const place = { ...(await prepare(state)), startsEmpty, log };
  const { folders, connection } = place;

  let isLeaving = false;
  let hasLeft = false;
  let session = await openUse({ ...place, stop });
  const joined = inodeOf(folders.data);
  watchSession();

  /** Replaces a session that ends early, and restarts the server if it has ended. */
  function watchSession(): void {
    session.once('end', () => {
      if (!isLeaving) void revive();
    });
  }
  let reviving: Promise<void> | null = null;
  function revive(): Promise<void> {
    reviving ??= (async () => {
      let logged = '';
      for (;;) {
        try {
          // Without the signal: a stopped process still needs the server to wind up.
          session = await openUse({ ...place, stop: new AbortController().signal });
          break;
        } catch (error) {
          if (isLeaving) return;
          const reason = errorText(error);
          if (reason !== logged) log.warn({ reason }, 'the private server cannot be restarted; trying again');
          logged = reason;
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
    logFile: folders.log,
    loss: () => lossOfData(folders),
    /** Ends this process's session, and the server if no other process uses it. */
    async leave(): Promise<void> {
      isLeaving = true;
      if (reviving !== null) await withinDeadline(reviving, REVIVE_DEADLINE_MS);
      hasLeft = true;
      await removeStaleSockets(folders.home).catch(() => undefined);
      await leaveServer(session, folders);
    },
    /**
     * After `leave`, sets data aside that this build cannot use. Throws `unusable` while a process
     * uses them. Leaves another process's newer database alone, since it may hold paid answers.
     */
    async replace(unusable: RunError): Promise<void> {
      const lock = await lockFolder(folders.home, JOIN_DEADLINE_MS);
      try {
        if (inodeOf(folders.data) !== joined) return;
        if (existsSync(join(folders.data, 'postmaster.pid'))) throw unusable;
        await beginEmpty(place, unusable);
      } finally {
        await lock.release();
      }
    },
  };
}

/** Returns the inode of a folder, which tells new data from earlier ones; null if missing. */
function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

async function prepare(state: string) {
  const user = serverUser();
  const folders = await prepareServerFolders(state, user);
  const sockets = socketFolder(folders, user);
  return { folders, user, sockets, connection: connectionTo(sockets) };
}

type Place = Awaited<ReturnType<typeof prepare>> & {
  readonly startsEmpty: boolean;
  readonly log: Log;
  readonly stop: AbortSignal;
};

async function openUse(place: Place): Promise<Client> {
  const { log, folders } = place;
  const giveUpAt = performance.now() + JOIN_DEADLINE_MS;
  let saysFull = true;
  let last = 'it does not answer';
  while (performance.now() < giveUpAt) {
    const attempt = await openSession(place.connection, folders);
    if (attempt.type === 'open') return attempt.session;
    last = attempt.reason;
    if (attempt.type === 'refused') throw unreachable(folders, attempt.reason);
    await assertNotStopped(place.stop);
    if (attempt.type === 'absent') await start(place, giveUpAt);
    // A server can run for a minute after its files were removed.
    const loss = attempt.type === 'changing' ? lossOfData(folders) : null;
    if (loss !== null) throw loss;
    if (attempt.type === 'full' && saysFull) {
      saysFull = false;
      log.warn('200 sessions use the embedded engine; waiting for one to end');
    }
    if (attempt.type !== 'absent') await wait(LOOK_AGAIN_MS);
  }
  throw unreachable(folders, last);
}

async function start(place: Place, giveUpAt: number): Promise<void> {
  const { folders, connection, startsEmpty } = place;
  const lock = await lockFolder(folders.home, giveUpAt - performance.now());
  try {
    if (await isAnswering(connection)) return;
    try {
      await startLocked(place, giveUpAt);
    } catch (error) {
      if (!startsEmpty || !(error instanceof UnusableDataError)) throw error;
      await beginEmpty(place, error);
      await startLocked(place, giveUpAt);
    }
  } finally {
    await lock.release();
  }
}

async function beginEmpty({ folders, log }: Pick<Place, 'folders' | 'log'>, error: Error): Promise<void> {
  const facts = { folder: await setAside(folders), reason: error.message };
  log.warn(facts, 'the data of the embedded engine were set aside; it starts empty');
}

async function startLocked(place: Place, giveUpAt: number): Promise<void> {
  const { folders, user, sockets, connection, log, stop } = place;
  const finding = await findData(folders);
  if (finding.type === 'unusable') throw new UnusableDataError(finding.what, folders.data, UNUSABLE_TODO);
  const looking =
    'this state folder was last used on another machine or in another container; checking whether ' +
    'it still is';
  await assertNoForeignServer(folders, () => log.warn(looking));
  const major = finding.type === 'ready' ? finding.major : null;
  const binaries = await findServerBinaries(user, major, folders.home);
  await removeDrafts(folders, user);
  if (finding.type === 'none') await makeData(folders, binaries, user, stop);
  await noteUse(folders);
  const stuckAt = performance.now() + STUCK_MS;
  const answers = () => isAnswering(connection);
  for (;;) {
    await refuseEmptyLocks(folders, sockets);
    const result = await startServer(folders, sockets, binaries, user, answers);
    if (result.type === 'running') return removeOtherCopies(folders.home, binaries);
    if (result.type !== 'ended') throw startFailure(folders, result);
    if (await answers()) return;
    if (performance.now() > giveUpAt) throw unreachable(folders, result.reason);
    await assertNotStopped(stop);
    if (performance.now() > stuckAt) await stopStaleServer(folders, sockets);
    await wait(LOOK_AGAIN_MS * 4);
  }
}

function startFailure(
  { home, log }: ServerFolders,
  { type, reason }: Exclude<StartResult, { type: 'running' }>,
): RunError {
  const what = `the embedded engine cannot start (${reason})`;
  const known = todoForMachine(reason);
  if (known !== undefined) return unfit(what, home, known);
  if (type === 'failed') return unfit(what, home, `see ${log}, then run again: no answer is lost`);
  const todo = phrase`see ${log}; restore the folder from a backup, use another with ${OR_EMPTY}`;
  return new UnusableDataError(what, home, todo);
}
