/**
 * The runner of schedules with what it runs: each tick is a run like any other, with the settings of its schedule, on the engine
 * of the process. `schedule serve` hosts it, and so can any process that has an engine open.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Settings } from '../../config/settings.js';
import {
  type EngineContext,
  openLookupWorker,
  type WorkerContext,
  watched,
} from '../../context/open-context.js';
import { type OpenedService, openService } from '../../context/open-service.js';
import type { Clock } from '../../core/clock.js';
import { countOf } from '../../core/figures.js';
import { withReleasers } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import { hasNoMatch } from '../../core/outcome.js';
import type { Streams } from '../../core/terminal-text.js';
import type { EnrichResult, RunWorker, SharedWorker } from '../../run/enrich-request.js';
import { type Notifier, openNotifier } from '../../run/notices/notifier.js';
import { createRunNotices, type RunNotices } from '../../run/notices/run-notices.js';
import { runFile } from '../../run/run-file.js';
import { createLogView, createStanding } from '../../run/run-view.js';
import type { EndedRun } from './schedule-book.js';
import { createScheduleRunner, type ScheduledWork, type ScheduleRunner } from './schedule-runner.js';
import { stampPath } from './schedule-times.js';
import { type LoadFlags, STAMPED } from './scheduled-command.js';

export interface ScheduleHostOptions extends EngineContext {
  /** Of the process: engine and state folder, which scheduled runs share. */
  readonly settings: Pick<Settings, 'engine' | 'state'>;
  /** Settings of a run from its flags, the environment and the config file of the process. */
  readonly load: LoadFlags;
  /** Of the process; no scheduled run touches them. */
  readonly streams: Pick<Streams, 'stdin' | 'stdout'>;
  /** The worker of the process, for runs that would have one like it. null: each run has one of its own. */
  readonly shared: HostedWorker | null;
  readonly clock: Clock;
  readonly log: Log;
  /** How long requests in flight may be waited for once the runner stops. */
  readonly graceMs: (timeoutMs: number) => number;
}

interface HostedWorker {
  readonly worker: SharedWorker;
  readonly service: Pick<OpenedService, 'service' | 'account' | 'queueName'>;
  readonly settings: WorkerContext['settings'];
}

/** The runner of this machine's schedules. The caller starts and stops it, before it closes the engine. */
export function createHostedScheduleRunner(options: ScheduleHostOptions): ScheduleRunner {
  const { engine, clock, log } = options;
  const notifiers = new Map<string, Notifier>();
  const runner = createScheduleRunner({
    engine,
    host: hostname(),
    name: `${process.pid}-${randomBytes(4).toString('hex')}`,
    execute: (work) => runScheduled(work, options, notifiers),
    clock,
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
  const { input } = schedule;
  const notices = createRunNotices({ notifier, input, isSample: false, clock: options.clock });
  return notices.notingErrors(stop, () => enrichScheduled(work, settings, notices, options));
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
    const { log, graceMs } = options;
    const stateFolder = settings.state;
    const opened = await openService(settings, log, releasers);
    const service = { ...opened, clientFor: watched(opened.clientFor, options) };
    const context = { ...options, service, stateFolder, stop, graceMs: () => graceMs(settings.timeoutMs) };
    const shared = workerToShare(service, settings, options.shared);
    const own: RunWorker = {
      type: 'own',
      open: (listener) => openLookupWorker({ ...context, settings }, listener),
    };
    const about = { schedule: schedule.name };
    const { result, report, exitCode } = await runFile(
      {
        input: schedule.input,
        settings,
        // A named pipe would be waited for at each of its times.
        only: 'file',
        worker: settings.worker ? (shared === null ? own : { type: 'shared', ...shared }) : null,
        view: createLogView(log, about, createStanding(log, shared?.worker ?? null)),
        notices,
      },
      context,
    );
    return { exitCode, sentence: sentenceOf(result), output: report.files.output };
  });
}

/** The worker of the process where the run's own would ask the same service, with the same token, in the same way. */
function workerToShare(
  service: Pick<OpenedService, 'service' | 'account' | 'queueName'>,
  settings: WorkerContext['settings'],
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

function sentenceOf({ scan, written, progress, run }: EnrichResult): string {
  const parts = [countOf(scan.rows.count, 'row')];
  for (const [status, count] of Object.entries(written.counts)) {
    if (count > 0) parts.push(`${count} ${status.replace('_', ' ')}`);
  }
  if (hasNoMatch(written.counts)) parts.push('nothing matched');
  parts.push(`${progress?.tally.billed ?? 0} billed`);
  return `${parts.join(', ')}${run.reason === null ? '' : `; ${run.reason}`}`;
}
