/**
 * The traces of one process: a root span for each run, without rows, identifiers, brands, the token
 * or words of errors, because traces go to others. BullMQ's adapter asks OpenTelemetry's globals:
 * making this sets them, closing gives them back.
 */
import { hostname } from 'node:os';
import { type Attributes, context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
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
import type { Telemetry } from 'bullmq';
import { maskAddress } from '../config/address-values.js';
import { BrandEnrichError, EXIT, type ExitCode } from '../core/errors.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { systemWords } from '../core/system-error.js';
import type { EnrichResult } from '../run/enrich-file.js';
import { exitCodeOf } from '../run/run-end.js';
import { createQueueTelemetry, watchLookups } from './chunk-spans.js';

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
    telemetry: createQueueTelemetry(SCOPE) as Telemetry,
    /** The same client, its lookups summed up on the span of their chunk. */
    watchClient: watchLookups,
    /** `run` in its own trace; passes on its result or error. `isStrict` as in `exitCodeOf`. */
    traceRun(engine: string, isStrict: boolean, run: () => Promise<EnrichResult>): Promise<EnrichResult> {
      // A root, so that a run which a tick of a schedule began is no part of the trace of all its
      // ticks.
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
