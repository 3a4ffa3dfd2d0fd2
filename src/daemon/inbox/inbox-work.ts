/**
 * How the files of an inbox are processed: each is a run like any other, with the folder's own settings, on an engine and
 * a worker that all of them share. What becomes of it is judged in `inbox-verdict.ts`, when a parked one goes on in `inbox-retries.ts`.
 */
import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { LoadedSettings, Settings } from '../../config/settings.js';
import type { OpenedService } from '../../context/open-service.js';
import type { OpenedTelemetry } from '../../context/open-telemetry.js';
import type { SharedWorker } from '../../context/shared-worker.js';
import type { Clock } from '../../core/clock.js';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { CommandStreams } from '../../core/terminal-text.js';
import type { Engine } from '../../engine/engine.js';
import { isNearLimit } from '../../ledger/policy.js';
import { enrichFile } from '../../run/enrich-file.js';
import type { EnrichProgress, EnrichRequest } from '../../run/enrich-request.js';
import { exitCodeOf } from '../../run/exit-code.js';
import { makeReport, type RunReport, writeReport } from '../../run/report/report.js';
import { writeReportPage } from '../../run/report/write-report-page.js';
import { requestOf, runSettingsOf } from '../../run/run-request.js';
import { isLongName, stemOf } from './inbox-file.js';
import { createClosedNote, FOLDER_SETTINGS_FILE, readFolderSettings } from './inbox-folder-settings.js';
import type { InboxNotices } from './inbox-notices.js';
import { chooseRetries, memoOf } from './inbox-retries.js';
import { verdictOfError, verdictOfResult } from './inbox-verdict.js';
import type { InboxWork, JobEnd } from './job-end.js';
import type { Job, ParkedJob } from './job-folder.js';

export interface InboxWorkOptions {
  /** The watched folder, where `brand-enrich.json` may lie. */
  readonly folder: string;
  readonly loaded: LoadedSettings;
  readonly service: OpenedService;
  readonly engine: Engine;
  readonly stateFolder: string;
  /** Of the process; no file of an inbox touches them. */
  readonly streams: Pick<CommandStreams, 'stdin' | 'stdout'>;
  /** null: workers elsewhere do the lookups. */
  readonly worker: SharedWorker | null;
  readonly notices: InboxNotices;
  readonly traces: OpenedTelemetry;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
  /** How long requests in flight may be waited for after `stop`. */
  readonly graceMs: () => number;
}

/** A settings file that was changed so shortly ago may be half written. */
const SETTINGS_SETTLE_MS = 5_000;
const FREE_LOOK_MS = 30_000;
/** What a free look said travels to the ledger with the next exchange. */
const READING_TRAVELS_MS = 300;

