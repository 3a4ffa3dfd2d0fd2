/**
 * Which jobs of the queue a worker takes up. Another program with access to the engine can put
 * anything there: a run that names another service or account than the worker's own settings, or a
 * job that is not a chunk. Those are left as they are, and neither the token nor a request goes
 * anywhere for them.
 */
import type { Clock } from '../core/clock.js';
import { readIdentifierText } from '../core/identifier.js';
import { attempt } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import {
  fitting,
  flag,
  list,
  number,
  object,
  optional,
  record,
  type Shape,
  text,
  whole,
} from '../core/shapes.js';
import type { ChunkData } from '../engine/engine.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { maskAddress } from '../settings/address-values.js';

const WARN_EVERY_MS = 60_000;
/** Far above those of a run of ours. */
const IDENTIFIERS_AT_MOST = 10_000;
/** A domain has 253 characters at most; the longest value of a row is far shorter than this. */
const LONGEST_TEXT = 2_048;

function isIdentifierText(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const { value = '' } = readIdentifierText(text) ?? {};
  return (
    text.length <= LONGEST_TEXT &&
    value !== '' &&
    // As in `identify-cell.ts`: a proxy that decodes it would see another path.
    !/(?:^|\/)\.\.?(?:\/|$)/.test(value) &&
    !/\p{Surrogate}/u.test(value)
  );
}

const identifiers = list(fitting<string>(isIdentifierText));
const isFew = (value: unknown) => Array.isArray(value) && value.length <= IDENTIFIERS_AT_MOST;
const fewIdentifiers: typeof identifiers = (value) => identifiers(fitting(isFew)(value));

const chunkShape: Shape<ChunkData> = object({
  run: fitting<string>((value) => text(value) !== ''),
  chunk: whole,
  identifiers: fewIdentifiers,
  attempts: record(whole),
  due: optional(record(number)),
  parkedAt: optional(number),
  isRepeat: optional(flag),
});

export interface OwnChunksOptions {
  readonly service: string;
  readonly account: string;
  readonly clock: Clock;
  readonly log: Log;
}

export function createOwnChunks({ service, account, clock, log }: OwnChunksOptions) {
  const warnedAt = new Map<string, number>();

  /** The same sentence once a minute, whatever is planted meanwhile. */
  function warn(facts: object, sentence: string): void {
    const now = clock.monotonic();
    if (now - (warnedAt.get(sentence) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return;
    warnedAt.set(sentence, now);
    log.warn(facts, sentence);
  }

  return {
    /** The chunk of a job; null for anything else. */
    read(data: unknown): ChunkData | null {
      const chunk = attempt(() => chunkShape(data), null);
      if (chunk === null) warn({}, 'a job on this queue is not a chunk of lookups; it is left alone');
      return chunk;
    },

    /** Whether the run is of this worker's service and account. */
    isOf({ id, settings }: Pick<RunRecord, 'id' | 'settings'>): boolean {
      if (settings.service !== service) {
        const facts = { run: id, host: hostOf(settings.service) };
        warn(facts, 'a run on this queue names another service; its chunks are left alone');
      } else if (settings.account !== account) {
        warn({ run: id }, 'a run on this queue names another account; its chunks are left alone');
      } else return true;
      return false;
    },
  };
}

function hostOf(address: string): string {
  const host = URL.canParse(address) ? new URL(address).host : maskAddress(address);
  return host.slice(0, 100);
}
