/**
 * The engine without a server: BullMQ's Postgres backend and our SQL on PGlite, in a thread of this process, kept in
 * the state folder. One process at a time owns the folder; others may ask it.
 */
import type { Telemetry } from 'bullmq';
import { type Clock, systemClock } from '../../clock.js';
import { createReleasers } from '../../lifecycle.js';
import type { Log } from '../../log.js';
import { KEEP_ANSWERS_MS } from '../../outcomes/freshness.js';
import type { Engine } from '../engine.js';
import { giveEngineId } from '../engine-id.js';
import { createGuestDesk } from '../guests.js';
import { createQueueLine } from '../queue-line.js';
import { createStoreCalls } from '../sql/database.js';
import { keepTidy } from '../sql/retention.js';
import { createSqlLedger } from '../sql/sql-ledger.js';
import { createSqlNotes } from '../sql/sql-notes.js';
import { createSqlOutcomes } from '../sql/sql-outcomes.js';
import { createSqlQueues } from '../sql/sql-queues.js';
import { createSqlRuns } from '../sql/sql-runs.js';
import { createTickStore } from '../tick-store.js';
import { findTemplate, makeSchemas } from './database-template.js';
import { openEmbeddedDatabase } from './embedded-database.js';
import type { RequestHandler } from './folder-lock.js';
import { lockFolder } from './folder-lock.js';
import { createPoolShape } from './pool-shape.js';
import { lockFolderOf, openDatabaseFolder, prepareStateFolder } from './state-folder.js';

export interface EmbeddedEngineOptions {
  /** The state folder; made when it is not there. */
  readonly folder: string;
  readonly log: Log;
  /** Of chunks; absent: nothing is traced. */
  readonly telemetry?: Telemetry | undefined;
  /** What a second process is told about this one. Default: the title of the process. */
  readonly command?: string | undefined;
  /** Tests only: added to the store's clock, in whole milliseconds. */
  readonly clockOffsetMs?: () => number;
  /** Tests only: what the daily purge waits with. */
  readonly upkeepClock?: Clock;
}

export interface EmbeddedEngine extends Engine {
  readonly kind: 'embedded';
  /** Answers the requests that other processes send with `askHolder`. */
  onRequest(handler: RequestHandler): void;
}

/** PGlite writes every commit to the files before it answers, and leaves it to the system when they reach the disk. */
const POWER_LOSS_WARNING =
  'The embedded engine leaves it to the operating system when answers reach the disk: a loss of power can cost up to the last seconds of stored answers and of the ledger. A killed process loses nothing.';

/**
 * Throws {@link FailFileError}: `engine-held` when another process has the folder, `engine-unfit` when the folder or the
 * database in it cannot be used.
 */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const { folder, log, command = process.title, clockOffsetMs = () => 0 } = options;
  const releasers = createReleasers();
  await prepareStateFolder(folder);
  const self = { pid: process.pid, command, since: new Date().toISOString() };
  const lock = await lockFolder(lockFolderOf(folder), self);
  releasers.push(() => lock.release());
  try {
    const files = await openDatabaseFolder(folder);
    const database = await openEmbeddedDatabase({
      dataFolder: files.path,
      templateFile: files.isNew ? findTemplate() : null,
    });
    releasers.push(() => database.close());
    await makeSchemas(database, folder);
    await files.markComplete();
    const pool = createPoolShape(database);
    const calls = createStoreCalls(database, clockOffsetMs);
    await calls.value('end_others');
    await calls.value('tidy', KEEP_ANSWERS_MS);
    releasers.push(keepTidy(calls, options.upkeepClock ?? systemClock, log));
    const notes = createSqlNotes(calls);
    const id = await giveEngineId(notes);
    const queues = createSqlQueues(pool, log, options.telemetry);
    releasers.push(() => queues.close());
    return {
      id,
      kind: 'embedded',
      address: folder,
      ledger: createSqlLedger(calls),
      outcomes: createSqlOutcomes(calls),
      runs: createSqlRuns(calls, folder),
      notes,
      ticks: createTickStore(queues.openTickQueue),
      guests: createGuestDesk(self),
      lost: database.lost,
      warnings: [POWER_LOSS_WARNING],
      openQueue: (name) => queues.openQueue(name),
      openLine: (name) => createQueueLine(queues.openQueue(name)),
      openWorker: (name, processor, concurrency) => queues.openWorker(name, processor, concurrency),
      openTickWorker: (name, processor, concurrency) => queues.openTickWorker(name, processor, concurrency),
      freeMemory: async () => null,
      roundTrips: calls.roundTrips,
      onRequest: (handler) => lock.onRequest(handler),
      close: () => releasers.releaseAll(),
    };
  } catch (error) {
    await releasers.releaseAll().catch(() => undefined);
    throw error;
  }
}
