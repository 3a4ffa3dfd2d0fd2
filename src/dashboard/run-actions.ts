/** What can be done with runs, with all spending of the engine, and with the account. */
import { countOf, moneyText } from '../core/figures.js';
import type { Log } from '../core/log.js';
import type { Engine } from '../engine/engine.js';
import {
  ALL_SPENDING,
  isHeld,
  type OrderEnd,
  type Pause,
  pausedText,
  type RunRecord,
  type RunSettings,
} from '../engine/stores/run-store.js';
import { resume } from '../jobs/file-orders.js';
import { isJobId } from '../jobs/job-folder.js';
import { goOn, sendAgain } from '../jobs/start-file.js';
import type { Uploads } from '../jobs/uploads.js';
import { carryOutCheck, checkText, planCheck } from '../run/check-account.js';
import { countsOf, isAtWork, judgeRuns } from '../run/facts/judge-runs.js';
import { liftHold } from '../run/lookups/match-check.js';
import { accountOfRun, estimateSpending } from '../run/lookups/spending.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import { CHECK_PATH } from './account-section.js';
import { type Action, actionOn, type Done, noEngine, RefusedAction } from './actions.js';
import type { DashboardView } from './gather-dashboard.js';
import type { RunLook, RunView } from './look-at-run.js';
import { filePath, type Question, runPath } from './plain-pages.js';
import type { RunReader } from './program-routes.js';
import { actionsOf, type MoneyTerms, type RunAction } from './run-page.js';
import { planPath } from './upload-choices.js';

export interface RunActionContext {
  readonly engine: Pick<Engine, 'runs' | 'ledger' | 'keyValues'>;
  readonly look: () => Promise<DashboardView>;
  readonly lookAtRun: RunLook;
  readonly readRun: RunReader;
  readonly terms: MoneyTerms;
  /** Where a finished file is sent again. */
  readonly uploads: Uploads;
}

interface RunStep {
  readonly path: string;
  readonly ask?: (seen: RunView) => Promise<Question>;
  /** Returns what was done, which the page of the run shows unless another is named. */
  readonly carryOut: (seen: RunView, user: string) => Promise<string | Omit<Done, 'subject'>>;
}

