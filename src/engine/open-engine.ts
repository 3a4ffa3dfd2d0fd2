/** Opens the engine at an address, and loads the code of no other engine. */
import type { ClientCertificate } from '../core/connector.js';
import { ConfigError, usageProblem } from '../core/errors.js';
import { assertOwnState } from '../core/folders.js';
import type { Engine, EngineOptions } from './engine.js';
import { createPatience, withPatience } from './patience.js';

export interface OpenEngineOptions extends Pick<EngineOptions, 'log' | 'stop' | 'isReadOnly'> {
  /** `embedded`, or the address of a Redis or PostgreSQL server. */
  readonly engine: string;
  /** Folder for the embedded engine's files, and for paid answers that no engine has yet. */
  readonly stateFolder: string;
  /** Embedded only: true to set unusable data aside and start empty. Default false. */
  readonly startsEmpty?: boolean | undefined;
  /** Redis 7.2 or later: calls return when permits and answers are on disk. Default false. */
  readonly waitsForDisk?: boolean;
  /** PEM certificates that `rediss://` and `sslmode` trust besides Node's own. Default: none. */
  readonly extraCa?: string | null;
  /** The certificate for a Redis that asks for one. */
  readonly client?: ClientCertificate | null;
}

/** Opens the engine. Throws `ConfigError` for an unknown address, `RunError` if it is unusable. */
export async function openEngine(options: OpenEngineOptions): Promise<Engine> {
  const { log, stop = new AbortController().signal } = options;
  return withPatience(await openImpatient(options, stop), createPatience({ log, stop }));
}

async function openImpatient(options: OpenEngineOptions, stop: AbortSignal): Promise<Engine> {
  const { engine, stateFolder, startsEmpty, waitsForDisk = false, extraCa = null, client = null } = options;
  assertOwnState(stateFolder);
  const { log, isReadOnly } = options;
  const rest = { log, stop, isReadOnly };
  if (engine === 'embedded') {
    const { openEmbeddedEngine } = await import('./embedded/shared-server.js');
    return openEmbeddedEngine({ folder: stateFolder, startsEmpty, ...rest });
  }
  if (/^rediss?(\+sentinel)?:\/\//.test(engine)) {
    const { openRedisEngine } = await import('./redis/open-redis-engine.js');
    return openRedisEngine({ url: engine, waitsForDisk, extraCa, client, ...rest });
  }
  if (/^postgres(ql)?:\/\//.test(engine)) {
    const { openPostgresEngine } = await import('./postgres/open-postgres-engine.js');
    return openPostgresEngine({ url: engine, extraCa, ...rest });
  }
  // The rest of the address may hold a password.
  const [scheme = ''] = engine.split(/[:/@]/, 1);
  const todo = 'use embedded, redis://..., rediss://..., redis+sentinel://... or postgres://...';
  throw new ConfigError(usageProblem('unknown engine', scheme, todo));
}
