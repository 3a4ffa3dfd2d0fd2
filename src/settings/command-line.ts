/** Reads the command line. No message quotes a value, which may be a misplaced token. */
import { ConfigError, type Problem, throwProblems, usageProblem } from '../core/errors.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { COMMAND_FAMILIES, COMMANDS } from './commands.js';
import { helpText } from './help.js';
import { COMMAND_NAMES, type CommandName, oppositeFlag, type Setting, wordsAfter } from './setting.js';
import { SETTING_ENTRIES, settingsOf } from './settings.js';

interface CommandLine {
  /** `run --dry-run` is `plan` here. */
  readonly command: CommandName;
  /** The values of INPUT, RUN or IDENTIFIER…, as many as the command takes. */
  readonly args: readonly string[];
  /** The flags that were given, by key (the flag in camelCase): texts, lists of texts, booleans. */
  readonly flags: Record<string, unknown>;
}

type ParsedCommand = CommandLine | { readonly help: string } | { readonly version: string };

/** Parses the words after the program's name. Throws one `ConfigError` with every wrong word. */
export function parseCommandLine(argv: readonly string[], version: string): ParsedCommand {
  const [first = '', second] = argv;
  if (['--version', '-v', '-V', 'version'].includes(first)) return { version };
  const isFamily = Object.hasOwn(COMMAND_FAMILIES, first);
  if (first === 'help' || (isFamily && second === 'help'))
    return helpOf(argv.filter((word) => word !== 'help'));
  if (argv.length === 0 || first.startsWith('-')) {
    if (argv.length === 0 || argv.some(isHelpFlag)) return { help: helpText(null) };
    refuse(flagBeforeCommand(first));
  }
  const name = isFamily ? `${first} ${second}` : first;
  const command = COMMAND_NAMES.find((each) => each === name);
  if (command !== undefined) return readWords(command, argv.slice(isFamily ? 2 : 1));
  if (argv.some(isHelpFlag)) return { help: helpText(isFamily ? first : null) };
  return refuse(isFamily ? unknownMember(first, second) : unknownCommand(first));
}

function refuse(problem: Problem): never {
  throw new ConfigError(problem);
}

function isHelpFlag(word: string): boolean {
  return word === '-h' || word === '--help';
}

function helpOf(words: readonly string[]): ParsedCommand {
  const [first = '', second] = words;
  const topics: readonly string[] = [...COMMAND_NAMES, ...Object.keys(COMMAND_FAMILIES)];
  if (first === '' || first.startsWith('-')) return { help: helpText(null) };
  if (!topics.includes(first)) refuse(unknownCommand(first));
  const topic = topics.find((each) => each === `${first} ${second}`) ?? first;
  return { help: helpText(topic, words.at(-1) === 'all') };
}

function unknownCommand(word: string): Problem {
  const words = wordsAfter(null).map((each) => each.word);
  const todo = /[./\\]/.test(word)
    ? `to enrich a file, write brand-enrich run ${word}`
    : didYouMean(nearest(word, words), 'see brand-enrich --help');
  return usageProblem('no such command', word, todo);
}

function unknownMember(family: string, word: string | undefined): Problem {
  const members = wordsAfter(family).map((each) => each.word);
  if (word === undefined || word.startsWith('-'))
    return usageProblem('the command is incomplete', family, `add one of ${members.join(', ')}`);
  const meant = nearest(word, members);
  const todo = didYouMean(meant && `${family} ${meant}`, `it is one of ${members.join(', ')}`);
  return usageProblem('no such command', `${family} ${word}`, todo);
}

function flagBeforeCommand(word: string): Problem {
  const todo = 'write brand-enrich run INPUT, then the flags';
  return tokenOnCommandLine(flagOf(word)) ?? usageProblem('the command comes first', flagOf(word), todo);
}