export function runActions(context: RunActionContext): Action[] {
  const { engine, look, lookAtRun, terms, uploads } = context;

  /** Programs may name the job of a file, whose latest run is meant. */
  async function runIdOf(id: string): Promise<string> {
    if (!isJobId(id)) return id;
    const found = await context.readRun(id);
    if (found === 'unavailable') throw noEngine(id);
    if (found === null) throw unknownRun(id);
    if (found.run === null)
      throw new RefusedAction('not-now', 'its run has not begun', id, 'try again when it has');
    return found.run.id;
  }

  /** The run, if this can be done with it now. */
  async function openTo(action: RunAction, asked: string): Promise<RunView> {
    const id = await runIdOf(asked);
    const seen = await lookAtRun(id);
    if (seen === 'unavailable' || seen?.view.outageNoticedAt != null) throw noEngine(id);
    if (seen === null) throw unknownRun(id);
    const { shown, job, failedRows } = seen;
    if (!actionsOf(shown, job?.waitsFor ?? null, failedRows).includes(action))
      throw new RefusedAction('not-now', `this run cannot be ${DONE[action]} now`, `${id} (${shown.state})`);
    return seen;
  }

  async function lookAtEngine(): Promise<DashboardView> {
    const view = await look();
    if (view.outageNoticedAt !== null) throw noEngine('spending of all runs');
    return view;
  }

  async function findPause({ fields }: { readonly fields: URLSearchParams }): Promise<Pause> {
    await lookAtEngine();
    const owner = fields.get('owner');
    const found = (await engine.runs.pauses()).find((each) => each.owner === owner);
    if (found === undefined) throw new RefusedAction('not-now', 'it is not paused', owner ?? '');
    return found;
  }

  /** What a run can cost; the terms of another account are not known here. */
  const costOf = (run: RunRecord, { data }: DashboardView) =>
    costLine(engine, run, run.settings.account === data?.account ? terms : null);

  async function resumeQuestion(title: string, run: RunRecord, yes: string): Promise<Question> {
    return { title, lines: [await costOf(run, await look()), STORED], yes };
  }

  async function assertDone(ended: Promise<OrderEnd>, { id }: RunRecord): Promise<void> {
    if ((await ended) !== 'done') throw new RefusedAction('not-now', 'this run has ended', id);
  }

  const steps: Readonly<Record<RunAction, RunStep>> = {
    pause: {
      path: '/runs/:id/pause',
      async carryOut({ shown: { run } }, user) {
        await assertDone(engine.runs.pause(run.id, user), run);
        return `${run.label.name} is paused: nothing more is sent for it`;
      },
    },
    resume: {
      path: '/runs/:id/resume',
      ask: ({ shown: { run } }) => resumeQuestion(`Resume ${run.label.name}?`, run, 'Resume'),
      async carryOut({ shown: { run } }) {
        await assertDone(resume(engine, run.owner), run);
        const isHeldUp = (await look()).data?.ledger?.isPaused;
        return `${run.label.name} is resumed${isHeldUp ? ', but all spending is paused' : ''}`;
      },
    },
    cancel: {
      path: '/runs/:id/cancel',
      async ask({ shown }) {
        const { run } = shown;
        const goesOn = isAtWork(shown) && run.paused === null ? [GOES_ON] : [];
        const lines = [leftLine(run), ENDS, ...goesOn];
        return { title: `Cancel ${run.label.name}?`, lines, yes: 'Cancel the run', isFinal: true };
      },
      async carryOut({ shown: { run } }, user) {
        await assertDone(engine.runs.cancel(run.id, user), run);
        return `${run.label.name} is cancelled; its paid answers stay stored`;
      },
    },
    rest: {
      path: '/runs/:id/rest',
      ask({ shown: { run } }) {
        // The cap was that of the trial.
        const uncapped = isHeld(run) ? run : { ...run, settings: { ...run.settings, maxRequests: null } };
        return resumeQuestion(`Look up the rest of ${run.label.name}?`, uncapped, 'Look up the rest');
      },
      async carryOut({ shown: { run }, job }) {
        if (job !== null) return `The rest of ${(await goOn(job.root, job.folder)).file} is looked up`;
        if (!isHeld(run)) throw new RefusedAction('not-now', 'its file does not wait any more', run.id);
        await liftHold(engine, run);
        const when = run.job === run.id ? 'when its command is run again' : 'at its next start';
        return `The rest of ${run.label.name} is looked up ${when}`;
      },
    },
    again: {
      path: '/runs/:id/again',
      async carryOut({ shown: { run }, job }) {
        if (job === null) throw new RefusedAction('not-found', 'its file is no longer there', run.id);
        const { upload, fields } = await sendAgain(uploads, job);
        const sentence = 'This is what it costs to look up again what failed; everything else is stored.';
        return { path: planPath(upload, fields), sentence };
      },
    },
  };

  const actionOf = ([name, { path, ask, carryOut }]: [RunAction, RunStep]): Action => ({
    ...actionOn(path, ({ id }) => openTo(name, id), {
      ...(ask && { ask }),
      async carryOut(seen, { user }) {
        const { id } = seen.shown.run;
        const path = seen.job === null ? runPath(id) : filePath(seen.job.id);
        const done = await carryOut(seen, user);
        return { ...(typeof done === 'string' ? { path, sentence: done } : done), subject: id };
      },
    }),
    // What is sent again is another file.
    ...(name !== 'again' && {
      async readRun({ id }) {
        const run = await context.readRun(id);
        return run === 'unavailable' ? null : run;
      },
    }),
  });

  return [
    ...(Object.entries(steps) as [RunAction, RunStep][]).map(actionOf),
    actionOn('/pauses/resume', findPause, {
      async ask({ label, ...order }) {
        const lines = [`It is ${pausedText(order)}.`, STORED];
        return { title: `Resume ${label.name}?`, lines, yes: 'Resume' };
      },
      async carryOut({ owner, label }) {
        await resume(engine, owner);
        return { path: '/', sentence: `${label.name} is resumed`, subject: owner };
      },
    }),
    actionOn('/pause', lookAtEngine, {
      async carryOut(_, { user }) {
        await engine.runs.pauseOwner({ ...ALL_SPENDING, by: user });
        return { path: '/', sentence: 'Spending is paused: nothing more is sent for any run' };
      },
    }),
    actionOn('/resume', lookAtEngine, {
      async ask(view) {
        const alive = view.data === null ? [] : judgeRuns(view.data).filter(isAtWork);
        const costs = alive.map(async ({ run }) => `${run.label.name}: ${await costOf(run, view)}`);
        const none = 'No run is active. Schedules and inbox files can spend again.';
        const lines = alive.length === 0 ? [none] : await Promise.all(costs);
        return { title: 'Resume spending?', lines: [...lines, STORED], yes: 'Resume spending' };
      },
      async carryOut() {
        await resume(engine, ALL_SPENDING.owner);
        return { path: '/', sentence: 'Spending is allowed again' };
      },
    }),
  ];
}

