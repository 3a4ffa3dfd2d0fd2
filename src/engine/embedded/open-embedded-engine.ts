/** The postgres engine on a private server in the state folder, for users without a server. */
import type { Engine, EngineOptions } from '../engine.js';
import { openEngineOn } from '../postgres/open-postgres-engine.js';
import { ForeignSchemaError } from '../store-calls.js';
import { joinServer } from './shared-server.js';

interface EmbeddedEngineOptions extends EngineOptions {
  /** The state folder; made when it is not there. */
  readonly folder: string;
  /** Set unusable data aside and start with an empty database. Default false. */
  readonly startsEmpty?: boolean | undefined;
}

/**
 * Processes of one machine share the server's 200 sessions. `up` keeps two for chunks and
 * schedules; other idle sessions end after 10 s.
 */
const SESSIONS = 6;

/** Throws what `joinServer` and `openEngineOn` throw. */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<Engine> {
  const { folder, startsEmpty = false, ...rest } = options;
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
    const engine = await openEngineOn('embedded', server, rest);
    const close = () => engine.close().finally(() => shared.leave());
    return { ...engine, loss: shared.loss, close };
  } catch (error) {
    await shared.leave();
    if (!startsEmpty || !(error instanceof ForeignSchemaError)) throw error;
    await shared.replace(error);
    return openEmbeddedEngine(options);
  }
}
