/** The texts of `--help`, made of the tables of commands and settings; commander lays them out. */
import { Command as Commander, Option } from 'commander';
import { EXIT, type ExitCode } from '../core/errors.js';
import { COMMAND_FAMILIES, COMMANDS } from './commands.js';
import { COMMAND_NAMES, type CommandName, flagUsage, SETTING_GROUPS, type Setting } from './setting.js';
import { settingsOf } from './settings.js';

/** Wide enough for the table of flags, narrow enough for most terminals. */
const HELP_WIDTH = 110;

/** Help for a command, for a family of commands (`ledger`), or for the program. */
export function helpText(topic: string | null): string {
  const program = new Commander('brand-enrich')
    .configureOutput({ getOutHelpWidth: () => HELP_WIDTH, getOutHasColors: () => false })
    .description(
      'Enrich a file of identifiers with brands: every row comes back, nothing is paid twice, the budget holds.',
    )
    .option('-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'the same as --help');
  const find = (parent: Commander, word: string) => parent.commands.find((each) => each.name() === word);
  for (const name of COMMAND_NAMES) {
    const [first = name, second] = name.split(' ');
    const family = second === undefined ? program : find(program, first);
    const parent = family ?? program.command(first).description(COMMAND_FAMILIES[first] ?? '');
    describeCommand(parent.command(second ?? first), name);
  }
  const words = topic?.split(' ') ?? [];
  const text = words.reduce((parent, word) => find(parent, word) ?? parent, program).helpInformation();
  const command = COMMAND_NAMES.find((name) => name === topic);
  return command === undefined ? text : `${text}${helpEnding(command)}\n`;
}

function describeCommand(commander: Commander, name: CommandName): void {
  const { summary, argument } = COMMANDS[name];
  commander.description(summary).addHelpOption(new Option('-h, --help', 'show help').helpGroup('Behaviour:'));
  if (argument !== undefined) {
    commander.argument(`<${argument.name}${argument.isRepeated ? '...' : ''}>`, argument.description);
  }
  const lines = settingsOf(name).map(([, line]) => line);
  for (const group of SETTING_GROUPS) {
    // `config` takes the flags of all commands: too many to list.
    if (name === 'config' && group !== 'Behaviour') continue;
    for (const line of lines.filter((each) => each.group === group)) {
      const usage = flagUsage(line);
      if (usage !== null)
        commander.addOption(new Option(usage, describeSetting(line)).helpGroup(`${group}:`));
    }
  }
}

/** The description with its default, as `--help` shows it. */
function describeSetting({ description, defaultText }: Setting<unknown>): string {
  return defaultText === '' ? description : `${description} (default: ${defaultText})`;
}

/** What each exit code means; the README has the same text. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [
    EXIT.done,
    'every row has its answer (with --strict: 1 if rows are invalid or nothing matched), or you declined',
  ],
  [EXIT.someFailed, 'finished, some rows failed'],
  [EXIT.usage, 'wrong usage or settings: nothing was started'],
  [EXIT.tooManyErrors, 'stopped: more errors than --max-errors allows'],
  [EXIT.credentials, 'the service refused the credentials'],
  [EXIT.ioError, "a problem with input, output, engine or the service's address"],
  [EXIT.limit, 'stopped by quota or budget; run again to continue'],
  [EXIT.interrupted, 'interrupted; run again to continue'],
];

/** The text below the flags of a command. */
function helpEnding(name: CommandName): string {
  const { notes, examples, showsExitCodes } = COMMANDS[name];
  const codes = EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`);
  return [
    '',
    ...(notes ? [...notes, ''] : []),
    'Examples:',
    ...Object.entries(examples).flatMap(([line, does]) => [`  # ${does}`, `  brand-enrich ${line}`]),
    ...(showsExitCodes ? ['', 'Exit codes:', ...codes] : []),
    '',
    'Precedence: flags, then BRAND_ENRICH_… variables, then brand-enrich.config.json, then defaults.',
    'To turn off a switch that the file or environment sets, use its opposite: --no-refresh, --color.',
  ].join('\n');
}
