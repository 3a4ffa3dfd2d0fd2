/** Runs the process that reads a binary file: a hostile file may exhaust its memory, not ours. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { byteLines } from '../../core/json-text.js';
import { attempt } from '../../core/lifecycle.js';
import type { Pass, Reply } from './replies.js';

const LIMITS = {
  /** MiB for objects and texts; buffers are outside of it. */
  heapMib: 512,
  /** Bytes of the whole process. */
  memory: 1024 * 1024 * 1024,
  /** CPU time for one reply: honest files take minutes, but not between two rows. */
  cpuMs: 60_000,
};
const LOOK_MS = 100;
const ERROR_CHARS = 2_000;
/** The size of a reply; a row has at most 1 MiB, and a schema 4,096 columns. */
const MOST_REPLY_BYTES = 64 * 1024 * 1024;

/** Node cannot run the sources that tests import, so these start the built file. */
const isSource = import.meta.url.endsWith('.ts');
const ENTRY = fileURLToPath(
  new URL(isSource ? '../../../dist/src/file-reader.js' : '../../file-reader.js', import.meta.url),
);

/** Thrown if the process ended, or was killed, before the end of its pass. */
export class ReaderEnded extends Error {
  constructor(
    /** `unstarted`: the system refused to start it. */
    readonly why: 'crashed' | 'memory' | 'slow' | 'unstarted',
    reason: string,
    /** The text of its stderr, or the error of the system. */
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }

  /** True if the cause may not be the file. */
  get mayTryAgain(): boolean {
    return this.why === 'crashed' || this.why === 'memory';
  }
}

/**
 * Makes a pass in a new process, and yields its replies up to the end or an error. `descriptor`:
 * of the open file; the process gets a copy. Throws `ReaderEnded`, also when `stop` is aborted.
 */
export async function* readInProcess(
  descriptor: number,
  pass: Pass,
  stop: AbortSignal,
  limits = LIMITS,
): AsyncGenerator<Reply> {
  let ended: ReaderEnded | null = null;
  let errorOutput = '';
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** CPU time of the process at the last reply; null before it is measured. */
  let cpuAtReply: number | null = null;
  const child = start(descriptor, limits.heapMib);
  const kill = () => child.kill('SIGKILL');
  const isGone = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      ended ??= unstarted(error);
      resolve();
    });
    child.on('close', (code, signal) => {
      ended ??= new ReaderEnded('crashed', endOf(code, signal, limits.heapMib), new Error(errorOutput));
      resolve();
    });
  });
  child.stdin.on('error', () => undefined);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(0, ERROR_CHARS);
  });
  child.stdin.write(`${JSON.stringify(pass)}\n`);

  async function look(): Promise<void> {
    if (child.pid === undefined) return;
    lookedAt = performance.now();
    const { memory, cpuMs } = await usageOf(child.pid);
    // If the system does not tell the CPU time, all time counts.
    const cpu = cpuMs ?? performance.now();
    cpuAtReply ??= cpu;
    if (memory !== null && memory > limits.memory) {
      const most = `${Math.round(limits.memory / 1_048_576)} MiB`;
      ended ??= new ReaderEnded('memory', `it takes more than ${most} of memory to read`);
    } else if (cpu - cpuAtReply > limits.cpuMs) {
      const most = `${limits.cpuMs / 1_000} s`;
      ended ??= new ReaderEnded('slow', `no further row was found in ${most} of computing`);
    }
    if (ended !== null) kill();
  }

  stop.addEventListener('abort', kill);
  try {
    const lines = byteLines(child.stdout, MOST_REPLY_BYTES);
    for (;;) {
      const looking = setInterval(() => void look(), LOOK_MS);
      const { value } = await lines.next().finally(() => clearInterval(looking));
      // With replies faster than the timer, it never fires.
      if (performance.now() - lookedAt >= LOOK_MS) await look();
      if (value === undefined) await isGone;
      if (ended !== null) throw ended;
      if (value === undefined) throw new Error('a process without an end');
      cpuAtReply = null;
      const [, line] = value;
      if (line === null) throw new ReaderEnded('crashed', 'its structure is too large');
      const reply: Reply | null = attempt(() => JSON.parse(line.toString()) as Reply, null);
      // The process died while it wrote the reply.
      if (reply === null) {
        kill();
        continue;
      }
      yield reply;
      if ('end' in reply || 'error' in reply) return;
    }
  } finally {
    stop.removeEventListener('abort', kill);
    kill();
  }
}

function start(descriptor: number, heapMib: number): ChildProcessWithoutNullStreams {
  try {
    return spawn(process.execPath, [`--max-old-space-size=${heapMib}`, ENTRY], {
      cwd: dirname(ENTRY),
      // No token, address or NODE_OPTIONS of ours. Electron needs the variable to be Node.
      env: { ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['pipe', 'pipe', 'pipe', descriptor],
      windowsHide: true,
    }) as ChildProcessWithoutNullStreams;
  } catch (error) {
    throw unstarted(error);
  }
}

function unstarted(cause: unknown): ReaderEnded {
  return new ReaderEnded('unstarted', 'it could not be started', cause);
}

/** How V8 ends a process that is out of memory; 133 and 134 are the same through a shell. */
const OUT_OF_MEMORY: readonly unknown[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 133, 134];

function endOf(code: number | null, signal: NodeJS.Signals | null, heapMib: number): string {
  if (OUT_OF_MEMORY.includes(signal ?? code)) return `it takes more than ${heapMib} MiB of memory to read`;
  return `the process that read it ended with ${signal ?? `code ${code}`}`;
}

interface ProcessUsage {
  /** Bytes in memory; null if unknown, as on Windows. */
  readonly memory: number | null;
  readonly cpuMs: number | null;
}

/** The unit of time in `/proc/PID/stat`: USER_HZ is 100 on every Linux (proc(5)). */
const TICK_MS = 10;

/** Returns what a process uses; null values if it has ended. Never rejects. */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  if (process.platform === 'linux') return linuxUsage(pid);
  if (process.platform === 'win32') return { memory: null, cpuMs: null };
  const output = await new Promise<string>((resolve) => {
    execFile('ps', ['-o', 'rss=,time=', '-p', String(pid)], (_error, stdout) => resolve(stdout));
  });
  return readPs(output);
}

function linuxUsage(pid: number): ProcessUsage {
  const read = (name: string) => attempt(() => readFileSync(`/proc/${pid}/${name}`, 'latin1'), '');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read('status'))?.[1];
  // The name of the program, in parentheses, may hold blanks; after it comes the third field.
  const fields = read('stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return {
    memory: kilobytes === undefined ? null : Number(kilobytes) * 1024,
    cpuMs: Number.isFinite(ticks) ? ticks * TICK_MS : null,
  };
}

/** Reads kilobytes and time from `ps`: `81234 1-02:03:04` or `81234 3:04.56`. Pure. */
export function readPs(text: string): ProcessUsage {
  const [, kilobytes, days = '0', clock = ''] = /^\s*(\d+)\s+(?:(\d+)-)?([\d:.]+)\s*$/.exec(text) ?? [];
  if (kilobytes === undefined) return { memory: null, cpuMs: null };
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { memory: Number(kilobytes) * 1024, cpuMs: (Number(days) * 86_400 + seconds) * 1_000 };
}
