/** Actions on runs: what they ask, what they refuse, and what the engine is asked to do. */
import { expect, it } from 'vitest';
import { createRunLook } from '../../src/dashboard/look-at-run.js';
import type { RunReader } from '../../src/dashboard/program-routes.js';
import { runActions } from '../../src/dashboard/run-actions.js';
import type { Pause } from '../../src/engine/stores/run-store.js';
import type { Document } from '../../src/run/documents.js';
import { ledgerState } from '../run/ledger-state.js';
import { NO_FILES, noUploads } from './served.js';
import { dashboardData, dashboardView, NOW, runRecord } from './views.js';

const ID = 'r-20261120-8ce9ee49';
const PAUSED = { by: 'ada', at: NOW };
/** What is read of it stands in other tests. */
const DOCUMENT = { id: ID } as Document<'run'>;
const TERMS = { overagePrice: '0.1', currency: 'EUR' };

/** The actions on one run, by path, and what reached the engine. */
function actionsOn(
  parts: Parameters<typeof runRecord>[0],
  account: Parameters<typeof ledgerState>[0] = {},
  isThere = true,
  outageNoticedAt: number | null = null,
  readRun: RunReader = async () => null,
) {
  const asked: string[] = [];
  const ledger = ledgerState({ now: NOW, quota: 20_000, sent: 19_900, ...account });
  const note = async (words: string) => asked.push(words) > 0 && isThere;
  const end = async (words: string) => ((await note(words)) ? 'done' : 'ended');
  const engine = {
    runs: {
      get: async () => null,
      cancel: (id: string, by: string) => end(`cancel ${id} by ${by}`),
      pause: (id: string, by: string) => end(`pause ${id} by ${by}`),
      pauseOwner: ({ owner, by }: Pause) => note(`pause ${owner} by ${by}`),
      resume: (owner: string) => note(`resume ${owner}`),
    },
    ledger: { show: async () => ledger },
  } as never;
  const data = dashboardData({ runs: [runRecord(parts)], ledger });
  const look = async () => dashboardView({ data, outageNoticedAt });
  const lookAtRun = createRunLook({ engine, look, finder: NO_FILES });
  const { uploads } = noUploads();
  const actions = runActions({ engine, look, lookAtRun, readRun, terms: TERMS, uploads });
  const input = (id = ID) => ({ user: 'ada', id, fields: new URLSearchParams() });
  const find = (path: string) => {
    const action = actions.find((each) => each.path === path);
    if (action === undefined) throw new Error(`no action ${path}`);
    return action;
  };
  return {
    actions,
    input,
    asked,
    ask: async (path: string) => find(path).ask?.(input()),
    carryOut: async (path: string, id?: string) => find(path).carryOut(input(id)),
  };
}

const left = { identifiers: 1_400, tally: { matched: 200 } };
const few = { ...left, identifiers: 310 };
const leftWith = (settings: object) => ({ ...left, settings });

const ALL = 'At most 1,000 lookups beyond the quota: 100.00\u00a0EUR.';

it.each([
  ['quota and overage', left, {}, ALL],
  ['less than is left', few, {}, 'At most 10 lookups beyond the quota: 1.00'],
  ['its own cap', leftWith({ maxRequests: 150 }), {}, 'At most 50 lookups beyond the quota: 5.00'],
  ['nothing left', leftWith({ overage: 0 }), { sent: 20_000 }, 'Nothing is looked up until quota, budget or'],
  ['quota alone', leftWith({ overage: 0 }), {}, 'and cost nothing extra.'],
  ['money of others', leftWith({ account: 'theirs' }), {}, 'At most 1,000 lookups beyond the quota.'],
  ['an unknown quota', left, { quota: null }, ALL],
  ['an unknown number', { identifiers: null }, {}, `so the number of companies is unknown. ${ALL}`],
])('resuming a run with %s asks with what it can cost at most', async (_, parts, account, cost) => {
  const { ask, asked } = actionsOn({ ...parts, paused: PAUSED }, account);
  const question = await ask('/runs/:id/resume');
  expect(question).toMatchObject({ title: 'Resume customers.csv?', yes: 'Resume' });
  expect(question?.lines.join(' ')).toContain(cost);
  if ('tally' in parts) expect(question?.lines[0]).toMatch(/^(1,200|110) companies are left\. /);
  expect(asked).toEqual([]);
});

