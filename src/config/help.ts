/**
 * What `--help` says beyond commander's own lines: groups in order, defaults, examples, exit codes. All of it from the
 * tables of commands and settings.
 */
import type { ExitCode } from '../core/errors.js';
import { EXIT } from '../core/errors.js';
import type { Command } from './commands.js';
import type { CommandName, Setting } from './setting.js';
import { SETTING_GROUPS } from './setting.js';
import { settingsOf } from './settings.js';

/** What each exit code says, as the README has it too. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [
    EXIT.done,
    'every row has its answer (--strict: 1 where rows are invalid or nothing matched), or you said no',
  ],
  [EXIT.someFailed, 'finished, some rows failed'],
  [EXIT.usage, 'usage or settings: nothing was begun'],
  [EXIT.tooManyErrors, 'stopped: more errors than --max-errors allows'],
  [EXIT.credentials, 'the service refused the credentials'],
  [EXIT.trouble, "trouble with input, output, engine or the service's address"],
  [EXIT.limit, 'stopped by quota or budget; run again to go on'],
  [EXIT.interrupted, 'interrupted; run again to go on'],
];

/** The lines of a command in the order of the groups: so commander prints them. */
export function settingsForHelp(command: CommandName): readonly Setting<unknown>[] {
  const lines = settingsOf(command).map(([, line]) => line);
  return SETTING_GROUPS.flatMap((group) => lines.filter((line) => line.group === group));
}

/** The description with its default, as `--help` shows it. */
export function describeSetting(line: Setting<unknown>): string {
  return line.defaultText === '' ? line.description : `${line.description} (default: ${line.defaultText})`;
}

/** What stands below the flags of a command. */
export function helpEnding(command: Command): string {
  const examples = command.examples.flatMap(({ line, does }) => [`  # ${does}`, `  brand-enrich ${line}`]);
  const codes = EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`);
  return [
    '',
    ...(command.notes ? [...command.notes, ''] : []),
    'Examples:',
    ...examples,
    ...(command.showsExitCodes ? ['', 'Exit codes:', ...codes] : []),
    '',
    'Settings: flags go before BRAND_ENRICH_… variables, those before brand-enrich.config.json, that before defaults.',
    'A switch of the file or the environment is turned round with its opposite: --no-refresh, --color.',
  ].join('\n');
}
