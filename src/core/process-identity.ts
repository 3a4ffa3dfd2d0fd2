/** Identifies processes, so that others can judge whether one is gone: its number is used again. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { attempt, isRunning } from './lifecycle.js';

/** Returns host, boot, PID namespace, PID and start; a part is empty where a system lacks it. */
export function processIdentity(): string {
  return `${machineIdentity()} ${process.pid} ${startOf(process.pid)}`;
}

/** True if the process has certainly ended; false if that cannot be judged from here. */
export function isProcessGone(identity: string): boolean {
  const [host, boot, namespace, pid, startedAt] = identity.split(' ');
  const number = Number(pid);
  if (`${host} ${boot} ${namespace}` !== machineIdentity()) return false;
  if (!Number.isSafeInteger(number) || number <= 0) return false;
  if (!isRunning(number)) return true;
  const start = startOf(number);
  return start !== '' && startedAt !== '' && start !== startedAt;
}

/** Returns host, boot and PID namespace: equal for processes that can see each other. */
export function machineIdentity(): string {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), '');
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'), '');
  return [hostname().replaceAll(' ', ''), boot, namespace].join(' ');
}

/** Returns who runs this process, for people: `user@host`. */
export function userAtHost(): string {
  // A container may run under a number without a name.
  return `${attempt(() => userInfo().username, String(process.getuid?.()))}@${hostname()}`;
}

/** Returns when a process started, in ticks since the boot. */
function startOf(pid: number): string {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  // The name in parentheses may hold blanks and `)`; the start is the 20th field after it.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
