/** Loads settings from flag, environment, config file or default; reads only the one that wins. */
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { ConfigError, type Problem, throwProblems, usageProblem } from '../core/errors.js';
import { findJsonFault, withoutComments } from '../core/json-text.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { type Phrase, phrase } from '../core/phrase.js';
import { readPlainFileSync } from '../core/plain-file.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import { maskAddress } from './address-values.js';
import { quote, Refusal } from './parse-value.js';
import {
  type CommandName,
  type Setting,
  type SettingGroup,
  type Surroundings,
  splitText,
} from './setting.js';
import { applyRules } from './setting-rules.js';
import {
  type LoadedSettings,
  type Origin,
  type Origins,
  SETTING_ENTRIES,
  SETTINGS,
  type SettingName,
  type Settings,
  settingsOf,
} from './settings.js';

/** The config file's name in the working folder; `--config` names another file. */
export const CONFIG_FILE = 'brand-enrich.config.json';

export interface ConfigFile {
  /** Absolute. Relative paths in the file start at its folder. */
  readonly path: string;
  readonly values: Record<string, unknown>;
}

/**
 * Reads the named config file, else the one in the working folder; null if there is none. Throws
 * `ConfigError` for a named file that is missing, an unnamed one of another user, and bad JSON.
 */
export function readConfigFile({
  flags,
  env,
  folder,
}: Pick<SettingSources, 'flags' | 'env'> & { readonly folder: string }): ConfigFile | null {
  const namedPath = flags.config ?? (env.BRAND_ENRICH_CONFIG || undefined);
  const path = resolve(folder, typeof namedPath === 'string' ? namedPath : CONFIG_FILE);
  try {
    // The file decides where the token goes, and others may be able to write to the folder.
    return parseConfigFile(path, readPlainFileSync(path, { isFound: namedPath === undefined }));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (namedPath === undefined && isErrorCode(error, 'ENOENT')) return null;
    throw unusable('the config file cannot be read', `${path} (${systemWords(error)})`, {
      todo:
        namedPath === undefined
          ? phrase`name it with ${{ setting: 'config' }} if you trust it, or work in another folder`
          : phrase`name a readable file with ${{ setting: 'config' }}, or omit it`,
      cause: error,
    });
  }
}

/** Reads the text of a config file, which may have comments. Throws `ConfigError` for bad JSON. */
export function parseConfigFile(path: string, text: string): ConfigFile {
  const json = withoutComments(text.replace(/^\uFEFF/, ''));
  let values: unknown;
  try {
    values = JSON.parse(json);
  } catch {
    const { line, column } = findJsonFault(json) ?? { line: 1, column: 1 };
    throw unusable(`the config file is not valid JSON at line ${line}, column ${column}`, path, {
      todo: 'look there for a missing or extra comma, quote or bracket',
    });
  }
  if (typeof values === 'object' && values !== null && !Array.isArray(values))
    return { path, values: { ...values } };
  throw unusable('the config file is not a JSON object', path, {
    todo: 'write settings as {"concurrency": 32, "maxAge": "7d"}',
  });
}

function unusable(what: string, subject: string, rest: { todo: Phrase; cause?: unknown }): ConfigError {
  return new ConfigError({ code: 'usage-invalid', what, subject, ...rest });
}

/** Keys that are no settings: for `src/jobs/schedules/file-schedules.ts`, and for editors. */
export const SCHEDULES_KEY = 'schedules';
export const SCHEMA_KEY = '$schema';

/** Returns a problem for each key that is unknown or not allowed in a file. Shows no values. */
function findUnknownKeys({ path, values }: ConfigFile): Problem[] {
  const settings = SETTING_ENTRIES.flatMap(([, line]) => (line.isInFile ? (line.key ?? []) : []));
  const allowed = [...settings, SCHEDULES_KEY, SCHEMA_KEY];
  const unknownKeys = Object.keys(values).filter((key) => !allowed.includes(key));
  return unknownKeys.map((key) => {
    const subject = `${key} in ${path}`;
    if (/^(api|access|auth)?_?-?(token|key)$/i.test(key)) {
      const todo = 'set BRAND_API_TOKEN, or put it into a separate file and set "tokenFile"';
      return usageProblem('a token does not belong in the config file', subject, todo);
    }
    const own = SETTING_ENTRIES.find(([, line]) => line.key === key)?.[1];
    if (own !== undefined)
      return usageProblem('this setting is available only as a flag', subject, `use ${own.flag}`);
    const todo = didYouMean(nearest(key, allowed), 'see .github/manual/settings.md');
    return usageProblem('no such setting', subject, todo);
  });
}

