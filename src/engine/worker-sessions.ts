/** The workers of a queue, by the names of their sessions in Redis or PostgreSQL. */
import { hostname } from 'node:os';
import type { Queue } from 'bullmq';

/**
 * Who a worker is, and since when. PostgreSQL cuts names after 63 bytes, so the machine is last;
 * Redis accepts no blanks.
 */
export function workerName(now: number): string {
  const host = hostname().replace(/[^\w.-]/g, '_');
  return `${Math.floor(now / 1_000).toString(36)}.${process.pid}.${host}`;
}

/** null: not known, because the server does not list its sessions. Throws as BullMQ does. */
export async function listWorkers(queue: Pick<Queue, 'getWorkers'>) {
  const sessions = await queue.getWorkers();
  const workers = sessions.flatMap(({ id, rawname = '', addr = '' }) => {
    const [, since, pid, host] = /:w:([0-9a-z]{6,8})\.(\d+)\.([\w.-]*)$/.exec(rawname) ?? [];
    if (since === undefined || pid === undefined || host === undefined) return [];
    return [{ id: id ?? rawname, host, pid, since: Number.parseInt(since, 36) * 1_000, address: addr }];
  });
  // BullMQ answers with a remark where the list is forbidden.
  return sessions.length > 0 && workers.length === 0 ? null : workers;
}
