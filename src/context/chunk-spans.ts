/**
 * BullMQ's spans of chunks, in the trace of their run, without those of its upkeep and without
 * results and reasons. Lookups are sums on the span of their chunk: a span for each costs a tenth
 * of the lookup, and no backend takes a million.
 */
import { type Context, type Span as OtelSpan, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Span, Telemetry } from 'bullmq';
import { BullMQOTelSpan, BullMQOtel } from 'bullmq-otel';
import type { Client } from '../lookup/client.js';
import type { Answer } from '../lookup/read-answer.js';

/** BullMQ's own words, with which the names of its spans begin. */
const TRACED_OPERATIONS: ReadonlySet<string> = new Set(['addBulk', 'process']);
/** Attributes without information about the identifiers. All other attributes are removed. */
const KEPT_ATTRIBUTES: ReadonlySet<string> = new Set([
  'bullmq.queue.name',
  'bullmq.queue.operation',
  'bullmq.job.bulk.count',
  'bullmq.job.id',
  'bullmq.job.attempts.made',
  'bullmq.worker.id',
]);

const UNTRACED: Span<Context> = {
  setSpanOnContext: (context) => context,
  setAttribute: () => undefined,
  setAttributes: () => undefined,
  addEvent: () => undefined,
  recordException: () => undefined,
  end: () => undefined,
};

/** What was counted while a chunk is worked on. */
interface Tally {
  readonly byOutcome: Map<Answer['meaning']['type'], number>;
  billed: number;
  longestMs: number;
}

const tallies = new WeakMap<OtelSpan, Tally>();

/** For queues and workers. Set OpenTelemetry's global provider first: it gets the spans. */
export function createQueueTelemetry(scope: string): Telemetry<Context> {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: scope });
  return {
    contextManager,
    tracer: {
      startSpan(name, options, context) {
        const operation = name.split(' ', 1)[0] ?? '';
        if (!TRACED_OPERATIONS.has(operation)) return UNTRACED;
        const span = tracer.startSpan(name, options, context);
        // All of the adapter's are.
        return span instanceof BullMQOTelSpan ? withoutWords(span) : UNTRACED;
      },
    },
  };
}

/** The same span with its lookups, and without values, results and messages of errors. */
function withoutWords(span: BullMQOTelSpan): Span<Context> {
  const tally: Tally = { byOutcome: new Map(), billed: 0, longestMs: 0 };
  tallies.set(span.span, tally);
  // BullMQ's spans have no status.
  const markFailed = () => span.span.setStatus({ code: SpanStatusCode.ERROR });
  const quiet: Span<Context> = {
    setSpanOnContext: (context) => span.setSpanOnContext(context),
    setAttribute(key, value) {
      if (KEPT_ATTRIBUTES.has(key)) span.setAttribute(key, value);
    },
    setAttributes(attributes) {
      for (const [key, value] of Object.entries(attributes)) {
        if (value !== undefined) quiet.setAttribute(key, value);
      }
    },
    addEvent(name) {
      if (name !== 'job failed') return;
      span.addEvent(name);
      markFailed();
    },
    recordException(exception) {
      const name = typeof exception === 'string' ? undefined : exception.name;
      span.recordException({ name: name ?? 'Error' });
      markFailed();
    },
    end() {
      tallies.delete(span.span);
      const { byOutcome, billed, longestMs } = tally;
      const counts = [...byOutcome].map(([type, count]) => [`brand_enrich.lookups.${type}`, count]);
      const sums = { 'brand_enrich.billed': billed, 'brand_enrich.lookup.longest_ms': Math.round(longestMs) };
      if (counts.length > 0) span.span.setAttributes({ ...Object.fromEntries(counts), ...sums });
      span.end();
    },
  };
  return quiet;
}

/** The same client; counts lookups on the span in whose context they run, if it is a chunk's. */
export function watchLookups(client: Client): Client {
  return {
    async lookup(identifier, options) {
      const span = trace.getActiveSpan();
      const tally = span && tallies.get(span);
      const startedAt = performance.now();
      const answer = await client.lookup(identifier, options);
      if (tally) {
        const { type } = answer.meaning;
        tally.byOutcome.set(type, (tally.byOutcome.get(type) ?? 0) + 1);
        if (answer.cost !== 'free') tally.billed += 1;
        tally.longestMs = Math.max(tally.longestMs, performance.now() - startedAt);
      }
      return answer;
    },
  };
}
