/** The runs of an inbox's files, on an engine and a worker that all share. Nothing here rejects. */
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import type { DaemonContext } from '../app/daemon-context.js';
import { BrandEnrichError, errorText, isOfStop } from '../core/errors.js';
import type { Engine } from '../engine/engine.js';
import type { RunRecord, RunSettings } from '../engine/stores/run-store.js';
import type { LedgerState } from '../ledger/ledger.js';
import { seesRaisedQuota } from '../ledger/policy.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { FREE_LOOK_MS } from '../run/lookups/sweep.js';
import { bareNotice, type Notice, noticeOfReport } from '../run/notices/notice.js';
import { headlineOf } from '../run/report/headline.js';
import { type FileEvent, runFile } from '../run/run-file.js';
import { newRunId } from '../run/run-record.js';
import { createLogView, createStanding } from '../run/run-view.js';
import type { Settings } from '../settings/settings.js';
import { ordersOf } from './file-orders.js';
import type { ParkedJob } from './find-files.js';
import { isLongName, lookAt, sideFileOf, stemOf } from './inbox-file.js';
import { lower, readFolderSettings, settingsFilesOf } from './inbox-folder-settings.js';
import { assertOneEngine } from './inbox-folders.js';
import { chooseRetries, followOrders, parkStateOf } from './inbox-retries.js';
import {
  type Again,
  type JobEnd,
  quotingInvalid,
  verdictOfError,
  verdictOfOrders,
  verdictOfResult,
} from './inbox-verdict.js';
import { type Job, type JobRecord, writeRecord } from './job-folder.js';
import { beginReading } from './reading-turns.js';
import { createClosedNote, noteReading } from './watcher-status.js';

/** Time after a change in which a settings file may be half written. */
const SETTINGS_SETTLE_MS = 5_000;
const READ_AT_ONCE = 16;

/** Wrong settings close the inbox at the next look; the file continues when it opens again. */
const UNTIL_SETTLED = { type: 'again', inMs: SETTINGS_SETTLE_MS } as const;

export type InboxWork = ReturnType<typeof createInboxWork>;

/** Creates the work of a watcher of `folder`. */
export function createInboxWork(folder: string, context: DaemonContext) {
  const { loaded, engine, log, stop } = context;
  const notices = createInboxNotices(context, loaded.settings.sample);
  const account: Account = { isToOpen: true };
  const enrich = createEnrich(folder, context, notices, account);
  const shared = settingsFilesOf(folder);
  // The engine of samples ends with its process.
  let isOfEngine = loaded.settings.sample;
  return {
    /** Returns why no file of this inbox can be processed, for its owner; null if files can. */
    async whyClosed(): Promise<string | null> {
      try {
        if (!isOfEngine) await assertOneEngine(engine.keyValues, folder);
        isOfEngine = true;
        await readFolderSettings(shared, loaded);
        return null;
      } catch (error) {
        // Owners of inboxes know the names of settings, not the flags.
        return error instanceof BrandEnrichError ? error.inWords('keys').message : errorText(error);
      }
    },
    noteClosed: createClosedNote(engine.keyValues, folder),
    /** Writes results beside the file. `tries` counts earlier ends with `again`. */
    async process(job: Job, tries: number): Promise<JobEnd | Again> {
      const own = [...settingsFilesOf(folder, job.record.under), sideFileOf(job.path)];
      let reading = shared;
      try {
        await readFolderSettings(shared, loaded);
        reading = own;
        const ordered = await orderedEnd(engine, job);
        if (ordered !== null) return ordered;
        const settings = await readFolderSettings(own, loaded);
        reading = [];
        return await enrich(job, settings);
      } catch (error) {
        // Settings may be half written; what a run finds wrong with its file is final.
        if (reading === shared || (await hasJustChanged(context, reading)))
          return { ...UNTIL_SETTLED, holds: reading === shared, why: errorText(error) };
        const isLost = stop.aborted && !isOfStop(error, stop);
        log[isLost ? 'error' : 'debug']({ err: error, file: job.file }, 'a file ended with an error');
        return stop.aborted ? { type: 'put_back' } : verdictOfError(error, job, tries);
      }
    },
    /** Returns the end that a person ordered, or null. */
    ordered: (job: Job): Promise<JobEnd | null> => orderedEnd(engine, job).catch(() => null),
    ended: notices.noteEnd,
    chooseRetries: createRetryChoice(folder, context, account),
  };
}

