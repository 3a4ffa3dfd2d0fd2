/** A server of the tests as a process: ready when it says so, and gone with that of the tests. */
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const STARTS_WITHIN_MS = 60_000;
const GOES_ON: readonly NodeJS.Signals[] = ['SIGSTOP', 'SIGCONT'];

/** Whether this machine has a program; suites that need it are skipped, not failed, without it. */
export function hasProgram(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Starts it. Rejects with its words when it exits, or says nothing of this, in a minute. */
export async function startServer(command: readonly string[], ready: string, options: SpawnOptions = {}) {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const lastResort = () => void child.kill('SIGKILL');
  process.once('exit', lastResort);
  child.once('exit', () => process.off('exit', lastResort));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const fail = (why: unknown) => {
      lastResort();
      reject(new Error(`${program} did not start: ${why}; ${said}`));
    };
    const timer = setTimeout(fail, STARTS_WITHIN_MS, 'it is not ready');
    child.once('error', fail).once('exit', fail);
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (!said.includes(ready)) return;
        clearTimeout(timer);
        stream.removeAllListeners('data').resume();
        resolve();
      });
  });
  return {
    pid: child.pid ?? 0,
    /** Sends a signal and, unless that only pauses it, waits until it is gone. */
    async kill(signal: NodeJS.Signals): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      if (!GOES_ON.includes(signal)) await gone;
    },
  };
}
