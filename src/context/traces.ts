/**
 * The traces of one process: a root span for each run, without rows, identifiers, brands, the token
 * or words of errors, because traces go to others. BullMQ's adapter asks OpenTelemetry's globals:
 * making this sets them, closing gives them back.
 */
import { hostname } from 'node:os';
import {
  type Attributes,
  type Context,
  context,
  type Span as OtelSpan,
  propagation,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Span, Telemetry } from 'bullmq';
import { BullMQOTelSpan, BullMQOtel } from 'bullmq-otel';
import { maskAddress } from '../config/address-values.js';
import { BrandEnrichError, EXIT, type ExitCode } from '../core/errors.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { systemWords } from '../core/system-error.js';
import type { Client } from '../lookup/client.js';
import type { Answer } from '../lookup/read-answer.js';
import type { EnrichResult } from '../run/enrich-file.js';
import { exitCodeOf } from '../run/run-end.js';

const SCOPE = 'brand-enrich';
const CLOSE_MS = 2_000;
/** Shorter than `CLOSE_MS`: deliveries end before closing gives them up, with a known result. */
const DELIVERY_MS = 1_800;
const FAILING: ReadonlySet<ExitCode> = new Set([EXIT.tooManyErrors, EXIT.credentials, EXIT.ioError]);

export type Traces = ReturnType<typeof createTraces>;

/** `url`: the whole address of the collector, with credentials if it wants them. */
export function createTraces({ url, log }: { readonly url: string; readonly log: Log }) {
  const ours = { 'service.name': SCOPE, 'host.name': hostname(), 'process.pid': process.pid };
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(ours))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: createDelivery(url, log) })],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer(SCOPE);

  return {
    /** For the queues and workers of an engine. */
    telemetry: createQueueTelemetry() as Telemetry,
    /** The same client, its lookups summed up on the span of their chunk. */
    watchClient: watchLookups,
    /** `run` in its own trace; passes on its result or error. `isStrict` as in `exitCodeOf`. */
    traceRun(engine: string, isStrict: boolean, run: () => Promise<EnrichResult>): Promise<EnrichResult> {
      // A root: the ticks of a schedule share a trace, which a run of one of them does not join.
      const attributes = { 'brand_enrich.engine': engine };
      return tracer.startActiveSpan('run', { root: true, attributes }, async (span) => {
        try {
          const result = await run();
          const exitCode = exitCodeOf(result, isStrict);
          span.setAttributes(attributesOf(result, exitCode));
          if (FAILING.has(exitCode)) span.setStatus({ code: SpanStatusCode.ERROR });
          return result;
        } catch (error) {
          span.setAttribute('error.type', error instanceof BrandEnrichError ? error.code : 'bug');
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      });
    },
    /** Sends what is left, for 2 s at most. Never rejects. */
    async close() {
      const sent = provider.shutdown().catch(() => undefined);
      await withinDeadline(sent, CLOSE_MS);
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

/** The result of a run, without private data. */
function attributesOf({ run, scan, written, progress }: EnrichResult, exitCode: ExitCode): Attributes {
  const counts = Object.entries(written.counts);
  return {
    'brand_enrich.run.id': run.id,
    'brand_enrich.rows': scan.rows.count,
    'brand_enrich.identifiers': scan.answers.wanted,
    ...Object.fromEntries(counts.map(([status, count]) => [`brand_enrich.rows.${status}`, count])),
    'brand_enrich.billed': progress?.tally.billed ?? 0,
    'brand_enrich.exit_code': exitCode,
  };
}

/** Sends spans as JSON over HTTP, `DELIVERY_MS` at most. Logs when an outage begins and ends. */
function createDelivery(url: string, log: Log): SpanExporter {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: DELIVERY_MS });
  const deliver = exporter.export.bind(exporter);
  const collector = maskAddress(url);
  let isOut = false;
  exporter.export = (spans, done) =>
    deliver(spans, (result) => {
      const wasOut = isOut;
      isOut = result.code !== ExportResultCode.SUCCESS;
      if (wasOut && !isOut) log.info({ collector }, 'traces are delivered again');
      if (isOut && !wasOut)
        log.warn(
          { collector, reason: reasonOf(result.error) },
          'traces cannot be delivered; everything else continues',
        );
      done(result);
    });
  return exporter;
}

/** A code or a status, never the text of a collector's answer. */
function reasonOf(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `status ${code}`;
  return typeof code === 'string' ? systemWords(error) : 'no good answer in time';
}

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
  setSpanOnContext: (parent) => parent,
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

/**
 * BullMQ's spans of chunks, in the trace of their run, without those of its upkeep and without
 * results and reasons. Lookups are sums on the span of their chunk: a span for each costs a tenth
 * of the lookup, and no backend takes a million. OpenTelemetry's global provider is set before.
 */
function createQueueTelemetry(): Telemetry<Context> {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: SCOPE });
  return {
    contextManager,
    tracer: {
      startSpan(name, options, parent) {
        const operation = name.split(' ', 1)[0] ?? '';
        if (!TRACED_OPERATIONS.has(operation)) return UNTRACED;
        const span = tracer.startSpan(name, options, parent);
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
    setSpanOnContext: (parent) => span.setSpanOnContext(parent),
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
function watchLookups(client: Client): Client {
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
