/**
 * The account as one run sees it, with what the run spent of its own caps. Nothing is taken or settled.
 */
import type { Engine } from '../../engine/engine.js';
import type { LedgerState } from '../../ledger/ledger.js';
import type { RunSettings } from '../../stores/run-store.js';

/** Judged by the run's own policy, also when it is no longer among the live ones, and by a lower cap of those. */
export async function accountOfRun(
  engine: Pick<Engine, 'ledger'>,
  runId: string,
  settings: Pick<RunSettings, 'account' | 'overage' | 'quotaCap'>,
): Promise<LedgerState> {
  const state = await engine.ledger.show(settings.account, runId);
  // A lower cap of another live run is what stopped this one, if anything did.
  const caps = [settings.quotaCap, state.quotaCap].filter((cap) => cap !== null);
  return { ...state, overage: settings.overage, quotaCap: caps.length === 0 ? null : Math.min(...caps) };
}
