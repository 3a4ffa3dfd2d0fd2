/** The engine of a command alone: commands that only look load nothing of what runs need. */
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

/** What the root gives to every command. */
export interface CommandContext extends Streams {
  readonly log: Log;
  /** First signal: stop asking and taking work. */
  readonly stop: AbortSignal;
  /** How long to wait for requests in flight after it. */
  readonly graceMs: (timeoutMs: number) => number;
  readonly configFile: ConfigFile | null;
  /** What relative paths count from. */
  readonly folder: string;
  /** Settings from flags and the process environment; `fallback` for variables that are not set. */
  readonly load: (
    command: CommandName,
    flags: Record<string, unknown>,
    fallback?: Readonly<Record<string, string>>,
  ) => LoadedSettings;
}

/** A command's engine, by its settings and `other` options. Throws as opening an engine does. */
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

/** Where paid answers wait that an engine could not take. */
export function spoolOf(stateFolder: string): string {
  return join(stateFolder, 'spool');
}
