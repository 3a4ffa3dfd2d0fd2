/** Text for terminals, with control characters and bidirectional marks escaped. */
import { stripVTControlCharacters } from 'node:util';
import { jsonWithoutSecrets, withoutSecrets } from './secrets.js';

/** Control characters except line feed and tab, line separators, and bidirectional marks. */
const STEERING = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** Spares carriage returns too: JSON has raw line breaks only between its tokens. */
const STEERING_IN_JSON = /(?![\n\r\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes control characters and bidirectional marks as `\x1b` and `\u202e`. Pure. */
export function visible(text: string): string {
  return text.replace(STEERING, escaped);
}

/** Escapes line feeds and tabs too, so that the text stays on one line. Pure. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** The most characters of a name that messages write out. */
export const NAME_AT_MOST = 100;

/** Cuts a name from a file (of a column, a sheet, a part) to {@link NAME_AT_MOST}. Pure. */
export function shortName(name: string): string {
  return shortText(name, NAME_AT_MOST);
}

/** Cuts a text to `most` characters and ends it with `…` if it was longer. Pure. */
export function shortText(text: string, most: number): string {
  return text.length <= most ? text : `${cutText(text, most - 1)}…`;
}

/** Joins the first `most` texts, and says if there are more: `a, b and others`. Pure. */
export function firstOf(texts: readonly string[], most: number): string {
  return `${texts.slice(0, most).join(', ')}${texts.length > most ? ' and others' : ''}`;
}

/** Cuts a text to `most` UTF-16 units, never through a character. Pure. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const isHalf = (text.charCodeAt(most - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalf ? most - 1 : most);
}

/** Joins lines, of which no name or reason can start a new one. Pure. */
export function visibleLines(lines: readonly string[]): string {
  return lines.map((line) => `${visibleLine(line)}\n`).join('');
}

/** Escapes a JSON text as {@link visible} does, without changing its meaning. Pure. */
export function visibleJson(json: string): string {
  return json.replace(STEERING_IN_JSON, (sign) => `\\u${hexOf(sign, 4)}`);
}

function escaped(sign: string): string {
  return sign <= '\u00ff' ? `\\x${hexOf(sign, 2)}` : `\\u${hexOf(sign, 4)}`;
}

function hexOf(sign: string, digits: number): string {
  return sign.charCodeAt(0).toString(16).padStart(digits, '0');
}

/** Prints a text, which brings its own line ends, visible and without secrets. */
export function printText(stream: NodeJS.WritableStream, text: string): void {
  stream.write(visible(withoutSecrets(text)));
}

/** The version of all documents (`documents.ts`). New fields do not change it. */
export const DOCUMENT_VERSION = 1;

/** Prints a document as one line of JSON, for programs. */
export function printJson(stream: NodeJS.WritableStream, document: object): void {
  const json = JSON.stringify({ version: DOCUMENT_VERSION, ...document });
  stream.write(`${visibleJson(jsonWithoutSecrets(json))}\n`);
}

/** Prints our control sequences; the rest of `text` must be {@link visible} already. */
export function printControlled(stream: NodeJS.WritableStream, text: string): void {
  stream.write(withoutSecrets(text));
}

/** The streams that a command may use. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
}

/** Breaks a text between words into lines of at most `width`; a longer word gets its own line. */
export function wrapWords(text: string, width: number): string[] {
  const lengthOf = (line: string) => stripVTControlCharacters(line).length;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || lengthOf(last) + 1 + lengthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Wraps a text for a terminal, except indented lines, such as those of tables. */
export function wrapLines(
  text: string,
  { isTTY, columns }: Pick<Streams['stderr'], 'isTTY' | 'columns'>,
): string {
  if (isTTY !== true || !columns) return text;
  const lines = text.split('\n').map((line) => (line.startsWith(' ') ? [line] : wrapWords(line, columns)));
  return lines.flat().join('\n');
}
