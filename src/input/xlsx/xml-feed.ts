/** Reads the XML of a workbook with bounds: no document type, no deep nesting, no endless text. */
import { TextDecoder } from 'node:util';
import { type SaxesAttributeNS, SaxesParser } from 'saxes';

/** Sees elements of the root's namespace, under any prefix, and nothing of other namespaces. */
export interface XmlHandler {
  /** The name is without prefix, those of attributes are as written. */
  open(name: string, attributes: Readonly<Record<string, SaxesAttributeNS>>): void;
  /** A text may come in pieces. */
  text?(text: string): void;
  close?(name: string): void;
  /** Asked after each piece of the XML; the parser pauses. */
  isFull?(): boolean;
}

const DEEPEST = 64;
/** Characters without a tag: a cell has 32,767 at most, each perhaps an escape of 7. */
const LONGEST_RUN = 4 * 1024 * 1024;
/** Attributes of an element. Programs write up to 50; the parser keeps those of open elements. */
const MOST_ATTRIBUTES = 256;
/** Characters that are read at once: a handler may make 32,767 out of each 20. */
const PIECE_CHARS = 2048;

/** ECMA-376, part 3: of a choice, what a program takes that knows none of the newer namespaces. */
const COMPATIBILITY = 'http://schemas.openxmlformats.org/markup-compatibility/2006';

/** Parts are in UTF-8 or UTF-16 (ECMA-376, part 2), by the first two bytes: a mark, or a `<`. */
const UTF16: Readonly<Record<string, string>> = {
  fffe: 'utf-16le',
  '3c00': 'utf-16le',
  feff: 'utf-16be',
  '003c': 'utf-16be',
};

/** Reads a part; pauses when the handler is full. Throws Error for broken XML, and the stream's. */
export async function* parseXml(chunks: AsyncIterable<Buffer>, handler: XmlHandler): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: true, fileName: 'its XML' });
  let run = 0;
  let depth = 0;
  let rootSpace = '';
  /** The depth of the element whose content the handler does not see; 0: none. */
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
    // Counting those of each short element takes a tenth of the time.
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

/** Reads a whole part with `handler`, which is never full. Throws the errors of `parseXml`. */
export async function readXml(chunks: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  for await (const _ of parseXml(chunks, handler));
}
