/**
 * What `brand-enrich config` prints: each setting, its value and where it came from, as text for people or as data
 * for `--json`. Secrets are masked by `show-value.ts`.
 */
import type { ConfigFile } from './read-config-file.js';
import type { LoadedSettings, Origin } from './settings.js';
import { settingsOf } from './settings.js';
import { showValue } from './show-value.js';

/** One setting, ready to be shown. */
export interface ShownSetting {
  /** Its name in the config file; the environment variable where it cannot stand there. */
  readonly name: string;
  readonly value: string;
  readonly origin: Origin;
}

/** Every setting that environment or config file can hold, in the table's order. */
export function shownSettings({ settings, origins }: LoadedSettings): readonly ShownSetting[] {
  return settingsOf('config').map(([name, line]) => ({
    name: line.key ?? line.env ?? name,
    value: showValue(settings, name),
    origin: origins[name],
  }));
}

/** A table in aligned columns, ending with a line end; the config file that was read stands above it. */
export function showConfig(loaded: LoadedSettings, file: Pick<ConfigFile, 'path'> | null): string {
  const shown = shownSettings(loaded);
  const nameWidth = Math.max(...shown.map(({ name }) => name.length));
  const valueWidth = Math.min(48, Math.max(...shown.map(({ value }) => value.length)));
  const lines = shown.map(
    ({ name, value, origin }) => `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${origin}`,
  );
  return `config file: ${file === null ? 'none' : file.path}\n\n${lines.join('\n')}\n`;
}
