/** Reads a workbook, a Parquet file or an archive, in processes that a bad file may kill. */
import { RunError, readingStopped } from '../../core/errors.js';
import { systemWords } from '../../core/system-error.js';
import type { Row } from '../../core/table.js';
import type { ByteSource } from '../byte-source.js';
import { ReaderEnded, readInProcess } from './reading-process.js';
import {
  errorOf,
  type FoundTable,
  type Pass,
  type Reply,
  type RowsEnd,
  rowOf,
  type TableOpening,
} from './replies.js';

type Asked = Pass extends infer P ? (P extends unknown ? Omit<P, 'name'> : never) : never;

/** `nth`: number of earlier attempts at this pass. */
type PassReply = { readonly reply: Exclude<Reply, { error: unknown }>; readonly nth: number };

/**
 * Makes each pass in a process of its own. Throws `RunError` for a damaged file and for one that
 * takes too much memory or time, `InterruptedError` when stopped.
 */
export class FileReader {
  readonly #closing = new AbortController();
  readonly #stop: AbortSignal;
  #opening: TableOpening = { header: true, skipLines: 0, sheet: null };

  /** The caller closes the source, after the reader. */
  constructor(
    private readonly source: Pick<ByteSource, 'name' | 'descriptor'>,
    stop: AbortSignal | undefined,
    private readonly read: typeof readInProcess = readInProcess,
  ) {
    this.#stop = AbortSignal.any([this.#closing.signal, ...(stop === undefined ? [] : [stop])]);
  }

  async open(opening: TableOpening): Promise<FoundTable> {
    this.#opening = opening;
    return this.#end<FoundTable>({ type: 'open', opening });
  }

  sheets(): Promise<string[]> {
    return this.#end<string[]>({ type: 'sheets' });
  }

  /** Counts the rows of a file that we wrote. `part`: its sheet; null for a Parquet file. */
  count(part: string | null): Promise<number> {
    return this.#end<number>({ type: 'count', part });
  }

  async *bytes(part: string): AsyncGenerator<Buffer> {
    let given = 0;
    let position = 0;
    let pass = 0;
    for await (const { reply, nth } of this.#pass({ type: 'bytes', part })) {
      if (!('bytes' in reply)) return;
      if (nth !== pass) [pass, position] = [nth, 0];
      const bytes = Buffer.from(reply.bytes, 'base64');
      const known = Math.max(0, given - position);
      position += bytes.length;
      if (known >= bytes.length) continue;
      yield bytes.subarray(known);
      given = position;
    }
  }

  /** Reads rows in batches, then the end. `wanted`: columns with needed cells; null for all. */
  async *rows(
    limit: number | null,
    wanted: readonly number[] | null,
  ): AsyncGenerator<{ rows: readonly Row[]; width: number } | RowsEnd> {
    let last = 0;
    const opening = this.#opening;
    for await (const { reply } of this.#pass({ type: 'rows', opening, limit, wanted })) {
      if ('end' in reply) yield reply.end as RowsEnd;
      if (!('rows' in reply)) return;
      const { first, width } = reply;
      const rows = reply.rows.map((sent, at) => rowOf(sent, first + at, wanted));
      const fresh = rows.filter(({ number }) => number > last);
      if (fresh.length > 0) yield { rows: fresh, width };
      last = fresh.at(-1)?.number ?? last;
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #end<T>(asked: Asked): Promise<T> {
    for await (const { reply } of this.#pass(asked)) if ('end' in reply) return reply.end as T;
    throw new Error('a pass without an end');
  }

  /** Makes a pass, and repeats it once if its process dies. */
  async *#pass(asked: Asked): AsyncGenerator<PassReply> {
    const { name, descriptor } = this.source;
    for (let nth = 0; ; nth += 1) {
      if (this.#stop.aborted) throw readingStopped(name);
      try {
        for await (const reply of this.read(descriptor, { ...asked, name }, this.#stop)) {
          if ('error' in reply) throw errorOf(reply.error);
          yield { reply, nth };
        }
        return;
      } catch (error) {
        if (!(error instanceof ReaderEnded)) throw error;
        if (this.#stop.aborted) throw readingStopped(name);
        if (nth > 0 || !error.mayTryAgain) throw failed(name, error);
      }
    }
  }
}

function failed(name: string, { why, message, cause }: ReaderEnded): RunError {
  if (why === 'unstarted') {
    const subject = `${name} (${systemWords(cause)})`;
    const todo = 'end other programs, or raise the limits of this one, then run again';
    return new RunError({ code: 'reader-failed', subject, todo, cause });
  }
  const what = 'the file is too large or too complex to be read';
  const todo = 'save it as CSV (UTF-8), or split it into several smaller files';
  return new RunError({ code: 'input-binary', what, subject: `${name} (${message})`, todo, cause });
}
