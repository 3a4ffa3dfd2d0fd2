/** Shell completion: a script for each shell, and the words that it may complete. Pure. */
import { COMMAND_FAMILIES, COMMANDS } from '../settings/commands.js';
import { COMMAND_NAMES, wordsAfter } from '../settings/setting.js';
import { settingsOf } from '../settings/settings.js';
import { SCHEMA_NAMES } from './schema.js';

/** Markers for files and folders, which the shell completes itself. */
const FILES = ':files';
const FOLDERS = ':folders';

type Candidate = readonly [word: string, meaning: string];

/** Scripts that call the program by the name that the person typed. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_brand_enrich() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]} found
  found=$("\${COMP_WORDS[0]}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ $current == = ]] && current=
  case $found in
    ${FILES}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")) ;;
    ${FOLDERS}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$found" -- "$current")) ;;
  esac
}
complete -F _brand_enrich brand-enrich
`,
  // Works in a folder of fpath, and with eval.
  zsh: `#compdef brand-enrich
_brand_enrich() {
  local -a found
  found=("\${(@f)$($words[1] completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $found[1] in
    '') ;;
    ${FILES}) compset -P '*='; _files ;;
    ${FOLDERS}) compset -P '*='; _files -/ ;;
    *) _describe word found ;;
  esac
}
if [[ $funcstack[1] == _brand_enrich ]]; then _brand_enrich "$@"; else compdef _brand_enrich brand-enrich; fi
`,
  fish: `function __brand_enrich
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] completion fish -- $words[2..] 2>/dev/null)
  switch "$found[1]"
    case ${FILES}
      __fish_complete_path (commandline -ct)
    case ${FOLDERS}
      __fish_complete_directories (commandline -ct)
    case '*'
      string join \\n -- $found
  end
end
complete -c brand-enrich -f -a '(__brand_enrich)'
`,
};

/** Returns the script of a shell; with `words`, the lines that complete the last of them. */
export function completionText(shell: string, words: readonly string[]): string {
  if (words.length === 0) return SCRIPTS[shell] ?? '';
  return candidates(shell, words)
    .map(([word, meaning]) => {
      if (shell === 'bash' || meaning === '') return `${word}\n`;
      return shell === 'zsh' ? `${word.replaceAll(':', '\\:')}:${meaning}\n` : `${word}\t${meaning}\n`;
    })
    .join('');
}

function candidates(shell: string, words: readonly string[]): readonly Candidate[] {
  // bash splits --flag=value into three words.
  const [first = '', ...others] = words.filter((word) => word !== '=');
  const joint = /^(--[\w-]+)=(.*)$/s.exec(others.at(-1) ?? '');
  const current = words.at(-1) === '=' ? '' : (joint?.[2] ?? words.at(-1) ?? '');
  if (words.length === 1) return startingWith(current, [...wordsOf(null), ['help', 'the same as --help']]);
  const isFamily = Object.hasOwn(COMMAND_FAMILIES, first);
  if (isFamily && others.length === 1) return startingWith(current, wordsOf(first));
  const command = COMMAND_NAMES.find((name) => name === (isFamily ? `${first} ${others[0]}` : first));
  if (command === undefined) return [];
  const settings = settingsOf(command).map(([, setting]) => setting);
  const flagBefore = joint?.[1] ?? (words.at(-1) === '=' ? others.at(-1) : others.at(-2));
  const setting = settings.find(
    ({ flag, short, kind }) =>
      kind.arity !== 'switch' && flagBefore !== undefined && [flag, short].includes(flagBefore),
  );
  if (setting) {
    const { choices, isPath, placeholder } = setting.kind;
    const values = valuesOf(choices, isPath ? placeholder : '', current);
    const isWhole = joint !== null && shell !== 'bash' && choices.length > 0;
    return isWhole ? values.map(([word, meaning]) => [`${joint[1]}=${word}`, meaning]) : values;
  }
  if (current.startsWith('-')) {
    const flags = settings.flatMap(({ flag, short, description }) =>
      [flag, short].flatMap((name): Candidate[] => (name === null ? [] : [[name, description]])),
    );
    return startingWith(current, [...flags, ['--help', 'show help'], ['-h', 'show help']]);
  }
  const { argument } = COMMANDS[command];
  if (argument === undefined) return [];
  const choices = command === 'schema' ? SCHEMA_NAMES : (argument.choices ?? []);
  return valuesOf(choices, argument.name, current);
}

function valuesOf(choices: readonly string[], placeholder: string, current: string): readonly Candidate[] {
  if (choices.length > 0)
    return startingWith(
      current,
      choices.map((word) => [word, '']),
    );
  if (placeholder === 'FILE' || placeholder === 'INPUT') return [[FILES, '']];
  return placeholder === 'DIR' ? [[FOLDERS, '']] : [];
}

const startingWith = (start: string, words: readonly Candidate[]) =>
  words.filter(([word]) => word.startsWith(start));

const wordsOf = (family: string | null): readonly Candidate[] =>
  wordsAfter(family).map(({ word, summary = '' }) => [word, summary]);
