/** The scripts of `completion` for bash, zsh and fish, made from the tables. Pure. */
import { COMMAND_FAMILIES, COMMANDS } from '../settings/commands.js';
import { COMMAND_NAMES, type CommandName, type Setting, wordsAfter } from '../settings/setting.js';
import { SETTING_ENTRIES } from '../settings/settings.js';
import { SCHEMA_NAMES } from './schema.js';

const PROGRAM = 'brand-enrich';
const FAMILIES = Object.keys(COMMAND_FAMILIES);

/** Candidates for a value or an argument; `any`: a shell cannot know them. */
type Completes =
  | { readonly type: 'files' | 'folders' | 'any' }
  | { readonly type: 'words'; readonly words: readonly string[] };

interface Flag {
  readonly names: readonly string[];
  readonly description: string;
  readonly commands: readonly CommandName[];
  readonly isRepeated: boolean;
  /** null: it is a switch. */
  readonly value: Completes | null;
}

const FLAGS: readonly Flag[] = [
  {
    names: ['--help', '-h'],
    description: 'show help',
    commands: COMMAND_NAMES,
    isRepeated: false,
    value: null,
  },
  ...SETTING_ENTRIES.flatMap(([, line]) => (line.flag === null ? [] : [flagOf(line, line.flag)])),
];

function flagOf({ short, kind, commands, description }: Setting<unknown>, flag: string): Flag {
  const { arity, placeholder, choices, isPath } = kind;
  const names = short === null ? [flag] : [flag, short];
  const isRepeated = arity === 'repeated';
  const value = arity === 'switch' ? null : completes(choices, isPath ? placeholder : '');
  return { names, description, commands, isRepeated, value };
}

function completes(choices: readonly string[], placeholder: string): Completes {
  if (choices.length > 0) return { type: 'words', words: choices };
  const isFile = placeholder === 'FILE' || placeholder === 'INPUT';
  return { type: isFile ? 'files' : placeholder === 'DIR' ? 'folders' : 'any' };
}

function argumentOf(name: CommandName): Completes | null {
  const { argument } = COMMANDS[name];
  if (argument === undefined) return null;
  const choices = name === 'schema' ? SCHEMA_NAMES : argument.choices;
  return completes(choices ?? [], argument.name);
}

/** What may follow the program or a family, with its meaning. */
function describedAfter(family: string | null): readonly (readonly [word: string, meaning: string])[] {
  const words = wordsAfter(family).map(({ word, summary = '' }) => [word, summary] as const);
  return family === null ? [...words, ['help', 'the same as --help']] : words;
}

/** `shell`: `bash`, `zsh` or `fish`. */
export function completionScript(shell: string): string {
  const lines = shell === 'zsh' ? zsh() : shell === 'fish' ? fish() : bash();
  return `${lines.join('\n')}\n`;
}

function bash(): string[] {
  const words = (list: readonly string[]) => `COMPREPLY=($(compgen -W '${list.join(' ')}' -- "$cur"))`;
  const commands = (family: string | null) => words(describedAfter(family).map(([word]) => word));
  const answer = (value: Completes) => {
    if (value.type === 'words') return words(value.words);
    if (value.type === 'any') return ':';
    // File names may contain blanks; the bash of macOS has no compopt.
    const names = `COMPREPLY=($(compgen -${value.type === 'files' ? 'f' : 'd'} -- "$cur"))`;
    return `compopt -o filenames 2>/dev/null; local IFS=$'\\n'; ${names}`;
  };
  const flagsOf = (name: CommandName) =>
    FLAGS.filter((flag) => flag.commands.includes(name)).flatMap(({ names }) => names);
  return [
    '_brand_enrich() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}`,
    '  COMPREPLY=()',
    // bash splits --flag=value.
    `  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi`,
    `  if ((COMP_CWORD == 1)); then ${commands(null)}; return; fi`,
    '  case $command in',
    ...FAMILIES.flatMap((family) => [
      `    ${family})`,
      `      if ((COMP_CWORD == 2)); then ${commands(family)}; return; fi`,
      `      command="$command \${COMP_WORDS[2]}" ;;`,
    ]),
    '  esac',
    '  case $prev in',
    ...FLAGS.flatMap(({ names, value }) =>
      value === null ? [] : `    ${names.join('|')}) ${answer(value)}; return ;;`,
    ),
    '  esac',
    '  case $cur/$command in',
    ...COMMAND_NAMES.map((name) => `    -*/'${name}') ${words(flagsOf(name))} ;;`),
    ...COMMAND_NAMES.flatMap((name) => {
      const argument = argumentOf(name);
      return argument === null ? [] : `    */'${name}') ${answer(argument)} ;;`;
    }),
    '  esac',
    '}',
    `complete -F _brand_enrich ${PROGRAM}`,
  ];
}

