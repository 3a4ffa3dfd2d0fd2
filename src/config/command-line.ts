/**
 * Reads the command line into a command, its arguments and its flags. Commander does the reading;
 * the commands and flags come from our tables, and `command-line-problems.ts` says what is wrong.
 * Values stay as they were written: `load-settings.ts` reads them. Touches neither the process nor
 * its streams.
 */
import { Command as Commander, CommanderError, Option } from 'commander';
import { EXIT, type ExitCode } from '../core/errors.js';
import { findCommandLineProblems } from './command-line-problems.js';
import { COMMAND_FAMILIES, COMMANDS, type Command, type CommandArgument } from './commands.js';
import { throwProblems, usageProblem } from './problems.js';
import {
  COMMAND_NAMES,
  type CommandName,
  flagUsage,
  oppositeFlag,
  SETTING_GROUPS,
  type Setting,
} from './setting.js';
import { settingsOf } from './settings.js';

/** Wide enough for the table of flags, narrow enough for most terminals. */
const HELP_WIDTH = 110;

type ParsedCommand =
  | {
      readonly command: CommandName;
      /** What stands in place of INPUT, RUN or IDENTIFIER…; as many as the command takes. */
      readonly args: readonly string[];
      /**
       * Only what was given, by key (the flag in camelCase): texts, lists of texts, true or false.
       */
      readonly flags: Record<string, unknown>;
    }
  | { readonly help: string }
  | { readonly version: string };

/**
 * Parses what follows the program's name. `version` is what `--version` answers. Throws one
 * `NeverStartError` (`usage-invalid`) that lists every unknown command, flag and missing part, with
 * the nearest right ones.
 */
export function parseCommandLine(argv: readonly string[], version: string): ParsedCommand {
  if (argv[0] === '--version' || argv[0] === '-V') return { version };
  const reading = createProgram();
  if (argv.length === 0) return { help: reading.program.helpInformation() };
  try {
    reading.program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { help: reading.shown.join('') };
    throwProblems(findCommandLineProblems(argv));
    throwProblems([usageProblem('not understood', argv[0] ?? '', 'see brand-enrich --help')]);
  }
  if (reading.result === null) throw new Error(`commander ran no command for ${argv.length} arguments`);
  return reading.result;
}

interface Reading {
  readonly program: Commander;
  /** What commander would have printed. */
  readonly shown: string[];
  result: ParsedCommand | null;
}

function createProgram(): Reading {
  const reading: Reading = { program: new Commander('brand-enrich'), shown: [], result: null };
  quieten(reading.program, reading);
  reading.program
    .description(
      'Enrich a file of identifiers with brands: every row comes back, nothing is paid twice, the budget holds.',
    )
    .option('-V, --version', 'the version')
    .helpOption('-h, --help', 'this text')
    .helpCommand('help [command]', 'the same as --help');
  const families = new Map<string, Commander>();
  for (const name of COMMAND_NAMES) {
    const [first = name, second] = name.split(' ');
    let parent = reading.program;
    if (second !== undefined) {
      parent = families.get(first) ?? parent.command(first).description(COMMAND_FAMILIES[first] ?? '');
      families.set(first, parent);
    }
    addCommand(parent.command(second ?? first), name, reading);
  }
  return reading;
}

function addCommand(commander: Commander, name: CommandName, reading: Reading): void {
  const command: Command = COMMANDS[name];
  commander.description(command.summary);
  if (command.argument !== undefined)
    commander.argument(argumentUsage(command.argument), command.argument.description);
  const shown = settingsForHelp(name);
  for (const group of SETTING_GROUPS) {
    for (const line of shown.filter((each) => each.group === group)) addFlag(commander, line, name);
  }
  commander.addHelpOption(new Option('-h, --help', 'this text').helpGroup('Behaviour:'));
  commander.addHelpText('after', helpEnding(command));
  commander.action(() => {
    const said = Object.entries(commander.opts()).filter(
      ([key]) => commander.getOptionValueSource(key) === 'cli',
    );
    reading.result = { command: name, args: commander.args, flags: Object.fromEntries(said) };
  });
}

function addFlag(commander: Commander, line: Setting<unknown>, name: CommandName): void {
  const usage = flagUsage(line);
  if (usage === null) return;
  const option = new Option(usage, describeSetting(line)).helpGroup(`${line.group}:`);
  // `config` takes the flags of all commands, and would drown in them.
  if (name === 'config' && line.group !== 'Behaviour') option.hideHelp();
  if (line.kind.arity === 'repeated') {
    option.argParser((value: string, previous: unknown) => [
      ...(Array.isArray(previous) ? previous : []),
      value,
    ]);
  }
  commander.addOption(option);
  const opposite = oppositeFlag(line);
  if (opposite !== null) commander.addOption(new Option(opposite).hideHelp());
}

function argumentUsage(argument: CommandArgument): string {
  return `<${argument.name}${argument.isRepeated ? '...' : ''}>`;
}

function quieten(commander: Commander, reading: Reading): void {
  commander.exitOverride();
  commander.configureOutput({
    writeOut: (text) => reading.shown.push(text),
    writeErr: () => undefined,
    getOutHelpWidth: () => HELP_WIDTH,
    getErrHelpWidth: () => HELP_WIDTH,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
}

/** What each exit code says, as the README has it too. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [
    EXIT.done,
    'every row has its answer (--strict: 1 if rows are invalid or nothing matched), or you declined',
  ],
  [EXIT.someFailed, 'finished, some rows failed'],
  [EXIT.usage, 'wrong usage or settings: nothing was started'],
  [EXIT.tooManyErrors, 'stopped: more errors than --max-errors allows'],
  [EXIT.credentials, 'the service refused the credentials'],
  [EXIT.trouble, "a problem with input, output, engine or the service's address"],
  [EXIT.limit, 'stopped by quota or budget; run again to go on'],
  [EXIT.interrupted, 'interrupted; run again to go on'],
];

/** The lines of a command in the order of the groups: so commander prints them. */
function settingsForHelp(command: CommandName): readonly Setting<unknown>[] {
  const lines = settingsOf(command).map(([, line]) => line);
  return SETTING_GROUPS.flatMap((group) => lines.filter((line) => line.group === group));
}

/** The description with its default, as `--help` shows it. */
function describeSetting(line: Setting<unknown>): string {
  return line.defaultText === '' ? line.description : `${line.description} (default: ${line.defaultText})`;
}

/** What stands below the flags of a command. */
function helpEnding(command: Command): string {
  const examples = command.examples.flatMap(({ line, does }) => [`  # ${does}`, `  brand-enrich ${line}`]);
  const codes = EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`);
  return [
    '',
    ...(command.notes ? [...command.notes, ''] : []),
    'Examples:',
    ...examples,
    ...(command.showsExitCodes ? ['', 'Exit codes:', ...codes] : []),
    '',
    'Settings: a flag wins over a BRAND_ENRICH_… variable, that over brand-enrich.config.json, that over the default.',
    'A switch that is on in file or environment is turned off by its opposite: --no-refresh, --color.',
  ].join('\n');
}
