/** `status` judges an account by the terms of its runs, not by the flags of the viewer. */
import { expect, test } from 'vitest';
import { type GivenTerms, termsOf } from '../../src/app/account-status.js';
import type { RunRecord, RunSettings } from '../../src/engine/stores/run-store.js';
import { runSettings } from '../engine/contract/run-settings.js';

const NOW = 1_000_000;
const ACCOUNT = runSettings().account;
const FREE: GivenTerms = { plan: null, overageBudget: '0', overagePrice: '0.1', quota: null };
const PAID: GivenTerms = { ...FREE, plan: 'paid', overageBudget: '50', quota: 70 };

const run = (
  settings: Partial<RunSettings>,
  status: RunRecord['status'] = 'completed',
  heartbeatAt = NOW,
) => ({ settings: runSettings(settings), status, heartbeatAt });
const paidRun = { plan: 'paid', overage: 1_724, quotaCap: 900 } as const;

test('the terms are those of live runs, whose lowest the ledger has', () => {
  const ledger = { now: NOW, overage: 3, quotaCap: 40 };
  const runs = [run({ plan: 'unspecified' }), run(paidRun, 'running')];
  expect(termsOf(ACCOUNT, ledger, runs, FREE)).toEqual({ plan: 'paid', overage: 3, quotaCap: 40 });
});

const IDLE = { now: NOW, overage: 0, quotaCap: null };

test.each([FREE, PAID])(
  'the terms without a live run are those of the newest run, whatever is set: %j',
  (given) => {
    const runs = [run(paidRun), run({ plan: 'free' })];
    expect(termsOf(ACCOUNT, IDLE, runs, given)).toEqual({ plan: 'paid', overage: 1_724, quotaCap: 900 });
  },
);

test('the terms do not come from a killed run', () => {
  const killed = run(paidRun, 'running', NOW - 30_000);
  expect(termsOf(ACCOUNT, IDLE, [killed], FREE)).toMatchObject({ overage: 1_724 });
});

test('the terms ignore runs of other accounts', () => {
  const runs = [run({ ...paidRun, account: 'another' }, 'running')];
  expect(termsOf(ACCOUNT, IDLE, runs, FREE)).toEqual({ plan: null, overage: 0, quotaCap: null });
});

test('the terms are the settings without any run, and for `up` without a live one', () => {
  const given = { plan: 'paid', overage: 500, quotaCap: 70 };
  expect(termsOf(ACCOUNT, IDLE, [], PAID)).toEqual(given);
  expect(termsOf(ACCOUNT, IDLE, [run(paidRun)], { ...PAID, isHost: true })).toEqual(given);
  const live = [run(paidRun, 'running')];
  expect(termsOf(ACCOUNT, IDLE, live, { ...PAID, isHost: true })).toMatchObject({ overage: 0 });
});
