/** Parses XML in pieces, with bounds: no document type, no deep nesting, no endless text. */
import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';

export interface XmlHandler {
  /** Names have no prefix: some programs write `x:row`. */
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

const DEEPEST = 64;
/** Characters without a tag: a cell has 32,767 at most, each perhaps an escape of 7. */
const LONGEST_RUN = 4 * 1024 * 1024;

/** In a cell (Excel specifications and limits). */
export const MOST_CELL_CHARS = 32_767;
/** Each of them may be an escape of 7. */
const MOST_ESCAPED = MOST_CELL_CHARS * 7;

/** A text of several runs, no longer than is needed to see that it is too long for a cell. Pure. */
export function addText(text: string, more: string): string {
  return text.length > MOST_ESCAPED ? text : text + more.slice(0, MOST_ESCAPED + 1 - text.length);
}

/** Throws Error with a sentence for people if the XML is broken or out of bounds. */
export function createXmlFeed(handler: XmlHandler) {
  const parser = new SaxesParser({ position: false, xmlns: false });
  let decoder: TextDecoder | null = null;
  let depth = 0;
  let run = 0;
  parser.on('doctype', () => parser.fail('it declares a document type'));
  parser.on('opentag', ({ name, attributes }) => {
    run = 0;
    depth += 1;
    if (depth > DEEPEST) parser.fail(`it nests more than ${DEEPEST} elements`);
    handler.open(localName(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    run = 0;
    depth -= 1;
    handler.close?.(localName(name));
  });
  parser.on('text', (text) => handler.text?.(text));
  parser.on('cdata', (text) => handler.text?.(text));

  return {
    write(bytes: Buffer): void {
      decoder ??= new TextDecoder(encodingOf(bytes), { fatal: true });
      const text = decoder.decode(bytes, { stream: true });
      run += text.length;
      parser.write(text);
      if (run > LONGEST_RUN) throw new Error('its XML has a text that is too long');
    },
    end(): void {
      parser.write(decoder?.decode() ?? '');
      parser.close();
    },
  };
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

function encodingOf(bytes: Buffer): string {
  const mark = bytes.toString('hex', 0, 2);
  return mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
}

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
