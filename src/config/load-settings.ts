/**
 * From flags, environment and config file to settings, each with its origin. All problems are found
 * at once.
 *
 * Precedence: flag, environment (our own variable, then one of wider use), config file, default.
 * What is `undefined`, an empty variable, or null in the file counts as not given. Only the value
 * that wins is read, and only settings of the command are looked for. `setting-rules.ts` has the
 * rules between settings.
 */
import { dirname, resolve } from 'node:path';
import { nearest } from '../core/nearest.js';
import { maskAddress } from './address-values.js';
import type { Refusal } from './parse-value.js';
import { didYouMean, type Problem, quote, throwProblems, usageProblem } from './problems.js';
import { type ConfigFile, findUnknownKeys } from './read-config-file.js';
import { type CommandName, type Setting, splitText } from './setting.js';
import { applyRules } from './setting-rules.js';
import {
  type LoadedSettings,
  type Origin,
  type Origins,
  SETTING_ENTRIES,
  SETTINGS,
  type Settings,
} from './settings.js';

export interface SettingSources {
  /**
   * By key (the flag in camelCase), as `parseCommandLine` returns them; the library hands over the
   * same.
   */
  readonly flags: Record<string, unknown>;
  readonly env: Record<string, string | undefined>;
  readonly file: ConfigFile | null;
  readonly command: CommandName;
  /** The user's home folder, for the default of `--state`. */
  readonly home: string;
  /** Whether the user is root, whose home others cannot enter. Default false. */
  readonly isRoot?: boolean;
}

/** Where a value was found, and what messages call the place. */
interface Said {
  readonly origin: Origin;
  readonly place: string;
  readonly value: unknown;
}

/**
 * Finds every setting of the command. Throws one `NeverStartError` that lists every problem; its
 * code is that of the problem when there is one, else `usage-invalid`. Secrets are in no message.
 */
export function loadSettings(sources: SettingSources): LoadedSettings {
  const { loaded, problems } = findSettings(sources);
  throwProblems(problems);
  return loaded;
}

/**
 * The same for a caller with further problems to list. `loaded` is meaningless when there are
 * problems.
 */
export function findSettings(sources: SettingSources): { loaded: LoadedSettings; problems: Problem[] } {
  const problems: Problem[] = sources.file === null ? [] : findUnknownKeys(sources.file);
  problems.push(...findMisspeltVariables(sources.env));
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  const unread = new Set<string>();
  for (const [name, line] of SETTING_ENTRIES) {
    values[name] = line.fallback(sources);
    origins[name] = 'default';
    const said = line.commands.includes(sources.command) ? findSaid(line, sources) : null;
    if (said === null) continue;
    const texts = toTexts(line, said.value);
    const parsed = texts === null ? null : line.kind.parse(texts);
    if (parsed?.ok) {
      values[name] = said.origin === 'file' ? fromFileFolder(line, parsed.value, sources.file) : parsed.value;
      origins[name] = said.origin;
    } else {
      unread.add(name);
      const refusal: Refusal = parsed?.refusal ?? {
        expected: 'a text, a number or true or false',
        write: 'it as one',
      };
      const what = `${shownValue(line, texts, said.value)} is not ${refusal.expected}`;
      problems.push(
        usageProblem(what, said.place, didYouMean(refusal.nearest, `write ${howTo(line, refusal)}`)),
      );
    }
  }
  // The loop has set every name of the table from its own line, which is what the type says.
  const found = { settings: values as unknown as Settings, origins: origins as Origins };
  const ruled = applyRules({ ...found, command: sources.command, isUnread: (name) => unread.has(name) });
  return { loaded: ruled.loaded, problems: [...problems, ...ruled.problems] };
}

/** With the setting's default as the example, if it is one. */
function howTo({ example }: Setting<unknown>, refusal: Refusal): string {
  return refusal.example === undefined
    ? refusal.write
    : `${refusal.write}, for example ${example ?? refusal.example}`;
}

