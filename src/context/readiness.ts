/**
 * Whether this process can do its work: the engine answers, and nobody has told it to stop. That it is alive is
 * another question, and needs no check: whoever answers is.
 */
import { withinDeadline } from '../core/lifecycle.js';

export interface Readiness {
  /** null: ready; else why not, in a few words. */
  whyNot(): Promise<string | null>;
}

/** Probes give up after a second or two; an engine that takes longer is away. */
const DEADLINE_MS = 1_000;

/** `askEngine` is any small question to the engine. One question is under way at a time, however many probes come. */
export function createReadiness(askEngine: () => Promise<unknown>, stop: AbortSignal): Readiness {
  let asking: Promise<true | null> | null = null;
  return {
    async whyNot() {
      if (stop.aborted) return 'stopping';
      asking ??= askEngine()
        .then(
          () => true as const,
          () => null,
        )
        .finally(() => {
          asking = null;
        });
      return (await withinDeadline(asking, DEADLINE_MS)) ? null : 'the engine does not answer';
    },
  };
}
