/**
 * How the files of a run are called. `customers.csv` gives `customers.enriched.csv`, `customers.enriched.partial.csv`,
 * `customers.errors.csv`, `customers.report.json` and `.html`; `-o out.csv` gives `out.csv`, `out.partial.csv`, `out.errors.csv`
 * and so on. Pure: nothing is looked up or created.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { NeverStartError } from '../../core/errors.js';
import type { TableFormat } from '../../core/table.js';

export interface OutputNames {
  /** For complete results only; `-` is the standard output. */
  readonly complete: string;
  /** For what a stopped run has; `-` when `complete` is. */
  readonly partial: string;
  readonly errors: string;
  readonly report: string;
  readonly reportHtml: string;
  /** Whether complete, partial and errors file are gzip-compressed. */
  readonly gzip: boolean;
}

export interface NamingOptions {
  /** The input's path; `-` is the standard input. */
  readonly input: string;
  /** Whether the input came gzip-compressed. */
  readonly isGzip: boolean;
  readonly inputFormat: TableFormat;
  /** `-o`; null: beside the input. */
  readonly output: string | null;
  readonly format: TableFormat;
  /** `--errors` and `--report`; null: beside the output. */
  readonly errors: string | null;
  readonly report: string | null;
}

/** Names of open streams, not of files: nothing is written beside them. */
const STREAMS = /^\/(dev|proc)\//;
const GZIP = /\.gz$/i;
const EXTENSION = /\.[^.]{1,10}$/;
/** Extensions that name a format; `.tsv`, `.tab` and `.txt` are CSV with their own separators. */
const FORMAT_OF_EXTENSION: Readonly<Record<string, TableFormat>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.tab': 'csv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

/** The format that a file's name asks for; null when it asks for none. */
export function formatOfName(path: string): TableFormat | null {
  const extension = EXTENSION.exec(basename(path).replace(GZIP, ''))?.[0].toLowerCase();
  return extension === undefined ? null : (FORMAT_OF_EXTENSION[extension] ?? null);
}

/**
 * The names of a run's files.
 * @throws NeverStartError `usage-invalid` when one of them is the input, or two are the same file.
 */
export function outputNames(options: NamingOptions): OutputNames {
  const { input, output } = options;
  const isStream = input === '-' || STREAMS.test(input);
  const own = partsOf(isStream ? 'stdin' : input);
  const extension =
    options.format === options.inputFormat && own.extension !== '' ? own.extension : `.${options.format}`;
  const beside = output === null || output === '-';
  const given = beside ? null : partsOf(output);
  const gzip = given?.isGzip ?? (output === null && options.isGzip);
  const suffix = (given?.extension ?? extension) + (gzip ? '.gz' : '');
  const stem = given?.stem ?? own.stem;
  const resultStem = given?.stem ?? `${own.stem}.enriched`;
  const report = options.report ?? `${stem}.report.json`;
  const names: OutputNames = {
    complete: output ?? resultStem + suffix,
    partial: output === '-' ? '-' : `${resultStem}.partial${suffix}`,
    errors: options.errors ?? `${stem}.errors${suffix}`,
    report,
    reportHtml: `${report.replace(/\.json$/i, '')}.html`,
    gzip,
  };
  refuseClashes(input, names);
  return names;
}

interface NameParts {
  /** The path without extensions. */
  readonly stem: string;
  readonly extension: string;
  readonly isGzip: boolean;
}

function partsOf(path: string): NameParts {
  const name = basename(path);
  const plain = name.replace(GZIP, '');
  const extension = EXTENSION.exec(plain)?.[0] ?? '';
  const stem = extension === plain ? plain : plain.slice(0, plain.length - extension.length);
  return {
    stem: dirname(path) === '.' && !path.startsWith('.') ? stem : join(dirname(path), stem),
    extension: extension === plain ? '' : extension,
    isGzip: plain !== name,
  };
}

function refuseClashes(input: string, names: OutputNames): void {
  const source = input === '-' ? null : resolve(input);
  const taken = new Map<string, OutputFile>();
  for (const file of OUTPUT_FILES) {
    const path = names[file];
    if (path === '-') continue;
    const place = resolve(path);
    if (place === source) throw overwritesInput(file, path);
    const other = taken.get(place);
    if (other !== undefined) throw sameOutput(other, file, path);
    taken.set(place, file);
  }
}

/** The files of a run, in the order in which their names are judged. */
export const OUTPUT_FILES = ['complete', 'partial', 'errors', 'report', 'reportHtml'] as const;
export type OutputFile = (typeof OUTPUT_FILES)[number];

const FILE_WORDS: Readonly<Record<OutputFile, { readonly name: string; readonly flag: string }>> = {
  complete: { name: 'the output', flag: '-o' },
  partial: { name: 'the partial output', flag: '-o' },
  errors: { name: 'the errors file', flag: '--errors' },
  report: { name: 'the report', flag: '--report' },
  reportHtml: { name: 'the page of the report', flag: '--report' },
};

/** `shown`: the path as people know it. */
export function overwritesInput(file: OutputFile, shown: string): NeverStartError {
  const { name, flag } = FILE_WORDS[file];
  return new NeverStartError({
    code: 'usage-invalid',
    what: `${name} would overwrite the input`,
    subject: shown,
    todo: `choose another name with ${flag}`,
  });
}

export function sameOutput(one: OutputFile, other: OutputFile, shown: string): NeverStartError {
  const flags = [...new Set([FILE_WORDS[one].flag, FILE_WORDS[other].flag])];
  return new NeverStartError({
    code: 'usage-invalid',
    what: `${FILE_WORDS[one].name} and ${FILE_WORDS[other].name} are the same file`,
    subject: shown,
    todo: `choose another name with ${flags.join(' or ')}`,
  });
}