export function createInboxWork(options: InboxWorkOptions): InboxWork {
  const { folder, loaded, service, engine, stateFolder, worker, notices, clock, log, stop } = options;
  const standing = createStanding(log);
  const closed = createClosedNote(engine.notes, folder);
  let opensAccount = true;
  let wentAheadAt = 0;
  let lookedFreelyAt = Number.NEGATIVE_INFINITY;
  let isQuotaTold = false;

  async function enrich(job: Job, settings: Settings): Promise<JobEnd> {
    const request = withinJob(requestOf(job.path, settings, service, stateFolder, options.streams), job);
    let unlisten: () => void = () => undefined;
    try {
      const enrichTraced = options.traces.traced(enrichFile, settings.strict);
      const result = await enrichTraced(request, {
        engine,
        queueName: service.queueName,
        openWorker:
          worker === null
            ? null
            : (listener) => {
                unlisten = worker.listen(listener);
                return worker.worker;
              },
        shared: {
          opensAccount() {
            const opens = opensAccount;
            opensAccount = false;
            return opens;
          },
        },
        clock,
        log,
        stop,
        graceMs: options.graceMs,
        onProgress: (progress) => {
          // A file that has not asked yet knows of no trouble; the worker that all files share does.
          standing.note({ ...progress, trouble: worker === null ? progress.trouble : worker.worker.trouble });
          notices.noteProgress(job, progress, service.account);
        },
        onNotice: (notice) => log.info({ file: job.file }, notice),
        confirm: async ({ requests, overageRequests, maxCost }) => {
          log.info({ file: job.file, requests, overageRequests, maxCost }, 'asking the service');
          return true;
        },
      });
      worker?.worker.resumeRun(result.run.id);
      const report = withBareNames(makeReport(request, result, exitCodeOf(result, settings.strict)));
      await writeReport(result.names.report, report);
      const { sample: isSample, embedLogos: embedsLogos } = settings;
      await writeReportPage(result, report, { isSample, embedsLogos, stop });
      notices.noteReport(job, result, report, service.account);
      log.info({ file: job.file, rows: report.rows, billed: report.requests.billed }, 'written');
      return verdictOfResult(result, (why) => memoOf(why, result.ledger, request.settings, clock.now()));
    } finally {
      unlisten();
    }
  }

  /** Tells quota and usage without spending, where the service's own brand is known. */
  async function lookFreely(settings: Settings): Promise<void> {
    const { ownDomain } = service;
    if (ownDomain === null || worker === null || clock.monotonic() - lookedFreelyAt < FREE_LOOK_MS) return;
    lookedFreelyAt = clock.monotonic();
    const look = await worker.worker.readUsage(ownDomain, { settings: runSettingsOf(settings, service) });
    isQuotaTold = look !== null && look.answer.quota !== null;
    await clock.sleep(READING_TRAVELS_MS, stop);
  }

  return {
    async whyClosed() {
      const why = await readFolderSettings(folder, loaded).then(() => null, errorText);
      // Not waited for: the engine may be away, and the inbox is closed all the same.
      void closed.note(why);
      return why;
    },
    async process(job, tries) {
      let settings: Settings;
      try {
        settings = await readFolderSettings(folder, loaded);
      } catch (error) {
        // The inbox is closed at the next look; the file goes on when it is open again.
        return { type: 'again', why: errorText(error), inMs: SETTINGS_SETTLE_MS, holds: true };
      }
      try {
        return await enrich(job, settings);
      } catch (error) {
        if (await isJustChanged(join(folder, FOLDER_SETTINGS_FILE), clock.now())) {
          return { type: 'again', why: errorText(error), inMs: SETTINGS_SETTLE_MS, holds: true };
        }
        log.debug({ err: error, file: job.file }, 'a file ended with an error');
        return stop.aborted ? { type: 'put_back' } : verdictOfError(error, job.folder, tries);
      }
    },
    ended: notices.noteEnd,
    async chooseRetries(parked: readonly ParkedJob[]) {
      if (stop.aborted) return [];
      try {
        const settings = await readFolderSettings(folder, loaded);
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
        log.warn({ reason: errorText(error) }, 'waiting files stay where they are for now');
        return [];
      }
    },
  };
}

/** Results lie beside the original, under names that every file system takes. Others may write to where it lies. */
function withinJob(asked: EnrichRequest, job: Job): EnrichRequest {
  const request: EnrichRequest = { ...asked, only: 'own file' };
  if (!isLongName(job.file)) return request;
  const extension = /\.[^.]{1,10}(?:\.gz)?$/i.exec(job.file)?.[0] ?? '';
  const path = join(job.folder, `${stemOf(job.file)}.enriched${extension}`);
  return { ...request, output: { ...request.output, path } };
}

/** The folder moves when the report is written: files are named as they lie beside it. */
function withBareNames(report: RunReport): RunReport {
  const { files, input } = report;
  return {
    ...report,
    input: { ...input, name: basename(input.name) },
    files: {
      output: basename(files.output),
      errors: files.errors === null ? null : basename(files.errors),
    },
  };
}

async function isJustChanged(path: string, now: number): Promise<boolean> {
  const stat = await lstat(path).catch(() => null);
  return stat !== null && Math.abs(now - stat.mtimeMs) < SETTINGS_SETTLE_MS;
}

/** What is worth a line once, whichever file it shows with. */
function createStanding(log: Log): { note(progress: EnrichProgress): void } {
  let isNear = false;
  let isTroubled = false;
  return {
    note({ ledger, trouble }) {
      if (trouble !== null && !isTroubled) log.warn({ reason: trouble }, 'the service is unavailable');
      if (trouble === null && isTroubled) log.info('the service is available again');
      isTroubled = trouble !== null;
      if (ledger !== null && isNearLimit(ledger) && !isNear) log.warn('80 % of the limit is used');
      isNear = ledger !== null ? isNearLimit(ledger) : isNear;
    },
  };
}
