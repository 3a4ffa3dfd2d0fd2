/**
 * Names the files of a run and checks that they can be written. `customers.csv` gives
 * `customers.enriched.csv`, `customers.errors.csv` and so on; `-o out.csv` gives `out.csv`,
 * `out.partial.csv`, `out.errors.csv`.
 */
import { constants, type Stats } from 'node:fs';
import { access, lstat, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { BrandEnrichError, ConfigError, RunError } from '../../core/errors.js';
import { makeFolder } from '../../core/folders.js';
import { joinPhrases, type Phrase, phrase } from '../../core/phrase.js';
import { isOfStranger } from '../../core/plain-file.js';
import { isErrorCode, systemWords } from '../../core/system-error.js';
import { isTyped, TABLE_FORMATS, type TableFormat, type TableShape } from '../../core/table.js';
import type { Settings } from '../../settings/settings.js';

export interface OutputNames {
  /** For complete results only; `-` is the standard output. */
  readonly complete: string;
  /** For the results of a stopped run; the same as `complete` for an open stream. */
  readonly partial: string;
  readonly errors: string;
  readonly report: string;
  readonly reportHtml: string;
  /** Null without `--changes`. */
  readonly changes: string | null;
  /** For cells that differ from the brand; null without `--fill`, or for a stream. */
  readonly differences: string | null;
  readonly partialDifferences: string | null;
  readonly gzip: boolean;
}

type OutputSettings = Pick<Settings, 'output' | 'format' | 'errors' | 'report'> &
  Partial<Pick<Settings, 'changes' | 'differences' | 'fill' | 'fillOver'>>;

/** True for an open stream, which has no folder for the other files. */
function isStream(path: string): boolean {
  return path === '-' || /^\/(dev|proc)\//.test(path);
}

const GZIP = /\.gz$/i;
/** With its dot; anything longer is part of the name. */
const LONGEST_EXTENSION = 11;
const ENDINGS: Readonly<Record<TableFormat, RegExp>> = {
  csv: /\.(?:csv|tsv|tab)(?:\.gz)?$/i,
  jsonl: /\.(?:jsonl|ndjson)(?:\.gz)?$/i,
  json: /\.json(?:\.gz)?$/i,
  xlsx: /\.xlsx(?:\.gz)?$/i,
  parquet: /\.(?:parquet|pq)(?:\.gz)?$/i,
};
/** Extensions that people may expect, but that no run writes. */
const NEVER_WRITTEN =
  /\.(?:zip|xls|xlsm|xlsb|ods|numbers|pdf|docx?|html?|xml|ya?ml|avro|orc|feather|arrow|db|sqlite)$/i;

/** Returns the format that a file name implies, or null. */
function formatOfName(path: string): TableFormat | null {
  const name = basename(path);
  return TABLE_FORMATS.find((format) => ENDINGS[format].test(name)) ?? null;
}

/** Returns format and names; {@link assertPlaces} checks them. Throws ConfigError. */
export function namesOfRun(
  input: string,
  shape: Pick<TableShape, 'isGzip' | 'format' | 'rawHeader'>,
  { output, format: setFormat, errors, report: setReport, changes = null, ...others }: OutputSettings,
): { readonly format: TableFormat; readonly names: OutputNames } {
  const format = setFormat ?? formatOfName(output ?? '') ?? shape.format;
  const own = partsOf(isStream(input) ? 'stdin' : input);
  // Programs recognise binary files by their extension. The result of an archive is not an archive.
  const isFit = isTyped(format) ? ENDINGS[format].test(own.extension) : !/^(\.zip)?$/i.test(own.extension);
  const isList = format === 'csv' && shape.rawHeader === null && /^\.txt$/i.test(own.extension);
  const extension = format === shape.format && isFit && !isList ? own.extension : `.${format}`;
  const given = output === null || isStream(output) ? null : partsOf(output);
  const refuse = (what: string, todo: string) =>
    new ConfigError({
      code: 'usage-invalid',
      what,
      subject: phrase`${OUTPUT.setting} ${output ?? ''}`,
      todo,
    });
  if (given?.isGzip && isTyped(format)) throw refuse(`${format} files are already compressed`, 'omit .gz');
  if (given !== null && hasForeignExtension(given.extension, format))
    throw refuse(
      `the name ends in ${given.extension}, but the format is ${format}`,
      `end it in .${format}, or in .csv, .jsonl, .json, .xlsx or .parquet for another format`,
    );
  const gzip = given?.isGzip ?? (output === null && shape.isGzip && !isTyped(format));
  const suffix = (given?.extension ?? extension) + (gzip ? '.gz' : '');
  const stem = given?.stem ?? own.stem;
  const resultStem = given?.stem ?? `${own.stem}.enriched`;
  const report = setReport ?? `${stem}.report.json`;
  const fills = [...(others.fill ?? []), ...(others.fillOver ?? [])];
  const hasDifferences = fills.length > 0 && !(output !== null && isStream(output));
  const differences = hasDifferences ? (others.differences ?? `${stem}.differences.csv`) : null;
  const names = {
    differences,
    partialDifferences: differences?.replace(/(\.[^./]*)?$/, '.partial$1') ?? null,
    complete: output ?? resultStem + suffix,
    partial: output !== null && isStream(output) ? output : `${resultStem}.partial${suffix}`,
    errors: errors ?? `${stem}.errors${suffix}`,
    report,
    reportHtml: `${report.replace(/\.json$/i, '')}.html`,
    changes,
    gzip,
  };
  return { format, names };
}

/** True for an extension whose programs would take the file for damaged. */
function hasForeignExtension(extension: string, format: TableFormat): boolean {
  const named = formatOfName(`name${extension}`);
  if (named === null || named === format) return NEVER_WRITTEN.test(extension);
  return isTyped(named) || isTyped(format);
}

/** `stem`: the path without extensions. */
function partsOf(path: string) {
  const plain = path.replace(GZIP, '');
  const { dir, name, ext } = parse(plain);
  const isExtension = ext.length > 1 && ext.length <= LONGEST_EXTENSION;
  return {
    stem: join(dir, isExtension ? name : name + ext),
    extension: isExtension ? ext : '',
    isGzip: plain !== path,
  };
}

const OUTPUT = { name: 'the output', setting: { setting: 'output', shell: '-o' } } as const;
const DIFFERENCES = { name: 'the file of differences', setting: { setting: 'differences' } } as const;
const REPORT = { name: 'the report', setting: { setting: 'report' } } as const;
/** The files of a run, in the order in which their names are checked. */
const OUTPUT_FILES = [
  ['complete', OUTPUT],
  ['partial', { ...OUTPUT, name: 'the partial output' }],
  ['errors', { name: 'the errors file', setting: { setting: 'errors' } }],
  ['report', REPORT],
  ['changes', { name: 'the file of changes', setting: { setting: 'changes' } }],
  ['differences', DIFFERENCES],
  ['partialDifferences', DIFFERENCES],
  ['reportHtml', { ...REPORT, name: 'the page of the report' }],
] as const;
type OutputFile = (typeof OUTPUT_FILES)[number][1];

const MOST_LINKS = 40;

/** Returns the absolute path that writing `target` would write, links resolved. */
export async function placeOf(target: string): Promise<string> {
  let path = resolve(target);
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const real = await realpath(path).catch(() => null);
    if (real !== null) return real;
    const folder = await realpath(dirname(path)).catch(() => dirname(path));
    const link = await readlink(path).catch(() => null);
    if (link === null) return join(folder, basename(path));
    path = resolve(folder, link);
  }
  return path;
}