function readWords(command: CommandName, words: readonly string[]): ParsedCommand {
  const lines = settingsOf(command).map(([, line]) => line);
  const problems: Problem[] = [];
  const args: string[] = [];
  const flags: Record<string, unknown> = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      args.push(...words.slice(at + 1));
      break;
    }
    if (isHelpFlag(word)) return { help: helpText(command, words[at + 1] === 'all') };
    if (!/^-[^\d]/.test(word)) {
      args.push(word);
      continue;
    }
    const flag = flagOf(word);
    const line = lines.find((each) => [each.flag, each.short, oppositeFlag(each)].includes(flag));
    if (line === undefined) problems.push(unknownFlag(command, lines, flag));
    else if (line.kind.arity === 'switch') {
      if (word !== flag) problems.push(usageProblem('this flag takes no value', flag, 'omit it'));
      flags[line.key ?? ''] = !flag.startsWith('--no-');
    } else {
      if (word === flag) at += 1;
      const value = word === flag ? words[at] : word.slice(flag.length + (word.startsWith('--') ? 1 : 0));
      if (value === undefined) {
        problems.push(usageProblem('a value is missing', flag, `write ${flag} ${line.kind.placeholder}`));
      }
      const earlier = flags[line.key ?? ''] ?? [];
      flags[line.key ?? ''] = line.kind.arity === 'repeated' ? [earlier, value].flat() : value;
    }
  }
  if (problems.length > 0 && command === 'schedule add' && words.includes('run') && !words.includes('--')) {
    const todo = 'write -- before run: schedule add NAME --cron CRON -- run INPUT';
    refuse(usageProblem('flags of the run would count as flags of schedule add', command, todo));
  }
  throwProblems(problems.length === 0 ? findArgumentProblems(command, args) : problems);
  const isDry = command === 'run' && flags.dryRun === true;
  return { command: isDry ? 'plan' : command, args, flags };
}

function unknownFlag(command: CommandName, lines: readonly Setting<unknown>[], flag: string): Problem {
  const token = tokenOnCommandLine(flag);
  if (token !== null) return token;
  const others = SETTING_ENTRIES.find(([, line]) => line.flag === flag)?.[1].commands;
  const owners = others?.filter((each) => each !== 'config');
  const what = owners === undefined ? 'no such flag' : `not a flag of ${command}`;
  const place = COMMANDS[command].argument?.name;
  if (/^(INPUT|DIR|FILE)$/.test(place ?? '') && /^--(in|input|inbox|file|dir|folder|path)$/.test(flag))
    return usageProblem(what, flag, `write ${place} without a flag: brand-enrich ${command} ${place}`);
  const flags = ['--help', ...lines.flatMap((line) => [line.flag ?? [], oppositeFlag(line) ?? []].flat())];
  if (owners !== undefined) {
    const alike = flags.filter((each) => each.endsWith(flag.slice(1))).join(', ');
    // More commands in a message help nobody.
    const todo =
      owners.length > 8
        ? `omit it: brand-enrich ${command} --help lists its flags`
        : `it belongs to ${owners.join(', ')}${alike && `; ${command} has ${alike}`}`;
    return usageProblem(what, flag, todo);
  }
  const names = flags.map((each) => each.slice(2));
  const meant = flag.startsWith('--') ? nearest(flag.slice(2), names) : undefined;
  const todo = didYouMean(meant && `--${meant}`, `see brand-enrich ${command} --help`);
  return usageProblem(what, flag, todo);
}

/** Returns a problem for flags that people try for a token. */
function tokenOnCommandLine(flag: string): Problem | null {
  if (!/^--?(api|access|auth|bearer)?-?(token|key|secret)$/i.test(flag)) return null;
  const todo = 'set BRAND_API_TOKEN, or give a file that holds it with --token-file';
  return usageProblem('everyone on this machine can see a token on the command line', flag, todo);
}

function findArgumentProblems(command: CommandName, args: readonly string[]): Problem[] {
  const { argument } = COMMANDS[command];
  const count = args.length;
  if (count === 0 && argument?.isOptional) return [];
  if (count === 1 && argument?.choices?.includes(args[0] ?? '') === false) {
    const todo = didYouMean(
      nearest(args[0] ?? '', argument.choices),
      `write one of ${argument.choices.join(', ')}`,
    );
    return [usageProblem(`no such ${argument.name}`, command, todo)];
  }
  if (count === (argument === undefined ? 0 : 1) || (count > 1 && argument?.isRepeated)) return [];
  if (argument === undefined) {
    const todo = `see brand-enrich ${command} --help`;
    return [usageProblem(`${command} takes flags only`, `${count} other words`, todo)];
  }
  if (count === 0)
    return [usageProblem(`${argument.name} is missing`, command, `give ${argument.description}`)];
  const todo = 'run it once for each, and quote names that contain blanks';
  return [usageProblem(`${command} takes one ${argument.name}`, `${count} were given`, todo)];
}

/** Returns the flag without a value joined to it by `=`, or directly after a short flag. */
function flagOf(word: string): string {
  return word.startsWith('--') ? (word.split('=', 1)[0] ?? '') : word.slice(0, 2);
}
