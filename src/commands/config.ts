/** `brand-enrich config`: every setting with its origin, and the schedules of the config file. */
import type { ExitCode } from '../core/errors.js';
import { visibleLine } from '../core/terminal-text.js';
import { readFileSchedules } from '../jobs/schedules/file-schedules.js';
import { maskAddress, maskOrigin, maskTokenPath } from '../settings/address-values.js';
import type { ConfigFile } from '../settings/load-settings.js';
import { proxyFor } from '../settings/network.js';
import { formatDuration } from '../settings/parse-value.js';
import {
  type LoadedSettings,
  SETTINGS,
  type SettingName,
  type Settings,
  settingsOf,
} from '../settings/settings.js';
import { type CommandCall, show } from './answer.js';

/** Prints settings and schedules. Throws `ConfigError` for schedules that cannot be used. */
export function runConfig(call: CommandCall): ExitCode {
  const { configFile, load } = call;
  const schedules = readFileSchedules(configFile, load).map(({ name, cron, tz, line, input, catchesUp }) => {
    return { name, cron, tz, line, input, catchesUp };
  });
  const settings = shownSettings(call).map(({ json: value, name, origin }) => ({ name, value, origin }));
  const data = { file: configFile?.path ?? null, settings, schedules };
  const lines = schedules.map(({ name, cron, tz, line, catchesUp }) =>
    visibleLine(`  ${name}: ${cron} (${tz}${catchesUp ? ', runs later if missed' : ''}): ${line}`),
  );
  const list = lines.length === 0 ? '' : `\nschedules in the file:\n${lines.join('\n')}\n`;
  return show({ data, text: `${showConfig(call, configFile)}${list}\n` }, call);
}

/** Returns the settings that the config file or environment may set, by key or variable. */
export function shownSettings({ settings, origins }: LoadedSettings) {
  return settingsOf('config').map(([name, { key, env }]) => ({
    name: key ?? env ?? name,
    value: showValue(settings, name),
    json: jsonValue(settings, name),
    origin: origins[name],
  }));
}

/** Returns the path of the config file, a table of settings, and the route to the service. */
export function showConfig(loaded: LoadedSettings, file: Pick<ConfigFile, 'path'> | null): string {
  const shown = shownSettings(loaded);
  const nameWidth = Math.max(...shown.map(({ name }) => name.length));
  const valueWidth = Math.min(48, Math.max(...shown.map(({ value }) => value.length)));
  const lines = shown.map(
    ({ name, value, origin }) => `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${origin}`,
  );
  const route = routeToService(loaded.settings);
  return `config file: ${file === null ? 'none' : file.path}\n\n${lines.join('\n')}\n${route}`;
}

function routeToService(settings: Settings): string {
  if (settings.baseUrl === null) return '';
  const proxy = proxyFor(settings.baseUrl, settings);
  const route = proxy === null ? 'directly' : `through ${maskAddress(proxy.address)} (${proxy.source})`;
  return `\nthe service is reached ${route}\n`;
}

const MASKS = {
  open: null,
  secret: () => 'set, not shown',
  address: maskAddress,
  origin: maskOrigin,
  'token path': maskTokenPath,
};

/** Returns a value for programs; null if not set. Durations, addresses and secrets stay text. */
function jsonValue(settings: Settings, name: SettingName) {
  const value: unknown = settings[name];
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && !name.endsWith('Ms')) return value;
  const isOpen = SETTINGS[name].secrecy === 'open';
  return Array.isArray(value) && isOpen ? value.map(showItem) : showValue(settings, name);
}

/** Returns a value for people, `-` if not set. Masks secrets and credentials in addresses. */
export function showValue(settings: Settings, name: SettingName): string {
  const value: unknown = settings[name];
  if (value === null || (Array.isArray(value) && value.length === 0)) return '-';
  const mask = MASKS[SETTINGS[name].secrecy];
  if (mask !== null) return mask(String(value));
  if (typeof value === 'number') return name.endsWith('Ms') ? formatDuration(value) : String(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === '\t') return 'tab';
  return Array.isArray(value) ? value.map(showItem).join(', ') : showItem(value);
}

function showItem(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item);
  if ('percent' in item) return `${item.percent}%`;
  if ('count' in item) return String(item.count);
  if ('name' in item && 'kind' in item)
    return item.kind === null ? String(item.name) : `${item.name}:${item.kind}`;
  if ('name' in item && 'direction' in item) return `${item.name}:${item.direction}`;
  return JSON.stringify(item);
}
