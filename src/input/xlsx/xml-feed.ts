/**
 * Parses the XML of a workbook, in pieces and with bounds: no document type, no deep nesting, no
 * endless text. Our own, because sheets are nearly all tags: it reads bytes, and names and
 * attributes become strings only where a handler asks for them.
 */
import { isUtf8 } from 'node:buffer';
import { shortName } from '../../core/terminal-text.js';
import { assertAllowed, createDecoder, EMPTY, unescapeXml } from './xml-text.js';

/**
 * Sees the elements of the namespace that the root has, whichever edition of the standard that is
 * and under any prefix; not those of others, nor what is in them.
 */
export interface XmlHandler {
  /** The name is without prefix. `attributes` change with the next element. */
  open(name: string, attributes: XmlAttributes): void;
  /** A text may come in pieces. */
  text?(text: string): void;
  /** Whether a text here is needed; absent: all are. */
  wantsText?(): boolean;
  close?(name: string): void;
  /**
   * Reads whole elements in their usual form itself, the first at `from`, inside of `parent`.
   * Names without prefix are of the root's namespace there. Returns the end of what it read:
   * `from` if that is nothing.
   */
  take?(parent: string, xml: Buffer, from: number, end: number): number;
  /** Asked after each element; the parser pauses. */
  isFull?(): boolean;
}

interface XmlAttributes {
  /** Where the value begins in `xml`, which a quote ends; -1: there is none. */
  find(name: string): number;
  readonly xml: Buffer;
  get(name: string): string | undefined;
  /** The id of a relation of the part: `r:id`. */
  relation(): string | undefined;
}

const DEEPEST = 64;
/** Bytes without a tag: a cell has 32,767 characters at most, each perhaps an escape of 7. */
const LONGEST_RUN = 4 * 1024 * 1024;
/** Declared prefixes at one place; programs write up to 40. */
const MOST_PREFIXES = 256;
const MOST_SHORT = 4096;

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
/** U+FFFE and U+FFFF begin so in UTF-8. */
const NEARLY_LAST = 0xef;

/** XML 1.0, 2.3, but for what no format uses. */
const NAME_START = /^[\p{L}_]/u;

/** Whether a value with this byte must be looked at: a reference, a blank, what is forbidden. */
const isSpecial = (byte: number) => byte < SPACE || byte === AMPERSAND || byte === NEARLY_LAST;

/** XML 1.0, 2.3. */
const isSpace = (byte: number) => byte === SPACE || byte === 0x0a || byte === RETURN || byte === 0x09;

