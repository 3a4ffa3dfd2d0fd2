/**
 * Parses the XML of a workbook, in pieces and with bounds: no document type, no deep nesting, no
 * endless text. Our own, because sheets are nearly all tags: names and attributes become strings
 * only where a handler asks for them, which takes a third of the time.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { shortName } from '../../core/terminal-text.js';

/**
 * Sees the elements of the namespace that the root has, whichever edition of the standard that is
 * and under any prefix; not those of others, nor what is in them.
 */
export interface XmlHandler {
  /** The name is without prefix. `attributes` change with the next element. */
  open(name: string, attributes: XmlAttributes): void;
  /** A text may come in pieces. */
  text?(text: string): void;
  close?(name: string): void;
}

interface XmlAttributes {
  /** Where the value begins in `xml`, which a quote ends; -1: there is none. */
  find(name: string): number;
  readonly xml: string;
  get(name: string): string | undefined;
  /** The id of a relation of the part: `r:id`. */
  relation(): string | undefined;
}

const DEEPEST = 64;
/** Characters without a tag: a cell has 32,767 at most, each perhaps an escape of 7. */
const LONGEST_RUN = 4 * 1024 * 1024;
/** Declared prefixes at one place; programs write up to 40. */
const MOST_PREFIXES = 256;

/** In a cell (Excel specifications and limits). */
export const MOST_CELL_CHARS = 32_767;
/** Each of them may be an escape of 7. */
const MOST_ESCAPED = MOST_CELL_CHARS * 7;

/** A text of several runs, no longer than is needed to see that it is too long for a cell. Pure. */
export function addText(text: string, more: string): string {
  if (text === '' && more.length <= MOST_ESCAPED) return more;
  return text.length > MOST_ESCAPED ? text : text + more.slice(0, MOST_ESCAPED + 1 - text.length);
}

/** ECMA-376, part 3: of a choice, what a program takes that knows none of the newer namespaces. */
const COMPATIBILITY = 'http://schemas.openxmlformats.org/markup-compatibility/2006';
/** Names of relations in both editions of the standard end so. */
const RELATIONS = /\/relationships$/;

const RETURN = 0x0d;
const SPACE = 0x20;
const EXCLAMATION = 0x21;
const DOUBLE = 0x22;
const AMPERSAND = 0x26;
const SINGLE = 0x27;
const SLASH = 0x2f;
const COLON = 0x3a;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const QUESTION = 0x3f;
const X = 0x78;

/** XML 1.0, 2.2. */
const FORBIDDEN = /(?![\t\n\r\x7f-\x9f])\p{Cc}|[\ufffe\uffff]/u;
/** XML 1.0, 2.3, but for what no format uses. */
const NAME_START = /^[\p{L}_]/u;