async function orderedEnd(engine: Engine, { file, record }: Job): Promise<JobEnd | null> {
  const [orders] = await ordersOf(engine, [record]);
  return orders === undefined ? null : verdictOfOrders(orders, record.run ?? file);
}

/** Returns the record with its new run. Pure. */
export function recordOfStart(record: JobRecord, run: string): JobRecord {
  const { parked } = record;
  if (parked?.state.why !== 'paused') return { ...record, run };
  return { ...record, run, parked: { ...parked, state: { why: 'again', capMark: null } } };
}

/** Returns the settings of a start. `isTried`: a person has ordered the rest. Pure. */
export function settingsOfStart(asked: Settings, isTried: boolean): Settings {
  if (isTried) return { ...asked, trial: null, minMatch: 0 };
  // The cap covers repeated requests, and all starts until the trial is over.
  return { ...asked, maxRequests: lower(asked.maxRequests, asked.trial) };
}

async function hasJustChanged({ clock }: DaemonContext, paths: readonly string[]): Promise<boolean> {
  const seen = await Promise.all(paths.map(lookAt));
  return seen.some((file) => file !== null && Math.abs(clock.now() - file.mtimeMs) < SETTINGS_SETTLE_MS);
}

/** The first run of an inbox opens the account, and so does each run that goes ahead. */
type Account = { isToOpen: boolean };

function createEnrich(folder: string, context: DaemonContext, notices: InboxNotices, account: Account) {
  const { engine, worker, clock, log } = context;
  const standing = createStanding(log, worker?.worker ?? null);

  /** `asked` includes the trial, even if it is over. */
  return async ({ record: before, ...place }: Job, asked: Settings): Promise<JobEnd> => {
    const settings = settingsOfStart(asked, before.isTried === true);
    const run = newRunId(clock.now());
    const job = { ...place, record: recordOfStart(before, run) };
    const { file, record } = job;
    await writeRecord(job.folder, record);
    const forget = await noteReading(engine.keyValues, job);
    try {
      const { request, result, report } = await runFile(
        {
          input: job.path,
          settings,
          // Others may write to its folder.
          only: 'own file',
          reader: 'inbox',
          ...(isLongName(file) ? { output: shortOutput(job) } : {}),
          job: { id: run, job: record.id, owner: record.id, startedBy: record.startedBy },
          beginReading: () => beginReading(job),
          series: `inbox:${hostname()}:${folder}`,
          worker: worker && { type: 'shared', ...worker },
          opensAccount() {
            const { isToOpen } = account;
            account.isToOpen = false;
            return isToOpen;
          },
          readers: [createLogView(log, { file }, standing, 'inbox'), (event) => notices.note(job, event)],
        },
        context,
      );
      log.info({ file, rows: report.rows, requests: { billed: report.requests.billed } }, headlineOf(report));
      const { runSettings } = request;
      const own = { ...runSettings, maxRequests: asked.maxRequests };
      const end = verdictOfResult(result, (why) => parkStateOf(why, result.ledger, own, clock.now()), {
        seesQuota: seesRaisedQuota(runSettings.plan, result.ledger),
        isTrial: settings.trial !== null && settings.trial === runSettings.maxRequests,
      });
      const written = { report, file: basename(result.names.report) };
      return { ...quotingInvalid(end, result.scan), written };
    } finally {
      await forget();
    }
  };
}

