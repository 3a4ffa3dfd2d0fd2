/** From the options of a program to settings: the names of the config file, and nothing else. */
import { homedir } from 'node:os';
import { throwProblems, usageProblem } from '../core/errors.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { loadSettings } from './load-settings.js';
import type { SettingGroup } from './setting.js';
import { type SettingName, type Settings, settingsOf } from './settings.js';

const GROUPS: readonly SettingGroup[] = [
  'Input',
  'Columns',
  'Service',
  'Money',
  'Limits',
  'Output',
  'Engine',
];
/** A program has no person to ask, does its lookups itself, and handles its own signals. */
const NOT_OF_PROGRAMS: readonly SettingName[] = ['confirmAbove', 'trial', 'yes', 'worker', 'stopGraceMs'];

/** Settings that an option of a program can set, by the option's name. */
export const PROGRAM_OPTIONS = new Map(
  settingsOf('run').flatMap(([name, line]) => {
    const isOption = GROUPS.includes(line.group) ? !NOT_OF_PROGRAMS.includes(name) : name === 'caFile';
    return isOption && line.isInFile && line.key !== null ? [[line.key, line] as const] : [];
  }),
);

export interface ProgramOptions extends Readonly<Record<string, unknown>> {
  readonly token?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Options win over `env`. Without `env` only the folder of the state and the certificates that Node
 * trusts are taken from the environment. `flags`: where the results of a file go.
 */
export function loadOptions(
  { token, env, ...options }: ProgramOptions,
  flags: Readonly<Partial<Record<'output' | 'errors' | 'report', string | undefined>>> = {},
): Settings {
  const values = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const unknown = Object.keys(values).filter((key) => !PROGRAM_OPTIONS.has(key));
  throwProblems(
    unknown.map((key) => {
      const todo = didYouMean(nearest(key, [...PROGRAM_OPTIONS.keys()]), 'see the table in the README');
      return usageProblem('no such option', key, todo);
    }),
  );
  const { XDG_STATE_HOME, NODE_EXTRA_CA_CERTS } = process.env;
  // Node itself reads the second: `caFile` adds to it.
  const surroundings = { ...(env ?? { XDG_STATE_HOME, NODE_EXTRA_CA_CERTS }) };
  const outdone = Object.keys(values).flatMap((key) => {
    const line = PROGRAM_OPTIONS.get(key);
    return [line?.env, ...(line?.envAliases ?? []).map(({ name }) => name)];
  });
  if (token !== undefined || 'tokenFile' in values) outdone.push('BRAND_API_TOKEN', 'BRAND_API_TOKEN_FILE');
  for (const name of outdone) if (name) delete surroundings[name];
  if (token !== undefined) surroundings.BRAND_API_TOKEN = token;
  const file = { path: 'the options', values };
  const isRoot = process.getuid?.() === 0;
  return loadSettings({ command: 'run', flags, env: surroundings, file, home: homedir(), isRoot }).settings;
}
