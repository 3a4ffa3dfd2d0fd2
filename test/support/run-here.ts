/**
 * The command line in this process, where one at a time can run: a start of Node costs more than
 * most of what is tested. Signals, kills and limits need a process, see `startCli`.
 */
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ProcessFace } from '../../src/main.js';
import { type CliOptions, type CliResult, runCli } from './cli.js';

/** What Node, the linker or the clock of the system reads at the start of a process. */
const OF_PROCESS = /^(NODE_|LD_|FAKETIME|TZ$)/;
const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

let isBusy = false;

/** Runs `brand-enrich` with these arguments to its end, as a process if another one runs here. */
export async function runHere(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const { cwd, env = {}, stdin, ...ofProcess } = options;
  if (isBusy || Object.keys(ofProcess).length > 0 || Object.keys(env).some((name) => OF_PROCESS.test(name)))
    return runCli(args, options);
  isBusy = true;
  const before = { cwd: process.cwd(), home: process.env.HOME };
  const startedAt = performance.now();
  try {
    const { main } = (await import(MAIN)) as typeof import('../../src/main.js');
    process.chdir(cwd);
    process.env.HOME = cwd;
    const [input, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    input.end(stdin);
    const face: ProcessFace = {
      env: { PATH: process.env.PATH, HOME: cwd, ...env },
      stdin: input,
      stdout,
      stderr,
      on: () => undefined,
      exit: () => undefined,
    };
    const texts = Promise.all([text(stdout), text(stderr)]);
    const code = await main(args, face);
    stdout.end();
    stderr.end();
    const [said, told] = await texts;
    return {
      code,
      signal: null,
      stdout: said,
      stderr: told,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    process.chdir(before.cwd);
    process.env.HOME = before.home;
    isBusy = false;
  }
}
