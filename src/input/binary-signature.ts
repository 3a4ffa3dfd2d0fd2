/** Recognises files that are not text by their first bytes, and says what to do. Pure. */
import { basename } from 'node:path';
import { RunError } from '../core/errors.js';
import { firstOf, shortName } from '../core/terminal-text.js';

interface BinaryKind {
  readonly name: string;
  readonly todo: string;
  readonly what?: string;
}

/** Returns the format of a packed file (ZIP: APPNOTE, 4.3.7, 4.3.16); null for any other file. */
export function packingOf(start: Buffer): 'gzip' | 'parquet' | 'zip' | null {
  const mark = start.toString('latin1', 0, 4);
  if (mark.startsWith('\x1f\x8b')) return 'gzip';
  if (mark === 'PAR1') return 'parquet';
  return mark === 'PK\x03\x04' || mark === 'PK\x05\x06' ? 'zip' : null;
}

const EXPORT = 'open it in its program and save it as CSV (UTF-8)';
const SAVE_XLSX = 'open it in its program and save it as an Excel workbook (.xlsx), or as CSV (UTF-8)';
const UNPACK = 'unpack it and give the file inside; only gzip and ZIP are read directly';
const OTHER = 'give a CSV, JSON, Excel or Parquet file';
const DOCUMENT = 'this is a document, not a table';
const PICTURE = { what: 'this is a picture, not a table', todo: OTHER };

const SIGNATURES: readonly (readonly [start: string, kind: BinaryKind])[] = [
  ['%PDF-', { name: 'a PDF document', todo: 'get the table as CSV', what: DOCUMENT }],
  ['PK\x03\x04', { name: 'a ZIP archive inside gzip data', todo: 'unpack it once' }],
  ['\x1f\x8b', { name: 'gzip data inside gzip data', todo: 'unpack it once' }],
  ['BZh', { name: 'bzip2 data', todo: UNPACK }],
  ['\xfd7zXZ\x00', { name: 'xz data', todo: UNPACK }],
  ['\x28\xb5\x2f\xfd', { name: 'Zstandard data', todo: UNPACK }],
  ['7z\xbc\xaf\x27\x1c', { name: 'a 7z archive', todo: UNPACK }],
  ['Rar!\x1a\x07', { name: 'a RAR archive', todo: UNPACK }],
  ['PAR1', { name: 'a Parquet file inside gzip data', todo: 'unpack it once' }],
  ['PARE', { name: 'an encrypted Parquet file', todo: 'write it without encryption' }],
  ['Obj\x01', { name: 'an Avro file', todo: 'export it as CSV or JSONL' }],
  ['SQLite format 3\x00', { name: 'an SQLite database', todo: 'export the table as CSV' }],
  ['\x89PNG\r\n', { name: 'a PNG image', ...PICTURE }],
  ['\xff\xd8\xff', { name: 'a JPEG image', ...PICTURE }],
  ['GIF8', { name: 'a GIF image', ...PICTURE }],
  ['\x7fELF', { name: 'a program', todo: OTHER }],
  ['{\\rtf', { name: 'an RTF document', todo: EXPORT, what: DOCUMENT }],
];

