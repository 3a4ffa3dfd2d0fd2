/** The page of a run, as its dashboard shows it. */
import type { DashboardView } from '../../../src/dashboard/gather-dashboard.js';
import { createRunLook } from '../../../src/dashboard/look-at-run.js';
import type { RunRecord } from '../../../src/engine/stores/run-store.js';
import { NO_FILES } from '../../dashboard/served.js';
import { renderFileParts, runAlone } from '../../dashboard/views.js';

export async function pageOf(run: RunRecord, view: DashboardView): Promise<string> {
  const engine = { runs: { get: async () => run } } as never;
  const seen = await createRunLook({ engine, look: async () => view, finder: NO_FILES })(run.id);
  if (seen === null || seen === 'unavailable') throw new Error(`the run is ${seen}`);
  return renderFileParts(runAlone(seen));
}
