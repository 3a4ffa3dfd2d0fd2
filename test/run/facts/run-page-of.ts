/** The page of a run, as its dashboard shows it. */

import type { DashboardView } from '../../../src/dashboard/gather-dashboard.js';
import { createRunLook } from '../../../src/dashboard/look-at-run.js';
import type { RunRecord } from '../../../src/engine/stores/run-store.js';
import { NO_FILES } from '../../dashboard/served.js';
import { NOW, renderFileParts, runAlone } from '../../dashboard/views.js';
import { ledgerState } from '../ledger-state.js';

/** Of a run on the account `other`, the engine says what the view has of it. */
export async function pageOf(run: RunRecord, view: DashboardView): Promise<string> {
  const hold = view.data?.otherHolds.get('other') ?? null;
  const ledger = ledgerState({
    now: NOW,
    isPaused: hold === 'paused',
    closedAt: hold === 'closed' ? NOW : null,
    ...(hold === 'used up' ? { quota: 1, sent: 1 } : {}),
  });
  const engine = { runs: { get: async () => run }, ledger: { show: async () => ledger } } as never;
  const seen = await createRunLook({ engine, look: async () => view, finder: NO_FILES })(run.id);
  if (seen === null || seen === 'unavailable') throw new Error(`the run is ${seen}`);
  return renderFileParts(runAlone(seen));
}
