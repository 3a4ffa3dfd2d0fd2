/** Bytes over a socket, and strict reading of what comes back: HTTP/1.1 answers, nothing else. */
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** What a client does after all was sent: wait for the server's end, end its half, or all. */
export type Ending = 'wait' | 'half-close' | 'destroy';

export interface RawAnswer {
  readonly status: number;
  /** Lower-case names; of a repeated header all values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Buffer;
}

/** Longer than a server takes to see that a request never ends. */
const PATIENCE_MS = 15_000;

/** What comes back until the server closes. Rejects when it keeps the connection for too long. */
export function exchange(port: number, pieces: readonly Buffer[], ending: Ending): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection is still open; so far: ${Buffer.concat(chunks).toString('latin1')}`));
    }, PATIENCE_MS);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => socket.end());
    // A server may refuse the rest of what is sent.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    socket.on('connect', async () => {
      for (const piece of pieces) {
        if (socket.writable) socket.write(piece);
        await setImmediate();
      }
      if (ending === 'half-close') socket.end();
      if (ending === 'destroy') socket.destroy();
    });
  });
}

/** Throws for anything but an HTTP/1.1 answer. `mayLackBody`: some requests were HEAD. */
export function readAnswers(bytes: Buffer, mayLackBody: boolean): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`no end of headers: ${rest.toString('latin1')}`);
    const [line = '', ...fields] = rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/.exec(line)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error(`no status line: ${line}`);
    const headers = new Map<string, string[]>();
    for (const field of fields) {
      const [, name = '', value = ''] =
        /^([!#$%&'*+.^_`|~\w-]+): ?([\t\x20-\x7e\x80-\xff]*)$/.exec(field) ?? [];
      if (name === '') throw new Error(`no header: ${JSON.stringify(field)}`);
      const key = name.toLowerCase();
      headers.set(key, [...(headers.get(key) ?? []), value]);
    }
    rest = rest.subarray(end + 4);
    const read = readBody(rest, status, headers, mayLackBody);
    if (status >= 200) answers.push({ status, headers, body: read.body });
    rest = rest.subarray(read.length);
  }
  return answers;
}

function readBody(
  rest: Buffer,
  status: number,
  headers: ReadonlyMap<string, readonly string[]>,
  mayLackBody: boolean,
): { body: Buffer; length: number } {
  const none = { body: Buffer.alloc(0), length: 0 };
  if (status < 200 || status === 204 || status === 304) return none;
  if (mayLackBody && (rest.length === 0 || rest.subarray(0, 9).equals(Buffer.from('HTTP/1.1 ')))) return none;
  if (headers.get('transfer-encoding')?.[0] === 'chunked') return readChunks(rest);
  const lengths = headers.get('content-length');
  // Without a length the body ends with the connection.
  if (lengths === undefined) return { body: rest, length: rest.length };
  const length = Number(lengths[0]);
  if (lengths.length > 1 || !Number.isSafeInteger(length)) throw new Error(`content-length ${lengths}`);
  if (rest.length < length) throw new Error(`a body of ${rest.length} instead of ${length} bytes`);
  return { body: rest.subarray(0, length), length };
}

function readChunks(rest: Buffer): { body: Buffer; length: number } {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = rest.indexOf('\r\n', at);
    const size = Number.parseInt(rest.toString('latin1', at, end), 16);
    if (end < 0 || Number.isNaN(size)) throw new Error('a chunk without a length');
    const from = end + 2;
    if (rest.toString('latin1', from + size, from + size + 2) !== '\r\n') throw new Error('a chunk is cut');
    parts.push(rest.subarray(from, from + size));
    at = from + size + 2;
    if (size === 0) return { body: Buffer.concat(parts), length: at };
  }
}
