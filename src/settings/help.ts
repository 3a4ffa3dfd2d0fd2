/** Writes the texts of `--help` from the tables of commands and settings. */
import { EXIT, type ExitCode } from '../core/errors.js';
import { wrapWords } from '../core/terminal-text.js';
import { EXAMPLE_SERVICE } from './address-values.js';
import { COMMAND_FAMILIES, COMMANDS } from './commands.js';
import {
  COMMAND_NAMES,
  type CommandName,
  flagUsage,
  SETTING_GROUPS,
  type Setting,
  wordsAfter,
} from './setting.js';
import { type SettingName, settingsOf } from './settings.js';

/** Wide enough for the table of flags, narrow enough for most terminals. */
const HELP_WIDTH = 110;
/** With more flags than this, help shows the main ones on one screen, and `--help all` the rest. */
const MANY_FLAGS = 20;

const EXAMPLES_OF_SHORT = 3;

const HELP_FLAG = ['-h, --help', 'show help'] as const;
const SETTINGS_NOTE = [
  'Precedence: flags, then BRAND_ENRICH_… variables, then brand-enrich.config.json, then defaults.',
  'To turn off a switch that the file or environment sets, use its opposite: --no-refresh, --color.',
];

/** Environment variables to set before the first command, and the setting of each. */
const ENVIRONMENT: readonly (readonly [SettingName, string, string])[] = [
  ['baseUrl', 'BRAND_API_URL', `address of the service, for example ${EXAMPLE_SERVICE.baseUrl}`],
  ['token', 'BRAND_API_TOKEN', 'token of the service; no flag, because others can see command lines'],
  ['engine', 'REDIS_URL', 'a Redis as engine, where --engine names none'],
  ['engine', 'DATABASE_URL', 'a PostgreSQL (postgres://) as engine, where neither of both names one'],
];