/** Throws Error with a sentence for people if the XML is broken or out of bounds. */
function createXmlFeed(handler: XmlHandler) {
  const toUtf8 = createDecoder();
  let xml: Buffer = EMPTY;
  /** What is not used yet: up to the last `>`, and all. */
  let at = 0;
  let end = 0;
  /** Bytes since the last tag. */
  let run = 0;
  let isRootOpen = false;
  let hasRoot = false;
  /** Open elements: as written, byte by byte; and as told to the handler: null if they are not. */
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

  const byteAt = (index: number) => xml[index] as number;
  /** Most texts and names are short, and come again and again. */
  const shortTexts = new Map<number, string>();
  function textOf(from: number, to: number): string {
    if (to - from > 3) return xml.toString('utf8', from, to);
    let key = 1;
    for (let index = from; index < to; index += 1) key = key * 256 + byteAt(index);
    const known = shortTexts.get(key);
    if (known !== undefined) return known;
    const text = xml.toString('utf8', from, to);
    if (shortTexts.size < MOST_SHORT) shortTexts.set(key, text);
    return text;
  }
  const startsWith = (text: string, from: number) => {
    for (let index = 0; index < text.length; index += 1)
      if (xml[from + index] !== text.charCodeAt(index)) return false;
    return true;
  };
  const mark = (index: number) => marks[index] as number;
  const nameAt = (index: number) => xml.toString('latin1', mark(index * 4), mark(index * 4 + 1));
  const valueAt = (index: number) => {
    const value = textOf(mark(index * 4 + 2), mark(index * 4 + 3));
    return areLiteral ? value : unescapeXml(value, true);
  };
  const indexOf = (name: string) => {
    for (let index = 0; index < count; index += 1) {
      const from = mark(index * 4);
      if (mark(index * 4 + 1) - from === name.length && startsWith(name, from)) return index;
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
      if (!startsWith('xmlns', mark(index * 4))) continue;
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

  function addRun(length: number): void {
    run += length;
    if (run > LONGEST_RUN) throw new Error('its XML has a text that is too long');
  }

  function giveText(text: string, isLiteral: boolean): void {
    if (!isRootOpen) {
      if (text.trim() !== '') throw new Error('its XML has a text outside of its elements');
    } else if (foreignDepth === 0) handler.text?.(isLiteral ? text : unescapeXml(text, false));
  }

  /** The name of an element, byte by byte. */
  function nameOf(from: number, to: number): string {
    const text = textOf(from, to);
    if (text.length > 1 && !NAME_START.test(text)) throw new Error('its XML has a broken tag');
    return text.length === to - from ? text : xml.toString('latin1', from, to);
  }

  /** The tag at `from`; returns where it ends, -1: it is not whole. */
  function readTag(from: number): number {
    const second = xml[from + 1];
    if (second === SLASH) return readEnd(from);
    if (second === EXCLAMATION || second === QUESTION) return readOther(from);
    let position = from + 1;
    let colon = -1;
    for (; position < end; position += 1) {
      const code = byteAt(position);
      if (code <= SPACE || code === GREATER || code === SLASH) break;
      if (code === COLON && colon < 0) colon = position - from - 1;
    }
    const nameEnd = position;
    count = 0;
    areLiteral = true;
    let mayDeclare = false;
    for (;;) {
      position = skipSpace(position);
      if (position >= end) return -1;
      const first = byteAt(position);
      if (first === GREATER || first === SLASH) break;
      if (first === X && startsWith('xmlns', position)) mayDeclare = true;
      const begin = position;
      for (; position < end; position += 1) {
        const code = byteAt(position);
        if (code <= SPACE || code === EQUALS || code === GREATER) break;
      }
      const nameEnds = position;
      position = skipSpace(position);
      if (position >= end) return -1;
      if (byteAt(position) !== EQUALS) throw new Error('its XML has an attribute without a value');
      position = skipSpace(position + 1);
      if (position >= end) return -1;
      const quote = byteAt(position);
      if (quote !== DOUBLE && quote !== SINGLE) throw new Error('its XML has a value without quotes');
      const value = position + 1;
      for (position = value; position < end; position += 1) {
        const code = byteAt(position);
        if (code === quote) break;
        if (isSpecial(code)) areLiteral = false;
      }
      if (position >= end) return -1;
      const index = count * 4;
      marks[index] = begin;
      marks[index + 1] = nameEnds;
      marks[index + 2] = value;
      marks[index + 3] = position;
      count += 1;
      position += 1;
    }
    const isEmpty = byteAt(position) === SLASH;
    if (isEmpty) position += 1;
    if (position >= end) return -1;
    if (byteAt(position) !== GREATER) throw new Error('its XML has a broken tag');
    if (!areLiteral) assertAllowed(textOf(from, position));
    openElement(nameOf(from + 1, nameEnd), colon, mayDeclare);
    if (isEmpty) closeElement();
    run = 0;
    return position + 1;
  }

  function skipSpace(from: number): number {
    let position = from;
    while (position < end && isSpace(byteAt(position))) position += 1;
    return position;
  }

  function readEnd(from: number): number {
    const name = names[names.length - 1];
    const isIts = name !== undefined && startsWith(name, from + 2);
    const last = isIts ? skipSpace(from + 2 + name.length) : end;
    if (xml[last] !== GREATER) {
      const other = xml.indexOf(GREATER, from);
      if (other < 0) return -1;
      throw new Error(`its XML closes ${shortName(textOf(from + 2, other))}, which is not open`);
    }
    closeElement();
    run = 0;
    return last + 1;
  }

  function readOther(from: number): number {
    for (const [begin, last] of OTHER_MARKUP) {
      if (!startsWith(begin, from)) continue;
      const to = xml.indexOf(last, from + begin.length);
      if (to < 0) return -1;
      const text = assertAllowed(textOf(from + begin.length, to));
      if (begin === '<![CDATA[') {
        addRun(text.length);
        giveText(text, true);
      }
      return to + last.length;
    }
    if (startsWith('<!DOCTYPE', from)) throw new Error('it declares a document type');
    if (end - from < '<!DOCTYPE'.length) return -1;
    throw new Error('its XML has a broken tag');
  }

  /** What the handler reads itself. */
  function takeElements(from: number): number {
    const parent = isPlainOurs && foreignDepth === 0 ? told[told.length - 1] : null;
    if (!parent || handler.take === undefined) return from;
    const next = handler.take(parent, xml, from, end);
    if (next > from) run = 0;
    return next;
  }

  return {
    /** null: there is no more. */
    add(bytes: Buffer | null): void {
      const more = toUtf8(bytes);
      const checked = xml.length - at;
      xml = checked === 0 ? more : Buffer.concat([xml.subarray(at), more]);
      at = 0;
      // A `>` is none of the bytes of another character.
      end = bytes === null ? xml.length : xml.lastIndexOf(GREATER) + 1;
      if (!isUtf8(xml.subarray(0, end))) throw new Error('its XML is not UTF-8');
    },
    /** Whether all is used that can be; else the handler is full. */
    parse(): boolean {
      while (at < end) {
        if (handler.isFull?.()) return false;
        let to = at;
        let isLiteral = true;
        let isAllowed = true;
        for (; to < end; to += 1) {
          const code = byteAt(to);
          if (code === LESS) break;
          if (!isSpecial(code)) continue;
          if (code === AMPERSAND || code === RETURN) isLiteral = false;
          else if (!isSpace(code)) isAllowed = false;
        }
        if (to > at) {
          addRun(to - at);
          const isNeeded = !isRootOpen || !isLiteral || !isAllowed || handler.wantsText?.() !== false;
          if (isNeeded) giveText(isAllowed ? textOf(at, to) : assertAllowed(textOf(at, to)), isLiteral);
        }
        at = to;
        if (at === end) break;
        at = takeElements(at);
        if (at === end) break;
        const next = byteAt(at) === LESS ? readTag(at) : at;
        if (next < 0) break;
        at = next;
      }
      if (xml.length - at > LONGEST_RUN) throw new Error('its XML has a text that is too long');
      return true;
    },
    assertWhole(): void {
      if (at < xml.length || names.length > 0 || !hasRoot) throw new Error('its XML breaks off');
    },
  };
}

const OTHER_MARKUP = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

/** Reads a part; pauses when the handler is full. Throws Error for broken XML, and the stream's. */
export async function* parseXml(chunks: AsyncIterable<Buffer>, handler: XmlHandler): AsyncGenerator<void> {
  const feed = createXmlFeed(handler);
  for await (const chunk of chunks) {
    feed.add(chunk);
    while (!feed.parse()) yield;
  }
  feed.add(null);
  while (!feed.parse()) yield;
  feed.assertWhole();
}

/** Reads a whole part with `handler`, which is never full. Throws the errors of `parseXml`. */
export async function readXml(chunks: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  for await (const _ of parseXml(chunks, handler));
}
