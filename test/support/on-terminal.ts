/** A command on a terminal of its own. Needs `script` (util-linux). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { expect, onTestFinished } from 'vitest';
import { CLI } from './cli.js';
import type { Scene } from './scene.js';

const PATIENCE = { timeout: 30_000, interval: 50 };

export const hasTerminal = spawnSync('script', ['--version']).status === 0;

export function startOnTerminal(scene: Scene, args: string) {
  const command = `exec ${process.execPath} ${CLI} ${args}`;
  const child: ChildProcess = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: scene.folder,
    env: { PATH: process.env.PATH, HOME: scene.folder, TERM: 'dumb', TZ: 'UTC', ...scene.env },
    stdio: 'pipe',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let seen = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    seen += text.replaceAll('\r', '');
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    ended,
    seen: () => seen,
    until: (words: RegExp) => expect.poll(() => seen, PATIENCE).toMatch(words),
    /** As a person does. */
    type: (text: string) => void child.stdin?.write(text),
    async stop(): Promise<number | null> {
      child.stdin?.write('\u0003');
      return ended;
    },
  };
}
