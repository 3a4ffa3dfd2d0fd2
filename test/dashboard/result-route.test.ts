/** The address of a run's result leads to the enriched file, or says why there is none. */
import { expect, it } from 'vitest';
import type { RunView } from '../../src/dashboard/look-at-run.js';
import { addRunRoutes } from '../../src/dashboard/run-routes.js';
import type { EndedJob } from '../../src/jobs/ended-jobs.js';
import { ask, basic, PAGE } from './asking.js';
import { NO_CAPS, PASSWORD, startDashboard } from './served.js';
import { endedJob } from './views.js';

const FOLDER = 'Kunden 1-2026-11-20T11-22-47Z';
const files = (...types: EndedJob['files'][number]['type'][]) =>
  types.map((type) => ({ name: `Kunden 1.${type}.csv`, type, size: 1 }));

const ROUTES = {
  look: async () => ({ data: null }),
  inboxes: [],
  caps: NO_CAPS,
  terms: { overagePrice: '0.1', currency: null },
  now: () => 0,
};

it.each<[string, RunView | null | 'unavailable', string | null]>([
  ['the enriched file', jobView(files('page', 'output', 'original')), 'Kunden%201.output.csv'],
  ['a partial file', jobView(files('partial', 'errors')), 'Kunden%201.partial.csv'],
  ['no file', jobView(files('original')), null],
  ['no job here', jobView(null), null],
  ['no run', null, null],
  ['no engine', 'unavailable', null],
])('%s', async (_, seen, name) => {
  const lookAtRun = async () => seen;
  const served = await startDashboard({
    addPages: (app, viewerOf) => addRunRoutes(app, viewerOf, { ...ROUTES, lookAtRun }),
  });
  const answer = await ask(served, '/runs/r-1/result', { headers: { ...PAGE, ...basic(PASSWORD) } });
  if (name === null) {
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('There is no result to download');
    return;
  }
  expect(answer.status).toBe(302);
  expect(answer.headers.location).toBe(`/inboxes/0/done/Kunden%201-2026-11-20T11-22-47Z/${name}`);
});

function jobView(of: EndedJob['files'] | null): RunView {
  return { job: of && endedJob({ folder: FOLDER, files: of }) } as RunView;
}
