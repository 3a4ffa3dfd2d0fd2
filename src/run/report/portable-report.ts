/** The report as it is passed on: files as seen from it, and no folder of this machine. Pure. */
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { RunReport } from './report.js';

/** Where the run took place; default: this process. */
export interface Place {
  readonly folder: string;
  readonly home: string;
}

/** `report`: its path. Names of files are made for the report's folder, that of the input too. */
export function portableReport(made: RunReport, report: string, place?: Place): RunReport {
  const { files, input } = made;
  const nameOf = (path: string) => fileFrom(report, path, place).name;
  return {
    ...made,
    input: { ...input, name: lastPart(input.name) },
    files: { output: nameOf(files.output), errors: files.errors && nameOf(files.errors) },
  };
}

/**
 * A file as a report names and links it. Relative when it is below the report's folder, or when
 * both are in the folder of the run, which is likely to be passed on as one; else the bare name,
 * and `href` is null.
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

/** The last part of a path of any system. */
function lastPart(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}