export interface SettingSources extends Surroundings {
  /** By key, as `parseCommandLine` returns them. */
  readonly flags: Record<string, unknown>;
  readonly file: ConfigFile | null;
  readonly command: CommandName;
}

interface Given {
  readonly origin: Origin;
  readonly place: string;
  readonly value: unknown;
}

/** Loads the settings of a command. Throws one `ConfigError` with every problem. */
export function loadSettings(sources: SettingSources): LoadedSettings {
  const { loaded, problems } = findSettings(sources);
  throwProblems(problems);
  return loaded;
}

/** Loads settings for a caller with problems of its own; with any, `loaded` has no meaning. */
export function findSettings(sources: SettingSources): { loaded: LoadedSettings; problems: Problem[] } {
  const { env, file, command } = sources;
  const problems = [...(file === null ? [] : findUnknownKeys(file)), ...findMisspeltVariables(env)];
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  const unreadNames = new Set<SettingName>();
  for (const [name, line] of SETTING_ENTRIES) {
    const given = line.commands.includes(command) ? findGiven(line, sources) : null;
    const value = given === null ? line.fallback(sources) : readGiven(line, given, file);
    const isRefused = value instanceof Refusal;
    values[name] = isRefused ? line.fallback(sources) : value;
    origins[name] = given === null || isRefused ? 'default' : given.origin;
    if (given === null || !isRefused) continue;
    unreadNames.add(name);
    const what = `${shownValue(line, given.value)} is not ${value.expected}`;
    // The default is the best example, if it shows how to write a value.
    const example = value.example === undefined ? '' : `, for example ${line.example ?? value.example}`;
    const todo = didYouMean(value.nearest, `write ${value.write}${example}`);
    problems.push(usageProblem(what, given.place, todo));
  }
  // The loop has set every name of the type.
  const parsed = { settings: values as unknown as Settings, origins: origins as Origins };
  const checked = applyRules({ ...parsed, command, isUnread: (name) => unreadNames.has(name) });
  return { loaded: checked.loaded, problems: [...problems, ...checked.problems] };
}

function findGiven(
  line: Setting<unknown>,
  { flags, env, file }: Omit<SettingSources, 'command' | 'home'>,
): Given | null {
  const { key, env: own, envAliases } = line;
  const flag = key === null ? undefined : flags[key];
  if (flag !== undefined) return { origin: 'flag', place: line.flag ?? '', value: flag };
  const variables = [...(own === null ? [] : [{ name: own }]), ...envAliases];
  const variable = variables.find(({ name, form = /./ }) => form.test(env[name] ?? ''));
  if (variable !== undefined) {
    const { name, meaning = env[name] } = variable;
    return { origin: 'environment', place: name, value: meaning };
  }
  const written = line.isInFile && key !== null ? (file?.values[key] ?? null) : null;
  return written === null ? null : { origin: 'file', place: `${key} in ${file?.path}`, value: written };
}

function readGiven(line: Setting<unknown>, { origin, value }: Given, file: ConfigFile | null): unknown {
  const texts = toTexts(line, value);
  if (texts === null) return new Refusal('a string, number or boolean', 'a string, number or boolean');
  const parsed = line.kind.parse(texts);
  if (origin !== 'file' || file === null || !line.kind.isPath || parsed instanceof Refusal) return parsed;
  const absolute = (path: unknown) => (typeof path === 'string' ? resolve(dirname(file.path), path) : path);
  return Array.isArray(parsed) ? parsed.map(absolute) : absolute(parsed);
}

/** Returns a value as the texts that its kind reads; null for other types. */
function toTexts({ kind }: Setting<unknown>, value: unknown): readonly string[] | null {
  const isScalar = (each: unknown) => ['string', 'number', 'boolean'].includes(typeof each);
  if (!Array.isArray(value)) return isScalar(value) ? splitText(kind, String(value)) : null;
  const takesSeveral = kind.arity === 'list' || kind.arity === 'repeated';
  return takesSeveral && value.every(isScalar) ? value.map(String) : null;
}

