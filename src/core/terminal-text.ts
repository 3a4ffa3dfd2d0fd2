/** Text for terminals: characters that control one or reverse reading are shown escaped. */
import { stripVTControlCharacters } from 'node:util';
import { jsonWithoutSecrets, withoutSecrets } from './secrets.js';

/** Control characters but for line feed and tab, and those that separate lines or reverse them. */
const STEERING = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** In JSON, ASCII control characters occur only between tokens. */
const STEERING_IN_JSON = /(?![\n\r\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** The text with `\x1b` and `\u202e` in place of such characters. Pure. */
export function visible(text: string): string {
  return text.replace(STEERING, escaped);
}

/** The same for what has to stay on one line. Pure. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Longer ones are hardly names: messages do not write them out. */
export const NAME_AT_MOST = 100;

/** A name from a file (of a column, a sheet, a part), as messages have it: cut when long. Pure. */
export function shortName(name: string): string {
  return shortText(name, NAME_AT_MOST);
}

/** A text of at most so many characters, the last a mark where it was cut. Pure. */
export function shortText(text: string, most: number): string {
  return text.length <= most ? text : `${cutText(text, most - 1)}…`;
}

/** The first of these texts, and whether there are more: `a, b and others`. Pure. */
export function firstOf(texts: readonly string[], most: number): string {
  return `${texts.slice(0, most).join(', ')}${texts.length > most ? ' and others' : ''}`;
}

/** The beginning of a text that is too long to be kept, not cut through a character. Pure. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const isHalf = (text.charCodeAt(most - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalf ? most - 1 : most);
}

/** A text of these lines. No name or reason in them can start a new line. Pure. */
export function visibleLines(lines: readonly string[]): string {
  return lines.map((line) => `${visibleLine(line)}\n`).join('');
}

/** A JSON text that means the same. Pure. */
export function visibleJson(json: string): string {
  return json.replace(STEERING_IN_JSON, (sign) => `\\u${hexOf(sign, 4)}`);
}

function escaped(sign: string): string {
  return sign <= '\u00ff' ? `\\x${hexOf(sign, 2)}` : `\\u${hexOf(sign, 4)}`;
}

function hexOf(sign: string, digits: number): string {
  return sign.charCodeAt(0).toString(16).padStart(digits, '0');
}

/** Shows a text, which brings its own line ends. */
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

/** Sends our own control sequences. What else is in it was made {@link visible}. */
export function printControlled(stream: NodeJS.WritableStream, text: string): void {
  stream.write(withoutSecrets(text));
}

/** What a command may touch of its process. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
}

/** Breaks a text between words into lines of at most `width`; a longer word keeps its line. */
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

/** Wraps the lines of a text for a terminal, except those that are indented, as tables are. */
export function wrapLines(
  text: string,
  { isTTY, columns }: Pick<Streams['stderr'], 'isTTY' | 'columns'>,
): string {
  if (isTTY !== true || !columns) return text;
  const lines = text.split('\n').map((line) => (line.startsWith(' ') ? [line] : wrapWords(line, columns)));
  return lines.flat().join('\n');
}
