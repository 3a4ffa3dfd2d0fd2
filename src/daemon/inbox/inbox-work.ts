/**
 * How the files of an inbox are processed: each is a run like any other, with the folder's own settings, on an engine and
 * a worker that all of them share. What becomes of it is judged in `inbox-verdict.ts`, when a parked one goes on in `inbox-retries.ts`.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoadedSettings, Settings } from '../../config/settings.js';
import { errorText } from '../../core/errors.js';
import { runSettingsOf, type SharedWorker } from '../../run/enrich-request.js';
import { type RunContext, runFile } from '../../run/run-file.js';
import { createLogView, createStanding } from '../../run/run-view.js';
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
  readonly notices: InboxNotices;
  readonly context: RunContext & {
    readonly loaded: LoadedSettings;
    /** null: workers elsewhere do the lookups. */
    readonly worker: SharedWorker | null;
  };
}

/** A settings file that was changed so shortly ago may be half written. */
const SETTINGS_SETTLE_MS = 5_000;
const FREE_LOOK_MS = 30_000;
/** What a free look said travels to the ledger with the next exchange. */
const READING_TRAVELS_MS = 300;

export function createInboxWork({ folder, notices, context }: InboxWorkOptions): InboxWork {
  const { loaded, service, engine, worker, clock, log, stop } = context;
  const standing = createStanding(log, worker?.worker ?? null);
  const closed = createClosedNote(engine.keyValues, folder);
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
        ...(isLongName(job.file) ? { output: shortOutput(job) } : {}),
        namesAreBare: true,
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
    return verdictOfResult(result, (why) => memoOf(why, result.ledger, request.settings, clock.now()));
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

/** For a result beside an original whose name is so long that no file system takes a longer one. */
function shortOutput({ file, folder }: Job): string {
  const extension = /\.[^.]{1,10}(?:\.gz)?$/i.exec(file)?.[0] ?? '';
  return join(folder, `${stemOf(file)}.enriched${extension}`);
}

async function isJustChanged(path: string, now: number): Promise<boolean> {
  const stat = await lstat(path).catch(() => null);
  return stat !== null && Math.abs(now - stat.mtimeMs) < SETTINGS_SETTLE_MS;
}