/** What a process that does lookups brings: its worker, and its runs' settings. */
export interface AccountAsker {
  readonly worker: Pick<LookupWorker, 'check'>;
  readonly settings: RunSettings;
}

/** Returns the check of the account: one request beyond the limit. */
export function accountAction(
  engine: Pick<Engine, 'keyValues' | 'runs' | 'ledger'>,
  { worker, settings }: AccountAsker,
  { overagePrice, currency }: MoneyTerms,
  log: Log,
): Action {
  return actionOn(CHECK_PATH, () => planCheck(engine, settings, null), {
    async ask({ text }) {
      const price = moneyText(overagePrice, currency, 'price');
      const lines = [
        `One request, for ${text}, goes beyond the limit: it costs at most ${price}.`,
        'Its answer is stored. It can be done once an hour.',
      ];
      return { title: 'Check the quota?', lines, yes: 'Check' };
    },
    async carryOut(plan, { user }) {
      const end = await carryOutCheck(worker, plan, user, log);
      return { path: '/', sentence: checkText(plan, end), subject: plan.text };
    },
  });
}

const DONE: Readonly<Record<RunAction, string>> = {
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  rest: 'looked up further',
  again: 'run again',
};

export const STORED = 'Paid answers are stored: they are not bought again.';
const ENDS =
  'The run ends and cannot be resumed. Paid answers stay stored: if you start the file again, they ' +
  'are not bought again.';

const GOES_ON = 'It goes on until you confirm this. To look at it first, go back and pause it.';

const unknownRun = (id: string) =>
  new RefusedAction('not-found', 'the engine knows no such run', id, 'see those on the dashboard');

function leftLine(run: RunRecord): string {
  const { left, total } = countsOf(run);
  if (total === 0) return 'Its file is still being read, so the number of companies is unknown.';
  return `${countOf(left, 'company is', 'companies are')} left.`;
}

/** The account of a run, with the caps of these settings instead of those that it began with. */
export async function accountWith(engine: Pick<Engine, 'ledger'>, runId: string, settings: RunSettings) {
  const state = await accountOfRun(engine, runId, settings);
  const { maxRequests, maxOverageRequests } = settings;
  return { ...state, run: state.run && { ...state.run, maxRequests, maxOverageRequests } };
}

/** Says how many identifiers are left and their cost at most; in requests if `terms` is null. */
export async function costLine(
  engine: Pick<Engine, 'ledger'>,
  run: RunRecord,
  terms: MoneyTerms | null,
): Promise<string> {
  const { settings } = run;
  const account = await accountWith(engine, run.id, settings);
  // While its file is read it is not known how many there will be.
  const left = run.identifiers === null ? Number.POSITIVE_INFINITY : countsOf(run).left;
  const overagePrice = terms?.overagePrice ?? '0';
  const spending = estimateSpending(left, account, { settings, overagePrice });
  const { withinQuota, overageRequests, maxCost } = spending;
  const money = terms === null ? '' : `: ${moneyText(maxCost, terms.currency)}`;
  const inside =
    withinQuota === 0 && left > 0
      ? 'Nothing is looked up until quota, budget or cap allow it.'
      : 'They are within the quota and cost nothing extra.';
  const beyond = `At most ${countOf(overageRequests, 'lookup')} beyond the quota${money}.`;
  return `${leftLine(run)} ${overageRequests === 0 ? inside : beyond}`;
}
