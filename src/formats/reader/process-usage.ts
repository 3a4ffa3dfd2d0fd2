/** Memory and computing time of another process, as the system tells them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { attempt } from '../../core/lifecycle.js';

export interface ProcessUsage {
  /** Bytes in memory; null: unknown, as on Windows. */
  readonly memory: number | null;
  /** Milliseconds of all its threads; null: unknown. */
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
