/** A day passes for the looks of an engine's accounts: their tries were made so much earlier. */
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { serverFolders } from '../../src/engine/embedded/data-folder.js';
import { socketFolder } from '../../src/engine/embedded/server-process.js';
import { connectionTo } from '../../src/engine/embedded/server-sessions.js';
import { serverUser } from '../../src/engine/embedded/server-user.js';
import type { EngineUnderTest } from './engines.js';

const DAY_MS = 86_400_000;

/** `folder`: of the scene whose account is meant, where the engine is embedded; else all are. */
export async function turnTriesBack(engine: EngineUnderTest, folder: string): Promise<void> {
  const url = engine.env(folder).BRAND_ENRICH_ENGINE;
  if (url?.startsWith('redis') === true) {
    const redis = new Redis(url);
    try {
      for (const key of await redis.keys('*account:*'))
        if ((await redis.type(key)) === 'hash') await redis.hincrby(key, 'lookTriesSince', -DAY_MS);
    } finally {
      redis.disconnect();
    }
    return;
  }
  const client = new Client(
    url ?? connectionTo(await socketFolder(serverFolders(join(folder, 'state')), serverUser())),
  );
  await client.connect();
  try {
    await client.query('UPDATE brand_enrich.account SET look_tries_since = look_tries_since - $1', [DAY_MS]);
  } finally {
    await client.end();
  }
}
