/** Opens a table of text: finds its encoding and layout, then reads its rows. */
import { RunError, readingStopped } from '../../core/errors.js';
import { createTurns } from '../../core/lifecycle.js';
import { phrase } from '../../core/phrase.js';
import { isJson, type Row } from '../../core/table.js';
import { assertNotBinary } from '../binary-signature.js';
import type { ByteSource } from '../byte-source.js';
import type { InputParts, OnBytes, ReadingSettings } from '../input.js';
import type { TableText } from '../json/json-table.js';
import { detectLineMode, LineFinder } from '../json/line-finder.js';
import type { RowReader } from '../row-readers.js';
import { type ChosenEncoding, chooseEncoding, lookAhead } from './choose-encoding.js';
import { isTooShort, showDelimiter, sniffTable } from './sniff-table.js';
import { createStrictDecoder, EncodingFault, type StrictDecoder } from './strict-decoder.js';

/** Head of a JSON document whose rows do not begin in its first MiB. */
const LONG_HEAD_BYTES = 16 * 1024 * 1024;
const MAX_BATCH_ROWS = 4096;

/** Throws `input-binary`, `input-encoding`, `input-empty`, `input-preamble`, `input-ragged`. */
export async function openTextTable(
  source: ByteSource,
  settings: ReadingSettings,
  stop: AbortSignal | undefined,
): Promise<InputParts> {
  const { name, isGzip } = source;
  const { encoding: asked, limit } = settings;
  const seen = await lookAhead(readUntilStopped(source, stop), !asked?.startsWith('utf'));
  assertNotBinary(name, seen.head);
  const chosen = chooseEncoding(name, asked, seen);
  const { encoding, bomBytes } = chosen;
  const textOf = ({ head, isWhole }: typeof seen): TableText => {
    const start = { name, chosen, line: 1, rest: '' };
    const text = decode(createStrictDecoder(encoding), head.subarray(bomBytes), isWhole, start);
    return { name, isWhole, text };
  };
  let text = textOf(seen);
  if (isTooShort(text, settings))
    text = textOf(await lookAhead(readUntilStopped(source, stop), false, LONG_HEAD_BYTES));
  const layout = sniffTable(text, settings);
  const { around: head, warnings, linesAbove, guess, createReader, ...shape } = layout;
  const { format, delimiter } = shape;
  const leftOut = linesAbove > 0 && { leftOut: { linesAbove, sheets: [] } };
  const json = format === 'json' ? 'JSON array' : 'JSONL';
  const how = isJson(format) ? json : `CSV, delimiter ${showDelimiter(delimiter)}`;
  return {
    source,
    shape: { ...shape, hasBom: bomBytes > 0, isGzip, encoding, ...leftOut },
    detected: [how, encoding, ...(isGzip ? ['gzip'] : [])].join(', '),
    warnings,
    guess,
    limit,
    close: () => source.close(),
    openPass(onBytes) {
      const reader = createReader();
      return {
        batches: readRows(source, chosen, reader, limit, onBytes),
        seen() {
          const tail = reader.splitter.tail?.() ?? null;
          return { ...reader.seen(), around: head === null || tail === null ? null : { head, tail } };
        },
      };
    },
    assertSample(sample) {
      if (!isJson(format) || sample.some((cells) => cells.length > 0)) return;
      const place = format === 'json' ? 'element' : 'line';
      const what = `no ${place} of the input is a JSON object${sample.length > 0 ? ' with members' : ''}`;
      const todo = 'write one object per line, or an array of objects';
      throw new RunError({ code: 'input-empty', what, subject: name, todo });
    },
  };
}

/** Reads until the run stops: the search for a byte beyond ASCII may read a large file whole. */
async function* readUntilStopped(source: ByteSource, stop: AbortSignal | undefined): AsyncGenerator<Buffer> {
  for await (const chunk of source.read()) {
    if (stop?.aborted) throw readingStopped(source.name);
    yield chunk;
  }
}

/** Characters that are split at once; blank lines would be as many records. */
const TURN_CHARS = 64 * 1024;

async function* readRows(
  source: ByteSource,
  chosen: ChosenEncoding,
  reader: RowReader,
  limit: number | null,
  onBytes: OnBytes,
): AsyncGenerator<readonly Row[]> {
  const decoder = createStrictDecoder(chosen.encoding);
  let bomBytes = chosen.bomBytes;
  let left = limit ?? Number.POSITIVE_INFINITY;
  const turns = createTurns();
  async function* read(bytes: Buffer, isLast: boolean) {
    const text = decode(decoder, bytes, isLast, { name: source.name, chosen, ...reader.splitter.position() });
    for (let at = 0; at === 0 || at < text.length; at += TURN_CHARS) {
      if (turns.isOver()) await turns.next();
      const end = at + TURN_CHARS;
      const rows = reader.push(text.slice(at, end), isLast && end >= text.length).slice(0, left);
      left -= rows.length;
      yield* inBatches(rows);
      if (left === 0) return;
    }
  }
  for await (const chunk of source.read()) {
    onBytes?.(chunk);
    if (left === 0) continue;
    const bytes = chunk.subarray(bomBytes);
    bomBytes -= chunk.length - bytes.length;
    yield* read(bytes, false);
    if (left === 0 && onBytes === null) return;
  }
  if (left > 0) yield* read(Buffer.alloc(0), true);
}

function* inBatches(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += MAX_BATCH_ROWS) yield rows.slice(at, at + MAX_BATCH_ROWS);
}

interface Place {
  readonly name: string;
  readonly chosen: ChosenEncoding;
  /** Line and text of the unfinished record. */
  readonly line: number;
  readonly rest: string;
}

/** Decodes bytes. Throws `input-encoding` with line and byte. */
function decode(decoder: StrictDecoder, bytes: Buffer, isLast: boolean, place: Place): string {
  try {
    return decoder.write(bytes, isLast);
  } catch (fault) {
    if (!(fault instanceof EncodingFault)) throw fault;
    const { name, chosen, rest } = place;
    const { encoding, bomBytes } = chosen;
    const before = rest + fault.textBefore;
    const lines = new LineFinder(before, detectLineMode(before, false), true);
    const line = place.line + lines.count(0, before.length);
    const { byte } = fault;
    const where = byte === null ? '' : `, byte ${bomBytes + byte.offset}`;
    const what = byte === null ? 'its bytes are' : `0x${byte.seen} is`;
    const setting = encoding === 'utf-8' ? { set: { encoding: 'windows-1252' } } : { setting: 'encoding' };
    const todo = phrase`set another encoding (${setting}), or correct that line`;
    const subject = `${name}, line ${line}${where} (${what} not ${encoding})`;
    throw new RunError({ code: 'input-encoding', subject, todo, cause: fault });
  }
}
