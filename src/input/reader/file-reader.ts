/** Reads a workbook, a Parquet file or an archive, in a process that may die of it. */
import { FailFileError, readingStopped } from '../../core/errors.js';
import { systemWords } from '../../core/system-error.js';
import type { Row } from '../../core/table.js';
import type { ByteSource } from '../byte-source.js';
import type { FoundTable, ReaderReply, ReaderRequest, RowsEnd, TableOpening } from './messages.js';
import { ReaderEnded, type ReadingProcess, startReadingProcess } from './reading-process.js';

/** The second process that dies of a file shows that the file is to blame. */
const MOST_DEATHS = 2;

type Asked = ReaderRequest extends infer R ? (R extends unknown ? Omit<R, 'name'> : never) : never;

/**
 * All methods throw `FailFileError`: what is wrong with the file, `input-binary` when reading it
 * takes too much memory or time, `reader-failed`; and `InterruptedError` once `stop` is aborted.
 */
export class FileReader {
  #process: ReadingProcess | null = null;
  #deaths = 0;
  #isClosed = false;
  #opening: TableOpening | null = null;
  #found: FoundTable | null = null;
  readonly #onStop = () => this.rest();

  /** The caller closes the source, after the reader. */
  constructor(
    private readonly source: Pick<ByteSource, 'name' | 'descriptor'>,
    private readonly stop: AbortSignal | undefined,
    private readonly start: (descriptor: number) => ReadingProcess = startReadingProcess,
  ) {
    stop?.addEventListener('abort', this.#onStop);
  }

  /** The table, which `rows` reads. */
  async open(opening: TableOpening): Promise<FoundTable> {
    this.#opening = opening;
    return this.#again(async () => this.#found as FoundTable);
  }

  /** Names of the visible sheets of a workbook. */
  sheets(): Promise<string[]> {
    return this.#again(async (process) => (await this.#ask<string[]>(process, { type: 'sheets' })) ?? []);
  }

  /** Rows of a file that we wrote; `part`: of its sheet, null: it is a Parquet file. */
  count(part: string | null): Promise<number> {
    return this.#again(async (process) => {
      await this.#ask(process, { type: 'count', part });
      let total = 0;
      for (;;) {
        const rows = await this.#ask<number>(process, { type: 'next' });
        if (rows === null) return total;
        total += rows;
      }
    });
  }

  /** Bytes of a part of an archive. */
  async *bytes(part: string): AsyncGenerator<Buffer> {
    let given = 0;
    let position = 0;
    for await (const { reply, isAgain } of this.#series({ type: 'bytes', part })) {
      if (isAgain) position = 0;
      if (reply.type !== 'bytes') return;
      const { bytes } = reply;
      const known = Math.max(0, given - position);
      position += bytes.length;
      if (known >= bytes.length) continue;
      yield bytes.subarray(known);
      given = position;
    }
  }

  /**
   * Rows from the first on, in batches, then the end. Another pass may begin before that. `wanted`:
   * the columns whose cells are needed, the others are blank; null: all.
   */
  async *rows(
    limit: number | null,
    wanted: readonly number[] | null,
  ): AsyncGenerator<{ rows: readonly Row[]; width: number } | RowsEnd> {
    let last = 0;
    for await (const { reply } of this.#series({ type: 'rows', limit, wanted })) {
      if (reply.type !== 'rows') {
        if (reply.type === 'json') yield reply.value as RowsEnd;
        return;
      }
      const { rows, width } = reply;
      const from = rows.findIndex(({ number }) => number > last);
      if (from < 0) continue;
      yield { rows: from === 0 ? rows : rows.slice(from), width };
      last = rows.at(-1)?.number ?? last;
    }
  }

  /** Ends the process; the next request starts another one. */
  rest(): void {
    this.#process?.end();
    this.#process = null;
  }

  close(): void {
    this.#isClosed = true;
    this.stop?.removeEventListener('abort', this.#onStop);
    this.rest();
  }

  async *#series(begin: Asked): AsyncGenerator<{ reply: ReaderReply; isAgain: boolean }> {
    let isAgain = false;
    for (;;) {
      try {
        const process = await this.#running();
        await this.#ask(process, begin);
        const next = () => process.ask({ type: 'next', name: this.source.name });
        let asked = next();
        for (;;) {
          const reply = orThrow(await asked);
          // The next one is made while this one is used.
          asked = next();
          asked.catch(() => undefined);
          yield { reply, isAgain };
          isAgain = false;
          if (reply.type === 'json') return;
        }
      } catch (error) {
        this.#noteEnd(error);
        isAgain = true;
      }
    }
  }

  async #again<T>(action: (process: ReadingProcess) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await action(await this.#running());
      } catch (error) {
        this.#noteEnd(error);
      }
    }
  }

  async #running(): Promise<ReadingProcess> {
    if (this.#isClosed || this.stop?.aborted) throw readingStopped(this.source.name);
    if (this.#process !== null) return this.#process;
    const process = this.start(this.source.descriptor);
    this.#process = process;
    if (this.#opening !== null)
      this.#found = await this.#ask<FoundTable>(process, { type: 'open', opening: this.#opening });
    return process;
  }

  async #ask<T>(process: ReadingProcess, asked: Asked): Promise<T | null> {
    const reply = orThrow(await process.ask({ ...asked, name: this.source.name } as ReaderRequest));
    return reply.type === 'json' ? (reply.value as T) : null;
  }

  /** Returns when another process may try; throws otherwise. */
  #noteEnd(error: unknown): void {
    if (!(error instanceof ReaderEnded)) throw error;
    this.#process = null;
    const { name } = this.source;
    if (this.#isClosed || this.stop?.aborted) throw readingStopped(name);
    const { why, message, cause } = error;
    if (why === 'unstarted') {
      const subject = `${name} (${systemWords(cause)})`;
      const todo = 'end other programs, or raise the limits of this one, then run again';
      throw new FailFileError({ code: 'reader-failed', subject, todo, cause });
    }
    if (why === 'crashed' || why === 'memory') this.#deaths += 1;
    if (why !== 'slow' && this.#deaths < MOST_DEATHS) return;
    throw new FailFileError({
      code: 'input-binary',
      what: 'the file is too large or too complex to be read',
      subject: `${name} (${message})`,
      todo: 'save it as CSV (UTF-8), or split it into several smaller files',
      cause,
    });
  }
}

function orThrow(reply: ReaderReply): Exclude<ReaderReply, { type: 'error' }> {
  if (reply.type === 'error') throw reply.error;
  return reply;
}
