/**
 * Recognising files that are no tables of text by their first bytes, so that the message can name
 * what the file is and what to do with it. Pure.
 */

export interface BinaryKind {
  /** For the message: `an Excel workbook (.xlsx)`. */
  readonly name: string;
  readonly todo: string;
}

const EXPORT = 'open it in its program and save it as CSV (UTF-8)';
const UNPACK = 'unpack it and name the file inside; only gzip is read as it is';
const OTHER = 'name a CSV or JSONL file';

/** First bytes (latin-1) and what they mean; sources: the formats' own specifications. */
const SIGNATURES: readonly (readonly [start: string, kind: BinaryKind])[] = [
  ['%PDF-', { name: 'a PDF document', todo: 'ask for the table as CSV' }],
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

/** What the bytes are when they are certainly no text; null when they may be. */
export function recogniseBinary(head: Buffer): BinaryKind | null {
  const start = head.subarray(0, 32 * 1024).toString('latin1');
  const kind = SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1];
  if (kind === undefined) return null;
  // Short ASCII marks could be the first word of a header; the formats behind them are never plain
  // text.
  const isPlain = /^[\t\r\n\x20-\x7e]*$/.test(start);
  if (isPlain && !/^(%PDF-|\{\\rtf)/.test(start)) return null;
  if (!start.startsWith('PK')) return kind;
  const inside = ZIP_KINDS.find(([name]) => start.includes(name));
  return inside === undefined ? kind : { name: inside[1], todo: EXPORT };
}

/**
 * What a text is when it is no table: a web page, an XML document, one JSON document. null when it
 * may be one.
 */
export function recogniseDocument(text: string): BinaryKind | null {
  const start = text.slice(0, 4096).trimStart();
  if (/^<(!doctype html|html|head|body|table)\b/i.test(start)) {
    return {
      name: 'a web page (HTML)',
      todo: 'open it in a browser or spreadsheet and save the table as CSV',
    };
  }
  if (/^<\?xml\b/i.test(start)) return { name: 'an XML document', todo: EXPORT };
  if (/^\[\s*(\{|$)/.test(start)) {
    return { name: 'one JSON array', todo: 'write one object per line (jq -c ".[]" does that)' };
  }
  if (/^\{\s*[\r\n]/.test(start)) {
    return { name: 'JSON over several lines', todo: 'write one object per line (jq -c "." does that)' };
  }
  return null;
}