/** Throws Error with a sentence for people if the XML is broken or out of bounds. */
export function createXmlFeed(handler: XmlHandler) {
  const decode = createDecoder();
  /** What is not used yet. */
  let xml = '';
  /** Characters since the last tag. */
  let run = 0;
  let isRootOpen = false;
  let hasRoot = false;
  /** Open elements: as written, and as told to the handler: null if they are not. */
  const names: string[] = [];
  const told: (string | null)[] = [];
  /** The depth of the element whose content is not told; 0: none. */
  let foreignDepth = 0;
  const scopes: { readonly depth: number; readonly prefix: string; readonly space: string }[] = [];
  let rootSpace = '';
  /** Whether elements without a prefix are of the namespace of the root. */
  let isPlainOurs = true;
  /** Where the attributes of the tag are: begin and end of name and value, of each. */
  const marks: number[] = [];
  let count = 0;
  /** No value of them has a reference or a line end. */
  let areLiteral = true;

  /** Of a prefix that nobody declared, itself. */
  function spaceOf(prefix: string): string {
    return scopes.findLast((scope) => scope.prefix === prefix)?.space ?? prefix;
  }

  const mark = (index: number) => marks[index] as number;
  const nameAt = (index: number) => xml.slice(mark(index * 4), mark(index * 4 + 1));
  const valueAt = (index: number) => {
    const value = xml.slice(mark(index * 4 + 2), mark(index * 4 + 3));
    return areLiteral ? value : unescapeXml(value, true);
  };
  const indexOf = (name: string) => {
    for (let index = 0; index < count; index += 1) {
      const from = mark(index * 4);
      if (mark(index * 4 + 1) - from === name.length && xml.startsWith(name, from)) return index;
    }
    return -1;
  };

  const attributes: XmlAttributes = {
    get xml() {
      return xml;
    },
    find(name) {
      const index = indexOf(name);
      return index < 0 ? -1 : mark(index * 4 + 2);
    },
    get(name) {
      const index = indexOf(name);
      return index < 0 ? undefined : valueAt(index);
    },
    relation() {
      for (let index = 0; index < count; index += 1) {
        const name = nameAt(index);
        if (name.endsWith(':id') && RELATIONS.test(spaceOf(name.slice(0, -3)))) return valueAt(index);
      }
      return undefined;
    },
  };

  function declareNamespaces(): void {
    for (let index = 0; index < count; index += 1) {
      if (!xml.startsWith('xmlns', mark(index * 4))) continue;
      const [xmlns, prefix = ''] = nameAt(index).split(':');
      if (xmlns !== 'xmlns') continue;
      if (scopes.length === MOST_PREFIXES) throw new Error('its XML declares too many prefixes');
      scopes.push({ depth: names.length, prefix, space: valueAt(index) });
    }
  }

  /** `name` as written. */
  function openElement(name: string, colon: number, mayDeclare: boolean): void {
    if (!hasRoot && names.length === 0) hasRoot = isRootOpen = true;
    else if (!isRootOpen) throw new Error('its XML goes on after its end');
    names.push(name);
    if (names.length > DEEPEST) throw new Error(`it nests more than ${DEEPEST} elements`);
    if (foreignDepth > 0) {
      told.push(null);
      return;
    }
    if (mayDeclare) declareNamespaces();
    const depth = names.length;
    if (depth === 1) rootSpace = spaceOf(colon < 0 ? '' : name.slice(0, colon));
    if (mayDeclare || depth === 1) isPlainOurs = spaceOf('') === rootSpace;
    if (colon < 0 && isPlainOurs) {
      told.push(name);
      handler.open(name, attributes);
      return;
    }
    const space = spaceOf(colon < 0 ? '' : name.slice(0, colon));
    const local = name.slice(colon + 1);
    const isOurs = space === rootSpace;
    told.push(isOurs ? local : null);
    if (isOurs) handler.open(local, attributes);
    else if (space !== COMPATIBILITY || !/^(AlternateContent|Fallback)$/.test(local)) foreignDepth = depth;
  }

  function closeElement(): void {
    const depth = names.length;
    names.pop();
    const name = told.pop() ?? null;
    if (name !== null) handler.close?.(name);
    if (foreignDepth === depth) foreignDepth = 0;
    if (scopes.length > 0 && scopes[scopes.length - 1]?.depth === depth) {
      while (scopes[scopes.length - 1]?.depth === depth) scopes.pop();
      isPlainOurs = spaceOf('') === rootSpace;
    }
    if (depth === 1) isRootOpen = false;
  }

  function giveText(text: string, isLiteral: boolean): void {
    run += text.length;
    if (run > LONGEST_RUN) throw new Error('its XML has a text that is too long');
    if (!isRootOpen) {
      if (text.trim() !== '') throw new Error('its XML has a text outside of its elements');
    } else if (foreignDepth === 0) handler.text?.(isLiteral ? text : unescapeXml(text, false));
  }

  /** The tag at `from`; returns where it ends, -1: it is not whole. */
  function readTag(from: number): number {
    const second = xml.charCodeAt(from + 1);
    if (second === SLASH) return readEnd(from);
    if (second === EXCLAMATION || second === QUESTION) return readOther(from);
    const { length } = xml;
    let position = from + 1;
    let colon = -1;
    for (; position < length; position += 1) {
      const code = xml.charCodeAt(position);
      if (code <= SPACE || code === GREATER || code === SLASH) break;
      if (code === COLON && colon < 0) colon = position - from - 1;
    }
    const nameEnd = position;
    count = 0;
    areLiteral = true;
    let mayDeclare = false;
    for (;;) {
      position = skipSpace(position);
      if (position >= length) return -1;
      const first = xml.charCodeAt(position);
      if (first === GREATER || first === SLASH) break;
      if (first === X && xml.startsWith('xmlns', position)) mayDeclare = true;
      const begin = position;
      for (; position < length; position += 1) {
        const code = xml.charCodeAt(position);
        if (code <= SPACE || code === EQUALS || code === GREATER) break;
      }
      const end = position;
      position = skipSpace(position);
      if (position >= length) return -1;
      if (xml.charCodeAt(position) !== EQUALS) throw new Error('its XML has an attribute without a value');
      position = skipSpace(position + 1);
      if (position >= length) return -1;
      const quote = xml.charCodeAt(position);
      if (quote !== DOUBLE && quote !== SINGLE) throw new Error('its XML has a value without quotes');
      const value = position + 1;
      for (position = value; position < length; position += 1) {
        const code = xml.charCodeAt(position);
        if (code === quote) break;
        if (code === AMPERSAND || code < SPACE) areLiteral = false;
      }
      if (position >= length) return -1;
      const index = count * 4;
      marks[index] = begin;
      marks[index + 1] = end;
      marks[index + 2] = value;
      marks[index + 3] = position;
      count += 1;
      position += 1;
    }
    const isEmpty = xml.charCodeAt(position) === SLASH;
    if (isEmpty) position += 1;
    if (position >= length) return -1;
    if (xml.charCodeAt(position) !== GREATER) throw new Error('its XML has a broken tag');
    const name = xml.slice(from + 1, nameEnd);
    if (name.length > 1 && !NAME_START.test(name)) throw new Error('its XML has a broken tag');
    openElement(name, colon, mayDeclare);
    if (isEmpty) closeElement();
    run = 0;
    return position + 1;
  }

  function skipSpace(from: number): number {
    let position = from;
    while (position < xml.length && xml.charCodeAt(position) <= SPACE) position += 1;
    return position;
  }

  function readEnd(from: number): number {
    const name = names[names.length - 1];
    const end = xml.indexOf('>', from);
    if (end < 0) return -1;
    const isIts = name !== undefined && xml.startsWith(name, from + 2);
    if (!isIts || (end !== from + 2 + name.length && xml.slice(from + 2 + name.length, end).trim() !== ''))
      throw new Error(`its XML closes ${shortName(xml.slice(from + 2, end))}, which is not open`);
    closeElement();
    run = 0;
    return end + 1;
  }

  function readOther(from: number): number {
    for (const [begin, last] of OTHER_MARKUP) {
      if (!xml.startsWith(begin, from)) continue;
      const end = xml.indexOf(last, from + begin.length);
      if (end < 0) return -1;
      if (begin === '<![CDATA[') giveText(xml.slice(from + begin.length, end), true);
      return end + last.length;
    }
    if (xml.startsWith('<!DOCTYPE', from)) throw new Error('it declares a document type');
    if (xml.length - from < '<!DOCTYPE'.length) return -1;
    throw new Error('its XML has a broken tag');
  }

  /** The next pieces; `text` ends with a tag, or a `>` that is none. */
  function use(text: string): void {
    if (FORBIDDEN.test(text)) throw new Error('its XML has a character that XML does not allow');
    xml = xml === '' ? text : xml + text;
    let at = 0;
    while (at < xml.length) {
      let end = at;
      let isLiteral = true;
      for (; end < xml.length; end += 1) {
        const code = xml.charCodeAt(end);
        if (code === LESS) break;
        if (code === AMPERSAND || code === RETURN) isLiteral = false;
      }
      if (end > at) giveText(xml.slice(at, end), isLiteral);
      at = end;
      if (at === xml.length) break;
      const next = readTag(at);
      if (next < 0) break;
      at = next;
    }
    xml = xml.slice(at);
    if (xml.length > LONGEST_RUN) throw new Error('its XML has a text that is too long');
  }

  return {
    write(bytes: Buffer): void {
      const text = decode(bytes);
      if (text !== '') use(text);
    },
    end(): void {
      use(decode(null));
      if (xml !== '' || names.length > 0 || !hasRoot) throw new Error('its XML breaks off');
    },
  };
}