function shownValue(line: Setting<unknown>, value: unknown): string {
  if (line.secrecy === 'secret' || line.secrecy === 'origin') return 'its value (not shown)';
  const text = toTexts(line, value)?.join(',');
  if (text === undefined) return Array.isArray(value) ? 'the list' : 'the value';
  return quote(line.secrecy === 'address' ? maskAddress(text) : text);
}

/** Refuses near misses, since a misspelt `BRAND_ENRICH_QUOTA` would lift a limit, but no others. */
function findMisspeltVariables(env: Surroundings['env']): Problem[] {
  const names = SETTING_ENTRIES.flatMap(([, line]) => line.env ?? []);
  return Object.keys(env).flatMap((name) => {
    const prefix = /^BRAND_(ENRICH|API)_/.exec(name)?.[0];
    if (prefix === undefined || names.includes(name) || !env[name]) return [];
    const others = names.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
    const meant = nearest(name.slice(prefix.length), others);
    return meant === undefined ? [] : usageProblem('no such setting', name, didYouMean(prefix + meant, ''));
  });
}

/** Returns `--json` by the usual precedence; `settings` is null if they could not be read. */
export function wantsJson({
  argv,
  env,
  file,
  settings,
}: Pick<SettingSources, 'env' | 'file'> & {
  readonly argv: readonly string[];
  readonly settings: Pick<Settings, 'json'> | null;
}): boolean {
  if (settings !== null) return settings.json;
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  if (words.some((word) => word === '--json' || word.startsWith('--json='))) return true;
  const given = findGiven(SETTINGS.json, { flags: {}, env, file });
  return given !== null && readGiven(SETTINGS.json, given, file) === true;
}

const GROUPS = new Set<SettingGroup>(['Input', 'Columns', 'Service', 'Money', 'Limits', 'Output', 'Engine']);
/** A program cannot ask a person, does its own lookups and handles its own signals. */
const NOT_OF_PROGRAMS: readonly SettingName[] = ['confirmAbove', 'trial', 'yes', 'worker', 'stopGraceMs'];

/** Settings that a program can set, by the name of the option. */
export const PROGRAM_OPTIONS = new Map(
  settingsOf('run').flatMap(([name, line]) => {
    const isTls = name === 'caFile' || name === 'clientCert';
    const isOption = GROUPS.has(line.group) ? !NOT_OF_PROGRAMS.includes(name) : isTls;
    return isOption && line.isInFile && line.key !== null ? [[line.key, line] as const] : [];
  }),
);

export interface ProgramOptions extends Readonly<Record<string, unknown>> {
  readonly token?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Loads the settings of a program, whose options win over `env`. `flags` name the results of a
 * file.
 */
export function loadOptions(
  { token, env, ...options }: ProgramOptions,
  flags: Readonly<Partial<Record<'output' | 'errors' | 'report', string | undefined>>> = {},
): Settings {
  const values = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  assertOptions(values, [...PROGRAM_OPTIONS.keys()]);
  const surroundings = { ...env };
  const hidden = Object.keys(values).flatMap((key) => {
    const line = PROGRAM_OPTIONS.get(key);
    return [line?.env, ...(line?.envAliases ?? []).map(({ name }) => name)];
  });
  if (token !== undefined || 'tokenFile' in values) hidden.push('BRAND_API_TOKEN', 'BRAND_API_TOKEN_FILE');
  for (const name of hidden) if (name) delete surroundings[name];
  if (token !== undefined) surroundings.BRAND_API_TOKEN = token;
  const file = { path: 'the options', values };
  const isRoot = process.getuid?.() === 0;
  return loadSettings({ command: 'run', flags, env: surroundings, file, home: homedir(), isRoot }).settings;
}

/** Throws a `ConfigError` that names the options that are not `known`. */
export function assertOptions(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).filter((key) => !known.includes(key));
  throwProblems(
    unknown.map((key) => {
      const todo = didYouMean(nearest(key, known), 'see .github/manual/the-library.md');
      return usageProblem('no such option', key, todo);
    }),
  );
}
