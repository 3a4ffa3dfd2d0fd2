/**
 * One output. Everything goes to a temporary file beside the target, and `commit` makes it the target in one step,
 * when it is safely on disk. Until then the target is what it was, however the process ends. `-` and what is no
 * regular file (a pipe, a device) are written directly: there is nothing to replace.
 *
 *   open --write*--> open --commit--> committed      fsync, rename, fsync of the folder
 *                      \----discard--> discarded     the temporary file is removed
 */
import { openFileSink, openSharedSink, type Sink, type Verify } from './output-sink.js';
import { writeFailure } from './write-failure.js';

/** Small writes are gathered up to this many characters or bytes. */
const GATHER = 128 * 1024;
const BOM = '\ufeff';

export interface OutputOptions {
  readonly gzip: boolean;
  /** Begin with a byte order mark. */
  readonly bom: boolean;
  /** Where `-` goes; null: `-` is a file of that name. It is not closed. */
  readonly stdout: NodeJS.WritableStream | null;
}

export interface Output {
  /** Text is written as UTF-8. Resolves when more may be written. Throws FailFileError `output-unwritable`. */
  write(chunk: Buffer | string): Promise<void>;
  /**
   * Puts the output under its name. `verify` is handed the path of the finished file before that; what it throws is
   * thrown on. Throws FailFileError `output-unwritable`. Whenever it throws, nothing has changed under the name.
   */
  commit(verify?: Verify): Promise<void>;
  /** Forgets the output; after `commit`, or twice, it does nothing. */
  discard(): Promise<void>;
}

/**
 * Opens an output. Nothing appears under the target's name before `commit`. Temporary files that a killed process of
 * this machine left for the same target are removed.
 * @throws FailFileError `output-unwritable`.
 */
export async function createOutput(target: string, options: OutputOptions): Promise<Output> {
  const { stdout, gzip } = options;
  let sink: Sink | null;
  try {
    sink =
      target === '-' && stdout !== null ? openSharedSink(stdout, gzip) : await openFileSink(target, gzip);
  } catch (error) {
    throw writeFailure(target, error);
  }
  let gathered = options.bom ? BOM : '';

  async function send(bytes: Buffer): Promise<void> {
    if (sink === null) throw new Error(`written after its end: ${target}`);
    try {
      await sink.write(bytes);
    } catch (error) {
      throw writeFailure(target, error);
    }
  }

  async function flush(): Promise<void> {
    if (gathered === '') return;
    const bytes = Buffer.from(gathered);
    gathered = '';
    await send(bytes);
  }

  return {
    async write(chunk) {
      if (typeof chunk === 'string') {
        gathered += chunk;
        if (gathered.length >= GATHER) await flush();
      } else {
        await flush();
        await send(chunk);
      }
    },
    async commit(verify) {
      await flush();
      const committed = sink;
      sink = null;
      try {
        await committed?.commit(verify);
      } catch (error) {
        throw writeFailure(target, error);
      }
    },
    async discard() {
      const discarded = sink;
      sink = null;
      gathered = '';
      await discarded?.discard().catch(() => undefined);
    },
  };
}
