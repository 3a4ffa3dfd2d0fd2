/**
 * Whether a program reads our standard output, judged from what is known when something went wrong: perhaps nothing
 * but the words of the command line. What it is told then is `doors/failure-text.ts`'s.
 */
import type { ConfigFile } from './read-config-file.js';
import { SETTINGS, type Settings } from './settings.js';

export interface JsonClues {
  readonly argv: readonly string[];
  readonly env: Record<string, string | undefined>;
  /** null: none, or it was not read yet. */
  readonly file: ConfigFile | null;
  /** null: they could not be read. */
  readonly settings: Pick<Settings, 'json'> | null;
}

/** `--json` by the usual precedence: flag, environment, config file. A word that only begins like the flag counts too. */
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