function findSaid(line: Setting<unknown>, { flags, env, file }: SettingSources): Said | null {
  const flag = line.key === null ? undefined : flags[line.key];
  if (flag !== undefined) return { origin: 'flag', place: line.flag ?? '', value: flag };
  if (line.env !== null && env[line.env])
    return { origin: 'environment', place: line.env, value: env[line.env] };
  const alias = line.envAlias;
  if (alias !== null && env[alias.name]) {
    return { origin: 'environment', place: alias.name, value: alias.meaning ?? env[alias.name] };
  }
  const written = line.isInFile && line.key !== null ? file?.values[line.key] : undefined;
  if (written === undefined || written === null) return null;
  return { origin: 'file', place: `${line.key} in ${file?.path}`, value: written };
}

/** The value as the texts its kind reads; null when it cannot be one. */
function toTexts(line: Setting<unknown>, value: unknown): readonly string[] | null {
  if (Array.isArray(value)) {
    const takesSeveral = line.kind.arity === 'list' || line.kind.arity === 'repeated';
    const texts = value.map(scalarText);
    return takesSeveral && texts.every((text) => text !== null) ? texts : null;
  }
  const text = scalarText(value);
  return text === null ? null : splitText(line.kind, text);
}

function scalarText(value: unknown): string | null {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null;
}

function shownValue(line: Setting<unknown>, texts: readonly string[] | null, value: unknown): string {
  if (line.secrecy === 'secret' || line.secrecy === 'origin') return 'what it holds (not shown)';
  if (texts === null) return Array.isArray(value) ? 'the list' : 'the value';
  return quote(line.secrecy === 'address' ? maskAddress(texts.join(',')) : texts.join(','));
}

function fromFileFolder(line: Setting<unknown>, value: unknown, file: ConfigFile | null): unknown {
  if (!line.kind.isPath || file === null) return value;
  const absolute = (path: unknown) => (typeof path === 'string' ? resolve(dirname(file.path), path) : path);
  return Array.isArray(value) ? value.map(absolute) : absolute(value);
}

/**
 * A misspelt `BRAND_ENRICH_QUOTA` would silently lift a limit, so names close to a known one are
 * refused. Other names are ignored: other programs may use the same prefix.
 */
function findMisspeltVariables(env: Record<string, string | undefined>): Problem[] {
  const known = SETTING_ENTRIES.flatMap(([, line]) => (line.env === null ? [] : [line.env]));
  const problems: Problem[] = [];
  for (const name of Object.keys(env)) {
    const prefix = /^BRAND_(ENRICH|API)_/.exec(name)?.[0];
    if (prefix === undefined || known.includes(name) || !env[name]) continue;
    const others = known.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
    const meant = nearest(name.slice(prefix.length), others);
    if (meant !== undefined) {
      problems.push(usageProblem('no such setting', name, didYouMean(prefix + meant, '')));
    }
  }
  return problems;
}

export interface JsonClues {
  readonly argv: readonly string[];
  readonly env: Record<string, string | undefined>;
  /** null: none, or it was not read yet. */
  readonly file: ConfigFile | null;
  /** null: they could not be read. */
  readonly settings: Pick<Settings, 'json'> | null;
}

/**
 * `--json` by the usual precedence: flag, environment, config file. A word that only begins like
 * the flag counts too.
 */
export function wantsJson({ argv, env, file, settings }: JsonClues): boolean {
  if (settings !== null) return settings.json;
  const { flag, env: variable, key, kind } = SETTINGS.json;
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const isFlag = (word: string, name: string) => word === name || word.startsWith(`${name}=`);
  if (words.some((word) => isFlag(word, flag ?? ''))) return true;
  const said =
    (variable === null ? undefined : env[variable]) || (key === null ? undefined : file?.values[key]);
  const parsed = kind.parse([String(said)]);
  return parsed.ok && parsed.value;
}
