/** The process for a binary file: one made to exhaust memory or time must not take ours along. */
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
  /** Bytes of all of the process. */
  memory: 1024 * 1024 * 1024,
  /** Computing for one reply: honest files take minutes, but not between two rows. */
  cpuMs: 60_000,
};
const LOOK_MS = 100;
const ERROR_CHARS = 2_000;
/** The size of a reply; a row has at most 1 MiB, and a schema 4,096 columns. */
const MOST_REPLY_BYTES = 64 * 1024 * 1024;

/** Tests run the sources, which Node cannot: they start what was built. */
const isSource = import.meta.url.endsWith('.ts');
const ENTRY = fileURLToPath(
  new URL(isSource ? '../../../dist/src/file-reader.js' : '../../file-reader.js', import.meta.url),
);

/** The process ended, or was ended, before its pass did. */
export class ReaderEnded extends Error {
  constructor(
    /** `unstarted`: the system refused to start it. */
    readonly why: 'crashed' | 'memory' | 'slow' | 'unstarted',
    reason: string,
    /** What it wrote to stderr, or the error of the system. */
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }

  /** True if the file need not be to blame. */
  get mayTryAgain(): boolean {
    return this.why === 'crashed' || this.why === 'memory';
  }
}

/**
 * Reads the replies of a process of its own to one pass, up to the end or an error. `descriptor`:
 * of the open file; the process has its own copy of it. Throws `ReaderEnded`, also when `stop` ends
 * the process.
 */
export async function* readInProcess(
  descriptor: number,
  pass: Pass,
  stop: AbortSignal,
  limits = LIMITS,
): AsyncGenerator<Reply> {
  let ended: ReaderEnded | null = null;
  let said = '';
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** When the last reply came, in computing time of the process; null: not yet looked. */
  let cpuAtReply: number | null = null;
  const child = start(descriptor, limits.heapMib);
  const kill = () => child.kill('SIGKILL');
  const isGone = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      ended ??= unstarted(error);
      resolve();
    });
    child.on('close', (code, signal) => {
      ended ??= new ReaderEnded('crashed', endOf(code, signal, limits.heapMib), new Error(said));
      resolve();
    });
  });
  child.stdin.on('error', () => undefined);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, ERROR_CHARS);
  });
  child.stdin.write(`${JSON.stringify(pass)}\n`);

  async function look(): Promise<void> {
    if (child.pid === undefined) return;
    lookedAt = performance.now();
    const { memory, cpuMs } = await usageOf(child.pid);
    // Where the system does not say, time that passes counts as computing.
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
      // Replies that come faster than the timer must not hide what they take.
      if (performance.now() - lookedAt >= LOOK_MS) await look();
      if (value === undefined) await isGone;
      if (ended !== null) throw ended;
      if (value === undefined) throw new Error('a process without an end');
      cpuAtReply = null;
      const [, line] = value;
      if (line === null) throw new ReaderEnded('crashed', 'its structure is too large');
      const reply: Reply | null = attempt(() => JSON.parse(line.toString()) as Reply, null);
      // The process died in the middle of it.
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
      // Nothing of ours: no token, no address, no NODE_OPTIONS. Electron is Node only when told so.
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

/** V8 ends a process without memory by one of these; 133 and 134 are the same through a shell. */
const OUT_OF_MEMORY: readonly unknown[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 133, 134];

function endOf(code: number | null, signal: NodeJS.Signals | null, heapMib: number): string {
  if (OUT_OF_MEMORY.includes(signal ?? code)) return `it takes more than ${heapMib} MiB of memory to read`;
  return `the process that read it ended with ${signal ?? `code ${code}`}`;
}

interface ProcessUsage {
  /** Bytes in memory; null: unknown, as on Windows. */
  readonly memory: number | null;
  readonly cpuMs: number | null;
}

/** The length of USER_HZ, the unit of `/proc/PID/stat`: 100 per second on every Linux (proc(5)). */
const TICK_MS = 10;

/** Null values where the process is gone. Never rejects. */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  if (process.platform === 'linux') return linuxUsage(pid);
  if (process.platform === 'win32') return { memory: null, cpuMs: null };
  const told = await new Promise<string>((resolve) => {
    execFile('ps', ['-o', 'rss=,time=', '-p', String(pid)], (_error, stdout) => resolve(stdout));
  });
  return readPs(told);
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

/** `81234 1-02:03:04` or `81234 3:04.56`: kilobytes and time, as `ps` says them. Pure. */
export function readPs(text: string): ProcessUsage {
  const [, kilobytes, days = '0', clock = ''] = /^\s*(\d+)\s+(?:(\d+)-)?([\d:.]+)\s*$/.exec(text) ?? [];
  if (kilobytes === undefined) return { memory: null, cpuMs: null };
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { memory: Number(kilobytes) * 1024, cpuMs: (Number(days) * 86_400 + seconds) * 1_000 };
}
