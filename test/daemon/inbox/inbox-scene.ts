/**
 * What the end-to-end tests of the inbox begin with: a scene whose folder is watched, and ways to drop files and to look
 * at what has become of them, from outside.
 */
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { startBrandService } from '../../support/brand-service.js';
import type { CliProcess } from '../../support/cli.js';
import type { EngineUnderTest } from '../../support/engines.js';
import { createScene, type Scene } from '../../support/scene.js';

type Place = 'inbox' | 'processing' | 'done' | 'failed' | 'waiting';

export interface InboxScene extends Scene {
  /** Starts a watcher of the scene's folder and waits until it watches. */
  watch(...flags: string[]): Promise<CliProcess>;
  /** Puts a whole file into the inbox in one step. */
  drop(name: string, content: string | Buffer): Promise<void>;
  /** Names in one of the folders, sorted; empty while the folder is not there. */
  list(place: Place): Promise<string[]>;
  /** Waits until so many are in `place`; their paths. */
  until(place: Place, count: number, patienceMs?: number): Promise<string[]>;
}

/** How long anything may take before a test gives up on it; tests are told as soon as it has happened. */
const PATIENCE_MS = 50_000;

export async function createInboxScene(
  engine: EngineUnderTest,
  changes: Parameters<typeof startBrandService>[0] = {},
): Promise<InboxScene> {
  const scene = await createScene(engine, changes);
  const list = async (place: Place) => (await readdir(scene.path(place)).catch(() => [])).sort();
  return {
    ...scene,
    list,
    async watch(...flags) {
      const watcher = scene.start(['watch', '.', '--settle', '200ms', ...flags]);
      await watcher.untilSaid(/watching the inbox/);
      return watcher;
    },
    async drop(name, content) {
      const hidden = join(scene.path('inbox'), `.${name}.part`);
      await writeFile(hidden, content);
      await rename(hidden, join(scene.path('inbox'), name));
    },
    async until(place, count, patienceMs = PATIENCE_MS) {
      await expect.poll(() => list(place), { timeout: patienceMs, interval: 50 }).toHaveLength(count);
      return (await list(place)).map((name) => join(scene.path(place), name));
    },
  };
}

export async function readReason(folder: string): Promise<string> {
  return readFile(join(folder, 'reason.txt'), 'utf8');
}

/** Ends a watcher as its supervisor would; its exit code. */
export async function stopWatcher(watcher: CliProcess): Promise<number | null> {
  watcher.kill('SIGTERM');
  return (await watcher.done).code;
}
