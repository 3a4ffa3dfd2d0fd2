/** Files of an inbox: their names, one look at a path, and faults of the file system. */
import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ConfigError, usageProblem } from '../core/errors.js';
import { isErrorCode } from '../core/system-error.js';
import type { TableFormat } from '../core/table.js';

/** Unfinished downloads and copies, locks of office programs, hidden files, file browsers' own. */
const LEFT_ALONE = [/^\./, /^~\$/, /\.(part|tmp|crdownload)$/i, /^(thumbs\.db|desktop\.ini)$/i];

export const FOLDER_SETTINGS_FILE = 'brand-enrich.json';

/** True if files of this name are ignored. */
export function isLeftAlone(name: string): boolean {
  return LEFT_ALONE.some((pattern) => pattern.test(name));
}

const SIDE_FILE = /\.(?:csv|tsv|tab|txt|jsonl?|ndjson|xlsx|parquet|zip)(?:\.gz)?\.json$/i;

/** True for names like `customers.csv.json`, which has the settings of `customers.csv`. */
export function isSideFile(name: string): boolean {
  return SIDE_FILE.test(name);
}

/** True for names that almost only tables have. */
export function isTable(name: string): boolean {
  return /\.(?:csv|tsv|tab|jsonl|ndjson|xlsx|parquet)(?:\.gz)?$/i.test(name);
}

export const sideFileOf = (name: string) => `${name}.json`;

/** The rest of 255 bytes is for time, number and the endings of our files. */
const STEM_BYTES = 180;

/** Returns `customers` for `customers.csv.gz`; cuts very long names between characters. */
export function stemOf(name: string): string {
  const plain = name.replace(/\.gz$/i, '');
  const stem = plain.replace(/\.[^.]{1,10}$/, '') || plain;
  let cut = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(stem)) {
    if (Buffer.byteLength(cut + segment) > STEM_BYTES) break;
    cut += segment;
  }
  return cut || 'file';
}

/** True if our files beside this one would have longer names than file systems allow. */
export function isLongName(name: string): boolean {
  return Buffer.byteLength(name) > STEM_BYTES + '.jsonl.gz'.length;
}

const REFUSED_SIGNS = /[<>:"|?*/\\]/g;
const NO_TABLE = /\.(?:docx?|odt|rtf|pdf|pptx?|png|jpe?g|gif|heic|svg)$/i;
/** Names of devices of Windows, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;

/**
 * Returns the last part of a name from a browser, safe for every file system: composed (NFC),
 * without invisible signs, reserved signs and names, and short enough for our files beside it.
 * Throws `ConfigError` for names of documents, and names that the inbox leaves alone.
 */
export function uploadName(given: string): string {
  const last = given.split(/[/\\]/).findLast((part) => part.trim() !== '') ?? '';
  const plain = last
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, '')
    .replace(REFUSED_SIGNS, '_')
    .replace(/\s+/g, ' ')
    .replace(/^ +|(?<![ .])[ .]+$/g, '')
    .replace(DEVICE, '_$&');
  const name = shortened(plain === '' ? 'upload' : plain);
  const why = isSideFile(name)
    ? 'files of this name hold the settings of another file'
    : isLeftAlone(name) && 'files of this name are ignored: hidden, unfinished, or of another program';
  if (why !== false) throw new ConfigError(usageProblem(why, name, 'rename the file'));
  if (NO_TABLE.test(name)) {
    const todo = 'save the table in it as an Excel workbook or as CSV, and send that';
    throw new ConfigError(usageProblem('this is a document or a picture, not a table', name, todo));
  }
  return name;
}

function shortened(name: string): string {
  const [ending = ''] = /(?:\.[^.]{1,10})?(?:\.gz)?$/i.exec(name) ?? [];
  const stem = stemOf(name);
  return name.startsWith(stem) && name.length > stem.length + ending.length ? stem + ending : name;
}

/** Returns the name with the ending of a table, which its settings file needs. */
export function withTableEnding(name: string, format: TableFormat): string {
  return isSideFile(sideFileOf(name)) ? name : `${name}.${format}`;
}

/** Returns a name like `customers-2026-01-14T09-30-05Z`, without colons, which Windows refuses. */
export function jobName(fileName: string, now: number): string {
  return `${stemOf(fileName)}-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
}

/** Returns the first of `name`, `name-2`, `name-3`, … that `action` takes. */
export async function withFreeName(name: string, action: (name: string) => Promise<void>): Promise<string> {
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    try {
      await action(free);
      return free;
    } catch (error) {
      if (!isErrorCode(error, 'EEXIST', 'ENOTEMPTY')) throw error;
    }
  }
}

const PASSING_FAULTS =
  'ENOSPC EDQUOT EROFS EIO EACCES EPERM EBUSY ESTALE EMFILE ENFILE ENOMEM ETIMEDOUT EHOSTDOWN ENOTCONN';

/** True for a full disk, a missing permission, an unmounted share: not the file's fault. */
export function isPassingFault(error: unknown): boolean {
  return isErrorCode(error, ...PASSING_FAULTS.split(' '));
}

/** A file, folder or link as one look found it. */
export interface SeenFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly under?: string | undefined;
}

/** Returns the path of a file in the inbox. */
export function placeOf(inbox: string, { name, under = '' }: Pick<SeenFile, 'name' | 'under'>): string {
  return join(inbox, under, name);
}

/** Returns what one look finds at a path, or null. */
export async function lookAt(path: string): Promise<SeenFile | null> {
  const stat = await lstat(path).catch(() => null);
  if (stat === null) return null;
  const { size, mtimeMs, ino } = stat;
  const special = stat.isDirectory() ? 'folder' : stat.isSymbolicLink() ? 'link' : 'other';
  return { name: basename(path), size, mtimeMs, ino, kind: stat.isFile() ? 'file' : special };
}

/** True if the file was neither written nor replaced between two looks. */
export function isSameFile(a: SeenFile, b: SeenFile): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino && a.kind === b.kind;
}
