/** What a file would cost, for a program: the plan of the command line. */
import { loadOptions, type ProgramOptions } from '../config/load-options.js';
import type { OpenedService } from '../context/open-service.js';
import { withReleasers } from '../core/lifecycle.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { planDocument } from '../run/plan-document.js';
import { planFile } from '../run/plan-file.js';
import type { RunContext } from '../run/run-file.js';
import { openTableEarly } from '../run/scan/open-table.js';
import type { FilePlan } from './documents.js';
import type { FileOptions } from './enricher.js';
import { assertFiles } from './file-run.js';

interface PlanContext extends Pick<RunContext, 'engine' | 'stateFolder' | 'stop'> {
  readonly service: OpenedService;
}

/** `options`: as for `runOneFile`. Throws what reading the file and choosing columns throw. */
export async function planOneFile(
  input: string,
  options: ProgramOptions & FileOptions,
  { engine, service, stateFolder, stop }: PlanContext,
): Promise<FilePlan> {
  const { output, errors, report, onProgress: _, signal: _signal, ...given } = options;
  assertFiles([input, output, errors, report]);
  const settings = loadOptions(given, { output, errors, report });
  return withReleasers(async (releasers) => {
    const table = await openTableEarly({ input, settings }, stop);
    releasers.push(() => table?.input.close());
    const runSettings = runSettingsOf(settings, service);
    const request = { input, stdin: null, table, settings, stateFolder, runSettings };
    const plan = await planFile({ ...request, reader: 'program' }, engine, stop);
    return { version: DOCUMENT_VERSION, ...planDocument(plan) };
  });
}
