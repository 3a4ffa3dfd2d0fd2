/** The report and its page to pass on, with files named as seen from them. Pure. */
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { EnrichResult } from '../enrich-file.js';
import type { RunReport } from './report.js';
import { lowestApart, type RankedBrand } from './run-summary.js';

/** The folders of the run; default: those of this process. */
export interface Place {
  readonly folder: string;
  readonly home: string;
}

/** Returns the report with files named as seen from its folder. `report`: its path. */
export function portableReport(made: RunReport, report: string, place?: Place): RunReport {
  const { files, input, changes, fills } = made;
  const nameOf = (path: string) => fileFrom(report, path, place).name;
  return {
    ...made,
    input: { ...input, name: lastPart(input.name) },
    fills: fills && { ...fills, file: fills.file && nameOf(fills.file) },
    changes: changes && { ...changes, file: nameOf(changes.file) },
    files: { output: nameOf(files.output), errors: files.errors && nameOf(files.errors) },
  };
}

/**
 * Returns name and link of a file: relative if it is below the report's folder, or if both are in
 * the run's folder, which may be passed on as a whole; else the bare name without a link.
 */
export function fileFrom(
  report: string,
  path: string,
  { folder, home }: Place = { folder: process.cwd(), home: homedir() },
): { readonly name: string; readonly href: string | null } {
  if (path === '-') return { name: path, href: null };
  const [from, to] = [dirname(resolve(report)), resolve(path)];
  const isLinked = [from, folder].some(
    (shared) =>
      isWithin(from, shared) &&
      isWithin(to, shared) &&
      // A path from above the home folder would contain its name.
      (dirname(to) === from || shared === home || !isWithin(home, shared)),
  );
  if (!isLinked) return { name: basename(path), href: null };
  const name = relative(from, to).replaceAll(sep, '/');
  return { name, href: `./${name.split('/').map(encodedPart).join('/')}` };
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Replaces lone surrogates, which Windows allows in names and URLs forbid. */
function encodedPart(part: string): string {
  return encodeURIComponent(Buffer.from(part).toString());
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}

/** The content of the page: the report, and the brands and files that it does not hold. */
export type PageData = Readonly<ReturnType<typeof pageDataOf>>;
export type ShownBrand = PageData['best'][number];

/** `isSample`: these are the sample brands. `logos`: by the address that the service gave. */
export function pageDataOf(
  {
    facts: { brands },
    names,
    written,
    changed,
  }: Pick<EnrichResult, 'facts' | 'names' | 'written' | 'changed'>,
  report: RunReport,
  isSample: boolean,
  logos: ReadonlyMap<string, string>,
) {
  const withLogo = ({ index, key, logoUrl, ...brand }: RankedBrand) => {
    return { ...brand, logo: logos.get(logoUrl ?? '') ?? null };
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
      ...(changed === null ? [] : [shownFile('Changes', changed.file)]),
      shownFile('Report as JSON', names.report),
    ],
  };
}
