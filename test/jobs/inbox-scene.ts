/**
 * Common setup of the inbox tests: a scene with a watched folder, and ways to drop files and to
 * inspect what happened to them.
 */
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { startBrandService } from '../support/brand-service.js';
import type { EngineUnderTest } from '../support/engines.js';
import { createScene, type Scene } from '../support/scene.js';
import { passTime, takeTime } from '../support/time-by-hand.mjs';

type Place = 'inbox' | 'processing' | 'done' | 'failed' | 'waiting';

export type InboxScene = Awaited<ReturnType<typeof createInboxScene>>;

/** The longest that a test waits for anything; waits end as soon as the condition holds. */
const PATIENCE_MS = 50_000;

export async function createInboxScene(
  engine: EngineUnderTest,
  changes: Parameters<typeof startBrandService>[0] = {},
) {
  const scene = await createScene(engine, changes);
  /** Sorted names in one of the folders; empty while the folder does not exist. */
  const list = async (place: Place) => (await readdir(scene.path(place)).catch(() => [])).sort();
  const watchWith =
    (start: Scene['start']) =>
    async (...flags: string[]) => {
      const watcher = start(['watch', '.', '--settle', '200ms', ...flags]);
      await watcher.untilSaid(/watching the inbox/);
      return watcher;
    };
  return {
    ...scene,
    list,
    /** Starts a watcher of the scene's folder, in this process, and waits until it is watching. */
    watch: watchWith(scene.startHere),
    /** The same as a process, which can be killed. */
    watchAlone: watchWith(scene.start),
    /** Moves a complete file into the inbox in one step. */
    async drop(name: string, content: string | Buffer) {
      const hidden = join(scene.path('inbox'), `.${name}.part`);
      await writeFile(hidden, content);
      await rename(hidden, join(scene.path('inbox'), name));
    },
    /** Waits until `place` has so many entries; returns their paths. */
    async until(place: Place, count: number, patienceMs = PATIENCE_MS) {
      await expect.poll(() => list(place), { timeout: patienceMs, interval: 50 }).toHaveLength(count);
      return (await list(place)).map((name) => join(scene.path(place), name));
    },
  };
}

export async function readReason(folder: string): Promise<string> {
  return readFile(join(folder, 'reason.txt'), 'utf8');
}

/** For the rest of the test, time passes twenty times as fast for commands that run here. */
export function hurry(pass = () => passTime(1_000)): void {
  const restore = takeTime();
  const ticks = setInterval(pass, 50);
  onTestFinished(() => {
    clearInterval(ticks);
    restore();
  });
}
