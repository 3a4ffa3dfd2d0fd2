import { readdirSync, readFileSync } from 'node:fs';

/** Processes that this one has started and that read a file; where the system tells (Linux). */
export function readersOf(pid: number | string): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const children = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').trim().split(' ').filter(Boolean),
  );
  return children.map(Number).filter((child) => commandOf(child).includes('file-reader.js'));
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
