/**
 * The command line in this process, where it can run: a start of Node costs more than most of what
 * is tested. Kills, limits and what Node reads at its start need a process, see `startCli`.
 */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ProcessFace } from '../../src/main.js';
import { type CliOptions, type CliProcess, type CliResult, listenTo, runCli, startCli } from './cli.js';

/** What Node, the linker or the clock of the system reads at the start of a process. */
const OF_PROCESS = /^(NODE_|LD_|FAKETIME|TZ$)/;
const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

/** The commands that run here, and the folder that they share. */
const here = { count: 0, folder: '', before: '', home: process.env.HOME };

function canRunHere({ cwd, env = {}, stdin: _, ...ofProcess }: CliOptions): boolean {
  const isFree = here.count === 0 || here.folder === cwd;
  const needsProcess = Object.keys(env).some((name) => OF_PROCESS.test(name));
  return isFree && !needsProcess && Object.keys(ofProcess).length === 0;
}

/** Runs `brand-enrich` with these arguments to its end, as a process if it cannot run here. */
export function runHere(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return canRunHere(options) ? start(args, options).done : runCli(args, options);
}

/**
 * Starts it; of signals it gets those that it handles, and no other can be sent to it. A second one
 * gets a process: what those of one process share is not to hide what those of two do not.
 */
export function startHere(args: readonly string[], options: CliOptions): CliProcess {
  return here.count === 0 && canRunHere(options) ? start(args, options) : startCli(args, options);
}

function start(args: readonly string[], { cwd, env = {}, stdin }: CliOptions): CliProcess {
  if (here.count === 0) {
    Object.assign(here, { folder: cwd, before: process.cwd(), home: process.env.HOME });
    process.chdir(cwd);
    process.env.HOME = cwd;
  }
  here.count += 1;
  const startedAt = performance.now();
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const heard = listenTo(streams);
  streams.stdin.end(stdin);
  const acts = new Map<string, (signal: NodeJS.Signals) => void>();
  const face: ProcessFace = {
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    ...streams,
    on: (signal, act) => acts.set(signal, act),
    exit: () => undefined,
  };
  const run = async (): Promise<CliResult> => {
    try {
      const { main } = (await import(MAIN)) as typeof import('../../src/main.js');
      const code = await main(args, face);
      const ended = [streams.stdout, streams.stderr].map((stream) => once(stream.end(), 'end'));
      await Promise.all(ended);
      return { code, signal: null, ...heard.all(), seconds: (performance.now() - startedAt) / 1_000 };
    } finally {
      here.count -= 1;
      if (here.count === 0) {
        process.chdir(here.before);
        process.env.HOME = here.home;
      }
    }
  };
  const done = run();
  const send = (signal: NodeJS.Signals) => {
    const act = acts.get(signal);
    if (act === undefined) throw new Error(`${signal} needs a process: start it as one`);
    act(signal);
  };
  return {
    pid: process.pid,
    done,
    get said() {
      return heard.all().stderr;
    },
    untilSaid: (words) => heard.until(words, done),
    kill: send,
    killGroup: send,
  };
}
