/**
 * Answers that the worker of this process fetched for this run, taken as they come: what is in memory need not be read back,
 * unpacked and parsed again. Whatever is missed here is read from the store, which is the truth.
 */
import type { FetchedAnswer } from '../../worker/worker-listener.js';
import { type GatherContext, keepAnswer } from './gather.js';

export interface HandOver {
  /** The identifiers of a chunk that is about to be queued. */
  expect(batch: readonly { readonly index: number; readonly text: string }[]): void;
  /** Never throws. */
  onAnswer(answer: FetchedAnswer): void;
  /** Takes nothing more. */
  close(): void;
}

/** Twice what is queued at once. With workers elsewhere most are never handed over: the oldest are forgotten. */
const EXPECTED_AT_MOST = 20_000;

export function createHandOver(gather: GatherContext): HandOver {
  const expected = new Map<string, { readonly index: number; readonly text: string }>();
  return {
    expect(batch) {
      for (const each of batch) expected.set(gather.keyPrefix + each.text, each);
      for (const key of expected.keys()) {
        if (expected.size <= EXPECTED_AT_MOST) return;
        expected.delete(key);
      }
    },
    onAnswer({ key, status, comeBack, profile, fetchedAt }) {
      const wanted = expected.get(key);
      if (wanted === undefined) return;
      expected.delete(key);
      const brand = profile?.brand ?? {};
      const text = profile === null ? null : profile.body.toString('utf8');
      try {
        const answer = { status, comeBack, profile: text, brand, fetchedAt };
        keepAnswer(gather, wanted.index, wanted.text, answer, 'api');
      } catch {
        // A full disk: the run meets it where it takes from the store what is missing here.
      }
    },
    close() {
      expected.clear();
    },
  };
}
