/** Which process this is, for others to judge whether it is gone: its number is used again. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { attempt, isRunning } from './lifecycle.js';

/** Host, boot, PID namespace, PID, start; empty where a platform does not give it. */
export function processIdentity(): string {
  return `${machineIdentity()} ${process.pid} ${startOf(process.pid)}`;
}

/** Whether the process is known to have ended; false when it cannot be judged from here. */
export function isProcessGone(identity: string): boolean {
  const [host, boot, namespace, pid, startedAt] = identity.split(' ');
  const number = Number(pid);
  if (`${host} ${boot} ${namespace}` !== machineIdentity()) return false;
  if (!Number.isSafeInteger(number) || number <= 0) return false;
  if (!isRunning(number)) return true;
  const start = startOf(number);
  return start !== '' && startedAt !== '' && start !== startedAt;
}

/** Host, boot and namespace of process identifiers: equal for processes that can see each other. */
export function machineIdentity(): string {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), '');
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'), '');
  return [hostname().replaceAll(' ', ''), boot, namespace].join(' ');
}

/** Who runs this process, for people: `user@host`. */
export function userAtHost(): string {
  // A container may run under a number without a name.
  return `${attempt(() => userInfo().username, String(process.getuid?.()))}@${hostname()}`;
}

/** When a process started, in ticks since the boot. */
function startOf(pid: number): string {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  // The name in parentheses may hold blanks and parentheses; the start is the 20th field after it
  // (proc(5)).
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