/** What each exit code of a run means; the manual has the same text. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [
    EXIT.done,
    'every row has its answer (--strict: 1 if rows are invalid or nothing matched), you declined, ' +
      'or a trial ended',
  ],
  [EXIT.someFailed, 'finished, some rows failed'],
  [EXIT.usage, 'wrong usage or settings: nothing was started'],
  [EXIT.tooManyErrors, 'stopped: more errors than --max-errors allows'],
  [EXIT.credentials, 'the service refused the credentials'],
  [EXIT.ioError, "a problem with input, output, engine or the service's address"],
  [EXIT.limit, 'stopped by quota, budget or a pause, run again to continue, or held for a person'],
  [EXIT.interrupted, 'interrupted; run again to continue'],
];

type Entry = readonly [term: string, text: string];

/** Returns the help for a command, a family (`ledger`) or the program; `isWhole` has every flag. */
export function helpText(topic: string | null, isWhole = false): string {
  const command = COMMAND_NAMES.find((name) => name === topic);
  const sections = command === undefined ? listOfCommands(topic) : helpOfCommand(command, isWhole);
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** Lists the members of a family, or for null all commands, with one entry for each family. */
function listOfCommands(family: string | null): string[][] {
  const options: Entry[] = [
    HELP_FLAG,
    ...(family === null ? [['-v, --version', 'the version'] as const] : []),
  ];
  const entries = wordsAfter(family).map(({ word, command, summary }): Entry => {
    return [`${word} ${command === null ? '' : argumentOf(command)}`.trim(), summary ?? ''];
  });
  const summary =
    family === null
      ? 'Enrich a file of identifiers with brands: every row comes back, nothing is paid twice, the ' +
        'budget holds.'
      : (COMMAND_FAMILIES[family] ?? '');
  const usage = ['brand-enrich', family, 'COMMAND [flags]'].filter((word) => word !== null);
  const more = ['brand-enrich', family, 'COMMAND --help'].filter((word) => word !== null);
  const width = widthOf([...entries, ...options]);
  return [
    [`Usage: ${usage.join(' ')}`],
    [summary],
    section('Commands', entries, width),
    section('Flags', options, width),
    [`\`${more.join(' ')}\` shows flags, examples and exit codes of a command.`],
  ];
}

function argumentOf(command: CommandName): string {
  const { argument } = COMMANDS[command];
  if (argument === undefined) return '';
  const word = argument.isRepeated ? `${argument.name}...` : argument.name;
  return argument.isOptional ? `[${word}]` : word;
}

function helpOfCommand(command: CommandName, isWhole: boolean): string[][] {
  const { argument, summary, notes = [], examples } = COMMANDS[command];
  const lines = settingsOf(command).map(([, line]) => line);
  const hasMain = lines.length > MANY_FLAGS && command !== 'config';
  const isShort = hasMain && !isWhole;
  const groups = SETTING_GROUPS.map((group) => {
    const shown = lines.filter((line) => line.group === group && !(hasMain && line.mainOf.includes(command)));
    // `config` takes the flags of all commands: too many to list.
    return [group, command === 'config' && group !== SETTING_GROUPS.at(-1) ? [] : shown] as const;
  });
  const tables: [string, Entry[]][] = [
    ['Arguments', argument === undefined ? [] : [[argument.name, argument.description]]],
    ['Main flags', entriesOf(hasMain ? lines.filter((line) => line.mainOf.includes(command)) : [])],
    ...(isShort ? [] : groups).map(([group, shown]): [string, Entry[]] => [group, entriesOf(shown)]),
  ];
  tables.at(-1)?.[1].push(HELP_FLAG);
  const names = settingsOf(command).map(([name]) => name);
  const variables = names.includes('baseUrl') ? ENVIRONMENT.filter(([name]) => names.includes(name)) : [];
  tables.push(['Environment', variables.map(([, ...entry]) => entry)]);
  const width = widthOf(tables.flatMap(([, entries]) => entries));
  return [
    [
      ['Usage: brand-enrich', command, argumentOf(command), '[flags]']
        .filter((word) => word !== '')
        .join(' '),
    ],
    [summary],
    [
      'Examples:',
      ...Object.entries(examples)
        .slice(0, isShort ? EXAMPLES_OF_SHORT : undefined)
        .flatMap(([line, does]) => [`  # ${does}`, `  brand-enrich ${line}`]),
    ],
    ...tables.map(([heading, entries]) => section(heading, entries, width)),
    ...(isShort
      ? [[`\`brand-enrich ${command} --help all\` has every flag, and what the exit codes mean.`]]
      : [[...notes], ['Exit codes:', ...exitsOf(command)], SETTINGS_NOTE]),
  ];
}

function exitsOf(command: CommandName): string[] {
  const { exits = {} } = COMMANDS[command];
  const common = {
    [EXIT.done]: 'done',
    [EXIT.usage]: 'wrong usage or settings: nothing was started',
    [EXIT.ioError]: 'a problem with files, engine or network',
  };
  const own = exits === 'of a run' ? Object.fromEntries(EXIT_MEANINGS) : exits;
  const meanings: Readonly<Record<number, string>> = { ...common, ...own };
  const codes = Object.values(EXIT).filter((code) => meanings[code] !== undefined);
  return codes.map((code) => `  ${String(code).padEnd(4)} ${meanings[code]}`);
}

function entriesOf(lines: readonly Setting<unknown>[]): Entry[] {
  return lines.flatMap((line) => {
    const { description, defaultText } = line;
    const usage = flagUsage(line);
    return usage === null
      ? []
      : [[usage, defaultText === '' ? description : `${description} (default: ${defaultText})`] as const];
  });
}

function widthOf(entries: readonly Entry[]): number {
  return Math.max(...entries.map(([term]) => term.length));
}

/** Returns a heading and two columns, the second wrapped; no lines without entries. */
function section(heading: string, entries: readonly Entry[], width: number): string[] {
  if (entries.length === 0) return [];
  const indent = ' '.repeat(width + 4);
  const rows = entries.flatMap(([term, text]) => {
    const [first = '', ...others] = wrapWords(text, HELP_WIDTH - indent.length);
    return [`  ${term.padEnd(width)}  ${first}`, ...others.map((line) => indent + line)];
  });
  return [`${heading}:`, ...rows];
}
