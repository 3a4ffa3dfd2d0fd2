/** What can be done with the account: one request beyond the limit, which a person orders. */
import { moneyText } from '../../core/figures.js';
import type { Log } from '../../core/log.js';
import type { Engine } from '../../engine/engine.js';
import { carryOutCheck, checkText, planCheck } from '../../run/check-account.js';
import type { RunSettings } from '../../stores/run-store.js';
import type { LookupWorker } from '../../worker/lookup-worker.js';
import { CHECK_PATH } from './account-section.js';
import type { Action } from './actions.js';
import type { MoneyTerms } from './run-page.js';

/** What a process that does lookups brings: its worker, and its runs' settings. */
export interface AccountAsker {
  readonly worker: Pick<LookupWorker, 'check'>;
  readonly settings: RunSettings;
}

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
