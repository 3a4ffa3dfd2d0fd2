/** Reads and edits JSON as text: `JSON.parse` would change `12345678901234567890` and `1.10`. */
import type { ParseError } from 'jsonc-parser';
import { attempt } from './lifecycle.js';
import { load } from './load.js';

/** One member of the outermost object. Positions are in the object's text. */
export interface Member {
  readonly key: string;
  /** Position of the comma before the key, -1 for the first member. */
  readonly comma: number;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;

/** Returns the members of the outermost object in order; null if the text is not an object. */
export function membersOf(text: string): Member[] | null {
  let at = skipBlanks(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return null;
  const members: Member[] = [];
  let comma = -1;
  at = skipBlanks(text, at + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(text, at);
    const valueStart = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    members.push({ key: stringText(text.slice(at, keyEnd)), comma, keyStart: at, valueStart, valueEnd });
    at = skipBlanks(text, valueEnd);
    if (text.charCodeAt(at) !== COMMA) break;
    comma = at;
    at = skipBlanks(text, at + 1);
  }
  return members;
}

/** Returns the elements of the outermost array as text; null if the text is not an array. */
export function elementsOf(text: string): string[] | null {
  let at = skipBlanks(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACKET) return null;
  const elements: string[] = [];
  at = skipBlanks(text, at + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = skipBlanks(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipBlanks(text, at + 1);
  }
  return elements;
}

/** Returns a value as a table shows it: a string's text, nothing for null, else as written. */
export function cellOfJson(value: string): string {
  if (value.startsWith('"')) return stringText(value);
  return value === 'null' ? '' : value;
}

/** Removes members from a text; `members` must be all of {@link membersOf}. */
export function cutMembers(text: string, members: readonly Member[], isCut: (member: Member) => boolean) {
  let remainder = '';
  let from = 0;
  let hasKept = false;
  for (const [index, member] of members.entries()) {
    if (!isCut(member)) {
      hasKept = true;
      continue;
    }
    const next = members[index + 1];
    remainder += text.slice(from, hasKept ? member.comma : member.keyStart);
    from = !hasKept && next ? next.keyStart : member.valueEnd;
  }
  return remainder + text.slice(from);
}

/** Adds a member before the closing brace; returns null if the text does not end with one. */
export function addMember(text: string, member: string): string | null {
  let close = text.length - 1;
  while (close >= 0 && isBlank(text.charCodeAt(close))) close--;
  if (text.charCodeAt(close) !== CLOSE_BRACE) return null;
  let last = close - 1;
  while (last >= 0 && isBlank(text.charCodeAt(last))) last--;
  const comma = text.charCodeAt(last) === OPEN_BRACE ? '' : ',';
  return text.slice(0, close) + comma + member + text.slice(close);
}

export function isJsonText(text: string): boolean {
  return attempt(() => JSON.parse(text), undefined) !== undefined;
}

/** Parses JSON and checks its shape; returns null if either fails. */
export function readJson<T>(text: string, shape: { parse(value: unknown): T }): T | null {
  return attempt(() => shape.parse(JSON.parse(text)), null);
}

// Strings match so that they can be skipped; unterminated ones too, so that none is scanned twice.
const COMMENTS = /"(?:\\.|[^"\\\n])*"?|\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
const TRAILING_COMMAS = /"(?:\\.|[^"\\\n])*"?|,(?=\s*[}\]])/g;

/** Replaces comments and trailing commas by blanks, so that positions stay the same. */
export function withoutComments(text: string): string {
  const blanked = (found: string) => (found.startsWith('"') ? found : found.replace(/[^\r\n]/g, ' '));
  return text.replace(COMMENTS, blanked).replace(TRAILING_COMMAS, blanked);
}

function stringText(quoted: string): string {
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** Returns the position after the closing quote of the string that opens at `open`. */
export function endOfString(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  while (close >= 0) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return close + 1;
    close = text.indexOf('"', close + 1);
  }
  return text.length;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const isClosing = code === CLOSE_BRACE || code === CLOSE_BRACKET;
    if (depth === 0 && (isClosing || code === COMMA || isBlank(code))) break;
    if (isClosing) depth -= 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    at = code === QUOTE ? endOfString(text, at) : at + 1;
  }
  return at;
}

/**
 * Returns the line and column (from 1, in UTF-16 units) at which the text stops being JSON; its end
 * if the text is cut off. Returns null for JSON, and for text that is nested too deeply to parse.
 */
export function findJsonFault(text: string): { line: number; column: number } | null {
  // Loaded only for texts that are not JSON.
  const { parse } = load('jsonc-parser') as typeof import('jsonc-parser');
  const errors: ParseError[] = [];
  attempt(() => parse(text, errors, { disallowComments: true }), null);
  const [first] = errors;
  if (first === undefined) return null;
  const before = text.slice(0, first.offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

const LINE_FEED = 10;

/** Yields number and bytes of each non-empty line, valid until the next; null over `mostBytes`. */
export async function* byteLines(chunks: AsyncIterable<Buffer | string>, mostBytes: number) {
  let number = 1;
  let parts: Buffer[] = [];
  let length = 0;
  const add = (bytes: Buffer) => {
    length += bytes.length;
    if (length > mostBytes) parts = [];
    else parts.push(bytes);
  };
  const line = () => {
    const [first, ...others] = parts;
    const whole = first !== undefined && others.length === 0 ? first : Buffer.concat(parts);
    return [number, length > mostBytes ? null : whole] as const;
  };
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let from = 0;
    for (let to = bytes.indexOf(LINE_FEED); to >= 0; to = bytes.indexOf(LINE_FEED, from)) {
      add(bytes.subarray(from, to));
      if (length > 0) yield line();
      number += 1;
      parts = [];
      length = 0;
      from = to + 1;
    }
    // Copied, because its memory may hold the next chunk when the line ends.
    add(Buffer.from(bytes.subarray(from)));
  }
  if (length > 0) yield line();
}
