/** The settings of `run --sample` without other flags, environment and config file. */
import { loadSettings } from '../../src/settings/load-settings.js';
import type { Settings } from '../../src/settings/settings.js';

const SOURCES = { flags: { sample: true }, env: {}, file: null, command: 'run', home: '/' } as const;

export function settingsWith(some: Partial<Settings> = {}): Settings {
  return { ...loadSettings(SOURCES).settings, sample: false, ...some };
}
