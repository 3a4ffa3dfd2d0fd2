/**
 * The names that `--encoding` takes: spellings people use, brought to the one name that the rest of intake
 * knows. Pure.
 */
import iconv from 'iconv-lite';

const ALIASES: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  utf8bom: 'utf-8',
  utf8sig: 'utf-8',
  ascii: 'utf-8',
  usascii: 'utf-8',
  utf16: 'utf-16',
  utf16le: 'utf-16le',
  ucs2: 'utf-16le',
  utf16be: 'utf-16be',
  cp1252: 'windows-1252',
  windows1252: 'windows-1252',
  win1252: 'windows-1252',
  ansi: 'windows-1252',
  latin1: 'iso-8859-1',
  iso88591: 'iso-8859-1',
};

/** iconv-lite's codecs that are no encodings of text. */
const NO_TEXT = new Set(['base64', 'hex', 'binary', 'utf7', 'utf7imap']);

/** The name in its usual form; `utf-16` leaves the byte order open. null: no such encoding. */
export function encodingName(name: string): string | null {
  const key = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  const alias = ALIASES[key];
  if (alias !== undefined) return alias;
  return key !== '' && !NO_TEXT.has(key) && iconv.encodingExists(key) ? name.toLowerCase() : null;
}
