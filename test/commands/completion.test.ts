/** What `brand-enrich completion` answers, and real shells with its scripts. */
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { completionText } from '../../src/commands/completion.js';
import { COMMAND_NAMES } from '../../src/settings/setting.js';
import { settingsOf } from '../../src/settings/settings.js';
import { CLI } from '../support/cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Each reads lines to complete from standard input, and answers each with one line of words. */
const DRIVERS: Readonly<Record<string, string>> = {
  bash: `
    source ./script
    while IFS= read -r line; do
      read -ra COMP_WORDS <<< "\${line//=/ = }"
      [[ $line == *[\\ =] ]] && COMP_WORDS+=("")
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _brand_enrich
      (IFS='|'; echo "\${COMPREPLY[*]}")
    done`,
  // Its completion works only in an interactive shell.
  zsh: `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell 'PS1=; stty -echo; autoload -Uz compinit; compinit -u -D; source ./script
      answers() {
        compadd() { local -a hits; builtin compadd -A hits "$@"; (($#hits)) && print -rn -- "\${(j:|:)hits}|"; builtin compadd "$@"; }
        print -rn "<<"; _main_complete; print -rn ">>"
      }
      zle -C answers list-choices answers; bindkey "^I" answers; print rea""dy'
    zpty -r shell seen '*ready*'
    while IFS= read -r line; do
      zpty -w -n shell "$line"$'\\t'
      zpty -r shell seen '*<<*>>*'
      seen=\${\${seen##*<<}%%>>*}
      print -r -- "\${\${seen//[$'\\r\\n']/}%|}"
      zpty -w -n shell $'\\x15'
    done`,
  fish: `
    source ./script
    while read -l line
      echo (complete -C $line | string replace -r '\\t.*' '' | string join '|')
    end`,
};

const LONG = { tags: ['long'] };

/** Each shell asks the program for every line, so these are few. */
const LINES: readonly (readonly [line: string, words: string[]])[] = [
  ['brand-enrich r', ['run', 'resume']],
  ['brand-enrich run --plan=p', ['paid']],
  ['brand-enrich run in', ['in put.csv', 'inbox']],
  ['brand-enrich watch i', ['inbox']],
  ['brand-enrich run --rate ', []],
];

const isInstalled = (shell: string) => spawnSync(shell, ['-c', ':']).status === 0;

it.each(Object.entries(DRIVERS))('%s completes commands, values, files', LONG, async (shell, driver) => {
  if (!isInstalled(shell)) return;
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'script'), completionText(shell, []));
  await writeFile(join(folder, 'driver'), driver);
  await writeFile(join(folder, 'in put.csv'), '');
  await mkdir(join(folder, 'inbox'));
  await mkdir(join(folder, 'bin'));
  const program = `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`;
  await writeFile(join(folder, 'bin', 'brand-enrich'), program, { mode: 0o755 });
  const input = LINES.map(([line]) => `${line}\n`).join('');
  const flags = shell === 'fish' ? ['--no-config'] : shell === 'zsh' ? ['-f'] : ['--norc'];
  const { stdout, stderr } = spawnSync(shell, [...flags, 'driver'], {
    cwd: folder,
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, TERM: 'dumb' },
    input,
    encoding: 'utf8',
    timeout: 60_000,
  });
  const plain = (word: string) => word.replace(/\\(.)/g, '$1').replace(/^--\w+=|\/$/g, '');
  const answers = stdout.split('\n').map((line) => (line === '' ? [] : line.split('|').map(plain)));
  const shown = LINES.map(([line], at) => [line, [...new Set(answers[at])].sort()]);
  expect(shown, stderr).toEqual(LINES.map(([line, words]) => [line, [...words].sort()]));
});

it.each<[words: string, found: string[]]>([
  ['ledger ', ['show', 'observe', 'check', 'reset']],
  ['run --pla', ['--plan']],
  ['run in.csv --plan ', ['free', 'paid']],
  ['run --plan = p', ['paid']],
  ['run --plan =', ['free', 'paid']],
  ['run -o in', [':files']],
  ['ledger show --token-file in', [':files']],
  ['watch i', [':folders']],
  ['run --rate ', []],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['schema engine-s', ['engine-status', 'engine-stop']],
  ['status --ka', []],
  ['schedule remove --co', ['--config']],
  ['nothing ', []],
])('after %o: %o', (words, found) => {
  expect(completionText('bash', words.split(' ')).split('\n').slice(0, -1)).toEqual(found);
});

it('gives the meaning of a word to shells that show it', () => {
  expect(completionText('zsh', ['run', '--rat'])).toMatch(/^--rate:\S.+\n$/);
  expect(completionText('fish', ['run', '--rat'])).toMatch(/^--rate\t\S.+\n$/);
});

it('knows every command and flag', () => {
  for (const command of COMMAND_NAMES) {
    const words = command.split(' ');
    expect(completionText('fish', words)).toContain(`${words.at(-1)}\t`);
    for (const [, { flag }] of settingsOf(command))
      if (flag !== null) expect(completionText('fish', [...words, flag])).toContain(`${flag}\t`);
  }
});
