/** Opens the engine alone: commands that do no lookups load nothing else. */
import { join } from 'node:path';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { Streams } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { type OpenEngineOptions, openEngine } from '../engine/open-engine.js';
import { maskAddress, openEngineWarning } from '../settings/address-values.js';
import type { ConfigFile } from '../settings/load-settings.js';
import { clientCertificateOf, networkOf } from '../settings/network.js';
import type { CommandName } from '../settings/setting.js';
import type { LoadedSettings, Settings } from '../settings/settings.js';

/** The parts of the process that every command gets. */
export interface CommandContext extends Streams {
  readonly log: Log;
  /** Aborted by the first signal: then send no requests and take no work. */
  readonly stop: AbortSignal;
  /** Returns how long to wait after `stop` for requests in flight, in milliseconds. */
  readonly graceMs: (timeoutMs: number) => number;
  readonly configFile: ConfigFile | null;
  /** The folder that relative paths start from. */
  readonly folder: string;
  /** Loads settings from flags and environment; `fallback` has values for unset variables. */
  readonly load: (
    command: CommandName,
    flags: Record<string, unknown>,
    fallback?: Readonly<Record<string, string>>,
  ) => LoadedSettings;
}

/** Opens the engine of the settings, with `other` options. Throws as `openEngine` does. */
export async function openStores(
  settings: Settings,
  { log, stop }: Pick<CommandContext, 'log' | 'stop'>,
  releasers: Releasers,
  other: Partial<OpenEngineOptions> = {},
): Promise<Engine> {
  const { engine: address, state: stateFolder, startEmpty: startsEmpty } = settings;
  const { extraCa } = networkOf(settings);
  const client = clientCertificateOf(settings);
  const opening = { engine: address, stateFolder, startsEmpty, extraCa, client, log, stop, ...other };
  const warning = openEngineWarning(opening.engine);
  if (warning !== null) log.warn({ engine: maskAddress(opening.engine) }, warning);
  const engine = await openEngine(opening);
  releasers.push(() => engine.close());
  return engine;
}

/** Returns the folder for paid answers that an engine could not store. */
export function spoolOf(stateFolder: string): string {
  return join(stateFolder, 'spool');
}
