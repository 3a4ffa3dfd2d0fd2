/**
 * A stored answer as one string value: a header of 17 bytes, then the packed body as it came.
 *
 *   byte 0        1 matched, 2 billed, 4 has a body
 *   bytes 1-8     fetchedAt, milliseconds, IEEE double, big-endian
 *   bytes 9-16    freshUntil, the same; 0: none
 *
 * `outcomes.lua` writes and judges it with Lua's `struct` (`>dd`); this file reads it.
 */
import type { NewOutcome, OutcomeKey, StoredOutcome } from '../../stores/outcome-store.js';

const MATCHED = 1;
const BILLED = 2;
const HAS_BODY = 4;
const HEADER_BYTES = 17;

export function outcomeFlags(outcome: Pick<NewOutcome, 'status' | 'billed' | 'packed'>): number {
  return (
    (outcome.status === 'matched' ? MATCHED : 0) |
    (outcome.billed ? BILLED : 0) |
    (outcome.packed === null ? 0 : HAS_BODY)
  );
}

/** Throws a plain `Error` on a value that no script of ours wrote. */
export function readOutcomeValue(key: OutcomeKey, value: Buffer): StoredOutcome {
  if (value.length < HEADER_BYTES) throw new Error(`not a stored outcome: ${key}`);
  const flags = value.readUInt8(0);
  return {
    key,
    status: flags & MATCHED ? 'matched' : 'not_found',
    packed: flags & HAS_BODY ? value.subarray(HEADER_BYTES) : null,
    fetchedAt: value.readDoubleBE(1),
    billed: (flags & BILLED) !== 0,
    freshUntil: value.readDoubleBE(9) || null,
  };
}
