/**
 * The account as one run sees it, what it spent of its own caps included, which looking at the account alone does not
 * tell; and the run as the account sees it. Nothing is taken or settled.
 */
import type { Clock } from '../../core/clock.js';
import type { Engine } from '../../engine/engine.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { type RunRecord, type RunSettings, unreportedOf } from '../../stores/run-store.js';

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

/** Settlements of living workers arrive within this time; what is then not reported never will be. */
const SETTLE_LOOKS = 4;
const SETTLE_LOOK_MS = 100;

/** The record of a run that has ended, once its workers had the time to tell the ledger what was free. */
export async function settledRun(
  engine: Pick<Engine, 'runs'>,
  run: RunRecord,
  clock: Clock,
): Promise<RunRecord> {
  for (let looks = 1; ; looks += 1) {
    const record = (await engine.runs.get(run.id)) ?? run;
    if (unreportedOf(record) === 0 || looks === SETTLE_LOOKS) return record;
    await clock.sleep(SETTLE_LOOK_MS);
  }
}
