/**
 * Opens the engine that an address names. Each engine is loaded only when it is asked for: the others cost no
 * start-up time.
 */
import type { Telemetry } from 'bullmq';
import { NeverStartError } from '../errors.js';
import type { Log } from '../log.js';
import type { Engine } from './engine.js';
import { createStoreAnswers } from './store-calls.js';

export interface OpenEngineOptions {
  /** `embedded`, or an address: `redis://`, `rediss://`, `postgres://` or `postgresql://`. */
  readonly engine: string;
  /** Where the embedded engine keeps its files. */
  readonly stateFolder: string;
  readonly log: Log;
  /** Redis 7.2 and later: permits and answers are on disk before a call ends. Default false. */
  readonly waitsForDisk?: boolean;
  /** What another process is told about this one when the embedded engine's folder is held. */
  readonly command?: string | undefined;
  /** What BullMQ tells of chunks to; absent: nothing is traced. Ticks are never traced. */
  readonly telemetry?: Telemetry | undefined;
}

/**
 * Throws {@link NeverStartError} `usage-invalid` for an address of no engine, and `FailFileError` (`engine-unreachable`,
 * `engine-unfit`, `engine-held`) when the engine cannot be used.
 */
export async function openEngine(options: OpenEngineOptions): Promise<Engine> {
  const { engine, stateFolder, log, command, telemetry } = options;
  if (engine === 'embedded') {
    const { openEmbeddedEngine } = await import('./embedded/open-embedded-engine.js');
    const embedded = await openEmbeddedEngine({ folder: stateFolder, log, command, telemetry });
    const answers = createStoreAnswers(embedded);
    embedded.onRequest((message) => answers.answer(message));
    return {
      ...embedded,
      async close() {
        await answers.close();
        await embedded.close();
      },
    };
  }
  if (/^rediss?:\/\//.test(engine)) {
    const { openRedisEngine } = await import('./redis/open-redis-engine.js');
    return openRedisEngine({ url: engine, log, telemetry, waitsForDisk: options.waitsForDisk ?? false });
  }
  if (/^postgres(ql)?:\/\//.test(engine)) {
    const { openPostgresEngine } = await import('./postgres/open-postgres-engine.js');
    return openPostgresEngine({ url: engine, log, telemetry });
  }
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'there is no such engine',
    // An address may hold a password: only what stands before it is shown.
    subject: engine.split(/[:/@]/, 1)[0] ?? '',
    todo: 'use embedded, redis://..., rediss://..., postgres://... or postgresql://...',
  });
}
