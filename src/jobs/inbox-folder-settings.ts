/**
 * The settings of an inbox, read again for each file: `brand-enrich.json` in the watched folder and
 * in a folder below `inbox`, and `customers.csv.json` for one file.
 *
 * Precedence: flag, file, its folder, watched folder, environment, config file, default. The lower
 * of two caps applies.
 */
import { join } from 'node:path';
import { ConfigError, errorText, type Problem, throwProblems, usageProblem } from '../core/errors.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { readPlainFile } from '../core/plain-file.js';
import { isErrorCode } from '../core/system-error.js';
import { isMoreThan } from '../run/lookups/spending.js';
import { type ConfigFile, findSettings, parseConfigFile } from '../settings/load-settings.js';
import type { SettingGroup } from '../settings/setting.js';
import { findFieldProblems } from '../settings/setting-rules.js';
import {
  type LoadedSettings,
  SETTING_ENTRIES,
  type SettingName,
  type Settings,
} from '../settings/settings.js';
import { FOLDER_SETTINGS_FILE } from './inbox-file.js';

const GROUPS: readonly SettingGroup[] = ['Input', 'Columns', 'Output'];
const CAPS: readonly SettingName[] = ['maxRequests', 'maxCost', 'maxErrors'];
const AGES: readonly SettingName[] = ['maxAgeMs', 'maxAgeMissingMs', 'refresh'];
const OTHERS: readonly SettingName[] = ['allowNsfw', 'minMatch', 'priority', 'trial', ...CAPS, ...AGES];

/** Senders choose no hosts, and only administrators run samples. */
const NEVER: readonly SettingName[] = ['sample', 'embedLogos'];

/** Settings that an inbox may have; the service is not among them. */
const FOLDER_ENTRIES = SETTING_ENTRIES.filter(
  ([name, { isInFile, commands, group }]) =>
    isInFile &&
    commands.includes('watch') &&
    (GROUPS.includes(group) || OTHERS.includes(name)) &&
    !NEVER.includes(name),
);

export const INBOX_KEYS: ReadonlySet<string> = new Set(FOLDER_ENTRIES.flatMap(([, { key }]) => key ?? []));

/** Returns the settings files of the watched folder `root` and of `under` below its `inbox`. */
export function settingsFilesOf(root: string, under = ''): string[] {
  const folders = under === '' ? [root] : [root, join(root, 'inbox', under)];
  return folders.map((folder) => join(folder, FOLDER_SETTINGS_FILE));
}

/** Adds settings files; later ones win. Throws one `ConfigError` for all faults of a file. */
export async function readFolderSettings(paths: readonly string[], base: LoadedSettings): Promise<Settings> {
  let { settings } = base;
  for (const path of paths) {
    const file = await readOwnSettings(path);
    if (file !== null) settings = applyFolderSettings(file, { ...base, settings });
  }
  return settings;
}

/** Reads one settings file, or null. Throws `ConfigError` if it cannot be read. */
export async function readOwnSettings(path: string): Promise<ConfigFile | null> {
  let text: string;
  try {
    text = await readPlainFile(path);
  } catch (error) {
    if (isErrorCode(error, 'ENOENT', 'ENAMETOOLONG')) return null;
    const todo = 'put a readable file there (not a symbolic link), or remove it';
    const what = 'the settings cannot be read';
    const problem = usageProblem(what, `${path} (${errorText(error)})`, todo);
    throw new ConfigError({ ...problem, cause: error });
  }
  return parseConfigFile(path, text);
}

/** Adds the settings of one file. Throws as `readFolderSettings`. Pure. */
export function applyFolderSettings(file: ConfigFile, base: LoadedSettings): Settings {
  const foreign = Object.keys(file.values).filter((key) => !INBOX_KEYS.has(key));
  const allowed = Object.entries(file.values).filter(([key]) => INBOX_KEYS.has(key));
  const own = { path: file.path, values: Object.fromEntries(allowed) };
  const found = findSettings({ flags: {}, env: {}, file: own, command: 'config', home: '' });
  throwProblems([...foreign.map((key) => foreignKey(key, file.path)), ...found.problems]);
  const inFolder = found.loaded;
  const { settings, origins } = base;
  const changes: Partial<Record<SettingName, unknown>> = {};
  for (const [name] of FOLDER_ENTRIES) {
    if (inFolder.origins[name] !== 'file') continue;
    if (name === 'maxRequests') changes[name] = lower(inFolder.settings[name], settings[name]);
    else if (name === 'maxCost') changes[name] = lower(inFolder.settings[name], settings[name], isMoreThan);
    else if (origins[name] !== 'flag') changes[name] = inFolder.settings[name];
  }
  const merged = { ...settings, ...(changes as Partial<Settings>) };
  throwProblems(findFieldProblems(merged, (setting) => `in ${setting} of ${file.path}`));
  return merged;
}

function foreignKey(key: string, path: string): Problem {
  const line = SETTING_ENTRIES.find(([, each]) => each.key === key && each.isInFile)?.[1];
  const subject = `${key} in ${path}`;
  if (line === undefined) {
    const allowed = [...INBOX_KEYS];
    const todo = didYouMean(nearest(key, allowed), `it is one of ${allowed.join(', ')}`);
    return usageProblem('no such setting', subject, todo);
  }
  const why = line.commands.includes('watch')
    ? `the administrator of the inbox sets ${line.flag ?? line.env}`
    : 'it has no effect in an inbox';
  return usageProblem('this setting is not allowed in an inbox', subject, `remove it; ${why}`);
}

/** Returns the lower of two caps, or null without a cap. Pure. */
export function lower<T>(
  one: T | null,
  other: T | null,
  isMore = (one: T, other: T) => one > other,
): T | null {
  if (one === null || other === null) return one ?? other;
  return isMore(one, other) ? other : one;
}
