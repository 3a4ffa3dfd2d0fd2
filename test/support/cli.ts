/** The command line as users start it; `TEST_CLI` names another build to test than `dist`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const CLI = process.env.TEST_CLI ?? fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));

export interface CliOptions {
  /** The working folder and home of the process. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Buffer;
  /** Only root can start it as another user. */
  readonly uid?: number;
  /** What the shell that starts it does first: `umask 000`, `ulimit -n 64`. */
  readonly shell?: string;
  /** Of its own: for `killGroup`. Default false. */
  readonly isGroup?: boolean;
}

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

export interface CliProcess {
  readonly pid: number;
  readonly done: Promise<CliResult>;
  readonly said: string;
  /** Resolves when stdout or stderr match `words`; rejects when the process exits first. */
  untilSaid(words: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** As a terminal does: the programs that it has started get the signal too. */
  killGroup(signal: NodeJS.Signals): void;
}

/** Starts `brand-enrich` with these arguments; of the tests' own environment it gets only PATH. */
export function startCli(args: readonly string[], options: CliOptions): CliProcess {
  if (!existsSync(CLI)) throw new Error(`${CLI} is missing; run npm run build`);
  const startedAt = performance.now();
  const { uid, shell, isGroup = false } = options;
  const inShell = shell === undefined ? [] : ['/bin/sh', '-c', `${shell} && exec "$@"`, 'sh'];
  const [program = '', ...rest] = [...inShell, process.execPath, CLI, ...args];
  const child = spawn(program, rest, {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    cwd: options.cwd,
    env: { PATH: process.env.PATH ?? '', HOME: options.cwd, ...options.env },
    stdio: 'pipe',
    detached: isGroup,
  });
  const heard = listenTo(child);
  // A process killed while it reads its input is not an error of the test.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin);
  RUNNING.add(child);
  const done = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      RUNNING.delete(child);
      resolve({ code, signal, ...heard.all(), seconds: (performance.now() - startedAt) / 1_000 });
    });
  });
  return {
    pid: child.pid ?? 0,
    done,
    get said() {
      return heard.all().stderr;
    },
    untilSaid: (words) => heard.until(words, done),
    kill: (signal) => {
      child.kill(signal);
    },
    killGroup: (signal) => {
      process.kill(-(child.pid ?? 0), signal);
    },
  };
}

/** Collects what it says. */
export function listenTo(streams: { readonly stdout: Readable; readonly stderr: Readable }) {
  const said = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const)
    streams[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      for (const look of watchers) look();
    });
  return {
    all: () => ({ ...said }),
    /** Rejects when it is `done` first. */
    until(words: RegExp, done: Promise<Pick<CliResult, 'code'>>): Promise<void> {
      return new Promise((resolve, reject) => {
        const look = () => {
          if (!words.test(said.stderr) && !words.test(said.stdout)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
        void done.then(({ code }) =>
          reject(new Error(`ended with ${code} before it said ${words}: ${said.stderr}`)),
        );
      });
    },
  };
}

export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return startCli(args, options).done;
}

const RUNNING = new Set<ChildProcess>();

/** Kills what a failed test left running; for `afterEach`. */
export function killLeftovers(): void {
  for (const child of RUNNING) child.kill('SIGKILL');
}
