/** Files that are no tables of text, by their first bytes: what each is, and what to do. Pure. */
import { FailFileError } from '../core/errors.js';

interface BinaryKind {
  /** For the message: `an Excel workbook (.xlsx)`. */
  readonly name: string;
  readonly todo: string;
}

const EXPORT = 'open it in its program and save it as CSV (UTF-8)';
const UNPACK = 'unpack it and give the file inside; only gzip is read directly';
const OTHER = 'give a CSV or JSONL file';

/** First bytes (latin-1) and what they mean; sources: the formats' own specifications. */
const SIGNATURES: readonly (readonly [start: string, kind: BinaryKind])[] = [
  ['%PDF-', { name: 'a PDF document', todo: 'get the table as CSV' }],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', { name: 'an old Office file (.xls, .doc)', todo: EXPORT }],
  ['PK\x03\x04', { name: 'a ZIP archive', todo: UNPACK }],
  ['PK\x05\x06', { name: 'an empty ZIP archive', todo: UNPACK }],
  ['\x1f\x8b', { name: 'gzip data inside gzip data', todo: 'unpack it once' }],
  ['BZh', { name: 'bzip2 data', todo: UNPACK }],
  ['\xfd7zXZ\x00', { name: 'xz data', todo: UNPACK }],
  ['\x28\xb5\x2f\xfd', { name: 'Zstandard data', todo: UNPACK }],
  ['7z\xbc\xaf\x27\x1c', { name: 'a 7z archive', todo: UNPACK }],
  ['Rar!\x1a\x07', { name: 'a RAR archive', todo: UNPACK }],
  ['PAR1', { name: 'a Parquet file', todo: 'export it as CSV or JSONL' }],
  ['Obj\x01', { name: 'an Avro file', todo: 'export it as CSV or JSONL' }],
  ['SQLite format 3\x00', { name: 'an SQLite database', todo: 'export the table as CSV' }],
  ['\x89PNG\r\n', { name: 'a PNG image', todo: OTHER }],
  ['\xff\xd8\xff', { name: 'a JPEG image', todo: OTHER }],
  ['GIF8', { name: 'a GIF image', todo: OTHER }],
  ['\x7fELF', { name: 'a program', todo: OTHER }],
  ['{\\rtf', { name: 'an RTF document', todo: EXPORT }],
];

/** Names found near the start of a ZIP archive that is really an office document. */
const ZIP_KINDS: readonly (readonly [inside: string, name: string])[] = [
  ['xl/', 'an Excel workbook (.xlsx)'],
  ['opendocument.spreadsheet', 'an OpenDocument spreadsheet (.ods)'],
  ['word/', 'a Word document (.docx)'],
  ['[Content_Types].xml', 'an Office document'],
  ['Index/Document.iwa', 'a Numbers document'],
];

/** Throws `input-binary` for bytes that are certainly no text. */
export function assertNotBinary(name: string, head: Buffer): void {
  const start = head.subarray(0, 32 * 1024).toString('latin1');
  const kind = SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1];
  // Short ASCII marks could be the first word of a header; the formats behind them are never plain
  // text.
  if (/^[\t\r\n\x20-\x7e]*$/.test(start) && !/^(%PDF-|\{\\rtf)/.test(start)) return;
  if (kind === undefined) return;
  const office = start.startsWith('PK') ? ZIP_KINDS.find(([part]) => start.includes(part)) : undefined;
  throw refusal(name, office === undefined ? kind : { name: office[1], todo: EXPORT });
}

const perLine = (filter: string) => `write one object per line (jq -c "${filter}" does that)`;
const SAVE = 'open it in a browser or spreadsheet and save the table as CSV';
const DOCUMENTS: readonly (readonly [start: RegExp, kind: BinaryKind])[] = [
  [/^<(!doctype html|html|head|body|table)\b/i, { name: 'a web page (HTML)', todo: SAVE }],
  [/^<\?xml\b/i, { name: 'an XML document', todo: EXPORT }],
  [/^\[\s*(\{|$)/, { name: 'one JSON array', todo: perLine('.[]') }],
  [/^\{\s*[\r\n]/, { name: 'JSON over several lines', todo: perLine('.') }],
];

/** Throws `input-binary` for a text that is a document and no table. */
export function assertNoDocument(name: string, text: string): void {
  const start = text.slice(0, 4096).trimStart();
  const kind = DOCUMENTS.find(([pattern]) => pattern.test(start))?.[1];
  if (kind !== undefined) throw refusal(name, kind, { what: 'the input is not a table' });
}

function refusal(name: string, kind: BinaryKind, detail: { what?: string } = {}): FailFileError {
  const subject = `${name} is ${kind.name}`;
  return new FailFileError({ code: 'input-binary', subject, todo: kind.todo, ...detail });
}
