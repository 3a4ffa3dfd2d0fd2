/** What can be done with runs, with all spending of the engine, and with the account. */
import { countOf, moneyText } from '../core/figures.js';
import type { Log } from '../core/log.js';
import type { Engine } from '../engine/engine.js';
import {
  ALL_SPENDING,
  isHeld,
  type Pause,
  pausedText,
  type RunRecord,
  type RunSettings,
} from '../engine/stores/run-store.js';
import { cancel, pause, resume } from '../jobs/file-orders.js';
import { isJobId } from '../jobs/job-folder.js';
import { goOn, sendAgain } from '../jobs/start-file.js';
import type { Uploads } from '../jobs/uploads.js';
import { carryOutCheck, checkText, planCheck } from '../run/check-account.js';
import { isAtWork, judgeRuns, partsOf } from '../run/facts/judge-runs.js';
import { liftHold } from '../run/lookups/match-check.js';
import { accountOfRun, estimateSpending } from '../run/lookups/spending.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import { CHECK_PATH } from './account-section.js';
import { type Action, type Done, noEngine, RefusedAction } from './actions.js';
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

interface RunStep extends Pick<Action, 'path'> {
  readonly ask?: (seen: RunView) => Promise<Question>;
  readonly carryOut: (seen: RunView, user: string) => Promise<Done>;
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
  async function openTo(action: RunAction, asked = ''): Promise<RunView> {
    const id = await runIdOf(asked);
    const seen = await lookAtRun(id);
    if (seen === 'unavailable' || seen?.view.outageNoticedAt != null) throw noEngine(id);
    if (seen === null) throw unknownRun(id);
    const { shown, job, failedRows } = seen;
    if (!actionsOf(shown, job?.waitsFor ?? null, failedRows).includes(action))
      throw new RefusedAction('not-now', `this run cannot be ${DONE[action]} now`, `${id} (${shown.state})`);
    return seen;
  }

  const readRun: Action['readRun'] = async ({ params: { id = '' } }) => {
    const run = await context.readRun(id);
    return run === 'unavailable' ? null : run;
  };

  async function assertEngine(): Promise<void> {
    if ((await look()).outageNoticedAt !== null) throw noEngine('spending of all runs');
  }

  async function findPause(owner: string | null): Promise<Pause> {
    await assertEngine();
    const found = (await engine.runs.pauses()).find((each) => each.owner === owner);
    if (found === undefined) throw new RefusedAction('not-now', 'it is not paused', owner ?? '');
    return found;
  }

  /** null: those of another account are not known here. */
  const termsOf = ({ settings }: RunRecord, { data }: DashboardView) =>
    settings.account === data?.account ? terms : null;

  const costOf = async (run: RunRecord) => costLine(engine, run, termsOf(run, await look()));

