/** A line of the table of settings, and how lines are written. */
import { COMMAND_FAMILIES, COMMANDS } from './commands.js';
import { Refusal, type ValueKind } from './parse-value.js';

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

/** Returns the first words of all commands, or those after a family. A family has no command. */
export function wordsAfter(family: string | null) {
  const start = family === null ? '' : `${family} `;
  const names = COMMAND_NAMES.filter((name) => name.startsWith(start));
  const words = new Set(names.map((name) => name.slice(start.length).split(' ', 1)[0] ?? ''));
  return [...words].map((word) => {
    const command = names.find((name) => name === start + word) ?? null;
    return { word, command, summary: command === null ? COMMAND_FAMILIES[word] : COMMANDS[command].summary };
  });
}

/** These print facts of the program and read no settings. */
const PLAIN: readonly CommandName[] = ['completion', 'schema'];
export const COMMANDS_WITH_SETTINGS = COMMAND_NAMES.filter((name) => !PLAIN.includes(name));

/** Commands that run files. */
export const RUNNING: readonly CommandName[] = ['run', 'watch', 'up', 'config'];
/** Commands that run files unattended. */
export const HOSTING: readonly CommandName[] = ['watch', 'up'];
/** Commands that may look up many identifiers. */
export const LOOKING_UP: readonly CommandName[] = ['run', 'watch', 'worker', 'schedule serve', 'up', 'mcp'];

/** Headings of `--help`, in this order. */
export const SETTING_GROUPS = [
  'Input',
  'Columns',
  'Output',
  'Money',
  'Limits',
  'Service',
  'Network',
  'Local service',
  'Inbox',
  'Schedules',
  'Account and answers',
  'Engine',
  'Dashboard',
  'Notifications',
  'Logging and monitoring',
] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

/** What a default may depend on besides settings. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly isRoot?: boolean;
}

type Fallback<T> = (surroundings: Surroundings) => T;

export interface Setting<T> {
  /** The long flag, `--no-x` for a switch that is on by default; null without a flag. */
  readonly flag: string | null;
  readonly short: string | null;
  readonly env: string | null;
  /** Variables of other programs. `meaning` replaces any value; `form` is that of values for us. */
  readonly envAliases: readonly {
    readonly name: string;
    readonly meaning?: string;
    readonly form?: RegExp;
  }[];
  /** Its name in parsed flags and the config file: the flag in camelCase. */
  readonly key: string | null;
  readonly isInFile: boolean;
  readonly kind: ValueKind<T>;
  readonly group: SettingGroup;
  /** Commands whose short help shows it, if they have many flags. */
  readonly mainOf: readonly CommandName[];
  readonly commands: readonly CommandName[];
  /** One line for `--help` and the manual, without a full stop. */
  readonly description: string;
  /** Messages hide a `secret`, credentials and query of an `address`, the path of an `origin`. */
  readonly secrecy: 'open' | 'address' | 'origin' | 'token path' | 'secret';
  readonly fallback: Fallback<T>;
  /** The default for display; empty without one. */
  readonly defaultText: string;
  /** The default, if it shows how to write a value; else null. */
  readonly example: string | null;
}

interface Details
  extends Partial<
    Pick<Setting<unknown>, 'commands' | 'short' | 'env' | 'envAliases' | 'isInFile' | 'secrecy'>
  > {
  /** Environment and file cannot set it. */
  readonly isFlagOnly?: boolean;
  /** Default: no command. */
  readonly mainOf?: readonly CommandName[];
  /** Shown in place of a default that is no value: `detected`. */
  readonly note?: string;
}

/** Begins a line of the table; a line without a flag names its variable. */
interface BeginLine {
  /** A switch: on by default if the flag is `--no-x`, else off. */
  (flag: string, kind: ValueKind<boolean> & { readonly arity: 'switch' }): Line<boolean>;
  <T, U = T>(flag: string | null, kind: ValueKind<T>, fallback: string | Fallback<U>): Line<T | U>;
  /** A setting without default, whose value is then null. */
  <T>(flag: string | null, kind: ValueKind<T>): Line<T | null>;
}

/** Completes a line: what the setting does, and its other details. */
interface Line<T> {
  describe(description: string, details?: Details): Setting<T>;
}

/** Returns a function for lines of a group, which `commands` have unless details name others. */
export function linesOf(group: SettingGroup, commands: readonly CommandName[], all: Details = {}): BeginLine {
  return <T>(flag: string | null, kind: ValueKind<T>, fallback?: string | Fallback<T>) => ({
    describe(description: string, own: Details = {}): Setting<T> {
      const details = { ...all, ...own };
      const isSwitch = kind.arity === 'switch';
      const fallbackText = typeof fallback === 'string' ? fallback : undefined;
      const written = isSwitch ? String(flag?.startsWith('--no-')) : fallbackText;
      const value = written === undefined ? null : kind.parse(splitText(kind, written));
      if (value instanceof Refusal) throw new Error(`the default of ${flag} is not ${value.expected}`);
      const shown = isSwitch ? '' : (written ?? '');
      const name = flag?.replace(/^--(no-)?/, '') ?? null;
      const variable = name && `BRAND_ENRICH_${name.replaceAll('-', '_').toUpperCase()}`;
      const { isFlagOnly = false, short = null, env = variable, envAliases = [], isInFile = true } = details;
      return {
        flag,
        short,
        env: isFlagOnly ? null : env,
        envAliases,
        key: name?.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) ?? null,
        isInFile: !isFlagOnly && name !== null && isInFile,
        kind,
        group,
        mainOf: withPlan(details.mainOf ?? []),
        commands: withPlan(details.commands ?? commands),
        description,
        secrecy: details.secrecy ?? 'open',
        fallback: typeof fallback === 'function' ? fallback : () => value as T,
        defaultText: details.note ?? shown,
        // 0 usually means "not at all".
        example: shown === '' || /^0[a-z]*$/.test(shown) ? null : shown,
      };
    },
  });
}

/** Adds `plan`, which takes every flag of `run`, so that people can swap the word. */
function withPlan(commands: readonly CommandName[]): readonly CommandName[] {
  if (!commands.includes('run') || commands.includes('plan')) return commands;
  return commands.flatMap((name): CommandName[] => (name === 'run' ? ['run', 'plan'] : [name]));
}

/** Splits a text at commas if its kind takes several. */
export function splitText({ arity }: ValueKind<unknown>, text: string): string[] {
  if (arity === 'switch' || arity === 'one') return [text];
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

/** Returns the flag as in usage lines, `-o, --output <FILE>`; null without a flag. */
export function flagUsage({ flag, short, kind }: Setting<unknown>): string | null {
  if (flag === null) return null;
  const value = kind.placeholder === '' ? '' : ` <${kind.placeholder}>`;
  return `${short === null ? '' : `${short}, `}${flag}${value}`;
}

/** Returns `--no-refresh` for `--refresh`, `--color` for `--no-color`; null if it is no switch. */
export function oppositeFlag({ flag, kind }: Setting<unknown>): string | null {
  if (flag === null || kind.arity !== 'switch') return null;
  return flag.startsWith('--no-') ? flag.replace('--no-', '--') : flag.replace('--', '--no-');
}
