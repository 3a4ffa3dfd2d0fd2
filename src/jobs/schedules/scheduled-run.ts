/** The runs of schedules, and the runner that `schedule serve` and `up` host. */
import { hostname } from 'node:os';
import { basename } from 'node:path';
import type { DaemonContext } from '../../app/daemon-context.js';
import { type EngineContext, openLookupWorker } from '../../app/open-context.js';
import { openService } from '../../app/open-service.js';
import type { CommandContext } from '../../app/open-stores.js';
import { countOf } from '../../core/figures.js';
import { withReleasers } from '../../core/lifecycle.js';
import { hasNoMatch } from '../../core/outcome.js';
import { pausedText } from '../../engine/stores/run-store.js';
import type { EnrichResult } from '../../run/enrich-file.js';
import { bareNotice } from '../../run/notices/notice.js';
import {
  createRunNotices,
  type Notifier,
  openNotifier,
  type RunNotices,
} from '../../run/notices/notifier.js';
import { runFile } from '../../run/run-file.js';
import { newRunId } from '../../run/run-record.js';
import { createLogView, createStanding } from '../../run/run-view.js';
import { sayDeferred } from '../../run/words/say-reason.js';
import type { Settings } from '../../settings/settings.js';
import type { WorkerListener } from '../../worker/asked.js';
import { readFileSchedules, syncFileSchedules } from './file-schedules.js';
import { createScheduleBook } from './schedule-book.js';
import { createScheduleFiles } from './schedule-files.js';
import {
  createScheduleRunner,
  type ScheduledWork,
  type ScheduleRunner,
  type ScheduleRunnerOptions,
} from './schedule-runner.js';
import { assertFlagsOfRun, STAMPED, stampPath } from './scheduled-command.js';

/** The process that runs schedules. */
interface ScheduleHost
  extends EngineContext,
    Pick<CommandContext, 'load' | 'log' | 'graceMs' | 'configFile'>,
    Pick<DaemonContext, 'streams' | 'clock'> {
  /** Engine and state folder of all scheduled runs; the folder has the definitions. */
  readonly settings: Pick<Settings, 'engine' | 'state'>;
  /** Its worker serves runs that would open an equal one; without it each run has its own. */
  readonly daemon: DaemonContext | null;
}

const SERVICE_NAMES = ['service', 'account', 'queueName'] as const;
const WORKER_SETTINGS = ['concurrency', 'timeoutMs', 'usageLagMs'] as const;

/** Creates the runner of this machine, which the caller stops before it closes the engine. */
export async function createHostedScheduleRunner(opened: ScheduleHost): Promise<ScheduleRunner> {
  const { engine, clock, log, settings } = opened;
  const host = hostname();
  const files = createScheduleFiles(settings.state);
  const notifiers = new Map<string, Notifier>();
  const execute = (work: ScheduledWork) => runScheduled(work, opened, notifiers);
  const saidPauses = new Set<string>();
  const onPaused: ScheduleRunnerOptions['onPaused'] = async (schedule, pause) => {
    const { name, input } = schedule;
    const pauseOfSchedule = `pause\n${host}\n${name}\n${pause.at}`;
    if (saidPauses.has(pauseOfSchedule)) return;
    saidPauses.add(pauseOfSchedule);
    const set = await settingsOf({ schedule, stampedAt: clock.now() }, opened);
    const notifier = await notifierOf(name, set, opened, notifiers);
    const run = { id: null, label: `${host}: ${basename(input)}` };
    const way = `\`brand-enrich resume ${name}\` continues it`;
    const reason = `schedule ${name}: skipped, ${pausedText(pause)}; ${way}`;
    const notice = bareNotice('parked', { at: clock.now(), isSample: false, run }, reason);
    notifier.notifyOnce(notice, pauseOfSchedule);
  };
  const runner = await createScheduleRunner({ engine, host, files, execute, onPaused, clock, log });
  return {
    ...runner,
    /** Throws `ConfigError` for invalid schedules of the config file, and engine errors. */
    async start() {
      const { configFile, load } = opened;
      const wanted = readFileSchedules(configFile, load);
      if (configFile !== null) {
        const book = createScheduleBook(engine, files);
        await syncFileSchedules(wanted, await files.all(), { path: configFile.path, host, book, log });
      }
      await runner.start();
    },
    async stop() {
      await runner.stop();
      await Promise.all([...notifiers.values()].map((notifier) => notifier.close()));
    },
  };
}

