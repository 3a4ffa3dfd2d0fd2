/**
 * The table of settings. `--help`, the README's table and the reading of flags, environment and
 * config file are made of it: a setting is added in the file of its group, and nowhere else.
 */
import { PROCESS_SETTINGS } from './process-settings.js';
import { RUN_SETTINGS } from './run-settings.js';
import type { CommandName, Setting, SettingGroup } from './setting.js';

/** In the order of the README's table. */
export const SETTINGS = { ...RUN_SETTINGS, ...PROCESS_SETTINGS } as const;

/**
 * One property per setting, made of the table: durations in milliseconds (`…Ms`), money as exact
 * decimal text, null where no value was given and the table has no default. After `loadSettings`
 * also: `plan` is `paid` when a positive overage budget says so, `overageBudget` is the budget that
 * holds, and at most one of `token` and `tokenFile` is set; likewise `notifySecret` and
 * `notifySecretFile`, `dashboardPassword` and `dashboardPasswordFile`.
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

/** The table's lines in order. */
export const SETTING_ENTRIES = Object.entries(SETTINGS) as readonly (readonly [
  SettingName,
  Setting<unknown>,
])[];

/** The lines that belong to a command, in the table's order. */
export function settingsOf(command: CommandName): typeof SETTING_ENTRIES {
  return SETTING_ENTRIES.filter(([, line]) => line.commands.includes(command));
}

const INHERITED: readonly SettingGroup[] = ['Service', 'Money', 'Limits', 'Notifications', 'Network'];

/**
 * The flags of a long-running process that its runs inherit unless they set their own: service,
 * limits and notifications.
 */
export function inheritedFlags(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const lines = SETTING_ENTRIES.filter(([, { group }]) => INHERITED.includes(group));
  const keys = new Set(lines.map(([, { key }]) => key));
  return Object.fromEntries(Object.entries(flags).filter(([key]) => keys.has(key)));
}
