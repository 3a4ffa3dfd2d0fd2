/** One cached look at the engine for all viewers. */
import { expect, it } from 'vitest';
import { errorText } from '../../src/core/errors.js';
import { createNewestData, type DashboardData } from '../../src/dashboard/gather-dashboard.js';
import { deferred } from '../support/deferred.js';
import { dashboardData, NOW } from './views.js';

function scene() {
  const state = {
    now: NOW,
    asked: 0,
    errors: [] as string[],
    answer: async (): Promise<DashboardData> => dashboardData({ at: state.now }),
  };
  const newest = createNewestData({
    gather: () => {
      state.asked += 1;
      return state.answer();
    },
    clock: { now: () => state.now },
    onError: (error) => state.errors.push(errorText(error)),
    deadlineMs: 20,
  });
  return { state, newest };
}

it('queries the engine once for all requests within a second', async () => {
  const { state, newest } = scene();
  await Promise.all([newest.look(), newest.look(), newest.look()]);
  state.now += 999;
  expect(await newest.look()).toMatchObject({ data: { at: NOW }, outageNoticedAt: null });
  expect(state.asked).toBe(1);
  state.now += 1;
  expect(await newest.look()).toMatchObject({ data: { at: NOW + 1_000 } });
  expect(state.asked).toBe(2);
});

it('queries it again at once when something was changed, and an older answer does not replace that', async () => {
  const { state, newest } = scene();
  let answerLate = (_data: DashboardData): void => undefined;
  state.answer = () => new Promise((resolve) => (answerLate = resolve));
  const first = newest.look();
  newest.expire();
  // Set back, so that times do not tell which is newer.
  state.now -= 5_000;
  state.answer = async () => dashboardData({ at: state.now, address: 'changed' });
  expect(await newest.look()).toMatchObject({ data: { address: 'changed' } });
  answerLate(dashboardData({ at: NOW, address: 'before' }));
  await first;
  expect(await newest.look()).toMatchObject({ data: { address: 'changed' } });
  expect(state.asked).toBe(2);
  newest.expire();
  await newest.look();
  expect(state.asked).toBe(3);
});

it('keeps the last data while the engine is unavailable, with the time of the first failure', async () => {
  const { state, newest } = scene();
  await newest.look();
  state.answer = () => Promise.reject(new Error('away'));
  state.now += 5_000;
  expect(await newest.look()).toMatchObject({ data: { at: NOW }, outageNoticedAt: NOW + 5_000 });
  state.now += 5_000;
  expect(await newest.look()).toMatchObject({ data: { at: NOW }, outageNoticedAt: NOW + 5_000 });
  state.answer = async () => dashboardData({ at: state.now });
  expect(await newest.look()).toMatchObject({ data: { at: NOW + 10_000 }, outageNoticedAt: null });
});

it('reports each outage once, with its reason', async () => {
  const { state, newest } = scene();
  for (const outage of ['first', 'second']) {
    state.answer = () => Promise.reject(new Error(outage));
    for (const _ of [1, 2, 3]) {
      state.now += 1_000;
      await newest.look();
    }
    state.answer = async () => dashboardData({ at: state.now });
    await newest.look();
    state.now += 1_000;
  }
  expect(state.errors).toEqual(['first', 'second']);
});

it('does not wait for an engine that hangs, and has one query in flight at a time', async () => {
  const { state, newest } = scene();
  const { promise, resolve } = deferred<DashboardData>();
  state.answer = () => promise;
  expect(await newest.look()).toEqual({ data: null, outageNoticedAt: NOW });
  state.now += 60_000;
  expect(await newest.look()).toEqual({ data: null, outageNoticedAt: NOW });
  expect(state.asked).toBe(1);
  resolve(dashboardData({ at: state.now }));
  await new Promise((resolve) => setImmediate(resolve));
  state.answer = async () => dashboardData({ at: state.now });
  expect(await newest.look()).toMatchObject({ data: { at: NOW + 60_000 }, outageNoticedAt: null });
});
