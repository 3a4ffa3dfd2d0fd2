/** Writes the report of a run as JSON and as a page beside it, with logos if requested. */
import { stat } from 'node:fs/promises';
import type { Network } from '../../core/connector.js';
import { FailFileError } from '../../core/errors.js';
import type { EnrichResult } from '../enrich-file.js';
import { type ReaderWait, writeText } from '../output/output-file.js';
import { pageDataOf } from './portable-report.js';
import type { RunReport } from './report.js';
import { lowestApart, type RankedBrand } from './run-summary.js';

/** Picture and page are made after the files are safe, so a person waits for them. */
const LOGOS_TOTAL_MS = 10_000;

/** Writes the report as JSON. Throws FailFileError `output-unwritable`. */
export function writeReport(path: string, report: RunReport, waiting?: ReaderWait): Promise<void> {
  return writeText(path, `${JSON.stringify(report, null, 2)}\n`, waiting);
}

/**
 * Returns the path of the page; null beside a device or pipe, where none can be. Throws
 * FailFileError `output-unwritable`. `isSample`: addresses of logos are made up, and are not
 * requested. `network`: null embeds no logos. `stop` ends the fetching of logos.
 */
export async function writeReportPage(
  result: EnrichResult,
  report: RunReport,
  options: { isSample: boolean; network: Network | null; stop: AbortSignal },
): Promise<string | null> {
  const { names, facts } = result;
  const { isSample, network, stop } = options;
  const beside = await stat(names.report).catch(() => null);
  if (beside !== null && !beside.isFile()) return null;
  const shown = [...facts.brands.best, ...lowestApart(facts.brands)];
  const logos =
    network !== null && !isSample ? await logosOf(shown, network, stop) : new Map<string, string>();
  const data = pageDataOf(result, report, isSample, logos);
  // Loaded when needed: it brings the components.
  const { renderPage } = await import('./render-page.js');
  await writeText(names.reportHtml, renderPage(data));
  return names.reportHtml;
}

/** For a failure of `writeReport` or `writeReportPage`: says what was written before. */
export function afterOutput(error: unknown, { names, isComplete }: EnrichResult): unknown {
  if (!(error instanceof FailFileError)) return error;
  const target = isComplete ? names.complete : names.partial;
  const output = `${isComplete ? 'the output is whole' : 'the partial file is written'} (${target})`;
  return new FailFileError({ ...error.detail, what: `${output}, but its report cannot be written` });
}

async function logosOf(
  brands: readonly RankedBrand[],
  network: Network,
  stop: AbortSignal,
): Promise<Map<string, string>> {
  // Loaded when needed: it brings an HTTP client.
  const { fetchLogos, openLogoAgent } = await import('./fetch-logos.js');
  const dispatcher = openLogoAgent(network);
  try {
    const urls = brands.flatMap(({ logoUrl }) => (logoUrl === null ? [] : [logoUrl]));
    return await fetchLogos(urls, { dispatcher, stop, totalMs: LOGOS_TOTAL_MS });
  } finally {
    await dispatcher.destroy();
  }
}
