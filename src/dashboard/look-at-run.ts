/** Looks at a run for its page: record, state, account, files. */
import { goneAmong } from '../app/account-status.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Engine } from '../engine/engine.js';
import { answeredOf, type RunRecord } from '../engine/stores/run-store.js';
import { type FileFinder, type FoundFile, readRowCounts } from '../jobs/find-files.js';
import { isAtWork, judgeRuns } from '../run/facts/judge-runs.js';
import { readNewestMatches } from '../run/newest-matches.js';
import type { DashboardView } from './gather-dashboard.js';

const LEAST_MS = 4_000;

/** Returns the answers a second without stored ones, or null just after the start. Pure. */
export function speedOf(run: RunRecord, now: number): number | null {
  const ms = now - run.asOf;
  return ms < LEAST_MS ? null : ((answeredOf(run) - run.tally.stored) * 1_000) / ms;
}

const DEADLINE_MS = 2_000;
const RUN_ID = /^[\w.-]{1,100}$/;

export interface RunLookContext {
  readonly engine: Pick<Engine, 'runs' | 'keyValues' | 'outcomes'>;
  readonly look: () => Promise<DashboardView>;
  readonly finder: Pick<FileFinder, 'find'>;
}

/** Returns a look at one run: null for an unknown run, `unavailable` without the engine. */
export function createRunLook({ engine, look, finder }: RunLookContext) {
  return async (id: string) => {
    if (!RUN_ID.test(id)) return null;
    const view = await look();
    const { data } = view;
    if (data === null) return 'unavailable' as const;
    const listed = data.runs.find((run) => run.id === id);
    const isOut = view.outageNoticedAt !== null;
    const run = listed ?? (isOut ? undefined : await inTime(engine.runs.get(id)));
    if (run === undefined) return 'unavailable' as const;
    if (run === null) return null;
    const isOnOwnAccount = run.settings.account === data.account;
    const runs = listed ? data.runs : [...data.runs, run];
    const gone = listed ? data.gone : goneAmong(runs);
    const shown = judgeRuns({ ...data, runs, gone }).find((each) => each.run.id === id);
    if (shown === undefined) return null;
    const found = isAtWork(shown) ? null : await finder.find(run.job, run.id);
    const job = found?.place === 'processing' ? null : found;
    const rows = job?.runId === run.id ? await readRowCounts(job) : null;
    const canRepeat = job?.place === 'done' && job.runId === run.id && run.tally.failed > 0;
    return {
      /** The page around it, with the account of the run. */
      view: isOnOwnAccount ? view : { ...view, ...NOT_ITS_OWN, data: { ...data, ledger: null } },
      shown,
      /** True if the run uses the account of this process, whose price is set here. */
      isOnOwnAccount,
      /** The time by the clock that dates the record. */
      storeNow: data.storeNow,
      speed: shown.standing === 'running' ? speedOf(run, data.storeNow) : null,
      /** A later start of the same file, or null without one. */
      newer: data.runs.find((each) => each.key === run.key && each.asOf > run.asOf) ?? null,
      /** Its files in an inbox of this process, or null without. */
      job,
      /** Its rows by status, where its report is here. */
      rows,
      /** Rows that failed, if it can be run again for them from here; otherwise 0. */
      failedRows: canRepeat ? (rows?.failed ?? 0) : 0,
      /** The newest first. */
      matches: (isOut ? null : await inTime(readNewestMatches(engine, run))) ?? [],
    };
  };
}

export type RunLook = ReturnType<typeof createRunLook>;
export type RunView = Exclude<Awaited<ReturnType<RunLook>>, null | 'unavailable'>;

export interface FileLook {
  /** null if the file is gone. */
  readonly file: FoundFile | null;
  readonly run: RunView | null | 'unavailable';
}

/** Looks at one file. `expire`: the next look at a run reads the engine. */
export function createFileLook(finder: Pick<FileFinder, 'find'>, lookAtRun: RunLook, expire: () => void) {
  async function lookOnce(id: string): Promise<FileLook> {
    const file = await finder.find(id);
    return { file, run: file === null || file.runId === null ? null : await lookAtRun(file.runId) };
  }
  return async (id: string): Promise<FileLook> => {
    const seen = await lookOnce(id);
    if (!isRunBehind(seen)) return seen;
    expire();
    return lookOnce(id);
  };
}

/** True if the run was at work when it was looked at, and the file has left since. */
export function isRunBehind({ file, run }: FileLook): boolean {
  const isGone = file !== null && file.place !== 'processing';
  return isGone && run !== null && run !== 'unavailable' && isAtWork(run.shown);
}

/** For a run of another account, whose process asks another service and may use real brands. */
const NOT_ITS_OWN = { serviceOutage: null, isSample: false };

/** Returns the answer, or undefined if the engine failed or took too long. */
const inTime = <T>(asked: Promise<T>) =>
  withinDeadline(
    asked.catch(() => undefined),
    DEADLINE_MS,
  );
