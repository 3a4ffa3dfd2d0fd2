/**
 * One line of the table of settings. The lines are in the `*-settings.ts` files; `settings.ts` has
 * the table.
 */
import type { ValueKind } from './parse-value.js';

export const COMMAND_NAMES = [
  'run',
  'plan',
  'watch',
  'up',
  'worker',
  'serve',
  'generate-catalogue',
  'status',
  'pause',
  'resume',
  'cancel',
  'ledger show',
  'ledger observe',
  'ledger reset',
  'outcomes stats',
  'outcomes forget',
  'outcomes purge',
  'engine status',
  'engine stop',
  'engine export',
  'engine import',
  'schedule add',
  'schedule list',
  'schedule remove',
  'schedule run-now',
  'schedule serve',
  'config',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** Headings of `--help`, in the order in which they are shown. */
export const SETTING_GROUPS = [
  'Input',
  'Columns',
  'Service',
  'Local service',
  'Limits and money',
  'Output',
  'Inbox',
  'Schedules',
  'Notifications',
  'Engine',
  'Account and answers',
  'Behaviour',
] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

/** What a default may depend on that is not a setting. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder. */
  readonly home: string;
  /** Whether the user is root. Default false. */
  readonly isRoot?: boolean;
}

/**
 * `secret`: never shown. `address`: shown without credentials and query. `origin`: shown up to the
 * host. `token path`: shown unless it looks like a token.
 */
type Secrecy = 'open' | 'address' | 'origin' | 'token path' | 'secret';

/** An environment variable of wider use that is honoured after our own. */
interface EnvAlias {
  readonly name: string;
  /** What any non-empty value of it means; absent: the value itself. */
  readonly meaning?: string;
}

interface SettingLine<T> {
  /** The long flag; `--no-x` for a switch that is on by default. null: there is no flag. */
  readonly flag: `--${string}` | null;
  readonly short?: `-${string}`;
  /**
   * Environment variable; by default made of the flag: `--max-age` is `BRAND_ENRICH_MAX_AGE`. null:
   * none.
   */
  readonly env?: string | null;
  readonly envAlias?: EnvAlias;
  /** Whether the config file may hold it. Default true where there is a flag. */
  readonly isInFile?: boolean;
  readonly kind: ValueKind<T>;
  readonly group: SettingGroup;
  readonly commands: readonly CommandName[];
  /** One line for `--help` and the README, without a full stop. */
  readonly description: string;
  readonly secrecy?: Secrecy;
  /** In place of the default's text, where the default is not a value: `detected`. */
  readonly defaultNote?: string;
}

export interface Setting<T> {
  readonly flag: string | null;
  readonly short: string | null;
  readonly env: string | null;
  readonly envAlias: EnvAlias | null;
  /**
   * Its name among the parsed flags and in the config file: the flag in camelCase. null: there is
   * no flag.
   */
  readonly key: string | null;
  readonly isInFile: boolean;
  readonly kind: ValueKind<T>;
  readonly group: SettingGroup;
  readonly commands: readonly CommandName[];
  readonly description: string;
  readonly secrecy: Secrecy;
  /** The value when none was given. */
  readonly fallback: (surroundings: Surroundings) => T;
  /** The default as people read it; empty when there is none. */
  readonly defaultText: string;
  /** The default where it shows how a value is written; null when it does not. */
  readonly example: string | null;
}

/**
 * A line whose default is written as a user would write it, so that value and documentation agree.
 */
export function setting<T>(line: SettingLine<T> & { readonly default: string }): Setting<T> {
  const parsed = line.kind.parse(splitText(line.kind, line.default));
  if (!parsed.ok) throw new Error(`the default of ${line.flag} is not ${parsed.refusal.expected}`);
  const written = line.kind.arity === 'switch' ? '' : line.default;
  return complete(line, () => parsed.value, written);
}

/** A line without a default: null when no value was given. */
export function optional<T>(line: SettingLine<T>): Setting<T | null> {
  return complete<T | null>(line, () => null, '');
}

/** A line whose default is not a value that a user could write, or depends on the surroundings. */
export function derived<T, U>(
  line: SettingLine<T> & { readonly fallback: (surroundings: Surroundings) => U },
): Setting<T | U> {
  return complete<T | U>(line, line.fallback, '');
}

function complete<T>(
  line: SettingLine<T>,
  fallback: Setting<T>['fallback'],
  defaultText: string,
): Setting<T> {
  const name = line.flag?.replace(/^--(no-)?/, '') ?? null;
  return {
    flag: line.flag,
    short: line.short ?? null,
    env: line.env === undefined ? envName(name) : line.env,
    envAlias: line.envAlias ?? null,
    key: name?.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) ?? null,
    isInFile: name !== null && line.isInFile !== false,
    kind: line.kind,
    group: line.group,
    commands: line.commands,
    description: line.description,
    secrecy: line.secrecy ?? 'open',
    fallback,
    defaultText: line.defaultNote ?? defaultText,
    // 0 mostly stands for "not at all".
    example: defaultText === '' || /^0[a-z]*$/.test(defaultText) ? null : defaultText,
  };
}

/**
 * One text as the texts that its kind reads: cut at commas where it takes several. The empty text
 * is no text.
 */
export function splitText(kind: ValueKind<unknown>, text: string): string[] {
  if (kind.arity === 'switch' || kind.arity === 'one') return [text];
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

function envName(flagName: string | null): string | null {
  return flagName === null ? null : `BRAND_ENRICH_${flagName.replaceAll('-', '_').toUpperCase()}`;
}

/** How the flag is written in usage lines: `-o, --output <FILE>`. null: there is no flag. */
export function flagUsage(line: Setting<unknown>): string | null {
  if (line.flag === null) return null;
  const short = line.short === null ? '' : `${line.short}, `;
  return `${short}${line.flag}${line.kind.placeholder === '' ? '' : ` <${line.kind.placeholder}>`}`;
}

/**
 * `--no-refresh` for `--refresh`, `--color` for `--no-color`; null for a flag that is not a switch.
 */
export function oppositeFlag(line: Setting<unknown>): string | null {
  if (line.flag === null || line.kind.arity !== 'switch') return null;
  return line.flag.startsWith('--no-') ? line.flag.replace('--no-', '--') : line.flag.replace('--', '--no-');
}
