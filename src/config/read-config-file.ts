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
  let text: string;
  try {
    text = readPlainFileSync(path);
  } catch (error) {
    if (named === undefined && error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return null;
    throw new NeverStartError({
      code: 'usage-invalid',
      what: 'the config file cannot be read',
      subject: `${path} (${systemWords(error)})`,
      todo: 'name one that can be read with --config, or leave it out',
      cause: error,
    });
  }
  return parseConfigFile(path, text);
}

/**
 * What the text of a config file says. Throws `NeverStartError` (`usage-invalid`) when it is not a
 * JSON object.
 */
export function parseConfigFile(path: string, text: string): ConfigFile {
  return { path, values: parseObject(path, text) };
}

function parseObject(path: string, text: string): Record<string, unknown> {
  const json = text.replace(/^\uFEFF/, '');
  const fault = findJsonFault(json);
  if (fault !== null) {
    throw new NeverStartError({
      code: 'usage-invalid',
      what: `the config file is not JSON from line ${fault.line}, column ${fault.column} on`,
      subject: path,
      todo: 'look there for a missing or extra comma, quote or bracket, or for a comment',
    });
  }
  const parsed: unknown = JSON.parse(json);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new NeverStartError({
      code: 'usage-invalid',
      what: 'the config file is not a JSON object',
      subject: path,
      todo: 'write settings as {"concurrency": 32, "maxAge": "7d"}',
    });
  }
  return { ...parsed };
}

/**
 * One problem for each key that the table does not know or does not allow in a file. Values are
 * never shown.
 */
export function findUnknownKeys(file: ConfigFile): Problem[] {
  const allowed = SETTING_ENTRIES.flatMap(([, line]) =>
    line.isInFile && line.key !== null ? [line.key] : [],
  );
  const problems: Problem[] = [];
  for (const key of Object.keys(file.values)) {
    if (allowed.includes(key)) continue;
    const subject = `${key} in ${file.path}`;
    if (/^(api|access|auth)?_?-?(token|key)$/i.test(key)) {
      problems.push(
        usageProblem(
          'a token does not belong in the config file',
          subject,
          'put it in BRAND_API_TOKEN, or in a file of its own and name that as "tokenFile"',
        ),
      );
      continue;
    }
    const own = SETTING_ENTRIES.find(([, line]) => line.key === key)?.[1];
    problems.push(
      own === undefined
        ? usageProblem(
            'no such setting',
            subject,
            didYouMean(nearest(key, allowed), 'see the table in the README'),
          )
        : usageProblem('this setting belongs to one command', subject, `give it there with ${own.flag}`),
    );
  }
  return problems;
}

interface JsonFault {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

const TOKEN =
  /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/uy;
const BLANKS = /[ \t\r\n]*/y;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing';

/**
 * The first place at which the text cannot go on as it does; its end when something is missing
 * there. null: it is JSON.
 */
export function findJsonFault(text: string): JsonFault | null {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at += readAt(BLANKS, text, at).length;
    if (at >= text.length) return expected === 'nothing' ? null : placeOf(text, at);
    const token = readAt(TOKEN, text, at);
    const next: Expected | null = token === '' ? null : step(expected, token, open);
    if (next === null) return placeOf(text, at);
    expected = next;
    at += token.length;
  }
}

/** What may follow `token`; null when it is not what was expected. Keeps `open` up to date. */
function step(expected: Expected, token: string, open: ('{' | '[')[]): Expected | null {
  const afterValue = (): Expected => (open.length === 0 ? 'nothing' : ', or end');
  const isClosing =
    (token === '}' && open.at(-1) === '{' && (expected === 'key or }' || expected === ', or end')) ||
    (token === ']' && open.at(-1) === '[' && (expected === 'value or ]' || expected === ', or end'));
  if (isClosing) {
    open.pop();
    return afterValue();
  }
  switch (expected) {
    case 'key':
    case 'key or }':
      return token.startsWith('"') ? ':' : null;
    case ':':
      return token === ':' ? 'value' : null;
    case ', or end':
      if (token !== ',') return null;
      return open.at(-1) === '{' ? 'key' : 'value';
    case 'nothing':
      return null;
    default:
      if (token === '{' || token === '[') {
        open.push(token);
        return token === '{' ? 'key or }' : 'value or ]';
      }
      return '}],:'.includes(token) ? null : afterValue();
  }
}

function readAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function placeOf(text: string, at: number): JsonFault {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
