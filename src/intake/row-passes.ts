/**
 * Passes over an input: bytes, decoded and cut into rows, in batches and in flat memory. The first
 * whole pass fixes content hash, columns and late warnings; later ones must find the same content.
 */
import { createHash } from 'node:crypto';
import type { Row } from '../core/table.js';
import { type ByteSource, inputChanged } from './byte-source.js';
import { type ChosenEncoding, encodingFault } from './choose-encoding.js';
import { MAX_BATCH_ROWS, type RowReader } from './input.js';
import { assertFew, createMisfitTally } from './row-fit.js';
import type { TableLayout } from './sniff-table.js';
import { createStrictDecoder, EncodingFault, type StrictDecoder } from './strict-decoder.js';

export interface Passes {
  /** Grows with what the first whole pass notices. */
  readonly warnings: string[];
  rows(): AsyncIterable<readonly Row[]>;
  /** A pass that may be left early and settles nothing. */
  peek(): { batches: AsyncIterable<readonly Row[]>; columns(): readonly string[] };
  contentHash(): string;
  columns(): readonly string[];
}

export interface PassSource {
  readonly source: ByteSource;
  readonly chosen: ChosenEncoding;
  readonly layout: TableLayout;
  readonly limit: number | null;
}

interface Settled {
  readonly hash: string;
  readonly columns: readonly string[];
}

export function createPasses({ source, chosen, layout, limit }: PassSource): Passes {
  const warnings: string[] = [];
  let settled: Settled | null = null;

  async function* rows(): AsyncGenerator<readonly Row[]> {
    const reader = layout.createReader();
    const hash = createHash('sha256');
    const tally = createMisfitTally();
    for await (const batch of readRows(reader, (chunk) => hash.update(chunk), settled === null)) {
      for (const row of batch) tally.note(row);
      yield batch;
    }
    const digest = hash.digest('hex');
    if (settled === null) {
      settled = { hash: digest, columns: reader.columns() ?? layout.columns };
      warnings.push(...reader.notes(), ...tally.notes());
      if (layout.guess !== null) assertFew(tally.misfits(), layout.guess);
    } else if (limit === null && settled.hash !== digest) {
      throw inputChanged(source.name);
    }
  }

  /** @param isWholeWanted after the limit the remaining bytes are still read */
  async function* readRows(
    reader: RowReader,
    onBytes: (chunk: Buffer) => void,
    isWholeWanted: boolean,
  ): AsyncGenerator<readonly Row[]> {
    const decoder = createStrictDecoder(chosen.encoding);
    let bomBytes = chosen.bomBytes;
    let left = limit ?? Number.POSITIVE_INFINITY;
    for await (const chunk of source.read()) {
      onBytes(chunk);
      if (left === 0) continue;
      const bytes = chunk.subarray(bomBytes);
      bomBytes -= chunk.length - bytes.length;
      const batch = reader.push(decode(decoder, reader, bytes, false), false).slice(0, left);
      left -= batch.length;
      yield* inBatches(batch);
      if (left === 0 && !isWholeWanted) return;
    }
    if (left === 0) return;
    const end = decode(decoder, reader, Buffer.alloc(0), true);
    yield* inBatches(reader.push(end, true).slice(0, left));
  }

  function decode(decoder: StrictDecoder, reader: RowReader, bytes: Buffer, isLast: boolean): string {
    try {
      return decoder.write(bytes, isLast);
    } catch (error) {
      if (!(error instanceof EncodingFault)) throw error;
      throw encodingFault(source.name, chosen, error, reader.position());
    }
  }

  function settledOrBug(): Settled {
    if (settled === null) throw new Error('known only after rows() has ended');
    return settled;
  }

  return {
    warnings,
    rows,
    peek() {
      const reader = layout.createReader();
      return {
        batches: readRows(reader, () => undefined, false),
        columns: () => reader.columns() ?? layout.columns,
      };
    },
    contentHash: () => settledOrBug().hash,
    columns: () => settledOrBug().columns,
  };
}

function* inBatches(rows: readonly Row[]): Generator<readonly Row[]> {
  if (rows.length <= MAX_BATCH_ROWS) {
    if (rows.length > 0) yield rows;
    return;
  }
  for (let at = 0; at < rows.length; at += MAX_BATCH_ROWS) yield rows.slice(at, at + MAX_BATCH_ROWS);
}
