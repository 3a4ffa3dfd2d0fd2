/**
 * The runner of schedules with what it runs: each tick is a run like any other, with the settings of its schedule, on the engine
 * of the process. `schedule serve` hosts it, and so can any process that has an engine open.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../clock.js';
import type { Settings } from '../config/settings.js';
import type { Engine } from '../engine/engine.js';
import { withReleasers } from '../lifecycle.js';
import type { Log } from '../log.js';
import { enrichFile } from '../pipeline/enrich-file.js';
import type { EnrichResult } from '../pipeline/enrich-request.js';
import { makeReport, writeReport } from '../pipeline/report.js';
import { writeReportPage } from '../pipeline/report-page.js';
import { createLookupWorker } from '../resolve/lookup-worker.js';
import { stampPath } from '../schedules/path-stamps.js';
import type { EndedRun } from '../schedules/schedule.js';
import {
  createScheduleRunner,
  type ScheduledWork,
  type ScheduleRunner,
} from '../schedules/schedule-runner.js';
import { type LoadFlags, STAMPED } from '../schedules/scheduled-command.js';
import { exitCodeOf } from './exit-code.js';
import { openService } from './open-service.js';
import type { DoorStreams } from './run.js';
import { requestOf } from './run-request.js';

export interface ScheduleHostOptions {
  readonly engine: Engine;
  /** Of the process: engine and state folder, which scheduled runs share. */
  readonly settings: Pick<Settings, 'engine' | 'state' | 'waitForDisk'>;
  /** Settings of a run from its flags, the environment and the config file of the process. */
  readonly load: LoadFlags;
  /** Of the process; no scheduled run touches them. */
  readonly streams: Pick<DoorStreams, 'stdin' | 'stdout'>;
  readonly log: Log;
  /** How long requests in flight may be waited for once the runner stops. */
  readonly graceMs: (timeoutMs: number) => number;
}

/** The runner of this machine's schedules. The caller starts and stops it, before it closes the engine. */
export function createHostedScheduleRunner(options: ScheduleHostOptions): ScheduleRunner {
  const { engine, log } = options;
  return createScheduleRunner({
    engine,
    host: hostname(),
    name: `${process.pid}-${randomBytes(4).toString('hex')}`,
    execute: (work) => runScheduled(work, options),
    clock: systemClock,
    log,
  });
}

function runScheduled(
  { schedule, stampedAt, stop }: ScheduledWork,
  { engine, settings: own, load, streams, log, graceMs }: ScheduleHostOptions,
): Promise<Pick<EndedRun, 'exitCode' | 'sentence' | 'output'>> {
  return withReleasers(async (releasers) => {
    const flags: Record<string, unknown> = { ...schedule.flags, engine: own.engine, state: own.state };
    for (const key of STAMPED) {
      const path = flags[key];
      if (typeof path !== 'string') continue;
      flags[key] = stampPath(path, stampedAt, schedule.tz);
      await mkdir(dirname(String(flags[key])), { recursive: true });
    }
    const { settings } = load('run', flags);
    const service = await openService(settings, log, releasers);
    const request = requestOf(schedule.input, settings, service, settings.state, streams);
    const result = await enrichFile(request, {
      engine,
      queueName: service.queueName,
      openWorker: settings.worker
        ? (onChunk) =>
            createLookupWorker({
              engine,
              clientFor: service.clientFor,
              queueName: service.queueName,
              concurrency: settings.concurrency,
              timeoutMs: settings.timeoutMs,
              usageLagMs: settings.usageLagMs,
              compress: settings.compression,
              spoolFolder: join(settings.state, 'spool'),
              clock: systemClock,
              log,
              onChunk,
            })
        : null,
      clock: systemClock,
      log,
      stop,
      graceMs: () => graceMs(settings.timeoutMs),
      onProgress: () => undefined,
      onNotice: (notice) => log.info({ schedule: schedule.name }, notice),
      confirm: async ({ requests, overageRequests, maxCost }) => {
        log.info({ schedule: schedule.name, requests, overageRequests, maxCost }, 'asking the service');
        return true;
      },
    });
    const exitCode = exitCodeOf(result, settings.strict);
    const report = makeReport(request, result, exitCode);
    await writeReport(result.names.report, report);
    await writeReportPage(result, report, { isSample: false, embedsLogos: settings.embedLogos, stop });
    return { exitCode, sentence: sentenceOf(result), output: report.files.output };
  });
}

function sentenceOf({ survey, written, progress, run }: EnrichResult): string {
  const parts = [`${survey.rows.count} rows`];
  for (const [status, count] of Object.entries(written.counts)) {
    if (count > 0) parts.push(`${count} ${status.replace('_', ' ')}`);
  }
  parts.push(`${progress?.tally.billed ?? 0} billed`);
  return `${parts.join(', ')}${run.reason === null ? '' : `; ${run.reason}`}`;
}