function createRetryChoice(folder: string, context: DaemonContext, account: Account) {
  const { loaded, service, engine, worker, clock, log, stop } = context;
  let probedAt = 0;
  let lookedFreelyAt = Number.NEGATIVE_INFINITY;
  let isQuotaKnown = false;

  async function lookFreely(settings: RunSettings): Promise<void> {
    const { ownDomain } = service;
    if (ownDomain === null || worker === null || clock.monotonic() - lookedFreelyAt < FREE_LOOK_MS) return;
    lookedFreelyAt = clock.monotonic();
    const look = await worker.worker.readUsage(ownDomain, { settings });
    isQuotaKnown = look !== null && look.quota !== null;
  }

  async function readOwnSettings(jobs: readonly Job[]): Promise<ReadonlyMap<string, RunSettings>> {
    const limit = pLimit(READ_AT_ONCE);
    const found = new Map<string, RunSettings>();
    const read = async ({ folder: at, path, record }: Job) => {
      const paths = [...settingsFilesOf(folder, record.under), sideFileOf(path)];
      const settings = await readFolderSettings(paths, loaded).catch(() => null);
      if (settings !== null) found.set(at, runSettingsOf(settings, service));
    };
    await Promise.all(jobs.map((job) => limit(read, job)));
    return found;
  }

  /** Chooses the waiting files that may continue now. */
  return async (parked: readonly ParkedJob[]): Promise<readonly ParkedJob[]> => {
    if (stop.aborted) return [];
    try {
      const records = parked.map(({ record }) => record);
      const { ordered, others } = followOrders(parked, await ordersOf(engine, records));
      if (others.length === 0) return ordered;
      const settings = await readFolderSettings(settingsFilesOf(folder), loaded);
      const runSettings = runSettingsOf(settings, service);
      await lookFreely(runSettings);
      const state = await engine.ledger.show(service.account);
      const now = clock.now();
      const ownSettings = await readOwnSettings(others.filter(({ parked }) => parked.state.capMark !== null));
      const view = { state, settings: runSettings, ownSettings, isQuotaKnown, now, probedAt };
      const chosen = chooseRetries(others, view);
      if (chosen.goesAhead) {
        probedAt = now;
        account.isToOpen = true;
      }
      return [...ordered, ...chosen.jobs];
    } catch (error) {
      log.warn({ reason: errorText(error) }, 'waiting files were not retried');
      return [];
    }
  };
}

/** Returns an output for an original whose name is nearly too long for file systems. */
function shortOutput({ file, folder }: Job): string {
  const extension = /\.[^.]{1,10}(?:\.gz)?$/i.exec(file)?.[0] ?? '';
  return join(folder, `${stemOf(file)}.enriched${extension}`);
}

type InboxNotices = ReturnType<typeof createInboxNotices>;

/** Notifies when each file has been moved, so that notices name the final path of reports. */
export function createInboxNotices(
  { notifier, clock }: Pick<DaemonContext, 'notifier' | 'clock'>,
  isSample: boolean,
) {
  let isRefusalNotified = false;

  const runOf = (job: Job, id: string | null) => ({ id, label: `${hostname()}: ${job.file}` });
  const noteAccount = (job: Job, run: Pick<RunRecord, 'id' | 'settings'>, ledger: LedgerState | null) =>
    notifier.notifyNearLimit(run.settings.account, ledger, runOf(job, run.id));

  return {
    note(job: Job, event: FileEvent): void {
      if (event.type === 'progress') noteAccount(job, event.record, event.ledger);
      if (event.type === 'ended') noteAccount(job, event.result.run, event.result.ledger);
    },
    /** `folder` has the file and its results now; null if the file goes back. */
    noteEnd(job: Job, end: JobEnd, folder: string | null): void {
      const { written } = end;
      const event = eventOf(end, job);
      if (event === null || (end.type === 'refused' && isRefusalNotified)) return;
      if (end.type === 'refused') isRefusalNotified = true;
      const scene = { at: clock.now(), isSample, run: runOf(job, written?.report.run.id ?? null) };
      const reason = end.type === 'refused' ? end.why : 'reason' in end ? end.reason.headline : null;
      const notice =
        written === undefined || folder === null
          ? bareNotice(event, scene, reason)
          : noticeOfReport(event, scene, written.report, join(folder, written.file));
      // A completed file has a reason only if nothing matched.
      notifier.notify(end.type === 'done' ? notice : { ...notice, reason });
    },
  };
}

/** Returns null for a file that is parked again, and for a pause, whose person knows of it. */
function eventOf(end: JobEnd, { record: { parked } }: Job): Notice['event'] | null {
  if (end.type === 'done') return 'finish';
  if (end.type === 'parked') {
    const isNews = parked === null || parked.state.why === 'paused' || parked.state.why === 'again';
    return isNews && end.state.why !== 'paused' ? 'parked' : null;
  }
  return end.type === 'failed' || end.type === 'refused' ? 'failure' : null;
}
