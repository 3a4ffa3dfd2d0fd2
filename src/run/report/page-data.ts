/** The page's content: the JSON report, plus brands and files, which it does not hold. Pure. */
import type { EnrichResult } from '../enrich-file.js';
import { fileFrom } from './portable-report.js';
import type { RunReport } from './report.js';
import { lowestApart, type RankedBrand } from './run-summary.js';

export type PageData = Readonly<ReturnType<typeof pageDataOf>>;
export type ShownBrand = PageData['best'][number];

/** `isSample`: these are the sample brands. `logos`: by the address that the service gave. */
export function pageDataOf(
  { facts: { brands }, names, written }: Pick<EnrichResult, 'facts' | 'names' | 'written'>,
  report: RunReport,
  isSample: boolean,
  logos: ReadonlyMap<string, string>,
) {
  /** `logo`: as a `data:` address; null: initials stand in its place. */
  const withLogo = ({ name, domain, score, color, logoUrl }: RankedBrand) => {
    return { name, domain, score, color, logo: logos.get(logoUrl ?? '') ?? null };
  };
  const shownFile = (label: string, path: string) => {
    const { name, href } = fileFrom(names.reportHtml, path);
    return { label, name: name === '-' ? 'standard output' : name, href };
  };
  return {
    report,
    isSample,
    best: brands.best.map(withLogo),
    lowest: lowestApart(brands).map(withLogo),
    files: [
      shownFile(report.run.isComplete ? 'Enriched rows' : 'Enriched rows (partial)', written.output),
      ...(written.errors === null ? [] : [shownFile('Rows without an answer', written.errors)]),
      shownFile('Report as JSON', names.report),
    ],
  };
}
