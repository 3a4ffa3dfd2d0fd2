/** By which terms an account is judged when somebody looks: not by the flags of whoever looks. */
import { expect, test } from 'vitest';
import { type GivenTerms, termsOf } from '../../src/context/account-status.js';
import type { RunSettings, RunStatus } from '../../src/stores/run-store.js';
import { runSettings } from '../engine/contract/run-settings.js';

const NOW = 1_000_000;
const ACCOUNT = runSettings().account;
const FREE: GivenTerms = { plan: null, overageBudget: '0', overagePrice: '0.1', quota: null };
const PAID: GivenTerms = { ...FREE, plan: 'paid', overageBudget: '50', quota: 70 };

const run = (settings: Partial<RunSettings>, status: RunStatus = 'completed', beatAt = NOW) => ({
  settings: runSettings(settings),
  status,
  beatAt,
});
const paidRun = { plan: 'paid', overage: 1_724, quotaCap: 900 } as const;

test('those of live runs, of which the ledger knows the lowest', () => {
  const ledger = { now: NOW, overage: 3, quotaCap: 40 };
  const runs = [run({ plan: 'unsaid' }), run(paidRun, 'running')];
  expect(termsOf(ACCOUNT, ledger, runs, FREE)).toEqual({ plan: 'paid', overage: 3, quotaCap: 40 });
});

const IDLE = { now: NOW, overage: 0, quotaCap: null };

test.each([FREE, PAID])('without a live run those of the newest, whatever is said beside it: %j', (said) => {
  const runs = [run(paidRun), run({ plan: 'free' })];
  expect(termsOf(ACCOUNT, IDLE, runs, said)).toEqual({ plan: 'paid', overage: 1_724, quotaCap: 900 });
});

test('a run that was killed is not a live one', () => {
  expect(termsOf(ACCOUNT, IDLE, [run(paidRun, 'running', NOW - 30_000)], FREE)).toMatchObject({
    overage: 1_724,
  });
});

test('runs of other accounts say nothing', () => {
  const runs = [run({ ...paidRun, account: 'another' }, 'running')];
  expect(termsOf(ACCOUNT, IDLE, runs, FREE)).toEqual({ plan: null, overage: 0, quotaCap: null });
});

test('what is said holds where there was no run, and for `up` while none is live', () => {
  const said = { plan: 'paid', overage: 500, quotaCap: 70 };
  expect(termsOf(ACCOUNT, IDLE, [], PAID)).toEqual(said);
  expect(termsOf(ACCOUNT, IDLE, [run(paidRun)], { ...PAID, isHost: true })).toEqual(said);
  expect(termsOf(ACCOUNT, IDLE, [run(paidRun, 'running')], { ...PAID, isHost: true })).toMatchObject({
    overage: 0,
  });
});
