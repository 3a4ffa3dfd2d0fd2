/** The table of settings, from which flags, help, manual and all sources are read. */
import { PROCESS_SETTINGS } from './process-settings.js';
import { RUN_SETTINGS } from './run-settings.js';
import type { CommandName, Setting, SettingGroup } from './setting.js';

export const SETTINGS = { ...RUN_SETTINGS, ...PROCESS_SETTINGS } as const;

/**
 * The values: durations in milliseconds (`…Ms`), money as exact decimal text, null without value
 * and default. Of each secret and its file, `loadSettings` sets at most one.
 */
export type Settings = {
  readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]['fallback']>;
};
export type SettingName = keyof Settings;

export type Origin = 'flag' | 'environment' | 'file' | 'default';
export type Origins = Record<SettingName, Origin>;

export interface LoadedSettings {
  readonly settings: Settings;
  readonly origins: Origins;
}

export const SETTING_ENTRIES = Object.entries(SETTINGS) as readonly (readonly [
  SettingName,
  Setting<unknown>,
])[];

export function settingsOf(command: CommandName): typeof SETTING_ENTRIES {
  return SETTING_ENTRIES.filter(([, line]) => line.commands.includes(command));
}

const INHERITED: readonly SettingGroup[] = ['Service', 'Money', 'Limits', 'Notifications', 'Network'];

/** Returns the flags of a long-running process that its runs inherit unless they set their own. */
export function inheritedFlags(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const lines = SETTING_ENTRIES.filter(([, { group }]) => INHERITED.includes(group));
  const keys = new Set(lines.map(([, { key }]) => key));
  return Object.fromEntries(Object.entries(flags).filter(([key]) => keys.has(key)));
}
