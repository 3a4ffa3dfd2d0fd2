/**
 * What the command line of a process that stays says for the runs that it hosts: which service is asked, within which limits,
 * and who is told. What is read and written is for each run to say.
 */
import type { SettingGroup } from './setting.js';
import { SETTING_ENTRIES } from './settings.js';

const INHERITED: readonly SettingGroup[] = ['Service', 'Limits and money', 'Notifications'];

/** The flags among these that a hosted run takes over where it says nothing else. */
export function inheritedFlags(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const keys = new Set<string>();
  for (const [, { key, group }] of SETTING_ENTRIES) {
    if (key !== null && INHERITED.includes(group)) keys.add(key);
  }
  return Object.fromEntries(Object.entries(flags).filter(([key]) => keys.has(key)));
}
