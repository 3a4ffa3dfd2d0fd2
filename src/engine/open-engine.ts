/** Opens the engine that an address names, and loads no other. */
import type { Telemetry } from 'bullmq';
import { NeverStartError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Engine } from './engine.js';
import { createPatience, withPatience } from './patience.js';

export interface OpenEngineOptions {
  /** `embedded`, or an address: `redis://`, `rediss://`, `postgres://` or `postgresql://`. */
  readonly engine: string;
  /** Where the embedded engine keeps its files. */
  readonly stateFolder: string;
  readonly log: Log;
  /** Embedded: data that cannot be used are put aside. Default false. */
  readonly startsEmpty?: boolean | undefined;
  /** Redis 7.2 and later: permits and answers are on disk before a call ends. Default false. */
  readonly waitsForDisk?: boolean;
  /** What BullMQ tells of chunks to; absent: nothing is traced. Scheduled jobs are never traced. */
  readonly telemetry?: Telemetry | undefined;
  /** After it an engine that is away is not waited for as long as before; absent: nobody says stop. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * The engine, patient with a server that is away for a moment once it is open.
 *
 * Throws {@link NeverStartError} `usage-invalid` for an address of no engine, and `FailFileError` (`engine-unreachable`,
 * `engine-unfit`, `engine-held`) when the engine cannot be used.
 */
export async function openEngine(options: OpenEngineOptions): Promise<Engine> {
  const { engine, stateFolder, log, telemetry, startsEmpty, stop = new AbortController().signal } = options;
  const patience = createPatience({ log, stop });
  if (engine === 'embedded') {
    const { openEmbeddedEngine } = await import('./embedded/open-embedded-engine.js');
    return withPatience(
      await openEmbeddedEngine({ folder: stateFolder, log, telemetry, stop, startsEmpty }),
      patience,
    );
  }
  if (/^rediss?:\/\//.test(engine)) {
    const { openRedisEngine } = await import('./redis/open-redis-engine.js');
    const { waitsForDisk = false } = options;
    return withPatience(await openRedisEngine({ url: engine, log, telemetry, waitsForDisk }), patience);
  }
  if (/^postgres(ql)?:\/\//.test(engine)) {
    const { openPostgresEngine } = await import('./postgres/open-postgres-engine.js');
    return withPatience(await openPostgresEngine({ url: engine, log, telemetry, stop }), patience);
  }
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'there is no such engine',
    // An address may hold a password: only what stands before it is shown.
    subject: engine.split(/[:/@]/, 1)[0] ?? '',
    todo: 'use embedded, redis://..., rediss://..., postgres://... or postgresql://...',
  });
}
