/** What is shown of a run: the record, what is concluded of it, its account, its files. */
import { goneAmong } from '../app/account-status.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { StatusCounts } from '../core/outcome.js';
import type { Engine } from '../engine/engine.js';
import { answeredOf, isAlive, type RunRecord } from '../engine/stores/run-store.js';
import { type FileFinder, type FoundFile, readRowCounts } from '../jobs/find-files.js';
import type { LedgerState } from '../ledger/ledger.js';
import { holdOf } from '../ledger/policy.js';
import { isAtWork, type JudgedRun, judgeRuns } from '../run/facts/judge-runs.js';
import { readNewestMatches, type ShownMatch } from '../run/newest-matches.js';
import type { DashboardView } from './gather-dashboard.js';

export interface RunView {
  /** The page around it, with the account of the run. */
  readonly view: DashboardView;
  readonly shown: JudgedRun;
  /** By the clock that dates the record. */
  readonly storeNow: number;
  /** Its account; null while unknown. */
  readonly ledger: LedgerState | null;
  /** It is on the account of this process, so that its price and currency are those set here. */
  readonly isOnOwnAccount: boolean;
  /** null: too early, or it does not run. */
  readonly speed: Speed | null;
  /** A later start of the same file; null: none is known. */
  readonly newer: RunRecord | null;
  /** Its files in an inbox of this process; null: none. */
  readonly job: FoundFile | null;
  /** Its rows by status, where its report is here. */
  readonly rows: StatusCounts | null;
  /** Rows that failed, if it can be run again for them from here; otherwise 0. */
  readonly failedRows: number;
  /** The newest first; empty where none are known. */
  readonly matches: readonly ShownMatch[];
}

/** Answers per second. `spanMs` null: on average since its start. */
export interface Speed {
  readonly perSecond: number;
  readonly spanMs: number | null;
}

interface Look {
  readonly at: number;
  readonly answered: number;
}

const SPAN_MS = 60_000;
const SPAN_LEAST_MS = 4_000;

/** How fast a run is: by earlier looks, else since its start; null: too early. Pure. */
export function speedOf(run: RunRecord, looks: readonly Look[], storeNow: number): Speed | null {
  const [first, last] = [looks[0], looks.at(-1)];
  const spanMs = first && last ? last.at - first.at : 0;
  if (first && last && spanMs >= SPAN_LEAST_MS)
    return { perSecond: Math.max(0, ((last.answered - first.answered) * 1_000) / spanMs), spanMs };
  const lifeMs = storeNow - run.asOf;
  if (lifeMs < SPAN_LEAST_MS) return null;
  // Stored answers are counted at once.
  return { perSecond: ((answeredOf(run) - run.tally.stored) * 1_000) / lifeMs, spanMs: null };
}

const RUNS_REMEMBERED = 50;

/** The looks of the last minute at each run. */
export function createLooks() {
  const known = new Map<string, Look[]>();
  return {
    /** `at`: when the record was read, by one clock. */
    note(run: RunRecord, at: number): readonly Look[] {
      const looks = (known.get(run.id) ?? []).filter((each) => at - each.at <= SPAN_MS && each.at < at);
      looks.push({ at, answered: answeredOf(run) });
      // Set anew, so that the map stays in the order of the last look.
      known.delete(run.id);
      known.set(run.id, looks);
      const oldest = known.keys().next();
      if (known.size > RUNS_REMEMBERED && !oldest.done) known.delete(oldest.value);
      return looks;
    },
  };
}

const DEADLINE_MS = 2_000;
const RUN_ID = /^[\w.-]{1,100}$/;

export interface RunLookContext {
  readonly engine: Pick<Engine, 'runs' | 'ledger' | 'keyValues' | 'outcomes'>;
  readonly look: () => Promise<DashboardView>;
  readonly finder: Pick<FileFinder, 'find'>;
}

/** Looks at one run. null: there is no such run; `unavailable`: the engine does not answer. */
export function createRunLook({ engine, look, finder }: RunLookContext) {
  const looks = createLooks();

  return async (id: string): Promise<RunView | null | 'unavailable'> => {
    if (!RUN_ID.test(id)) return null;
    const view = await look();
    const { data } = view;
    if (data === null) return 'unavailable';
    const listed = data.runs.find((run) => run.id === id);
    const isOut = view.outageNoticedAt !== null;
    const run = listed ?? (isOut ? undefined : await inTime(engine.runs.get(id)));
    if (run === undefined) return 'unavailable';
    if (run === null) return null;
    const { account } = run.settings;
    const isOnOwnAccount = account === data.account;
    const asked = isOnOwnAccount || isOut ? null : await inTime(engine.ledger.show(account, run.id));
    const ledger = isOnOwnAccount ? data.ledger : asked ? withTermsOf(run, asked) : null;
    const seen = isOnOwnAccount ? view : viewOf(account, ledger, view);
    const runs = listed ? data.runs : [...data.runs, run];
    const gone = listed ? data.gone : goneAmong(runs);
    // Judged by the account that the page shows, though it was read a moment later.
    const otherHolds = asked && ledger ? new Map([[account, holdOf(ledger)]]) : data.otherHolds;
    const shown = judgeRuns({ ...data, runs, gone, otherHolds }).find((each) => each.run.id === id);
    if (shown === undefined) return null;
    const found = isAtWork(shown) ? null : await finder.find(run.job, run.id);
    const job = found?.place === 'processing' ? null : found;
    const rows = job?.runId === run.id ? await readRowCounts(job) : null;
    const canRepeat = job?.place === 'done' && job.runId === run.id && run.tally.failed > 0;
    return {
      view: seen,
      shown,
      isOnOwnAccount,
      storeNow: data.storeNow,
      ledger,
      speed: shown.standing === 'running' ? speedOf(run, looks.note(run, data.at), data.storeNow) : null,
      newer: data.runs.find((each) => each.key === run.key && each.asOf > run.asOf) ?? null,
      job,
      rows,
      failedRows: canRepeat ? (rows?.failed ?? 0) : 0,
      matches: (isOut ? null : await inTime(readNewestMatches(engine, run))) ?? [],
    };
  };
}

export type RunLook = ReturnType<typeof createRunLook>;

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

/** Live runs share the lowest limits, which the ledger has; of others, the run's own are shown. */
function withTermsOf(run: RunRecord, state: LedgerState): LedgerState {
  const { overage, quotaCap } = run.settings;
  return isAlive(run, state.now) ? state : { ...state, overage, quotaCap };
}

/** The page around a run of another account, without what is only known of the own one. */
function viewOf(account: string, ledger: LedgerState | null, view: DashboardView): DashboardView {
  const { data } = view;
  return {
    ...view,
    data: data && { ...data, account, ledger, plan: null, budget: null, projection: null },
    // Another process asks its service, and may use real brands where this one uses samples.
    serviceOutage: null,
    isSample: false,
    currency: null,
  };
}

/** undefined: the engine failed, or did not answer in time. */
function inTime<T>(asked: Promise<T>): Promise<T | undefined> {
  return withinDeadline(
    asked.catch(() => undefined),
    DEADLINE_MS,
  );
}
