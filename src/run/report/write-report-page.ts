/**
 * The report of a run as a page: gathers what the page shows, logos included where they are asked for, and writes it beside
 * the JSON report. What it looks like is `report-page`'s.
 */
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { EnrichResult } from '../enrich-request.js';
import { createOutput } from '../output/output-file.js';
import { fetchLogos, openLogoAgent } from './fetch-logos.js';
import type { PageData, ShownBrand, ShownFile } from './page-data.js';
import { readChartLibrary } from './page-script.js';
import { renderPage } from './render-page.js';
import type { RunReport } from './report.js';
import { lowestApart, type RankedBrand } from './run-summary.js';

export interface PageOptions {
  /** The built-in sample: its brands are made up, and so are the addresses of their logos, which nobody is asked for. */
  readonly isSample: boolean;
  /** Whether the logos of the shown brands are fetched and embedded. */
  readonly embedsLogos: boolean;
  /** Ends the fetching of logos. */
  readonly stop: AbortSignal;
}

/** Picture and page are made after the files are safe, so a person waits for them. */
const LOGOS_TOTAL_MS = 10_000;

/**
 * Writes the page in one step. Its path; null when the JSON report went to a device or pipe, which no page can lie beside.
 * @throws FailFileError `output-unwritable`.
 */
export async function writeReportPage(
  result: EnrichResult,
  report: RunReport,
  options: PageOptions,
): Promise<string | null> {
  const { names } = result;
  const { isSample, embedsLogos, stop } = options;
  const beside = await stat(names.report).catch(() => null);
  if (beside !== null && !beside.isFile()) return null;
  const shown = [...result.facts.brands.best, ...lowestApart(result.facts.brands)];
  const logos = embedsLogos && !isSample ? await logosOf(shown, stop) : new Map<string, string>();
  const page = renderPage(pageDataOf(result, report, isSample, logos), await readChartLibrary());
  const output = await createOutput(names.reportHtml, { gzip: false, bom: false, stdout: null });
  try {
    await output.write(page);
    await output.commit();
  } finally {
    await output.discard();
  }
  return names.reportHtml;
}

/** `logos`: by the address that the service gave. Pure. */
export function pageDataOf(
  result: EnrichResult,
  report: RunReport,
  isSample: boolean,
  logos: ReadonlyMap<string, string>,
): PageData {
  const { facts, names } = result;
  const shownBrand = ({ name, domain, score, color, logoUrl }: RankedBrand): ShownBrand => ({
    name,
    domain,
    score,
    color,
    logo: logoUrl === null ? null : (logos.get(logoUrl) ?? null),
  });
  return {
    report,
    isSample,
    best: facts.brands.best.map(shownBrand),
    lowest: lowestApart(facts.brands).map(shownBrand),
    files: filesOf(report, names.report, names.reportHtml),
  };
}

function filesOf({ files, run }: RunReport, json: string, page: string): ShownFile[] {
  const shownFile = (label: string, path: string): ShownFile => ({
    label,
    path: path === '-' ? 'standard output' : path,
    href:
      path !== '-' && resolve(dirname(path)) === resolve(dirname(page))
        ? `./${encodeURIComponent(basename(path))}`
        : null,
  });
  return [
    shownFile(run.isComplete ? 'Enriched rows' : 'Enriched rows (partial)', files.output),
    ...(files.errors === null ? [] : [shownFile('Rows to look at', files.errors)]),
    shownFile('The same for programs', json),
  ];
}

async function logosOf(brands: readonly RankedBrand[], stop: AbortSignal): Promise<Map<string, string>> {
  const dispatcher = openLogoAgent();
  try {
    const urls = brands.flatMap(({ logoUrl }) => (logoUrl === null ? [] : [logoUrl]));
    return await fetchLogos(urls, { dispatcher, stop, totalMs: LOGOS_TOTAL_MS });
  } finally {
    await dispatcher.destroy();
  }
}