  const steps: Readonly<Record<RunAction, RunStep>> = {
    pause: {
      path: '/runs/:id/pause',
      async carryOut({ shown: { run }, job }, user) {
        if ((await pause(engine, { run: run.id }, user)) !== 'done') throw hasEnded(run.id);
        const path = job === null ? runPath(run.id) : filePath(run.job);
        return { path, sentence: `${run.label.name} is paused: nothing more is sent for it` };
      },
    },
    resume: {
      path: '/runs/:id/resume',
      async ask({ shown: { run } }) {
        return { title: `Resume ${run.label.name}?`, lines: [await costOf(run), STORED], yes: 'Resume' };
      },
      async carryOut({ shown: { run }, job }) {
        if ((await resume(engine, run.owner)) !== 'done') throw hasEnded(run.id);
        const isHeldUp = (await look()).data?.ledger?.isPaused;
        return {
          path: job === null ? runPath(run.id) : filePath(run.job),
          sentence: `${run.label.name} is resumed${isHeldUp ? ', but all spending is paused' : ''}`,
        };
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
        if ((await cancel(engine, { run: run.id }, user)) !== 'done') throw hasEnded(run.id);
        const sentence = `${run.label.name} is cancelled; its paid answers stay stored`;
        return { path: runPath(run.id), sentence };
      },
    },
    rest: {
      path: '/runs/:id/rest',
      async ask({ shown: { run } }) {
        // The cap was that of the trial.
        const uncapped = isHeld(run) ? run : { ...run, settings: { ...run.settings, maxRequests: null } };
        const title = `Look up the rest of ${run.label.name}?`;
        return { title, lines: [await costOf(uncapped), STORED], yes: 'Look up the rest' };
      },
      async carryOut({ shown: { run }, job }) {
        if (job !== null) {
          const { file } = await goOn(job.root, job.folder);
          return { path: filePath(job.id), sentence: `The rest of ${file} is looked up` };
        }
        if (!isHeld(run)) throw new RefusedAction('not-now', 'its file does not wait any more', run.id);
        await liftHold(engine, run);
        const when = run.job === run.id ? 'when its command is run again' : 'at its next start';
        const sentence = `The rest of ${run.label.name} is looked up ${when}`;
        return { path: runPath(run.id), sentence };
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
    path,
    // What is sent again is another file.
    ...(name !== 'again' && { readRun }),
    ...(ask && { ask: async ({ params }) => ask(await openTo(name, params.id)) }),
    async carryOut({ params, user }) {
      const seen = await openTo(name, params.id);
      return { ...(await carryOut(seen, user)), subject: seen.shown.run.id };
    },
  });

  return [
    ...(Object.entries(steps) as [RunAction, RunStep][]).map(actionOf),
    {
      path: '/pauses/resume',
      async ask({ fields }) {
        const { label, ...order } = await findPause(fields.get('owner'));
        const lines = [`It is ${pausedText(order)}.`, STORED];
        return { title: `Resume ${label.name}?`, lines, yes: 'Resume' };
      },
      async carryOut({ fields }) {
        const { owner, label } = await findPause(fields.get('owner'));
        await resume(engine, owner);
        return { path: '/', sentence: `${label.name} is resumed`, subject: owner };
      },
    },
    {
      path: '/pause',
      async carryOut({ user }) {
        await assertEngine();
        await pause(engine, ALL_SPENDING, user);
        return { path: '/', sentence: 'Spending is paused: nothing more is sent for any run' };
      },
    },
    {
      path: '/resume',
      async ask() {
        await assertEngine();
        const view = await look();
        const alive = view.data === null ? [] : judgeRuns(view.data).filter(isAtWork);
        const runs = alive.map(({ run }) => run);
        const costs = await Promise.all(runs.map((run) => costLine(engine, run, termsOf(run, view))));
        const lines = runs.map((run, index) => `${run.label.name}: ${costs[index]}`);
        const none = 'No run is active. Schedules and inbox files can spend again.';
        return {
          title: 'Resume spending?',
          lines: [...(lines.length === 0 ? [none] : lines), STORED],
          yes: 'Resume spending',
        };
      },
      async carryOut() {
        await assertEngine();
        await resume(engine, ALL_SPENDING.owner);
        return { path: '/', sentence: 'Spending is allowed again' };
      },
    },
  ];
}

/** What a process that does lookups brings: its worker, and its runs' settings. */
export interface AccountAsker {
  readonly worker: Pick<LookupWorker, 'check'>;
  readonly settings: RunSettings;
}

/** One request beyond the limit. */
export function accountActions(
  engine: Pick<Engine, 'keyValues' | 'runs' | 'ledger'>,
  { worker, settings }: AccountAsker,
  { overagePrice, currency }: MoneyTerms,
  log: Log,
): Action[] {
  return [
    {
      path: CHECK_PATH,
      async ask() {
        const plan = await planCheck(engine, settings, null);
        const price = moneyText(overagePrice, currency, 'price');
        const lines = [
          `One request, for ${plan.text}, goes beyond the limit: it costs at most ${price}.`,
          'Its answer is stored. It can be done once an hour.',
        ];
        return { title: 'Check the quota?', lines, yes: 'Check' };
      },
      async carryOut({ user }) {
        const plan = await planCheck(engine, settings, null);
        const end = await carryOutCheck(worker, plan, user, log);
        return { path: '/', sentence: checkText(plan, end), subject: plan.text };
      },
    },
  ];
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
  new RefusedAction(
    'not-found',
    'the engine knows no such run',
    id,
    'the dashboard lists those that there are',
  );
const hasEnded = (id: string) => new RefusedAction('not-now', 'this run has ended', id);

function leftLine(run: RunRecord): string {
  const { left, whole } = partsOf(run);
  if (whole === 0) return 'Its file is still being read, so the number of companies is unknown.';
  return `${countOf(left, 'company is', 'companies are')} left.`;
}

/** The account of a run, with the caps of these settings instead of those that it began with. */
export async function accountWith(engine: Pick<Engine, 'ledger'>, runId: string, settings: RunSettings) {
  const state = await accountOfRun(engine, runId, settings);
  const { maxRequests, maxOverageRequests } = settings;
  return { ...state, run: state.run && { ...state.run, maxRequests, maxOverageRequests } };
}

/** How many identifiers are left, and what they can cost at most; `terms` null: in requests. */
export async function costLine(
  engine: Pick<Engine, 'ledger'>,
  run: RunRecord,
  terms: MoneyTerms | null,
): Promise<string> {
  const { settings } = run;
  const account = await accountWith(engine, run.id, settings);
  // While its file is read it is not known how many there will be.
  const left = run.identifiers === null ? Number.POSITIVE_INFINITY : partsOf(run).left;
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