const OTHER_MARKUP = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** References and line ends (XML 1.0, 2.11, 3.3.3, 4.1). */
function unescapeXml(text: string, isAttribute: boolean): string {
  if (!/[&\r\n\t]/.test(text)) return text;
  const lines = isAttribute ? text.replace(/\r\n|[\r\n\t]/g, ' ') : text.replace(/\r\n?/g, '\n');
  return lines.replace(/&([^;&]{0,10};?)/g, (_whole, reference: string) => {
    const [, hex, decimal] = /^#(?:x([0-9a-fA-F]+)|(\d+));$/.exec(reference) ?? [];
    const code = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10_ffff && (code & ~0x7ff) !== 0xd800;
    const found = isCharacter ? String.fromCodePoint(code) : ENTITIES[reference.slice(0, -1)];
    if (!reference.endsWith(';') || found === undefined || FORBIDDEN.test(found))
      throw new Error(`its XML has a reference that is not known: &${reference}`);
    return found;
  });
}

/** Of parts in UTF-8 or UTF-16 (ECMA-376, part 2): up to the last `>`, so that few tags are cut. */
function createDecoder() {
  let rest: Buffer | null = null;
  /** null: UTF-8; undefined: the first bytes will tell. */
  let utf16: TextDecoder | null | undefined;
  /** null: there is no more. */
  return (bytes: Buffer | null): string => {
    let whole = bytes ?? EMPTY;
    if (utf16) whole = Buffer.from(utf16.decode(whole, { stream: bytes !== null }));
    if (rest !== null) whole = Buffer.concat([rest, whole]);
    if (utf16 === undefined && whole.length > 3) {
      const label = UTF16[whole.toString('hex', 0, 2)];
      utf16 = label === undefined ? null : new TextDecoder(label, { fatal: true });
      if (utf16 !== null) whole = Buffer.from(utf16.decode(whole, { stream: bytes !== null }));
      else if (whole.toString('hex', 0, 3) === 'efbbbf') whole = whole.subarray(3);
    }
    const end = bytes === null ? whole.length : whole.lastIndexOf('>') + 1;
    rest = end < whole.length ? whole.subarray(end) : null;
    if (whole.length - end > LONGEST_RUN) throw new Error('its XML has a text that is too long');
    const piece = rest === null ? whole : whole.subarray(0, end);
    if (isAscii(piece)) return piece.toString('latin1');
    if (!isUtf8(piece)) throw new Error('its XML is not UTF-8');
    return piece.toString();
  };
}

const EMPTY = Buffer.alloc(0);
/** By the first two bytes: a mark, or a `<`. */
const UTF16: Readonly<Record<string, string>> = {
  fffe: 'utf-16le',
  '3c00': 'utf-16le',
  feff: 'utf-16be',
  '003c': 'utf-16be',
};

/** Reads a whole part with `handler`. Throws the errors of `createXmlFeed` and of the stream. */
export async function readXml(chunks: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  const feed = createXmlFeed(handler);
  for await (const chunk of chunks) feed.write(chunk);
  feed.end();
}

/**
 * `_x000D_` is a carriage return: the escape for characters that XML does not allow (ECMA-376,
 * 22.9.2).
 */
export function unescapeXstring(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9a-fA-F]{4})_/g, (_whole, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
