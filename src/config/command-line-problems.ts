/**
 * Why a command line was refused: all of its problems, each with the nearest right word. Commander
 * stops at the first problem, so the words are read once more here. Values are never quoted: one of
 * them may be a token that was put in the wrong place.
 */

import { nearest } from '../core/nearest.js';
import type { CommandArgument } from './commands.js';
import { COMMAND_FAMILIES, COMMANDS } from './commands.js';
import type { Problem } from './problems.js';
import { didYouMean, usageProblem } from './problems.js';
import type { CommandName, Setting } from './setting.js';
import { COMMAND_NAMES, oppositeFlag } from './setting.js';
import { SETTING_ENTRIES, settingsOf } from './settings.js';

/**
 * Never empty for a command line that commander refused, as far as is known; `[]` when nothing is
 * found.
 */
export function findCommandLineProblems(argv: readonly string[]): Problem[] {
  const [first = ''] = argv;
  if (first.startsWith('-')) return [flagBeforeCommand(first)];
  const found = findCommand(argv);
  return 'problem' in found ? [found.problem] : findWordProblems(found.command, found.rest);
}

function flagBeforeCommand(word: string): Problem {
  const flag = flagOf(word);
  return (
    tokenOnCommandLine(flag) ??
    usageProblem('the command comes first', flag, 'write for example brand-enrich run INPUT, then the flags')
  );
}

function findCommand(
  argv: readonly string[],
): { command: CommandName; rest: readonly string[] } | { problem: Problem } {
  const [first = '', second] = argv;
  const members = COMMAND_NAMES.filter((name) => name.startsWith(`${first} `));
  if (members.length === 0) {
    const command = COMMAND_NAMES.find((name) => name === first);
    if (command !== undefined) return { command, rest: argv.slice(1) };
    const words = [...COMMAND_NAMES.filter((name) => !name.includes(' ')), ...Object.keys(COMMAND_FAMILIES)];
    return { problem: unknownCommand(first, nearest(first, words), 'see brand-enrich --help') };
  }
  const command = members.find((name) => name === `${first} ${second}`);
  if (command !== undefined) return { command, rest: argv.slice(2) };
  const seconds = members.map((name) => name.slice(first.length + 1));
  if (second === undefined || second.startsWith('-')) {
    return {
      problem: usageProblem('the command is not complete', first, `add one of ${seconds.join(', ')}`),
    };
  }
  const meant = nearest(second, seconds);
  const suggestion = meant === undefined ? undefined : `${first} ${meant}`;
  return { problem: unknownCommand(`${first} ${second}`, suggestion, `it is one of ${seconds.join(', ')}`) };
}

function unknownCommand(word: string, suggestion: string | undefined, otherwise: string): Problem {
  return usageProblem('no such command', word, didYouMean(suggestion, otherwise));
}

function findWordProblems(command: CommandName, words: readonly string[]): Problem[] {
  if (isScheduleWithoutDashes(command, words)) {
    const todo = 'put -- before run: schedule add NAME --cron CRON -- run INPUT';
    return [usageProblem('flags of the run are taken for flags of schedule add', command, todo)];
  }
  const lines = settingsOf(command).map(([, line]) => line);
  const problems: Problem[] = [];
  let operands = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      operands += words.length - at - 1;
      break;
    }
    if (!/^-[^\d]/.test(word)) {
      operands += 1;
      continue;
    }
    const line = lines.find((each) => isFlagOf(each, word));
    if (line === undefined) problems.push(unknownFlag(command, lines, flagOf(word)));
    else if (line.kind.arity === 'switch') {
      if (word.includes('='))
        problems.push(usageProblem('this flag takes no value', flagOf(word), 'leave it out'));
    } else if (word === line.flag || word === line.short) {
      at += 1;
      if (at >= words.length) {
        problems.push(usageProblem('a value is missing', word, `write ${word} ${line.kind.placeholder}`));
      }
    }
  }
  if (problems.length === 0) problems.push(...findOperandProblems(command, operands));
  return problems;
}

/** Checked first, because the flags of the run would be reported as wrong. */
function isScheduleWithoutDashes(command: CommandName, words: readonly string[]): boolean {
  return command === 'schedule add' && words.includes('run') && !words.includes('--');
}

function isFlagOf(line: Setting<unknown>, word: string): boolean {
  const flag = flagOf(word);
  const isShort = line.short !== null && !word.startsWith('--') && word.startsWith(line.short);
  return isShort || flag === line.flag || flag === oppositeFlag(line);
}

function unknownFlag(command: CommandName, lines: readonly Setting<unknown>[], flag: string): Problem {
  const others = SETTING_ENTRIES.find(([, line]) => line.flag === flag)?.[1].commands;
  const flags = lines.flatMap((line) => [line.flag, oppositeFlag(line)]).filter((each) => each !== null);
  const suggestion = flag.startsWith('--')
    ? nearest(
        flag.slice(2),
        [...flags, '--help'].map((each) => each.slice(2)),
      )
    : undefined;
  const help = `see brand-enrich ${command} --help`;
  return (
    tokenOnCommandLine(flag) ??
    (others === undefined
      ? usageProblem('no such flag', flag, didYouMean(suggestion && `--${suggestion}`, help))
      : usageProblem(
          `not a flag of ${command}`,
          flag,
          `it belongs to ${others.filter((each) => each !== 'config').join(', ')}`,
        ))
  );
}

/** Flags with which people try to pass a token. */
function tokenOnCommandLine(flag: string): Problem | null {
  if (!/^--?(api|access|auth|bearer)?-?(token|key|secret)$/i.test(flag)) return null;
  return usageProblem(
    'everybody on the machine can see a token on the command line',
    flag,
    'set BRAND_API_TOKEN, or name a file that holds it with --token-file',
  );
}

function findOperandProblems(command: CommandName, operands: number): Problem[] {
  const argument: CommandArgument | undefined = COMMANDS[command].argument;
  if (argument === undefined) {
    if (operands === 0) return [];
    return [
      usageProblem(
        `${command} takes flags only`,
        `${operands} other words`,
        `see brand-enrich ${command} --help`,
      ),
    ];
  }
  if (operands === 0) {
    return [usageProblem(`${argument.name} is missing`, command, `name ${argument.description}`)];
  }
  if (operands === 1 || argument.isRepeated) return [];
  return [
    usageProblem(
      `${command} takes one ${argument.name}`,
      `${operands} were given`,
      'call it once for each, and put names with blanks in quotes',
    ),
  ];
}

/** The flag without a value joined to it by `=`. */
function flagOf(word: string): string {
  return word.startsWith('--') ? (word.split('=', 1)[0] ?? '') : word.slice(0, 2);
}
