/**
 * The lookups of a chunk as sums on the chunk's span. A span for each lookup costs about a tenth of what the lookup itself does, and
 * a file of a million rows would be a trace that no backend takes.
 */
import { type Attributes, type Span, trace } from '@opentelemetry/api';
import type { Client } from '../lookup/client.js';
import type { Answer } from '../lookup/read-answer.js';

export interface LookupTallies {
  /** Lookups that run in the context of this span are counted from now on. */
  begin(span: Span): void;
  /** What was counted since, as attributes; empty when nothing was. */
  end(span: Span): Attributes;
  /** The same client, its lookups counted on the span in whose context they run, if that is one of these. */
  watchClient(client: Client): Client;
}

interface Tally {
  readonly byOutcome: Map<Answer['meaning']['type'], number>;
  billed: number;
  longestMs: number;
}

export function createLookupTallies(): LookupTallies {
  const tallies = new Map<Span, Tally>();
  return {
    begin(span) {
      tallies.set(span, { byOutcome: new Map(), billed: 0, longestMs: 0 });
    },
    end(span) {
      const tally = tallies.get(span);
      tallies.delete(span);
      return tally === undefined || tally.byOutcome.size === 0 ? {} : attributesOf(tally);
    },
    watchClient: (client) => ({
      async lookup(identifier, options) {
        const span = trace.getActiveSpan();
        const tally = span && tallies.get(span);
        const startedAt = performance.now();
        const answer = await client.lookup(identifier, options);
        if (tally) note(tally, answer, performance.now() - startedAt);
        return answer;
      },
    }),
  };
}

function note(tally: Tally, { meaning, cost }: Answer, ms: number): void {
  tally.byOutcome.set(meaning.type, (tally.byOutcome.get(meaning.type) ?? 0) + 1);
  if (cost !== 'free') tally.billed += 1;
  tally.longestMs = Math.max(tally.longestMs, ms);
}

function attributesOf({ byOutcome, billed, longestMs }: Tally): Attributes {
  return {
    ...Object.fromEntries([...byOutcome].map(([type, count]) => [`brand_enrich.lookups.${type}`, count])),
    'brand_enrich.billed': billed,
    'brand_enrich.lookup.longest_ms': Math.round(longestMs),
  };
}
