import { ConfigError } from '../../src/core/errors.js';
import { loadSettings, type SettingSources } from '../../src/settings/load-settings.js';

export const SERVICE = { BRAND_API_URL: 'https://api.example.com', BRAND_API_TOKEN: 'sesame-open' };

export interface Sources extends Partial<Omit<SettingSources, 'file'>> {
  readonly file?: Record<string, unknown>;
}

/** Settings of `run` with a service, unless the test says otherwise. */
export function load({ file, ...sources }: Sources = {}) {
  const path = '/work/brand-enrich.config.json';
  const read = file === undefined ? null : { path, values: file };
  return loadSettings({ flags: {}, env: SERVICE, command: 'run', home: '/home/ada', ...sources, file: read });
}

/** The error that the action throws; throws when it succeeds. */
export function refusal(action: () => unknown): ConfigError {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
