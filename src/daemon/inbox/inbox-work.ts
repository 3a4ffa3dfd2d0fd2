/**
 * How the files of an inbox are processed: each is a run like any other, with the folder's own
 * settings, on an engine and a worker that all of them share. Nothing here rejects.
 */
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { DaemonContext } from '../../context/daemon-context.js';
import { BrandEnrichError, type ClearMeaning, errorText } from '../../core/errors.js';
import type { EnrichResult } from '../../run/enrich-file.js';
import type { EnrichProgress } from '../../run/enrich-request.js';
import { runSettingsOf } from '../../run/enrich-request.js';
import { bareNotice, type Notice, noticeOfReport } from '../../run/notices/notice.js';
import type { RunReport } from '../../run/report/report.js';
import { runFile } from '../../run/run-file.js';
import { createLogView, createStanding } from '../../run/run-view.js';
import { isLongName, lookAt, sideFileOf, stemOf } from './inbox-file.js';
import { createClosedNote, readFolderSettings, settingsFilesOf } from './inbox-folder-settings.js';
import { chooseRetries, parkStateOf } from './inbox-retries.js';
import { type JobEnd, verdictOfError, verdictOfResult } from './inbox-verdict.js';
import type { Job, ParkedJob } from './job-folder.js';

/** A settings file that was changed so shortly ago may be half written. */
const SETTINGS_SETTLE_MS = 5_000;
const FREE_LOOK_MS = 30_000;
/** The reading of a free request goes to the ledger with the next exchange. */
const READING_TRAVELS_MS = 300;

export type InboxWork = ReturnType<typeof createInboxWork>;

/** `folder`: the watched one, which may hold `brand-enrich.json`. */
export function createInboxWork(folder: string, context: DaemonContext) {
  const { loaded, service, engine, worker, clock, log, stop } = context;
  const notices = createInboxNotices(context, loaded.settings.sample);
  const standing = createStanding(log, worker?.worker ?? null);
  const noteClosed = createClosedNote(engine.keyValues, folder);
  let opensAccount = true;
  let wentAheadAt = 0;
  let lookedFreelyAt = Number.NEGATIVE_INFINITY;
  let isQuotaTold = false;

  async function enrich(job: Job, settings: Settings): Promise<JobEnd> {
    const { request, result, report } = await runFile(
      {
        input: job.path,
        settings,
        // Others may write to where it is.
        only: 'own file',
        takesVariants: true,
        ...(isLongName(job.file) ? { output: shortOutput(job) } : {}),
        worker: worker && { type: 'shared', ...worker },
        opensAccount() {
          const opens = opensAccount;
          opensAccount = false;
          return opens;
        },
        view: createLogView(log, { file: job.file }, standing),
        notices: {
          noteProgress: (progress, account) => notices.noteProgress(job, progress, account),
          noteEnd: (ended, written, _exitCode, account) => notices.noteReport(job, ended, written, account),
        },
      },
      context,
    );
    log.info({ file: job.file, rows: report.rows, billed: report.requests.billed }, 'written');
    return verdictOfResult(result, (why) => parkStateOf(why, result.ledger, request.settings, clock.now()));
  }

  /** Shows quota and usage without spending, where the service's own brand is known. */
  async function lookFreely(settings: Settings): Promise<void> {
    const { ownDomain } = service;
    if (ownDomain === null || worker === null || clock.monotonic() - lookedFreelyAt < FREE_LOOK_MS) return;
    lookedFreelyAt = clock.monotonic();
    const look = await worker.worker.readUsage(ownDomain, { settings: runSettingsOf(settings, service) });
    isQuotaTold = look !== null && look.answer.quota !== null;
    await clock.sleep(READING_TRAVELS_MS, stop);
  }

  async function hasJustChanged(paths: readonly string[]): Promise<boolean> {
    const seen = await Promise.all(paths.map(lookAt));
    return seen.some((file) => file !== null && Math.abs(clock.now() - file.mtimeMs) < SETTINGS_SETTLE_MS);
  }

  /** Wrong settings close the inbox at the next look; the file goes on when it is open again. */
  const untilSettled = { type: 'again', inMs: SETTINGS_SETTLE_MS, holds: true } as const;

  return {
    /** Why no file of this inbox can be processed, for its owner; null: they can be. */
    async whyClosed(): Promise<string | null> {
      const why = await readFolderSettings(settingsFilesOf(folder), loaded).then(() => null, errorText);
      // Not awaited: the engine may be unavailable, and the inbox is closed anyway.
      void noteClosed(why);
      return why;
    },
    /** Results go beside the file. `tries`: how often this watcher got `again` for it before. */
    async process(job: Job, tries: number): Promise<JobEnd> {
      const shared = settingsFilesOf(folder);
      const own = [...settingsFilesOf(folder, job.record.under), sideFileOf(job.path)];
      try {
        await readFolderSettings(shared, loaded);
      } catch (error) {
        return { ...untilSettled, why: errorText(error) };
      }
      try {
        return await readByContent(
          await readFolderSettings(own, loaded),
          (settings) => enrich(job, settings),
          (clear) => log.info({ file: job.file, ...clear }, 'read by its content'),
        );
      } catch (error) {
        if (await hasJustChanged(own))
          return { ...untilSettled, holds: await hasJustChanged(shared), why: errorText(error) };
        log.debug({ err: error, file: job.file }, 'a file ended with an error');
        return stop.aborted ? { type: 'put_back' } : verdictOfError(error, job, tries);
      }
    },
    ended: notices.noteEnd,
    /** Which of the waiting files, oldest first, may continue now. */
    async chooseRetries(parked: readonly ParkedJob[]): Promise<readonly ParkedJob[]> {
      if (stop.aborted) return [];
      try {
        const settings = await readFolderSettings(settingsFilesOf(folder), loaded);
        const runSettings = runSettingsOf(settings, service);
        await lookFreely(settings);
        const state = await engine.ledger.show(service.account);
        const now = clock.now();
        const chosen = chooseRetries(parked, { state, settings: runSettings, isQuotaTold, now, wentAheadAt });
        if (chosen.goesAhead) {
          wentAheadAt = now;
          opensAccount = true;
        }
        return chosen.jobs;
      } catch (error) {
        log.warn({ reason: errorText(error) }, 'waiting files were not retried');
        return [];
      }
    },
  };
}

