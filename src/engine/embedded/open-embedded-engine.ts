/**
 * The engine without a server of the user's own: a private PostgreSQL server in the state folder, and the postgres engine on it.
 */
import type { Telemetry } from 'bullmq';
import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import type { Engine } from '../engine.js';
import { openEngineOn } from '../postgres/open-postgres-engine.js';
import { joinServer } from './shared-server.js';

export interface EmbeddedEngineOptions {
  /** The state folder; made when it is not there. */
  readonly folder: string;
  readonly log: Log;
  /** Of chunks; absent: nothing is traced. */
  readonly telemetry?: Telemetry | undefined;
  /** After it a server that is away is hardly waited for; absent: nobody says stop. */
  readonly stop?: AbortSignal;
  /** Put aside what cannot be used, and begin with an empty database. Default false. */
  readonly startsEmpty?: boolean | undefined;
  /** Tests only: added to the store's clock, in whole milliseconds. */
  readonly clockOffsetMs?: () => number;
  /** Tests only: what the daily purge waits with. */
  readonly upkeepClock?: Clock;
}

/**
 * Processes of one machine share the server's 200 sessions. `up` keeps two to listen on, for chunks and for schedules; what is not
 * used for 10 s is given back.
 */
const SESSIONS = 6;

/** Throws what `joinServer` and `openEngineOn` throw. */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<Engine> {
  const { folder, startsEmpty = false, ...rest } = options;
  const shared = await joinServer({ state: folder, log: options.log, startsEmpty });
  const { log: logFile } = shared.folders;
  try {
    const engine = await openEngineOn(
      'embedded',
      {
        connection: shared.connection,
        address: folder,
        todo: `run again; the log of the embedded engine is ${logFile}`,
        sessions: SESSIONS,
        redact: (text) => text,
      },
      rest,
    );
    return {
      ...engine,
      async close() {
        await engine.close().finally(() => shared.leave());
      },
    };
  } catch (error) {
    await shared.leave();
    throw error;
  }
}
