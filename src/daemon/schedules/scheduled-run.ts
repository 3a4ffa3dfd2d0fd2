/**
 * The runner of schedules with what it runs: each tick is a run like any other, with the settings of its schedule, on the engine
 * of the process. `schedule serve` hosts it, and so can any process that has an engine open.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { OpenedMetrics } from '../../context/open-metrics.js';
import { type OpenedService, openService } from '../../context/open-service.js';
import type { OpenedTelemetry } from '../../context/open-telemetry.js';
import type { SharedWorker } from '../../context/shared-worker.js';
import { openLookupWorker, type WorkerSettings } from '../../context/workplace.js';
import { systemClock } from '../../core/clock.js';
import { countOf } from '../../core/figures.js';
import { withReleasers } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import { hasNoMatch } from '../../core/outcome.js';
import type { CommandStreams } from '../../core/terminal-text.js';
import type { Engine } from '../../engine/engine.js';
import { enrichFile } from '../../run/enrich-file.js';
import type { EnrichRequest, EnrichResult } from '../../run/enrich-request.js';
import { exitCodeOf } from '../../run/exit-code.js';
import { type Notifier, openNotifier } from '../../run/notices/notifier.js';
import { createRunNotices, type RunNotices } from '../../run/notices/run-notices.js';
import { makeReport, writeReport } from '../../run/report/report.js';
import { writeReportPage } from '../../run/report/write-report-page.js';
import { requestOf } from '../../run/run-request.js';
import type { EndedRun } from './schedule-book.js';
import { createScheduleRunner, type ScheduledWork, type ScheduleRunner } from './schedule-runner.js';
import { stampPath } from './schedule-times.js';
import { type LoadFlags, STAMPED } from './scheduled-command.js';

export interface ScheduleHostOptions {
  readonly engine: Engine;
  /** Of the process: engine and state folder, which scheduled runs share. */
  readonly settings: Pick<Settings, 'engine' | 'state'>;
  /** Settings of a run from its flags, the environment and the config file of the process. */
  readonly load: LoadFlags;
  /** Of the process; no scheduled run touches them. */
  readonly streams: Pick<CommandStreams, 'stdin' | 'stdout'>;
  readonly metrics: OpenedMetrics;
  readonly traces: OpenedTelemetry;
  /** The worker of the process, for runs that would have one like it. null: each run has one of its own. */
  readonly shared: HostedWorker | null;
  readonly log: Log;
  /** How long requests in flight may be waited for once the runner stops. */
  readonly graceMs: (timeoutMs: number) => number;
}

interface HostedWorker {
  readonly worker: SharedWorker;
  readonly service: Pick<OpenedService, 'service' | 'account' | 'queueName'>;
  readonly settings: WorkerSettings;
}

/** The runner of this machine's schedules. The caller starts and stops it, before it closes the engine. */
export function createHostedScheduleRunner(options: ScheduleHostOptions): ScheduleRunner {
  const { engine, log } = options;
  const notifiers = new Map<string, Notifier>();
  const runner = createScheduleRunner({
    engine,
    host: hostname(),
    name: `${process.pid}-${randomBytes(4).toString('hex')}`,
    execute: (work) => runScheduled(work, options, notifiers),
    clock: systemClock,
    log,
  });
  return {
    start: () => runner.start(),
    async stop() {
      await runner.stop();
      await Promise.all([...notifiers.values()].map((notifier) => notifier.close()));
    },
  };
}

type Executed = Pick<EndedRun, 'exitCode' | 'sentence' | 'output'>;

/** The notifier of a schedule stays until its next run: what could not be delivered at the end of this one is tried again. */
async function runScheduled(
  work: ScheduledWork,
  options: ScheduleHostOptions,
  notifiers: Map<string, Notifier>,
): Promise<Executed> {
  const { schedule, stop } = work;
  const settings = await settingsOf(work, options);
  const earlier = notifiers.get(schedule.name);
  const notifier = openNotifier({ settings, stateFolder: settings.state, log: options.log, stop });
  notifiers.set(schedule.name, notifier);
  await earlier?.close();
  const notices = createRunNotices({ notifier, input: schedule.input, isSample: false, clock: systemClock });
  try {
    return await enrichScheduled(work, settings, notices, options);
  } catch (error) {
    if (!stop.aborted) notices.noteError(error);
    throw error;
  }
}

