/**
 * The metrics of one run as a file, for a process that ends before it can be scraped: the textfile
 * collector of node_exporter reads it. Only our own names: the collector refuses a file with names
 * that it serves itself, which those of a process are.
 */
import { readFile } from 'node:fs/promises';
import { Gauge, Registry } from 'prom-client';
import { replaceFile } from '../core/plain-file.js';
import type { Document } from '../run/documents.js';

export interface EndedRun {
  /** As the command names it: several jobs write files into one folder. */
  readonly input: string;
  readonly exitCode: number;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
  /** null: it failed before there was one. */
  readonly report: Document<'report'> | null;
}

const LAST_COMPLETE = 'brand_enrich_run_last_complete_timestamp_seconds';

/** `lastComplete`: of an earlier run, in seconds; null: none is known. */
export function metricsText(ended: EndedRun, lastComplete: number | null): Promise<string> {
  const { input, exitCode, endedAt, report } = ended;
  const registry = new Registry();
  const put = (
    name: string,
    help: string,
    values: Readonly<Record<string, number | null>>,
    label?: string,
  ) => {
    const labelNames = label === undefined ? ['input'] : ['input', label];
    const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
    for (const [key, value] of Object.entries(values))
      if (value !== null) gauge.set(label === undefined ? { input } : { input, [label]: key }, value);
  };
  const one = (name: string, help: string, value: number | null) => put(name, help, { value });
  const seconds = endedAt / 1_000;
  const isComplete = report?.run.isComplete === true;
  one('brand_enrich_run_end_timestamp_seconds', 'When the last run ended', seconds);
  one(LAST_COMPLETE, 'When the last run ended that was complete', isComplete ? seconds : lastComplete);
  one('brand_enrich_run_exit_code', 'Its exit code: 7 is stopped, run it again', exitCode);
  if (report === null) return registry.metrics();
  const { sent, billed, unreported, overage, overageCost, savedByStored } = report.requests;
  one('brand_enrich_run_duration_seconds', 'How long it took', report.seconds);
  put('brand_enrich_run_rows', 'Rows by status', report.rows, 'status');
  put(
    'brand_enrich_run_requests',
    'Requests by type: saved are answered from the store',
    { sent, billed, unreported, overage, saved: savedByStored },
    'type',
  );
  one('brand_enrich_run_overage_cost', 'Money for requests beyond the quota', Number(overageCost));
  const { limit = null, left = null } = report.account ?? {};
  one('brand_enrich_run_limit', 'Requests that the account may send in this period', limit);
  one('brand_enrich_run_limit_left', 'Of them left at its end', left);
  return registry.metrics();
}

/**
 * Replaces the file in one step, so that a reader never sees half of it. Throws errors of the file
 * system.
 */
export async function writeMetricsFile(path: string, ended: EndedRun): Promise<void> {
  const earlier = await readFile(path, 'utf8').catch(() => '');
  const known = new RegExp(`^${LAST_COMPLETE}(?:\\{[^\\n]*\\})? (\\d+(?:\\.\\d+)?)$`, 'm').exec(earlier)?.[1];
  const text = await metricsText(ended, known === undefined ? null : Number(known));
  await replaceFile(path, text);
}