it('cancelling asks, and says that it is for good', async () => {
  const { ask } = actionsOn(left);
  expect(await ask('/runs/:id/cancel')).toMatchObject({
    title: 'Cancel customers.csv?',
    lines: [
      '1,200 companies are left.',
      expect.stringContaining('cannot be resumed'),
      expect.stringContaining('It goes on until you confirm this.'),
    ],
  });
});

it.each([
  ['/runs/:id/pause', {}, `pause ${ID} by ada`, 'customers.csv is paused: nothing more is sent for it'],
  ['/runs/:id/resume', { paused: PAUSED }, 'resume key', 'customers.csv is resumed'],
  ['/runs/:id/cancel', {}, `cancel ${ID} by ada`, 'customers.csv is cancelled; its paid answers stay stored'],
  ['/pause', {}, 'pause * by ada', 'Spending is paused: nothing more is sent for any run'],
  ['/resume', {}, 'resume *', 'Spending is allowed again'],
])('%s is done by the engine', async (path, parts, call, sentence) => {
  const { carryOut, asked } = actionsOn(parts);
  expect(await carryOut(path)).toMatchObject({ sentence });
  expect(asked).toEqual([call]);
});

it('resuming a run says that all spending is still paused', async () => {
  const { carryOut } = actionsOn({ paused: PAUSED }, { isPaused: true });
  expect(await carryOut('/runs/:id/resume')).toMatchObject({
    sentence: 'customers.csv is resumed, but all spending is paused',
  });
});

it('resuming all spending asks with what each run can cost', async () => {
  const { ask } = actionsOn(left, { isPaused: true });
  expect(await ask('/resume')).toMatchObject({
    lines: [
      'customers.csv: 1,200 companies are left. At most 1,000 lookups beyond the quota: 100.00\u00a0EUR.',
      'Paid answers are stored: they are not bought again.',
    ],
  });
  const none = actionsOn({ status: 'completed' }, { isPaused: true });
  expect((await none.ask('/resume'))?.lines[0]).toContain('No run is active.');
});

it.each<[string, string, Parameters<typeof runRecord>[0], RegExp]>([
  ['a finished run', 'cancel', { status: 'completed' }, /cannot be cancelled now/],
  ['a dead run', 'pause', { heartbeatAt: NOW - 3_600_000 }, /cannot be paused now/],
  ['a running run', 'resume', {}, /cannot be resumed now/],
  ['a paused run', 'pause', { paused: PAUSED }, /cannot be paused now/],
])('%s: %s is refused', async (_, action, parts, why) => {
  const { carryOut, ask, asked } = actionsOn(parts);
  await expect(carryOut(`/runs/:id/${action}`)).rejects.toThrow(why);
  if (action !== 'pause') await expect(ask(`/runs/:id/${action}`)).rejects.toThrow(why);
  expect(asked).toEqual([]);
});

it('a run that is unknown, or has just ended, is refused', async () => {
  await expect(actionsOn({}).carryOut('/runs/:id/pause', 'r-none')).rejects.toThrow('no such run');
  await expect(actionsOn({}, {}, false).carryOut('/runs/:id/pause')).rejects.toThrow('this run has ended');
});

it.each(['/runs/:id/pause', '/runs/:id/cancel', '/pause', '/resume'])(
  '%s is refused while the engine does not answer',
  async (path) => {
    const { asked, ask, carryOut } = actionsOn(left, {}, true, NOW);
    await expect(carryOut(path)).rejects.toThrow('the engine does not answer');
    if (path === '/resume') await expect(ask(path)).rejects.toThrow('the engine does not answer');
    expect(asked).toEqual([]);
  },
);

it('a program reads the run after its order, and null while it cannot be read', async () => {
  const { actions, input } = actionsOn({}, {}, true, null, async (id) =>
    id === ID ? DOCUMENT : 'unavailable',
  );
  const [pause] = actions;
  expect(await pause?.readRun?.(input())).toBe(DOCUMENT);
  expect(await pause?.readRun?.(input('r-other'))).toBeNull();
});
