/**
 * A packed empty database with both schemas in it, made once when the package is built: a first start then unpacks
 * it in a second instead of making one in four, and with half the memory. Without it everything works, only later.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LATEST_SCHEMA_VERSION, runMigrations } from 'bullmq';
import { migrate, schemaSource } from '../sql/migrations.js';
import { builtFile } from './built-file.js';
import type { EmbeddedDatabase } from './embedded-database.js';
import { openEmbeddedDatabase } from './embedded-database.js';
import { createPoolShape } from './pool-shape.js';

const PREFIX = 'empty-database-';

/** Named after what is in it: a template of other schemas is never taken for this one. */
function templatePath(): string {
  const tag = createHash('sha256').update(`${LATEST_SCHEMA_VERSION}\n${schemaSource()}`).digest('hex');
  return fileURLToPath(builtFile(`${PREFIX}${tag.slice(0, 12)}.tar.gz`));
}

/** The template's path, null when none was made. */
export function findTemplate(): string | null {
  const path = templatePath();
  return existsSync(path) ? path : null;
}

/** Brings BullMQ's schema and ours up to date. */
export async function makeSchemas(database: EmbeddedDatabase, subject: string): Promise<void> {
  await runMigrations(await createPoolShape(database).connect(), 'bullmq', { skipVersionCheck: true });
  await migrate(database, subject);
}

/** Makes the template beside the built code unless it is there. Older ones are removed. */
export async function makeTemplate(): Promise<void> {
  const path = templatePath();
  if (existsSync(path)) return;
  const folder = await mkdtemp(join(tmpdir(), 'brand-enrich-template-'));
  try {
    const database = await openEmbeddedDatabase({ dataFolder: join(folder, 'database'), templateFile: null });
    try {
      await makeSchemas(database, folder);
      await database.query('VACUUM FREEZE');
      await database.query('CHECKPOINT');
      // Another name first: a rename within one folder is seen whole or not at all.
      await writeFile(`${path}.${process.pid}`, await database.dump());
    } finally {
      await database.close();
    }
    await rename(`${path}.${process.pid}`, path);
    for (const name of await readdir(dirname(path))) {
      if (name.startsWith(PREFIX) && join(dirname(path), name) !== path) await rm(join(dirname(path), name));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
