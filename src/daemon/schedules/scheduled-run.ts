/** The runner of schedules with what it runs; `schedule serve` hosts it, and so does `up`. */
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { DaemonContext } from '../../context/daemon-context.js';
import { type EngineContext, openLookupWorker, watched } from '../../context/open-context.js';
import { openService } from '../../context/open-service.js';
import type { CommandContext } from '../../context/open-stores.js';
import { countOf } from '../../core/figures.js';
import { withReleasers } from '../../core/lifecycle.js';
import { makeFolder } from '../../core/make-folder.js';
import { hasNoMatch } from '../../core/outcome.js';
import type { EnrichResult } from '../../run/enrich-file.js';
import { type Notifier, openNotifier } from '../../run/notices/notifier.js';
import { createRunNotices, type RunNotices } from '../../run/notices/run-notices.js';
import { runFile } from '../../run/run-file.js';
import { createLogView, createStanding } from '../../run/run-view.js';
import type { WorkerListener } from '../../worker/worker-listener.js';
import { bringInLine, readFileSchedules } from './file-schedules.js';
import { createScheduleBook } from './schedule-book.js';
import {
  createScheduleRunner,
  type ScheduledWork,
  type ScheduleRunner,
  type ScheduleRunnerOptions,
} from './schedule-runner.js';
import { stampPath } from './schedule-times.js';
import { STAMPED } from './scheduled-command.js';

/** What the process that runs them has open. */
interface ScheduleHost
  extends EngineContext,
    Pick<CommandContext, 'load' | 'log' | 'graceMs' | 'configFile'>,
    Pick<DaemonContext, 'streams' | 'clock'> {
  /** Engine and state folder, which scheduled runs share. */
  readonly settings: Pick<Settings, 'engine' | 'state'>;
  /** Its worker serves runs that would open an equal one. null: each run has its own. */
  readonly daemon: DaemonContext | null;
}

const SERVICE_NAMES = ['service', 'account', 'queueName'] as const;
const WORKER_SETTINGS = ['concurrency', 'timeoutMs', 'usageLagMs', 'compression'] as const;

/** The runner of this machine's schedules. The caller stops it before it closes the engine. */
export function createHostedScheduleRunner(opened: ScheduleHost): ScheduleRunner {
  const { engine, clock, log } = opened;
  const notifiers = new Map<string, Notifier>();
  const execute = (work: ScheduledWork) => runScheduled(work, opened, notifiers);
  const runner = createScheduleRunner({ engine, host: hostname(), execute, clock, log });
  return {
    ...runner,
    /** Also throws `NeverStartError` for invalid schedules of the config file. */
    async start() {
      const { configFile, load } = opened;
      const wanted = readFileSchedules(configFile, load);
      if (configFile !== null) {
        const book = createScheduleBook(engine);
        const existing = (await book.list()).map(({ schedule }) => schedule);
        await bringInLine(wanted, existing, { path: configFile.path, host: hostname(), book, log });
      }
      await runner.start();
    },
    async stop() {
      await runner.stop();
      await Promise.all([...notifiers.values()].map((notifier) => notifier.close()));
    },
  };
}

type Executed = ReturnType<ScheduleRunnerOptions['execute']>;

/** The notifier of a schedule stays until its next run, to deliver what it could not before. */
async function runScheduled(
  work: ScheduledWork,
  host: ScheduleHost,
  notifiers: Map<string, Notifier>,
): Executed {
  const { schedule, stop } = work;
  const { log, clock } = host;
  const settings = await settingsOf(work, host);
  const earlier = notifiers.get(schedule.name);
  const notifier = openNotifier({ settings, stateFolder: settings.state, log, stop });
  notifiers.set(schedule.name, notifier);
  await earlier?.close();
  const notices = createRunNotices({ notifier, input: schedule.input, isSample: false, clock });
  return notices.notingErrors(stop, () => enrichScheduled(work, settings, notices, host));
}

async function settingsOf(
  { schedule, stampedAt }: ScheduledWork,
  { settings: { engine, state }, load }: ScheduleHost,
): Promise<Settings> {
  const flags: Record<string, unknown> = { ...schedule.flags, engine, state };
  for (const key of STAMPED) {
    const path = flags[key];
    if (typeof path !== 'string') continue;
    const stamped = stampPath(path, stampedAt, schedule.tz);
    flags[key] = stamped;
    makeFolder(dirname(stamped));
  }
  return load('run', flags).settings;
}

function enrichScheduled(
  { schedule, stop }: ScheduledWork,
  settings: Settings,
  notices: RunNotices,
  host: ScheduleHost,
): Executed {
  return withReleasers(async (releasers) => {
    const { log, graceMs, daemon } = host;
    const stateFolder = settings.state;
    const opened = await openService(settings, log, releasers);
    const service = { ...opened, clientFor: watched(opened.clientFor, host) };
    const context = { ...host, service, stateFolder, stop, graceMs: () => graceMs(settings.timeoutMs) };
    // The worker of the process, if the run's own would ask the same service in the same way.
    const isSame =
      SERVICE_NAMES.every((name) => daemon?.service[name] === service[name]) &&
      WORKER_SETTINGS.every((name) => daemon?.loaded.settings[name] === settings[name]);
    const shared = (isSame && daemon?.worker) || null;
    const open = (listener: WorkerListener) => openLookupWorker({ ...context, settings }, listener);
    const worker =
      shared === null ? ({ type: 'own', open } as const) : ({ type: 'shared', ...shared } as const);
    const standing = createStanding(log, shared?.worker ?? null);
    const { result, report, exitCode } = await runFile(
      {
        input: schedule.input,
        settings,
        // A named pipe would block each of its runs.
        only: 'file',
        worker: settings.worker ? worker : null,
        view: createLogView(log, { schedule: schedule.name }, standing),
        notices,
      },
      context,
    );
    const { requests, files } = report;
    return {
      exitCode,
      sentence: sentenceOf(result),
      output: files.output,
      runId: report.run.id,
      billed: requests.billed,
    };
  });
}

function sentenceOf({ scan, written, progress, run }: EnrichResult): string {
  const counts = Object.entries(written.counts).filter(([, count]) => count > 0);
  const parts = [
    countOf(scan.rows.count, 'row'),
    ...counts.map(([status, count]) => `${count} ${status.replace('_', ' ')}`),
    ...(hasNoMatch(written.counts) ? ['nothing matched'] : []),
    `${progress?.tally.billed ?? 0} billed`,
  ];
  return `${parts.join(', ')}${run.reason === null ? '' : `; ${run.reason}`}`;
}
