/** The command line in this process: a start of Node costs more than most of what is tested. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ProcessFace } from '../../src/main.js';
import { type CliOptions, type CliProcess, type CliResult, listenTo, startCli } from './cli.js';

/** What Node, the linker or the clock of the system reads at the start of a process. */
const OF_PROCESS = /^(NODE_|LD_|FAKETIME|TZ$)/;
const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

/** These send no requests: they run beside another command, as in a second terminal. */
const SENDS_NOTHING =
  /^(status|plan|pause|resume|cancel|ledger|outcomes|engine (status|export)|schedule (add|list|remove|run-now)|config|init)\b|--no-worker/;

/** The folder and home before the first of the commands that run; they share one folder. */
let before: { readonly cwd: string; readonly home: string | undefined } | null = null;
let running = 0;

function canRunHere(args: readonly string[], options: CliOptions): boolean {
  const { cwd, env = {}, stdin: _stdin, ...ofProcess } = options;
  const needsProcess = Object.keys(env).some((name) => OF_PROCESS.test(name));
  const isFree = running === 0 || (SENDS_NOTHING.test(args.join(' ')) && process.env.HOME === cwd);
  return isFree && !needsProcess && Object.keys(ofProcess).length === 0;
}

/** Runs `brand-enrich` with these arguments to its end, as a process if it cannot run here. */
export function runHere(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return startHere(args, options).done;
}

/**
 * Starts it, as a process if it cannot run here. Of signals it gets those that it handles, and no
 * other can be sent to it.
 */
export function startHere(args: readonly string[], options: CliOptions): CliProcess {
  return canRunHere(args, options) ? start(args, options) : startCli(args, options);
}

function start(args: readonly string[], { cwd, env = {}, stdin }: CliOptions): CliProcess {
  running += 1;
  before ??= { cwd: process.cwd(), home: process.env.HOME };
  process.chdir(cwd);
  process.env.HOME = cwd;
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
      running -= 1;
      if (running === 0 && before !== null) {
        process.chdir(before.cwd);
        process.env.HOME = before.home;
        before = null;
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
