/**
 * The account as one run sees it: what it spent of its own caps included, which looking at the account alone does not
 * tell. Nothing is taken or settled.
 */
import type { RunEngine } from '../engine/engine.js';
import type { LedgerState } from '../quota/ledger.js';
import type { RunSettings } from '../runs/run-store.js';

/** Judged by the run's own policy, also when it is no longer among the live ones. */
export async function accountOfRun(
  engine: Pick<RunEngine, 'ledger'>,
  runId: string,
  settings: Pick<RunSettings, 'account' | 'overage' | 'quotaCap'>,
): Promise<LedgerState> {
  const state = await engine.ledger.showFor(settings.account, runId);
  return { ...state, overage: settings.overage, quotaCap: settings.quotaCap };
}
