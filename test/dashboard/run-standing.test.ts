/** The state of runs as the dashboard shows it. */
import { expect, it } from 'vitest';
import { foundNothing } from '../../src/engine/stores/run-store.js';
import { countsOf, judgeRuns } from '../../src/run/facts/judge-runs.js';
import { dashboardData, dashboardView, renderParts, runRecord } from './views.js';

const tally = { matched: 50, notFound: 20, failed: 5, stored: 10 };
const bought = { starts: 2, matched: 256, notFound: 5, billed: 261, unreported: 0, overage: 0, tookMs: 0 };
const again = (stored: number) => {
  return { identifiers: 2_000, tally: { matched: 119, stored }, earlier: bought };
};
const sum = { matched: 375, notFound: 5, total: 2_000 };
it.each<[string, Parameters<typeof runRecord>[0], Partial<ReturnType<typeof countsOf>>]>([
  ['is running: the rest is left', { identifiers: 100, tally }, { ...tally, left: 15, total: 100 }],
  [
    'is finished: those it did not ask for were stored',
    { identifiers: 100, tally, status: 'completed' },
    { ...tally, stored: 25, left: 0, total: 100 },
  ],
  // What it finds stored then is no second identifier.
  ['did a chunk twice', { identifiers: 80, tally }, { stored: 5, left: 0, total: 80 }],
  ['goes on after others', again(306), { ...sum, stored: 45, left: 1_575 }],
  ['has just begun anew', again(10), { matched: 129, notFound: 0, stored: 0, total: 2_000 }],
  ['is complete after others', { ...again(306), status: 'completed' }, { ...sum, stored: 1_620 }],
  ['is not counted yet', { identifiers: null }, { left: 0, total: 0 }],
])('the identifiers of a run that %s', (_, run, counts) => {
  expect(countsOf(runRecord(run))).toMatchObject(counts);
});

it('those that are at work come first, in their order', () => {
  const runs = ['a', 'B', 'c', 'D', 'E', 'f'].map((id) =>
    runRecord({ id, status: id === id.toUpperCase() ? 'running' : 'stopped' }),
  );
  const ids = (gone: string[] = []) =>
    judgeRuns(dashboardData({ runs, gone: new Set(gone) }))
      .map(({ run }) => run.id)
      .join('');
  expect(ids()).toBe('BDEacf');
  expect(ids(['D'])).toBe('BEacDf');
});

const NONE = { matched: 0, notFound: 40, failed: 0, stored: 0, requests: 40, billed: 40 };
it.each([
  ['that was completed', { status: 'completed' }, NONE, true],
  ['of which some failed', { status: 'completed' }, { ...NONE, failed: 3 }, true],
  ['of which one matched', { status: 'completed' }, { ...NONE, matched: 1 }, false],
  ['of which some were stored, and may match', { status: 'completed' }, { ...NONE, stored: 1 }, false],
  ['that is running', { status: 'running' }, NONE, false],
  ['that was stopped', { status: 'stopped' }, NONE, false],
  ['without an identifier', { status: 'completed', identifiers: 0 }, { ...NONE, notFound: 0 }, false],
] as const)('the note that nothing matched, on a run %s', (_, some, tally, isSaid) => {
  const run = runRecord({ identifiers: 40, ...some, tally });
  expect(foundNothing(run)).toBe(isSaid);
  const page = renderParts(dashboardView({ data: dashboardData({ runs: [run] }) }));
  expect(page.includes('Nothing matched')).toBe(isSaid);
});
