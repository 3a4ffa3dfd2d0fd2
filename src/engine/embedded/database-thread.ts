/**
 * The thread in which PGlite runs: its work is off the event loop of the process. It does what it is told, one
 * statement after the other, and knows nothing of what the statements mean.
 */
import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { errorText } from '../../errors.js';
import { createUpkeep, UPKEEP_PARAMS } from './database-upkeep.js';
import type { FromThread, ThreadError, ThreadSettings, ToThread } from './thread-messages.js';

/** PostgreSQL's type number of bytea: handed over and read as bytes, not spelled out. */
const BYTEA = 17;

const port = parentPort;
if (port === null) throw new Error('database-thread runs as a thread only');
const say = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

async function open({ dataFolder, templateFile }: ThreadSettings): Promise<PGlite> {
  const template = templateFile === null ? undefined : new Blob([await readFile(templateFile)]);
  const database = await PGlite.create({
    dataDir: dataFolder,
    startParams: [...PGlite.defaultStartParams, ...UPKEEP_PARAMS],
    ...(template === undefined ? {} : { loadDataDir: template }),
    parsers: { [BYTEA]: (text: string) => new Uint8Array(Buffer.from(text.slice(2), 'hex')) },
    serializers: { [BYTEA]: (bytes: Uint8Array) => bytes as unknown as string },
  });
  await database.exec('SET search_path TO bullmq, public');
  database.onNotification((channel, payload) => say({ type: 'notification', channel, payload }));
  return database;
}

function threadError(error: unknown): ThreadError {
  const fields = error as { code?: unknown; detail?: unknown };
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { message: errorText(error), code: text(fields.code), detail: text(fields.detail) };
}

async function run(database: PGlite, message: Extract<ToThread, { id: number }>): Promise<void> {
  const { id } = message;
  try {
    if (message.type === 'dump') {
      const bytes = await (await database.dumpDataDir('gzip')).arrayBuffer();
      say({ type: 'dumped', id, bytes: new Uint8Array(bytes) }, [bytes]);
      return;
    }
    const result =
      message.params === null
        ? (await database.exec(message.sql)).at(-1)
        : await database.query(message.sql, [...message.params]);
    const rows = (result?.rows ?? []) as Extract<FromThread, { type: 'rows' }>['rows'];
    say({ type: 'rows', id, rows, rowCount: result?.rowCount ?? result?.affectedRows ?? rows.length });
  } catch (error) {
    say({ type: 'failed', id, error: threadError(error) });
  }
}

try {
  const database = await open(workerData as ThreadSettings);
  const upkeep = createUpkeep(database);
  await upkeep.begin();
  port.on('message', (message: ToThread) => {
    if (message.type !== 'close') {
      // Upkeep that fails is tried again at the next look; statements that fail for the same reason say so.
      void run(database, message).then(() => upkeep.afterStatement().catch(() => undefined));
      return;
    }
    void database
      .close()
      .catch(() => undefined)
      .then(() => port.close());
  });
  say({ type: 'ready' });
} catch (error) {
  say({ type: 'unusable', message: errorText(error) });
  port.close();
}