/** Opens a notifier that stays until the next run of the schedule, to retry deliveries. */
async function notifierOf(
  name: string,
  settings: Settings,
  { log }: Pick<ScheduleHost, 'log'>,
  notifiers: Map<string, Notifier>,
  stop: AbortSignal = new AbortController().signal,
): Promise<Notifier> {
  const earlier = notifiers.get(name);
  const notifier = openNotifier({ settings, stateFolder: settings.state, log, stop });
  notifiers.set(name, notifier);
  await earlier?.close();
  return notifier;
}

async function runScheduled(work: ScheduledWork, host: ScheduleHost, notifiers: Map<string, Notifier>) {
  const { schedule, stop } = work;
  const { clock } = host;
  const settings = await settingsOf(work, host);
  const notifier = await notifierOf(schedule.name, settings, host, notifiers, stop);
  const notices = createRunNotices({ notifier, input: schedule.input, isSample: false, clock });
  return notices.notingErrors(stop, () => enrichScheduled(work, settings, notices, host));
}

async function settingsOf(
  { schedule, stampedAt }: Pick<ScheduledWork, 'schedule' | 'stampedAt'>,
  { settings: { engine, state }, load }: ScheduleHost,
): Promise<Settings> {
  assertFlagsOfRun(schedule.flags, `schedule ${schedule.name}`);
  const flags: Record<string, unknown> = { ...schedule.flags, engine, state };
  for (const key of STAMPED) {
    const path = flags[key];
    if (typeof path !== 'string') continue;
    flags[key] = stampPath(path, stampedAt, schedule.tz);
  }
  // The config file may set a trial for other runs, but nobody could be asked here.
  return { ...load('run', flags).settings, trial: null };
}

function enrichScheduled(
  { schedule, job, stop }: ScheduledWork,
  settings: Settings,
  notices: RunNotices,
  host: ScheduleHost,
): ReturnType<ScheduleRunnerOptions['execute']> {
  return withReleasers(async (releasers) => {
    const { log, graceMs, daemon } = host;
    const stateFolder = settings.state;
    const opened = await openService(settings, log, releasers);
    const service = { ...opened, client: host.metrics.watchClient(opened.client) };
    const context = { ...host, service, stateFolder, stop, graceMs: () => graceMs(settings.timeoutMs) };
    // Runs share the worker of the process if it asks the same service in the same way.
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
        job: { id: newRunId(host.clock.now()), ...job },
        series: job.owner,
        // A named pipe would block the run.
        only: 'file',
        worker: settings.worker ? worker : null,
        readers: [createLogView(log, { schedule: schedule.name }, standing), notices.note],
      },
      context,
    );
    const { requests, files } = report;
    const { type } = result.end;
    return {
      ...(type === 'cancelled' || type === 'paused' ? { orderedEnd: type } : {}),
      exitCode,
      sentence: sentenceOf(result),
      output: files.output,
      runId: report.run.id,
      billed: requests.billed,
    };
  });
}

function sentenceOf({ scan, written, run }: EnrichResult): string {
  const counts = Object.entries(written.counts).filter(([, count]) => count > 0);
  const parts = [
    countOf(scan.rows.count, 'row'),
    ...counts.map(([status, count]) => `${count} ${status.replace('_', ' ')}`),
    ...(hasNoMatch(written.counts) ? ['nothing matched'] : []),
    `${run.tally.billed} billed`,
  ];
  return `${parts.join(', ')}${run.stop === null ? '' : `; ${sayDeferred(run.stop, 'terminal')}`}`;
}
