/** What programs cost, on Linux: GNU `time` measures those that end, `/proc` the others. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_SECOND = 100;
const SAMPLE_EVERY_MS = 300;

export interface Took {
  readonly code: number;
  /** Wall clock, start-up included. */
  readonly seconds: number;
  /** User and system time of the program and of the children it waited for: a server it stopped. */
  readonly cpuSeconds: number;
  /** Of the program alone. */
  readonly ownCpuSeconds: number;
  /** Peak resident memory, MiB. */
  readonly peakMiB: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Loaded before a program: it says at its end what it needed without its children. */
const SAY_OWN = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeSync(2, 'OWN ' + (user + system) / 1e6 + '\\n');
  });
`)}`;

export async function take(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Took> {
  const started = performance.now();
  const node = [process.execPath, '--import', SAY_OWN, file, ...args];
  const child = spawn('/usr/bin/time', ['-f', 'COST %U %S %M', ...node], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  const seconds = (performance.now() - started) / 1_000;
  const [, user, system, peak] = /COST (\S+) (\S+) (\d+)/.exec(stderr)?.map(Number) ?? [];
  const cpuSeconds = (user ?? 0) + (system ?? 0);
  const ownCpuSeconds = Number(/^OWN (\S+)$/m.exec(stderr)?.[1]);
  return { code, seconds, cpuSeconds, ownCpuSeconds, peakMiB: (peak ?? 0) / 1_024, stdout, stderr };
}

/** CPU seconds of a live process, and of the children it has waited for; 0 when it is gone. */
export function cpuSecondsOf(pid: number): number {
  // The second field, the name, may hold blanks; it ends with the last parenthesis.
  const fields = read(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / CLOCK_TICKS_PER_SECOND;
}

/** Memory of a live process; pages that it shares with others count in part. */
function residentMiB(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(read(pid, 'smaps_rollup'))?.[1] ?? 0) / 1_024;
}

/**
 * Watches a server and its child processes; `pidOf` gives null while there is none. The returned
 * function ends it: CPU time since the call, and peak memory of all of them together.
 */
export function watch(pidOf: () => number | null): () => { cpuSeconds: number; peakMiB: number } {
  let cpuSeconds = 0;
  let peakMiB = 0;
  const look = () => {
    const pid = pidOf();
    if (pid === null) return;
    const children = read(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
    const pids = [pid, ...children];
    cpuSeconds = Math.max(cpuSeconds, sumOf(pids.map(cpuSecondsOf)));
    peakMiB = Math.max(peakMiB, sumOf(pids.map(residentMiB)));
  };
  look();
  const before = cpuSeconds;
  const timer = setInterval(look, SAMPLE_EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
    return { cpuSeconds: cpuSeconds - before, peakMiB };
  };
}

export function diskMiB(folder: string): number {
  const { stdout } = spawnSync('du', ['-sk', folder], { encoding: 'utf8' });
  return Number.parseInt(stdout, 10) / 1_024;
}

/** A file of `/proc`; empty when the process has ended. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
