/**
 * The door of the dashboard, which `up` opens beside its worker, inboxes and schedules.
 */
import type { Settings } from '../config/settings.js';
import type { Engine } from '../engine/engine.js';
import type { Releasers } from '../lifecycle.js';
import type { Log } from '../log.js';
import type { AccountNames } from './account.js';

export interface DashboardDoor {
  readonly settings: Settings;
  readonly engine: Engine;
  /** Account and queue that are shown; null where the settings do not name them. */
  readonly names: AccountNames | null;
  /** The watched folders, absolute: their files in `waiting/` are shown. */
  readonly inboxes: readonly string[];
  readonly log: Log;
  /** Where a sign-in link is told that holds a random password; never the log. */
  readonly stderr: NodeJS.WritableStream;
  /** The page says that the process is stopping. */
  readonly stop: AbortSignal;
  readonly releasers: Releasers;
}

export interface OpenedDashboard {
  /** `http://host:port/`, without a password. */
  readonly url: string;
  /** The same, signing in who opens it. Secret. null when the password is one of the settings, which nobody is told. */
  readonly signInUrl: string | null;
}

/**
 * Serves the dashboard until `releasers` run. null with `--no-dashboard`. Throws `NeverStartError` when others could reach it
 * without a password, and `FailFileError` when the port cannot be had.
 */
export async function openDashboard(door: DashboardDoor): Promise<OpenedDashboard | null> {
  if (!door.settings.dashboard) return null;
  throw new Error('not served yet');
}
