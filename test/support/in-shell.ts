/** A shell as a person has it: its `brand-enrich` is what was built. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLI, listenTo } from './cli.js';

/** Starts a shell with arguments in the folder, as a process group of its own. */
export async function startInShell(
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
  [shell = 'sh', ...args]: readonly string[],
) {
  await mkdir(join(folder, 'bin'), { recursive: true });
  const program = join(folder, 'bin/brand-enrich');
  await writeFile(program, `#!/bin/sh\nexec ${process.execPath} ${CLI} "$@"\n`);
  await chmod(program, 0o755);
  const path = `${join(folder, 'bin')}:${process.env.PATH}`;
  const child = spawn(shell, args, {
    ...{ cwd: folder, env: { ...env, HOME: folder, PATH: path }, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const heard = listenTo(child);
  const done = new Promise<{ code: number | null; said: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, said: heard.all().stdout + heard.all().stderr }));
  });
  return { done, until: (words: RegExp) => heard.until(words, done), pid: child.pid ?? 0 };
}
