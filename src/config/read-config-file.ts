/**
 * The config file: where it is, what is in it, and which of its keys are unknown.
 * `load-settings.ts` reads the values, together with those of flags and environment.
 */
import { resolve } from 'node:path';
import { NeverStartError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { readPlainFileSync } from '../core/plain-file.js';
import { systemWords } from '../core/system-error.js';
import { didYouMean, type Problem, usageProblem } from './problems.js';
import { SETTING_ENTRIES } from './settings.js';

/** The file that is looked for in the working folder. */
const CONFIG_FILE_NAME = 'brand-enrich.config.json';

export interface ConfigFile {
  /** Absolute: relative paths among the values count from its folder. */
  readonly path: string;
  readonly values: Record<string, unknown>;
}

/** What can name the file: the parsed flags, the environment, the working folder. */
interface ConfigFilePlace {
  readonly flags: Record<string, unknown>;
  readonly env: Record<string, string | undefined>;
  readonly folder: string;
}

/**
 * Reads the file of `--config` or `BRAND_ENRICH_CONFIG`, else `brand-enrich.config.json` in the
 * folder, else null. Throws `NeverStartError` (`usage-invalid`) when a file that was named is not
 * there, or when it is not a JSON object.
 */
export function readConfigFile({ flags, env, folder }: ConfigFilePlace): ConfigFile | null {
  const named = flags.config ?? (env.BRAND_ENRICH_CONFIG || undefined);
  const path = resolve(folder, typeof named === 'string' ? named : CONFIG_FILE_NAME);
  try {
    return parseConfigFile(path, readPlainFileSync(path));
  } catch (error) {
    if (error instanceof NeverStartError) throw error;
    if (named === undefined && error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return null;
    throw unusable('the config file cannot be read', `${path} (${systemWords(error)})`, {
      todo: 'name one that can be read with --config, or leave it out',
      cause: error,
    });
  }
}

/**
 * What the text of a config file says. Throws `NeverStartError` (`usage-invalid`) when it is not a
 * JSON object.
 */
export function parseConfigFile(path: string, text: string): ConfigFile {
  const json = text.replace(/^\uFEFF/, '');
  let values: unknown;
  try {
    values = JSON.parse(json);
  } catch {
    const { line, column } = findJsonFault(json) ?? { line: 1, column: 1 };
    throw unusable(`the config file is not JSON from line ${line}, column ${column} on`, path, {
      todo: 'look there for a missing or extra comma, quote or bracket, or for a comment',
    });
  }
  if (typeof values === 'object' && values !== null && !Array.isArray(values))
    return { path, values: { ...values } };
  throw unusable('the config file is not a JSON object', path, {
    todo: 'write settings as {"concurrency": 32, "maxAge": "7d"}',
  });
}

function unusable(what: string, subject: string, rest: { todo: string; cause?: unknown }): NeverStartError {
  return new NeverStartError({ code: 'usage-invalid', what, subject, ...rest });
}

/**
 * One problem for each key that the table does not know or does not allow in a file. Values are
 * never shown.
 */
export function findUnknownKeys({ path, values }: ConfigFile): Problem[] {
  const allowed = SETTING_ENTRIES.flatMap(([, line]) => (line.isInFile ? (line.key ?? []) : []));
  const unknown = Object.keys(values).filter((key) => !allowed.includes(key));
  return unknown.map((key) => {
    const subject = `${key} in ${path}`;
    if (/^(api|access|auth)?_?-?(token|key)$/i.test(key)) {
      const todo = 'put it in BRAND_API_TOKEN, or in a file of its own and name that as "tokenFile"';
      return usageProblem('a token does not belong in the config file', subject, todo);
    }
    const own = SETTING_ENTRIES.find(([, line]) => line.key === key)?.[1];
    if (own !== undefined) {
      return usageProblem('this setting belongs to one command', subject, `give it there with ${own.flag}`);
    }
    const todo = didYouMean(nearest(key, allowed), 'see the table in the README');
    return usageProblem('no such setting', subject, todo);
  });
}

const BLANKS = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const OTHER_SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** What is nested deeper is reported as if it were wrong there: no config file is. */
const DEEPEST = 500;

/**
 * The first place at which the text cannot go on as it does; its end when something is missing
 * there. From 1, the column in UTF-16 units. null: it is JSON.
 */
export function findJsonFault(text: string): { line: number; column: number } | null {
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const takeToken = (pattern: RegExp) => take(BLANKS) && take(pattern);
  const takeItems = (close: RegExp, takeItem: () => boolean): boolean => {
    if (takeToken(close)) return true;
    do if (!takeItem()) return false;
    while (takeToken(/,/y));
    return takeToken(close);
  };
  const takeValue = (depth: number): boolean => {
    if (depth > DEEPEST) return false;
    const takeMember = () => takeToken(STRING) && takeToken(/:/y) && takeValue(depth + 1);
    if (takeToken(/\{/y)) return takeItems(/\}/y, takeMember);
    if (takeToken(/\[/y)) return takeItems(/\]/y, () => takeValue(depth + 1));
    return takeToken(STRING) || takeToken(OTHER_SCALAR);
  };
  if (takeValue(0) && takeToken(/$/y)) return null;
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
