/** Reports of a worker to runs of its process. Nothing depends on them: stores have it all. */
import type { Brand } from '../lookup/brand.js';
import type { OutcomeKey } from '../stores/outcome-store.js';

/** An answer that this process fetched, as durable as the engine promises. */
export interface FetchedAnswer {
  readonly key: OutcomeKey;
  readonly status: 'matched' | 'not_found';
  /** A "not found" that is believed for a moment only: the brand is being fetched. */
  readonly retryLater: boolean;
  /** The service's JSON as it came, and parsed; null for `not_found`. */
  readonly profile: { readonly text: string; readonly brand: Brand } | null;
  /** Store's clock, milliseconds: the date under which the store keeps it. */
  readonly fetchedAt: number;
}

export interface WorkerListener {
  onChunk(): void;
  /** Called after each answer, for any run. Must not throw. */
  onAnswer(answer: FetchedAnswer): void;
}