function zsh(): string[] {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const action = (value: Completes) => {
    if (value.type === 'words') return `(${value.words.join(' ')})`;
    return value.type === 'files' ? '_files' : value.type === 'folders' ? '_files -/' : ' ';
  };
  const described = (words: ReturnType<typeof describedAfter>) =>
    words.map(([word, text]) => quoted(`${word}:${text}`)).join(' ');
  const flagSpecs = ({ names, description, isRepeated, value }: Flag) => {
    const text = `[${description.replace(/[[\]\\]/g, '\\$&')}]`;
    const others = isRepeated ? '*' : `(${names.join(' ')})`;
    return names.map((name) => {
      const joint = value === null ? '' : name.startsWith('--') ? '=' : '+';
      return quoted(`${others}${name}${joint}${text}${value === null ? '' : `:value:${action(value)}`}`);
    });
  };
  const specs = (name: CommandName) => {
    const flags = FLAGS.filter(({ commands }) => commands.includes(name)).flatMap(flagSpecs);
    const argument = argumentOf(name);
    const rest = COMMANDS[name].argument?.isRepeated ? '*' : '1';
    return [
      ...flags,
      ...(argument === null ? [] : [quoted(`${rest}:${COMMANDS[name].argument?.name}:${action(argument)}`)]),
    ];
  };
  return [
    `#compdef ${PROGRAM}`,
    '_brand_enrich() {',
    '  local -a names',
    '  local command=$words[2] skip=1',
    `  if ((CURRENT == 2)); then names=(${described(describedAfter(null))}); _describe command ` +
      'names; return; fi',
    '  case $command in',
    ...FAMILIES.map(
      (family) =>
        `    ${family}) if ((CURRENT == 3)); then names=(${described(describedAfter(family))}); ` +
        '_describe command names; return; fi; command="$command $words[3]"; skip=2 ;;',
    ),
    '  esac',
    '  shift $skip words',
    '  ((CURRENT -= skip))',
    '  case $command in',
    ...COMMAND_NAMES.map((name) => `    '${name}') _arguments ${specs(name).join(' ')} ;;`),
    '  esac',
    '}',
    // Either loaded from a folder of fpath, or evaluated.
    'if [[ $funcstack[1] == _brand_enrich ]]; then _brand_enrich "$@"; else compdef _brand_enrich ' +
      `${PROGRAM}; fi`,
  ];
}

function fish(): string[] {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const when = (condition: string) => `complete -c ${PROGRAM} -n ${quoted(condition)}`;
  const isCommand = (names: readonly CommandName[]) =>
    `__brand_enrich_is ${names.map((name) => (name.includes(' ') ? `"${name}"` : name)).join(' ')}`;
  const action = (value: Completes) => {
    if (value.type === 'words') return `-x -a ${quoted(value.words.join(' '))}`;
    return value.type === 'files'
      ? '-r -F'
      : value.type === 'folders'
        ? "-x -a '(__fish_complete_directories)'"
        : '-x';
  };
  const words = (condition: string, family: string | null) =>
    describedAfter(family).map(([word, text]) => `${when(condition)} -a ${word} -d ${quoted(text)}`);
  return [
    'function __brand_enrich_is',
    '  set -l words (commandline -opc)',
    '  set -l command "$words[2]"',
    `  contains -- $command ${FAMILIES.join(' ')}; and set command "$command $words[3]"`,
    '  contains -- $command $argv',
    'end',
    `complete -c ${PROGRAM} -f`,
    ...words('test (count (commandline -opc)) -eq 1', null),
    ...FAMILIES.flatMap((family) => words(`__brand_enrich_is "${family} "`, family)),
    ...COMMAND_NAMES.flatMap((name) => {
      const argument = argumentOf(name);
      return argument === null || argument.type === 'any'
        ? []
        : [`${when(isCommand([name]))} ${action(argument).replace(/^-[rx] /, '')}`];
    }),
    ...FLAGS.map(({ names, description, commands, value }) => {
      const options = names.map((name) =>
        name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
      );
      return (
        `${when(isCommand(commands))} ` +
        `${options.join(' ')}${value === null ? '' : ` ${action(value)}`} -d ${quoted(description)}`
      );
    }),
  ];
}