/**
 * Uses the settings that the content of a file makes unambiguous, because nobody can be asked.
 * `onClear` is called with each; then `action` is tried again.
 */
export async function readByContent<T>(
  settings: Settings,
  action: (settings: Settings) => Promise<T>,
  onClear: (clear: Partial<Settings>) => void,
): Promise<T> {
  try {
    return await action(settings);
  } catch (error) {
    const clear = error instanceof BrandEnrichError ? clearSettings(error.clear, settings) : null;
    if (clear === null) throw error;
    onClear(clear);
    return readByContent({ ...settings, ...clear }, action, onClear);
  }
}

/** The unambiguous settings that are not set yet, so that each is used once; null: none. Pure. */
export function clearSettings(clear: ClearMeaning | null, settings: Settings): Partial<Settings> | null {
  if (clear === null) return null;
  const { header, skipLines, columns } = clear;
  if (header === false) return settings.header ? { header } : null;
  if (skipLines !== undefined) return settings.skipLines === 0 ? { skipLines } : null;
  return columns !== undefined && settings.columns.length === 0 ? { columns, waterfall: true } : null;
}

/** For a result beside an original whose name is so long that no file system takes a longer one. */
function shortOutput({ file, folder }: Job): string {
  const extension = /\.[^.]{1,10}(?:\.gz)?$/i.exec(file)?.[0] ?? '';
  return join(folder, `${stemOf(file)}.enriched${extension}`);
}

/** Notifications are sent once each file has been moved: so the report is where they say. */
export function createInboxNotices(
  { notifier, clock }: Pick<DaemonContext, 'notifier' | 'clock'>,
  isSample: boolean,
) {
  /** By the folder of the job. */
  const reports = new Map<string, { readonly report: RunReport; readonly file: string }>();
  let isRefusalNotified = false;

  const runOf = (job: Job, id: string | null) => ({ id, label: `${hostname()}: ${job.file}` });

  return {
    noteProgress(job: Job, progress: EnrichProgress, account: string): void {
      notifier.notifyNearLimit(account, progress.ledger, runOf(job, progress.runId));
    },
    /** Its report is written, still in the folder of processing. */
    noteReport(job: Job, result: EnrichResult, report: RunReport, account: string): void {
      reports.set(job.folder, { report, file: basename(result.names.report) });
      notifier.notifyNearLimit(account, result.ledger, runOf(job, result.run.id));
    },
    /** `folder`: where the file and its results are now; null: back where they were taken from. */
    noteEnd(job: Job, end: JobEnd, folder: string | null): void {
      const written = reports.get(job.folder);
      reports.delete(job.folder);
      const event = eventOf(end, job);
      if (event === null || (end.type === 'refused' && isRefusalNotified)) return;
      if (end.type === 'refused') isRefusalNotified = true;
      const scene = { at: clock.now(), isSample, run: runOf(job, written?.report.run.id ?? null) };
      const reason = reasonOf(end);
      const notice =
        written === undefined || folder === null
          ? bareNotice(event, scene, reason)
          : noticeOfReport(event, scene, written.report, join(folder, written.file));
      // A completed file has a reason only if nothing matched.
      notifier.notify(end.type === 'done' ? notice : { ...notice, reason });
    },
  };
}

/** A file that is parked again is not news, and one that is tried again has not ended. */
function eventOf(end: JobEnd, job: Job): Notice['event'] | null {
  if (end.type === 'done') return 'finish';
  if (end.type === 'parked') return job.record.parked === null ? 'parked' : null;
  return end.type === 'failed' || end.type === 'refused' ? 'failure' : null;
}

/** Reasons have several lines; the first one says it. */
function reasonOf(end: JobEnd): string | null {
  if (end.type === 'refused') return end.why;
  return 'reason' in end ? (end.reason.split('\n', 1)[0] ?? null) : null;
}
