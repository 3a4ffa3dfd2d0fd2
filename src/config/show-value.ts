/**
 * One setting's value as people read it: durations with their unit, switches as yes or no, secrets masked. The only way a value
 * of the table is shown.
 */
import { maskAddress, maskOrigin, maskTokenPath } from './mask.js';
import type { SettingName, Settings } from './settings.js';
import { SETTINGS } from './settings.js';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** The largest unit that divides it exactly: 604800000 is `7d`, 1500 is `1500ms`. */
export function formatDuration(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size && ms % size === 0);
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`;
}

/** Never holds a secret: a token is `set, not shown`, an address has neither credentials nor query. `-` when nobody said anything. */
export function showValue(settings: Settings, name: SettingName): string {
  const value: unknown = settings[name];
  const { secrecy } = SETTINGS[name];
  if (value === null || (Array.isArray(value) && value.length === 0)) return '-';
  if (secrecy === 'secret') return 'set, not shown';
  if (secrecy === 'address') return maskAddress(String(value));
  if (secrecy === 'origin') return maskOrigin(String(value));
  if (secrecy === 'token path') return maskTokenPath(String(value));
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
