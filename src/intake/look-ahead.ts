/**
 * What must be seen of the bytes before they can be judged: the head, and the first stretch with anything beyond
 * ASCII, wherever in the input it stands: a spreadsheet's first umlaut may come in row 20,000.
 */
import { isAscii } from 'node:buffer';

export interface LookAhead {
  readonly head: Buffer;
  /** Whether the head is the whole input. */
  readonly isWhole: boolean;
  /** With some ASCII before the first byte beyond it; empty when all is ASCII. */
  readonly stretch: Buffer;
}

const HEAD_BYTES = 1024 * 1024;
const STRETCH_BYTES = 64 * 1024;
/** A code page is better recognised with the words around its letters. */
const CONTEXT_BYTES = 4 * 1024;

/** @param isStretchWanted false: the encoding is known, and reading stops with the head */
export async function lookAhead(chunks: AsyncIterable<Buffer>, isStretchWanted: boolean): Promise<LookAhead> {
  const head: Buffer[] = [];
  const stretch: Buffer[] = [];
  let headBytes = 0;
  let stretchBytes = 0;
  let isWhole = true;
  for await (const chunk of chunks) {
    if (headBytes < HEAD_BYTES) {
      const part = Buffer.from(chunk.subarray(0, HEAD_BYTES - headBytes));
      head.push(part);
      headBytes += part.length;
      if (part.length < chunk.length) isWhole = false;
    } else {
      isWhole = false;
    }
    if (isStretchWanted && stretchBytes < STRETCH_BYTES && (stretchBytes > 0 || !isAscii(chunk))) {
      const firstAt = stretchBytes > 0 ? 0 : chunk.findIndex((byte) => byte > 127);
      const begin = Math.max(0, firstAt - CONTEXT_BYTES);
      const part = Buffer.from(chunk.subarray(begin, begin + STRETCH_BYTES - stretchBytes));
      stretch.push(part);
      stretchBytes += part.length;
    }
    const hasStretch = !isStretchWanted || stretchBytes >= STRETCH_BYTES;
    if (hasStretch && headBytes >= HEAD_BYTES && !isWhole) break;
  }
  return { head: Buffer.concat(head), isWhole, stretch: Buffer.concat(stretch) };
}
