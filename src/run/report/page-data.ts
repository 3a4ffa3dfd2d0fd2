/** The page's content: the JSON report, plus brands and files, which it does not hold. Pure. */
import { basename, dirname, resolve } from 'node:path';
import type { EnrichResult } from '../enrich-file.js';
import type { RunReport } from './report.js';
import { lowestApart, type RankedBrand } from './run-summary.js';

export type PageData = Readonly<ReturnType<typeof pageDataOf>>;
export type ShownBrand = PageData['best'][number];

/** `isSample`: these are the sample brands. `logos`: by the address that the service gave. */
export function pageDataOf(
  {
    facts: { brands },
    names,
  }: Pick<EnrichResult, 'facts'> & { readonly names: Pick<EnrichResult['names'], 'report' | 'reportHtml'> },
  report: RunReport,
  isSample: boolean,
  logos: ReadonlyMap<string, string>,
) {
  const { files, run } = report;
  const page = resolve(names.reportHtml);
  /** `logo`: as a `data:` address; null: initials stand in its place. */
  const withLogo = ({ name, domain, score, color, logoUrl }: RankedBrand) => {
    return { name, domain, score, color, logo: logos.get(logoUrl ?? '') ?? null };
  };
  /** `path`: as the user would write it. `href`: relative to the page; null when not beside it. */
  const shownFile = (label: string, path: string) => {
    const isBeside = path !== '-' && dirname(resolve(path)) === dirname(page);
    const href = isBeside ? `./${encodeURIComponent(basename(path))}` : null;
    return { label, path: path === '-' ? 'standard output' : path, href };
  };
  return {
    report,
    isSample,
    best: brands.best.map(withLogo),
    lowest: lowestApart(brands).map(withLogo),
    files: [
      shownFile(run.isComplete ? 'Enriched rows' : 'Enriched rows (partial)', files.output),
      ...(files.errors === null ? [] : [shownFile('Rows without an answer', files.errors)]),
      shownFile('Report as JSON', names.report),
    ],
  };
}
