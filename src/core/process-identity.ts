/**
 * Which process this is, as a text that another process of the same machine can judge: whether it
 * is gone for certain. A process identifier alone would not do: it is used again after a while, and
 * another container counts its own.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Host, boot, namespace of process identifiers, identifier, start of the process. What a platform
 * does not tell is empty.
 */
export function processIdentity(): string {
  return [...machine(), String(process.pid), startOf(process.pid) ?? ''].join(' ');
}

/**
 * Whether the process is known to have ended. False when it lives, runs elsewhere, or cannot be
 * judged from here.
 */
export function isProcessGone(identity: string): boolean {
  const [host, boot, namespace, pid, startedAt] = identity.split(' ');
  const [ourHost, ourBoot, ourNamespace] = machine();
  const number = Number(pid);
  if (host !== ourHost || boot !== ourBoot || namespace !== ourNamespace) return false;
  if (!Number.isSafeInteger(number) || number <= 0) return false;
  try {
    // Signal 0 only asks whether there is such a process.
    process.kill(number, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const start = startOf(number);
  return start !== null && startedAt !== '' && start !== startedAt;
}

/** Host, boot and namespace of process identifiers: equal for processes that can see each other. */
export function machineIdentity(): string {
  return machine().join(' ');
}

function machine(): [host: string, boot: string, namespace: string] {
  const boot = orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  return [hostname().replaceAll(' ', ''), boot, orEmpty(() => readlinkSync('/proc/self/ns/pid'))];
}

/** When a process started, in ticks since the boot; null where there is no /proc. */
function startOf(pid: number): string | null {
  const stat = orEmpty(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The name in parentheses may hold blanks and parentheses; the start is the 20th field after it
  // (proc(5)).
  return stat === '' ? null : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null);
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
