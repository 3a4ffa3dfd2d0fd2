/** Parses the XML of a workbook; refuses a document type, deep nesting and endless text. */
import { TextDecoder } from 'node:util';
import { type SaxesAttributeNS, SaxesParser } from 'saxes';

/** Receives the elements of the root's namespace, under any prefix. */
export interface XmlHandler {
  /** `name` has no prefix; the keys of `attributes` are as written. */
  open(name: string, attributes: Readonly<Record<string, SaxesAttributeNS>>): void;
  /** A text may come in pieces. */
  text?(text: string): void;
  close?(name: string): void;
  /** Called after each piece of the XML; true pauses the parser. */
  isFull?(): boolean;
}

const DEEPEST = 64;
/** Characters without a tag; a cell has at most 32,767, each perhaps an escape of 7. */
const LONGEST_RUN = 4 * 1024 * 1024;
/** Attributes of an element. Programs write up to 50; the parser keeps those of open elements. */
const MOST_ATTRIBUTES = 256;
/** Characters that are parsed at once; 20 of them may make a handler add 32,767. */
const PIECE_CHARS = 2048;

/** Namespace of alternatives, whose fallback is read (ECMA-376, part 3). */
const COMPATIBILITY = 'http://schemas.openxmlformats.org/markup-compatibility/2006';

/** UTF-16 by its first two bytes, a mark or a `<`; other parts are UTF-8 (ECMA-376, part 2). */
const UTF16: Readonly<Record<string, string>> = {
  fffe: 'utf-16le',
  '3c00': 'utf-16le',
  feff: 'utf-16be',
  '003c': 'utf-16be',
};

/** Parses a part; yields when the handler is full. Throws Error for broken XML and bad streams. */
export async function* parseXml(chunks: AsyncIterable<Buffer>, handler: XmlHandler): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: true, fileName: 'its XML' });
  let run = 0;
  let depth = 0;
  let rootSpace = '';
  /** Depth of the element that is hidden from the handler, or 0. */
  let foreignDepth = 0;
  const giveText = (text: string) => {
    if (foreignDepth === 0) handler.text?.(text);
  };
  // With seven handlers V8 keeps the parser as a dictionary, and parsing takes four times as long.
  parser.on('doctype', () => {
    throw new Error('it declares a document type');
  });
  parser.on('opentag', ({ uri, local, attributes }) => {
    depth += 1;
    if (depth > DEEPEST) throw new Error(`it nests more than ${DEEPEST} elements`);
    // Counting them in short elements too would take a tenth of the time.
    if (run > 0 && Object.keys(attributes).length > MOST_ATTRIBUTES)
      throw new Error(`it has an element of more than ${MOST_ATTRIBUTES} attributes`);
    run = 0;
    if (depth === 1) rootSpace = uri;
    if (foreignDepth > 0) return;
    if (uri === rootSpace) handler.open(local, attributes);
    else if (uri !== COMPATIBILITY || !/^(AlternateContent|Fallback)$/.test(local)) foreignDepth = depth;
  });
  parser.on('closetag', ({ uri, local }) => {
    run = 0;
    if (foreignDepth === 0 && uri === rootSpace) handler.close?.(local);
    if (foreignDepth === depth) foreignDepth = 0;
    depth -= 1;
  });
  parser.on('text', giveText);
  parser.on('cdata', giveText);

  for await (const xml of decode(chunks)) {
    for (let at = 0; at < xml.length; at += PIECE_CHARS) {
      parser.write(xml.slice(at, at + PIECE_CHARS));
      run += PIECE_CHARS;
      if (run > LONGEST_RUN) throw new Error('its XML has a text that is too long');
      if (handler.isFull?.()) yield;
    }
  }
  parser.close();
}

async function* decode(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(UTF16[chunk.toString('hex', 0, 2)] ?? 'utf-8', { fatal: true });
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder?.decode() ?? '';
}

/** Parses a whole part with a handler that is never full. Throws the errors of `parseXml`. */
export async function readXml(chunks: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  for await (const _ of parseXml(chunks, handler));
}
