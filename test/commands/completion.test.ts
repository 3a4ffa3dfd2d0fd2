/** The completions of real shells with the scripts of `brand-enrich completion`. */
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completionScript } from '../../src/commands/completion.js';
import { COMMAND_NAMES } from '../../src/settings/setting.js';
import { settingsOf } from '../../src/settings/settings.js';
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

const LINES: readonly (readonly [line: string, words: string[]])[] = [
  ['brand-enrich r', ['run', 'resume']],
  ['brand-enrich ledger ', ['show', 'observe', 'check', 'reset']],
  ['brand-enrich run --pla', ['--plan']],
  ['brand-enrich run in.csv --plan ', ['free', 'paid']],
  ['brand-enrich run --plan=p', ['paid']],
  ['brand-enrich run in', ['in put.csv', 'inbox']],
  ['brand-enrich run -o in', ['in put.csv', 'inbox']],
  ['brand-enrich ledger show --token-file in', ['in put.csv', 'inbox']],
  ['brand-enrich watch i', ['inbox']],
  ['brand-enrich run --rate ', []],
  ['brand-enrich completion ', ['bash', 'zsh', 'fish']],
  ['brand-enrich schema engine-s', ['engine-status', 'engine-stop']],
  ['brand-enrich status --ka', []],
  ['brand-enrich schedule remove --co', ['--config']],
];

const isInstalled = (shell: string) => spawnSync(shell, ['-c', ':']).status === 0;

describe.each(Object.entries(DRIVERS))('%s', (shell, driver) => {
  it.skipIf(!isInstalled(shell))('completes commands, flags, their values and file names', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'script'), completionScript(shell));
    await writeFile(join(folder, 'driver'), driver);
    await writeFile(join(folder, 'in put.csv'), '');
    await mkdir(join(folder, 'inbox'));
    const input = LINES.map(([line]) => `${line}\n`).join('');
    const flags = shell === 'fish' ? ['--no-config'] : shell === 'zsh' ? ['-f'] : ['--norc'];
    const { stdout, stderr } = spawnSync(shell, [...flags, 'driver'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, TERM: 'dumb' },
      input,
      encoding: 'utf8',
      timeout: 30_000,
    });
    const plain = (word: string) => word.replace(/\\(.)/g, '$1').replace(/^--\w+=|\/$/g, '');
    const answers = stdout.split('\n').map((line) => (line === '' ? [] : line.split('|').map(plain)));
    const shown = LINES.map(([line], at) => [line, [...new Set(answers[at])].sort()]);
    expect(shown, stderr).toEqual(LINES.map(([line, words]) => [line, [...words].sort()]));
  });

  it('knows every command and flag', () => {
    const script = completionScript(shell);
    for (const command of COMMAND_NAMES) expect(script).toContain(command.split(' ').at(-1));
    for (const [, { flag }] of COMMAND_NAMES.flatMap(settingsOf))
      if (flag !== null) expect(script).toContain(shell === 'fish' ? `-l ${flag.slice(2)} ` : flag);
  });
});
