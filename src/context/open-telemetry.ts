/**
 * The traces of a command: sent when an address for them is said, and nothing otherwise, so that commands need not ask. Without one
 * nothing of OpenTelemetry is loaded.
 */
import type { Telemetry } from 'bullmq';
import { type TraceSettings, traceTarget } from '../config/monitoring-settings.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { EnrichRequest, EnrichResult, EnrichSurroundings } from '../run/enrich-request.js';
import { exitCodeOf } from '../run/run-end.js';
import { type ClientFor, watchEach } from './open-metrics.js';
import type { RunOutline } from './traces.js';

type Enrich = (request: EnrichRequest, around: EnrichSurroundings) => Promise<EnrichResult>;

export interface OpenedTelemetry {
  /** For `openEngine`; undefined: nothing is traced. */
  readonly telemetry: Telemetry | undefined;
  /** The same clients, watched. */
  watchClients(clientFor: ClientFor): ClientFor;
  /** The same, each run in a trace of its own. `isStrict` as in `exitCodeOf`. */
  traced(enrich: Enrich, isStrict: boolean): Enrich;
}

const NOT_TRACED: OpenedTelemetry = {
  telemetry: undefined,
  watchClients: (clientFor) => clientFor,
  traced: (enrich) => enrich,
};

/** To be opened before the engine, so that it is closed, and the last spans are sent, after it. Never rejects. */
export async function openTelemetry(
  settings: TraceSettings,
  log: Log,
  releasers: Releasers,
): Promise<OpenedTelemetry> {
  const target = traceTarget(settings);
  if (target.type === 'unusable') {
    log.warn({ variable: target.variable }, 'no traces are sent: it holds no http or https address');
  }
  if (target.type !== 'send') return NOT_TRACED;
  const { createTraces } = await import('./traces.js');
  const traces = createTraces({ url: target.url, log });
  releasers.push(() => traces.close());
  return {
    telemetry: traces.telemetry,
    watchClients: (clientFor) => watchEach(clientFor, traces.watchClient),
    traced: (enrich, isStrict) => (request, around) =>
      traces.traceRun(
        around.engine.kind,
        () => enrich(request, around),
        (result) => outlineOf(result, isStrict),
      ),
  };
}

function outlineOf(result: EnrichResult, isStrict: boolean): RunOutline {
  const { run, scan, written, progress } = result;
  return {
    id: run.id,
    rows: scan.rows.count,
    identifiers: scan.answers.wanted,
    counts: written.counts,
    billed: progress?.tally.billed ?? 0,
    exitCode: exitCodeOf(result, isStrict),
  };
}
