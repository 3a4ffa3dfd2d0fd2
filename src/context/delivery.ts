/**
 * How spans leave: to a collector, as JSON over HTTP. One that is away or refuses is worth a line in the log when that begins and
 * when it ends, and nothing else: spans that cannot be delivered are given up.
 */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { maskAddress } from '../config/address-values.js';
import type { Log } from '../core/log.js';
import { systemWords } from '../core/system-error.js';

/** `url`: the whole address. `timeoutMs`: how long one delivery may take, with all its attempts. */
export function createDelivery(url: string, timeoutMs: number, log: Log): SpanExporter {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: timeoutMs });
  const collector = maskAddress(url);
  let isAway = false;

  function note({ code, error }: ExportResult): void {
    const isDelivered = code === ExportResultCode.SUCCESS;
    if (isDelivered && isAway) log.info({ collector }, 'traces arrive again');
    if (!isDelivered && !isAway) {
      log.warn({ collector, reason: reasonOf(error) }, 'traces do not arrive; all else goes on');
    }
    isAway = !isDelivered;
  }

  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        note(result);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** A code or a status. What a collector writes in its answers is not ours to repeat. */
function reasonOf(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `status ${code}`;
  return typeof code === 'string' ? systemWords(error) : 'no good answer in time';
}
