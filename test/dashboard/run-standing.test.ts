/** The state of runs as the dashboard shows it. */
import { describe, expect, it } from 'vitest';
import { foundNothing } from '../../src/engine/stores/run-store.js';
import { judgeRuns, partsOf, runHoldOf, standingOf } from '../../src/run/facts/judge-runs.js';
import { dashboardData, dashboardView, NOW, renderParts, runRecord } from './views.js';

describe('a run', () => {
  it.each([
    ['has a heartbeat', {}, null, 'running'],
    ['had a heartbeat less than 30 s ago', { heartbeatAt: NOW - 29_999 }, null, 'running'],
    ['had its last heartbeat earlier', { heartbeatAt: NOW - 30_000 }, null, 'dead'],
    ['had one before the clock was set back', { heartbeatAt: NOW + 3_600_000 }, null, 'dead'],
    ['waits for its account', {}, 'closed', 'held'],
    ['is dead, whatever its account', { heartbeatAt: NOW - 60_000 }, 'closed', 'dead'],
    ['is over', { status: 'completed', heartbeatAt: 0 }, null, 'finished'],
    ['was stopped', { status: 'stopped', heartbeatAt: 0 }, 'closed', 'stopped'],
    ['was cancelled', { status: 'cancelled', heartbeatAt: 0 }, null, 'cancelled'],
  ] as const)('that %s', (_, parts, hold, standing) => {
    expect(standingOf(runRecord(parts), NOW, hold)).toBe(standing);
  });

  it.each([
    ['by its account, with identifiers left', {}, 'used up', 'used up'],
    ['by its account, while it reads its file', { identifiers: null }, 'paused', 'paused'],
    ['by nothing, with nothing left', { tally: { matched: 1_400 } }, 'closed', null],
    ['by its own cap', { settings: { maxRequests: 40 }, tally: { requests: 40 } }, null, 'capped'],
    ['by its own pause, whatever its account', { paused: { by: 'ada', at: 1 } }, 'closed', 'paused'],
    ['by nothing, below its own cap', { settings: { maxRequests: 40 }, tally: { requests: 39 } }, null, null],
    [
      'by nothing, at its cap and finished',
      { settings: { maxRequests: 1_400 }, tally: { matched: 1_400, requests: 1_400 } },
      null,
      null,
    ],
  ] as const)('is held %s', (_, parts, account, hold) => {
    expect(runHoldOf(runRecord(parts), account)).toBe(hold);
  });
});

describe('the identifiers of a run', () => {
  const tally = { matched: 50, notFound: 20, failed: 5, stored: 10 };

  it('that is running: those without an answer are left', () => {
    expect(partsOf(runRecord({ identifiers: 100, tally }))).toEqual({
      ...tally,
      left: 15,
      whole: 100,
    });
  });

  it('that is finished: those it did not ask for were stored', () => {
    expect(partsOf(runRecord({ identifiers: 100, tally, status: 'completed' }))).toEqual({
      ...tally,
      stored: 25,
      left: 0,
      whole: 100,
    });
  });

  it('whose chunk was processed twice: what it finds stored then is no second identifier', () => {
    const parts = partsOf(runRecord({ identifiers: 80, tally }));
    expect(parts).toMatchObject({ stored: 5, left: 0, whole: 80 });
  });

  it.each([
    ['that goes on', 'running', { stored: 306 }, { matched: 375, notFound: 5, stored: 45, left: 1_575 }],
    ['that has just begun anew', 'running', { stored: 10 }, { matched: 129, notFound: 0, stored: 0 }],
    ['that is complete', 'completed', { stored: 306 }, { matched: 375, notFound: 5, stored: 1_620 }],
  ] as const)('%s: with those that earlier starts bought', (_, status, found, parts) => {
    const earlier = {
      starts: 2,
      matched: 256,
      notFound: 5,
      billed: 261,
      unreported: 0,
      overage: 0,
      tookMs: 0,
    };
    const run = runRecord({ status, identifiers: 2_000, tally: { matched: 119, ...found }, earlier });
    expect(partsOf(run)).toMatchObject({ ...parts, whole: 2_000 });
  });

  it('that is not counted yet', () => {
    expect(partsOf(runRecord({ identifiers: null }))).toMatchObject({ left: 0, whole: 0 });
  });
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

describe('the note that nothing matched', () => {
  const NONE = { matched: 0, notFound: 40, failed: 0, stored: 0, requests: 40, billed: 40 };
  it.each([
    ['that was completed', { status: 'completed' }, NONE, true],
    ['of which some failed', { status: 'completed' }, { ...NONE, failed: 3 }, true],
    ['of which one matched', { status: 'completed' }, { ...NONE, matched: 1 }, false],
    ['of which some were stored, and may match', { status: 'completed' }, { ...NONE, stored: 1 }, false],
    ['that is running', { status: 'running' }, NONE, false],
    ['that was stopped', { status: 'stopped' }, NONE, false],
    ['without an identifier', { status: 'completed', identifiers: 0 }, { ...NONE, notFound: 0 }, false],
  ] as const)('%s', (_, some, tally, isSaid) => {
    const run = runRecord({ identifiers: 40, ...some, tally });
    expect(foundNothing(run)).toBe(isSaid);
    const page = renderParts(dashboardView({ data: dashboardData({ runs: [run] }) }));
    expect(page.includes('Nothing matched')).toBe(isSaid);
  });
});
