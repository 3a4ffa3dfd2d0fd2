/** Opens the engine that an address names, and loads no other. */
import type { ClientCertificate } from '../core/connector.js';
import { ConfigError, usageProblem } from '../core/errors.js';
import { assertOwnState } from '../core/folders.js';
import type { Engine, EngineOptions } from './engine.js';
import { createPatience, withPatience } from './patience.js';

export interface OpenEngineOptions extends Pick<EngineOptions, 'log' | 'stop' | 'isReadOnly'> {
  /** `embedded`, or an address of which each part is used. */
  readonly engine: string;
  /** Where the embedded engine keeps its files, and workers of any engine paid answers. */
  readonly stateFolder: string;
  /** Embedded: sets unusable data aside. Default false. */
  readonly startsEmpty?: boolean | undefined;
  /** Redis 7.2 and later: permits and answers are on disk before a call ends. Default false. */
  readonly waitsForDisk?: boolean;
  /** Certificates in PEM that `rediss://` and `sslmode` trust besides Node's own. Default: none. */
  readonly extraCa?: string | null;
  /** Shown to a Redis that asks for a certificate. */
  readonly client?: ClientCertificate | null;
}

/**
 * Opens the engine, patient with one that is unavailable for a moment. Throws `ConfigError` for
 * an unknown address, `RunError` when engine or state folder cannot be used.
 */
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
  // An address may hold a password: only what stands before it is shown.
  const [scheme = ''] = engine.split(/[:/@]/, 1);
  const todo = 'use embedded, redis://..., rediss://..., redis+sentinel://... or postgres://...';
  throw new ConfigError(usageProblem('unknown engine', scheme, todo));
}