/** Throws `output-unwritable` if the path itself is a link of another user, who would choose it. */
export async function refuseLinksOfOthers(target: string): Promise<void> {
  let path = resolve(target);
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const facts = await lstat(path).catch(() => null);
    if (facts?.isSymbolicLink() !== true) return;
    if (isOfStranger(facts)) {
      const subject = `${path} (a symbolic link of another user)`;
      const todo = phrase`remove it, or choose another name with ${OUTPUT.setting}, ${{
        setting: 'errors',
      }} or ${{ setting: 'report' }}`;
      throw new RunError({ code: 'output-unwritable', subject, todo });
    }
    const folder = await realpath(dirname(path)).catch(() => dirname(path));
    path = resolve(folder, await readlink(path).catch(() => ''));
  }
}

/**
 * Throws `output-unwritable` for a path that is a folder or in a folder without write access;
 * `usage-invalid` for a path that leads to the input or another output.
 */
export async function assertPlaces(input: string, names: OutputNames): Promise<void> {
  const source = input === '-' ? null : await stat(input).catch(() => null);
  const inputPlace = input === '-' ? null : await placeOf(input);
  const taken = new Map<string, OutputFile>();
  for (const [key, file] of OUTPUT_FILES) {
    const path = names[key];
    if (path === null || path === '-' || (key === 'partial' && path === names.complete)) continue;
    const place = await placeOf(path);
    const existing = await stat(path).catch(() => null);
    const other = taken.get(place);
    const refuse = (what: string, files: readonly OutputFile[]) =>
      new ConfigError({
        code: 'usage-invalid',
        what,
        subject: resolve(path) === place ? path : `${path}, which leads to ${place}`,
        todo: phrase`choose another name with ${joinPhrases(
          [...new Set(files.map(({ setting }) => setting))],
          ' or ',
        )}`,
      });
    if (place === inputPlace || isSameFile(source, existing)) {
      throw refuse(`${file.name} would overwrite the input`, [file]);
    }
    if (other) throw refuse(`${other.name} and ${file.name} are the same file`, [other, file]);
    // Pipes and devices are written as they are, and may lead to the same end.
    if (existing !== null && !existing.isFile() && !existing.isDirectory()) continue;
    taken.set(place, file);
    try {
      await refuseLinksOfOthers(path);
      if (existing?.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
      // The dot makes it fail for anything but a folder.
      await access(`${await standingFolder(place)}${sep}.`, constants.W_OK);
    } catch (error) {
      throw writeFailure(path, error);
    }
  }
}

/** Makes the missing folders for the files of a run. Throws `output-unwritable`. */
export async function makePlaces(names: OutputNames): Promise<void> {
  for (const [key] of OUTPUT_FILES) {
    const path = names[key];
    if (path === null || isStream(path)) continue;
    try {
      makeFolder(dirname(await placeOf(path)));
    } catch (error) {
      throw writeFailure(path, error);
    }
  }
}

/** Returns the nearest existing folder above; those below it will be made. */
async function standingFolder(place: string): Promise<string> {
  const folder = dirname(place);
  const isMissing = await lstat(folder).then(
    () => false,
    (error) => isErrorCode(error, 'ENOENT'),
  );
  return isMissing && folder !== place ? standingFolder(folder) : folder;
}

/** True also for two mounts of one folder, or two names of one file. */
function isSameFile(one: Stats | null, other: Stats | null): boolean {
  return one?.isFile() === true && one.ino !== 0 && one.ino === other?.ino && one.dev === other.dev;
}

/** The advice after errors that lose nothing. */
export const KEPT = 'run again; paid answers are stored';
const ANOTHER_PLACE = phrase`choose another place with ${OUTPUT.setting}`;
const NO_PERMISSION = phrase`permission denied: ${ANOTHER_PLACE}, or get write access to its folder`;
const ADVICE: Readonly<Record<string, Phrase>> = {
  ENOSPC: `the disk is full: free some space and ${KEPT}`,
  EDQUOT: `the disk quota is exceeded: free some space and ${KEPT}`,
  EFBIG: phrase`the file is larger than the system allows: ${ANOTHER_PLACE}`,
  ENOENT: phrase`its folder does not exist: create it or ${ANOTHER_PLACE}`,
  ENOTDIR: phrase`its folder is not a folder: ${ANOTHER_PLACE}`,
  EISDIR: phrase`it is a folder: name a file with ${OUTPUT.setting}`,
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: phrase`the file system is read-only: ${ANOTHER_PLACE}`,
  EPIPE: `the reader of the output has stopped reading: ${KEPT}`,
};

/** Returns a {@link RunError} for an error while writing `path`, or one of ours unchanged. */
export function writeFailure(path: string, error: unknown): BrandEnrichError {
  if (error instanceof BrandEnrichError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return new RunError({
    code: 'output-unwritable',
    subject: path,
    todo: ADVICE[code] ?? `${systemWords(error)}: ${KEPT}`,
    cause: error,
  });
}
