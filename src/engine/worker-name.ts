/** The name of a worker's session in Redis and PostgreSQL: who it is, and since when. */
import { hostname } from 'node:os';

/** PostgreSQL cuts names after 63 bytes: the machine is last. Neither accepts blanks everywhere. */
export function workerName(now: number): string {
  const host = hostname().replace(/[^\w.-]/g, '_');
  return `${Math.floor(now / 1_000).toString(36)}.${process.pid}.${host}`;
}

/** `text`: the name of a session, which ends in that of a worker; null: it is none of ours. */
export function readWorkerName(text: string) {
  const [, since, pid, host] = /:w:([0-9a-z]{6,8})\.(\d+)\.([\w.-]*)$/.exec(text) ?? [];
  if (since === undefined || pid === undefined || host === undefined) return null;
  return { host, pid, since: Number.parseInt(since, 36) * 1_000 };
}
