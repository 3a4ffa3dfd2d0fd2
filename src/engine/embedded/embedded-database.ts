/**
 * The process's end of the database thread: questions by number, answers as promises, notifications to whoever
 * listens. When the thread dies every open question fails, and every later one. One that answers nothing any more (a disk that
 * is full at the wrong moment leaves PGlite spinning) is ended: its files are as good as after a kill.
 */
import { Worker } from 'node:worker_threads';
import { FailFileError } from '../../errors.js';
import { withinDeadline } from '../../lifecycle.js';
import type { SqlDatabase, SqlParam, SqlRow } from '../sql/database.js';
import { builtFile } from './built-file.js';
import type { FromThread, ThreadError, ThreadSettings, ToThread } from './thread-messages.js';

/** A clean close writes what is in memory to the files; after this long the thread is ended, which loses nothing. */
const CLOSE_DEADLINE_MS = 5_000;

/** Looks at a thread with open questions, and those without an answer in between after which it is ended: two minutes. */
const LOOK_MS = 5_000;
const SILENT_LOOKS = 24;

export interface EmbeddedDatabase extends SqlDatabase {
  /** Aborted when the thread has died: nothing works any more until the database is opened anew. */
  readonly lost: AbortSignal;
  /** One session for everybody: a transaction over several calls is for the opening only. */
  query(sql: string, params?: readonly SqlParam[]): Promise<{ rows: SqlRow[]; rowCount: number }>;
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** The whole database as a packed file. */
  dump(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A failed statement, with the fields of `pg` that BullMQ reads. */
class StatementError extends Error {
  readonly code: string | undefined;
  readonly detail: string | undefined;

  constructor(error: ThreadError) {
    super(error.message);
    this.name = 'StatementError';
    this.code = error.code;
    this.detail = error.detail;
  }
}

interface Waiter {
  readonly resolve: (message: FromThread) => void;
  readonly reject: (error: Error) => void;
}

/** Throws {@link FailFileError} `engine-unfit` when the files cannot be used. */
export async function openEmbeddedDatabase(
  settings: ThreadSettings,
  { lookMs = LOOK_MS } = {},
): Promise<EmbeddedDatabase> {
  const thread = new Worker(builtFile('database-thread.js'), { workerData: settings, execArgv: [] });
  const waiters = new Map<number, Waiter>();
  const listeners: ((channel: string, payload: string) => void)[] = [];
  let lastId = 0;
  let death: Error | undefined;
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const losing = new AbortController();
  const die = (error: Error) => {
    death ??= error;
    losing.abort(death);
    for (const waiter of waiters.values()) waiter.reject(death);
    waiters.clear();
  };
  let silentLooks = 0;

  await new Promise<void>((resolve, reject) => {
    thread.on('message', (message: FromThread) => {
      silentLooks = 0;
      if (message.type === 'ready') resolve();
      else if (message.type === 'unusable') reject(unusable(settings.dataFolder, message.message));
      else if (message.type === 'notification') {
        for (const listener of listeners) listener(message.channel, message.payload);
      } else {
        const waiter = waiters.get(message.id);
        waiters.delete(message.id);
        if (message.type === 'failed') waiter?.reject(new StatementError(message.error));
        else waiter?.resolve(message);
      }
    });
    thread.once('error', (error) => {
      die(brokenOff(settings.dataFolder, error.message));
      reject(unusable(settings.dataFolder, error.message));
    });
    thread.once('exit', () => {
      die(brokenOff(settings.dataFolder, 'its thread ended'));
      reject(unusable(settings.dataFolder, 'the database thread ended'));
    });
  });

  // Looks are counted and not time, which goes on while the process is stopped.
  const watching = setInterval(() => {
    silentLooks = waiters.size === 0 ? 0 : silentLooks + 1;
    if (silentLooks < SILENT_LOOKS) return;
    die(brokenOff(settings.dataFolder, 'it does not answer any more'));
    void thread.terminate();
  }, lookMs).unref();
  void ended.then(() => clearInterval(watching));

  const ask = (message: (id: number) => ToThread) =>
    new Promise<FromThread>((resolve, reject) => {
      if (death) {
        reject(death);
        return;
      }
      lastId += 1;
      waiters.set(lastId, { resolve, reject });
      thread.postMessage(message(lastId));
    });
  const query: EmbeddedDatabase['query'] = async (sql, params) => {
    const answer = await ask((id) => ({ type: 'query', id, sql, params: params ?? null }));
    return answer.type === 'rows' ? answer : { rows: [], rowCount: 0 };
  };
  let closing: Promise<void> | undefined;
  return {
    query,
    lost: losing.signal,
    async call(name, params) {
      const places = params.map((_, index) => `$${index + 1}`).join(', ');
      return (await query(`SELECT * FROM brand_enrich.${name}(${places})`, params)).rows;
    },
    onNotification(listener) {
      listeners.push(listener);
    },
    async dump() {
      const answer = await ask((id) => ({ type: 'dump', id }));
      if (answer.type !== 'dumped') throw new Error('the database thread gave no dump');
      return answer.bytes;
    },
    close() {
      closing ??= (async () => {
        death ??= new Error('the database is closed');
        thread.postMessage({ type: 'close' } satisfies ToThread);
        await withinDeadline(ended, CLOSE_DEADLINE_MS);
        await thread.terminate();
      })();
      return closing;
    },
  };
}

function unusable(folder: string, reason: string): FailFileError {
  return new FailFileError({
    code: 'engine-unfit',
    what: `the embedded database cannot be opened (${reason})`,
    subject: folder,
    todo: 'name another folder with --state; the answers in this one stay where they are',
  });
}

function brokenOff(folder: string, reason: string): FailFileError {
  return new FailFileError({
    code: 'engine-unfit',
    what: `the embedded database has broken off (${reason})`,
    subject: folder,
    todo: 'see that the disk is not full, and run again: it goes on from what is kept there',
  });
}
