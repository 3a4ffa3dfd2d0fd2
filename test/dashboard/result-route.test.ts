/** The address of a run's result leads to the enriched file, else to the page of the run. */
import { expect, it } from 'vitest';
import { addFileRoutes } from '../../src/dashboard/file-routes.js';
import type { RunView } from '../../src/dashboard/look-at-run.js';
import type { FoundFile } from '../../src/jobs/find-files.js';
import { ask, basic, PAGE } from './asking.js';
import { PASSWORD, ROUTES, startDashboard } from './served.js';
import { foundFile } from './views.js';

const files = (...types: FoundFile['files'][number]['type'][]) =>
  types.map((type) => ({ name: `Kunden 1.${type}.csv`, type, size: 1 }));

it.each<[string, RunView | null | 'unavailable', string | null]>([
  ['the enriched file', jobView(files('page', 'output', 'original')), 'Kunden%201.output.csv'],
  ['a partial file', jobView(files('partial', 'errors')), 'Kunden%201.partial.csv'],
  ['no file', jobView(files('original')), null],
  ['no job here', jobView(null), null],
  ['no run', null, null],
  ['no engine', 'unavailable', null],
])('%s', async (_, seen, name) => {
  const lookAtRun = async () => seen;
  const served = await startDashboard({ addPages: (app) => addFileRoutes(app, { ...ROUTES, lookAtRun }) });
  const answer = await ask(served, '/runs/r-1/result', { headers: { ...PAGE, ...basic(PASSWORD) } });
  expect(answer.status).toBe(302);
  expect(answer.headers.location).toBe(name === null ? '/runs/r-1' : `/files/j-done/${name}`);
});

function jobView(of: FoundFile['files'] | null): RunView {
  return { job: of && foundFile({ files: of }) } as RunView;
}
