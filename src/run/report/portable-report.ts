/** The report and its page as they are passed on: files as seen from them, no folder. Pure. */
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { EnrichResult } from '../enrich-file.js';
import type { RunReport } from './report.js';
import { lowestApart, type RankedBrand } from './run-summary.js';

/** Where the run took place; default: this process. */
export interface Place {
  readonly folder: string;
  readonly home: string;
}

/** `report`: its path. Names of files are made for the report's folder, that of the input too. */
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
 * Names and links a file: relative below the report's folder, or when both are in the run's folder,
 * which may be passed on as one; else the bare name, and `href` is null.
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
      // The way down from above the home folder would name it.
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

/** Half of a pair of surrogates, which Windows allows in names, cannot be encoded. */
function encodedPart(part: string): string {
  return encodeURIComponent(Buffer.from(part).toString());
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}

/** The content of the page: the report, and brands and files, which that does not hold. */
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
  /** `logo`: as a `data:` address; null: initials stand in its place. */
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
