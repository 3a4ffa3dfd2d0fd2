/**
 * Which run this is. Its key is the hash of what it reads and of the settings that choose identifiers: the same command
 * on the same content is the same key, whatever the file is called. Its id is its own.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { EnrichRequest } from './enrich-request.js';

/** What chooses identifiers, or the meaning of their answers. */
export type KeyRequest = Pick<EnrichRequest, 'intake'> & {
  readonly scan: Pick<EnrichRequest['scan'], 'requested' | 'kind' | 'waterfall'>;
  readonly settings: Pick<EnrichRequest['settings'], 'service' | 'allowNsfw'>;
};

/** 32 hex digits. `contentHash` as `Input.contentHash` gives it. */
export function runKey(contentHash: string, request: KeyRequest): string {
  const { requested, kind, waterfall } = request.scan;
  const { service, allowNsfw } = request.settings;
  const chosen = { ...request.intake, requested, kind, waterfall, service, allowNsfw };
  const ordered = Object.entries(chosen).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(contentHash).update(JSON.stringify(ordered)).digest('hex').slice(0, 32);
}

/** A name for one run, unique, with its day (UTC) for people. `now` in milliseconds. */
export function newRunId(now: number): string {
  return `r-${new Date(now).toISOString().slice(0, 10).replaceAll('-', '')}-${randomBytes(4).toString('hex')}`;
}