/** ZIP archives that cannot be read, each with a part that only it has. */
const ZIP_KINDS: readonly (readonly [part: RegExp, kind: BinaryKind])[] = [
  [/^xl\/workbook\.bin$/, { name: 'a binary Excel workbook (.xlsb)', todo: SAVE_XLSX }],
  [/^content\.xml$/, { name: 'an OpenDocument file (.ods)', todo: SAVE_XLSX }],
  [/^(Index\/Document\.iwa|Index\.zip)$/, { name: 'a Numbers document', todo: SAVE_XLSX }],
  [/^word\//, { name: 'a Word document (.docx)', todo: EXPORT, what: DOCUMENT }],
  [/^ppt\//, { name: 'a presentation (.pptx)', todo: EXPORT, what: DOCUMENT }],
];

const TABLE_NAME = /\.(csv|tsv|tab|txt|jsonl|ndjson|json|xlsx|parquet)(\.gz)?$/i;
const NOT_MEANT = /(^|\/)(__MACOSX\/|\.)/;
const NAMES_SHOWN = 10;

/** Returns an archive's only table, or null for a workbook. Throws `input-binary` otherwise. */
export function tableInside(archive: { readonly name: string; readonly names: readonly string[] }) {
  const { name, names } = archive;
  const kind = ZIP_KINDS.find(([part]) => names.some((each) => part.test(each)))?.[1];
  if (kind !== undefined) throw refusal(name, kind);
  if (names.some((each) => /^\[content_types\]\.xml$/i.test(each))) return null;
  const meant = names.filter((each) => !NOT_MEANT.test(each));
  const tables = meant.filter((each) => TABLE_NAME.test(each));
  const [only, ...others] = tables;
  if (only !== undefined && others.length === 0) return only;
  const content = firstOf((tables.length > 0 ? tables : meant).map(shortName), NAMES_SHOWN) || 'nothing';
  const count = tables.length === 0 ? 'without a table' : `with ${tables.length} tables`;
  const named = { name: `a ZIP archive ${count} (${content})`, todo: 'unpack it and give one file' };
  throw refusal(name, tables.length > 1 ? { ...named, what: 'this archive has several tables' } : named);
}

/** MS-CFB, 2.2; MS-OFFCRYPTO, 2.3.4: a workbook with a password has a stream of this name. */
const OLE_START = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le').toString('latin1');
const LOCKED: BinaryKind = {
  name: 'an Excel workbook with a password',
  what: 'this workbook is locked with a password',
  todo: 'open it, remove the password (File > Info > Protect Workbook), save it',
};
const OLD: BinaryKind = { name: 'an old Office file (.xls, .doc)', todo: SAVE_XLSX };

/** Office programs keep `~$list.xlsx` beside a `list.xlsx` that somebody has open. */
const OWNER_FILE = /^~\$(.+\.(?:xls|doc|ppt)[a-z]?)$/i;

/** Throws `input-binary` for bytes that are certainly not text. */
export function assertNotBinary(name: string, head: Buffer): void {
  const [, opened] = OWNER_FILE.exec(basename(name)) ?? [];
  if (opened !== undefined) {
    const todo = `give ${shortName(opened)}; if it is open, save it first`;
    throw refusal(name, { name: 'the lock file of an Office program, not a table', todo });
  }
  const start = head.subarray(0, 32 * 1024).toString('latin1');
  if (start.startsWith(OLE_START)) {
    throw refusal(name, start.includes(ENCRYPTED) || /\.xlsx$/i.test(name) ? LOCKED : OLD);
  }
  const kind = SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1];
  // A header may begin with a short mark such as `BZh`; what the mark stands for is never ASCII.
  const isText = /^[\t\r\n\x20-\x7e]*$/.test(start) && !/^(%PDF-|\{\\rtf)/.test(start);
  if (kind !== undefined && !isText) throw refusal(name, kind);
}

const PER_LINE =
  "write one object per line: with `jq -c .` if it is one row, or `jq -c 'to_entries[]'` if it has many";
const SAVE = 'open it in a browser or spreadsheet and save the table as CSV';
const DOCUMENTS: readonly (readonly [start: RegExp, kind: BinaryKind])[] = [
  [/^<(!doctype html|html|head|body|table)\b/i, { name: 'a web page (HTML)', todo: SAVE }],
  [/^<\?xml\b/i, { name: 'an XML document', todo: EXPORT }],
  [/^\{\s*[\r\n]/, { name: 'JSON over several lines', todo: PER_LINE }],
];

/** Throws `input-binary` for text that is a document, not a table. */
export function assertNoDocument(name: string, text: string): void {
  const start = text.slice(0, 4096).trimStart();
  const kind = DOCUMENTS.find(([pattern]) => pattern.test(start))?.[1];
  if (kind !== undefined) throw refusal(name, { ...kind, what: 'the input is not a table' });
}

export function archiveInside(name: string): RunError {
  return refusal(name, { name: 'a ZIP archive inside a ZIP archive', todo: 'unpack it once' });
}

function refusal(name: string, { name: kind, ...detail }: BinaryKind): RunError {
  return new RunError({ code: 'input-binary', subject: `${name} is ${kind}`, ...detail });
}
