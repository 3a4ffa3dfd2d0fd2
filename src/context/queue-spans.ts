/**
 * The spans of BullMQ for chunks: one span for adding some, one for each time that a chunk is worked on, in the trace of the run that
 * added it, wherever the worker is (BullMQ carries the context in the job's options). BullMQ has spans for its upkeep too, which an
 * idle worker would send for ever, and puts results and reasons into them: those stay here.
 */
import { type Context, SpanStatusCode } from '@opentelemetry/api';
import type { Span, Telemetry } from 'bullmq';
import { BullMQOTelSpan, BullMQOtel } from 'bullmq-otel';
import type { LookupTallies } from './lookup-tallies.js';

/** BullMQ's own words, with which the names of its spans begin. */
const TRACED_OPERATIONS: ReadonlySet<string> = new Set(['addBulk', 'process']);
/** Attributes that say nothing of what is looked up. Whatever else BullMQ thinks of is left out. */
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

/**
 * For the options of queues and workers. The global provider of OpenTelemetry must be set before, and takes what comes of it.
 * `lookups`: what is counted while a chunk is worked on.
 */
export function createQueueTelemetry(
  scope: string,
  lookups: Pick<LookupTallies, 'begin' | 'end'>,
): Telemetry<Context> {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: scope });
  return {
    contextManager,
    tracer: {
      startSpan(name, options, context) {
        const operation = name.split(' ', 1)[0] ?? '';
        if (!TRACED_OPERATIONS.has(operation)) return UNTRACED;
        const span = tracer.startSpan(name, options, context);
        // All of the adapter's are.
        return span instanceof BullMQOTelSpan ? withoutWords(span, lookups) : UNTRACED;
      },
    },
  };
}

/** The same span with its lookups, and without values, results and messages of errors. */
function withoutWords(span: BullMQOTelSpan, lookups: Pick<LookupTallies, 'begin' | 'end'>): Span<Context> {
  lookups.begin(span.span);
  // BullMQ's spans have no status of their own.
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
      span.span.setAttributes(lookups.end(span.span));
      span.end();
    },
  };
  return quiet;
}