async function settingsOf(
  { schedule, stampedAt }: ScheduledWork,
  { settings: own, load }: ScheduleHostOptions,
): Promise<Settings> {
  const flags: Record<string, unknown> = { ...schedule.flags, engine: own.engine, state: own.state };
  for (const key of STAMPED) {
    const path = flags[key];
    if (typeof path !== 'string') continue;
    flags[key] = stampPath(path, stampedAt, schedule.tz);
    await mkdir(dirname(String(flags[key])), { recursive: true });
  }
  return load('run', flags).settings;
}

function enrichScheduled(
  { schedule, stop }: ScheduledWork,
  settings: Settings,
  notices: RunNotices,
  options: ScheduleHostOptions,
): Promise<Executed> {
  return withReleasers(async (releasers) => {
    const { engine, streams, metrics, traces, log } = options;
    const service = await openService(settings, log, releasers);
    const clientFor = traces.watchClients(metrics.watchClients(service.clientFor));
    const place = { engine, service: { ...service, clientFor }, settings, stateFolder: settings.state, log };
    const shared = settings.worker ? workerToShare(service, settings, options.shared) : null;
    const asked = requestOf(schedule.input, settings, service, settings.state, streams);
    // A named pipe would be waited for at each of its times.
    const request: EnrichRequest = { ...asked, only: 'file' };
    const enrichTraced = traces.traced(enrichFile, settings.strict);
    const result = await enrichTraced(request, {
      engine,
      queueName: service.queueName,
      openWorker: settings.worker
        ? (listener) => {
            if (shared === null) return openLookupWorker(place, listener);
            releasers.push(shared.listen(listener));
            return shared.worker;
          }
        : null,
      ...(shared === null ? {} : { shared: { opensAccount: () => true } }),
      clock: systemClock,
      log,
      stop,
      graceMs: () => options.graceMs(settings.timeoutMs),
      onProgress: (progress) => notices.noteProgress(progress, service.account),
      onNotice: (notice) => log.info({ schedule: schedule.name }, notice),
      confirm: async ({ requests, overageRequests, maxCost }) => {
        log.info({ schedule: schedule.name, requests, overageRequests, maxCost }, 'asking the service');
        return true;
      },
    });
    shared?.worker.resumeRun(result.run.id);
    const exitCode = exitCodeOf(result, settings.strict);
    const report = makeReport(request, result, exitCode);
    await writeReport(result.names.report, report);
    await writeReportPage(result, report, { isSample: false, embedsLogos: settings.embedLogos, stop });
    notices.noteEnd(result, report, exitCode, service.account);
    return { exitCode, sentence: sentenceOf(result), output: report.files.output };
  });
}

/** The worker of the process where the run's own would ask the same service, with the same token, in the same way. */
function workerToShare(
  service: Pick<OpenedService, 'service' | 'account' | 'queueName'>,
  settings: WorkerSettings,
  hosted: HostedWorker | null,
): SharedWorker | null {
  if (hosted === null) return null;
  const isSameService =
    hosted.service.service === service.service &&
    hosted.service.account === service.account &&
    hosted.service.queueName === service.queueName;
  const isSameWay = (['concurrency', 'timeoutMs', 'usageLagMs', 'compression'] as const).every(
    (name) => hosted.settings[name] === settings[name],
  );
  return isSameService && isSameWay ? hosted.worker : null;
}

function sentenceOf({ survey, written, progress, run }: EnrichResult): string {
  const parts = [countOf(survey.rows.count, 'row')];
  for (const [status, count] of Object.entries(written.counts)) {
    if (count > 0) parts.push(`${count} ${status.replace('_', ' ')}`);
  }
  if (hasNoMatch(written.counts)) parts.push('nothing matched');
  parts.push(`${progress?.tally.billed ?? 0} billed`);
  return `${parts.join(', ')}${run.reason === null ? '' : `; ${run.reason}`}`;
}
