/**
 * The `send` seam: one GET, one result, each wait and body limited. Follows no redirect, which
 * could take the token to another host; neither pipelines nor retries, which could pay twice.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { createConnector, type Network, PLAIN_NETWORK } from '../core/connector.js';
import { attempt } from '../core/lifecycle.js';
import { load } from '../core/load.js';
import { type FaultKind, systemFault } from '../core/system-error.js';
import { pathBeforeRoutes, type RequestDispatcher } from './protocol.js';

export interface SendRequest {
  /** Path and query, beginning with `/`. */
  readonly path: string;
  readonly authorization: string;
  /** Aborts the request; the result is then `no_answer`. */
  readonly signal?: AbortSignal | undefined;
}

/** Why a body is incomplete: longer than the limit, or cut off by the end of the connection. */
type Incomplete = 'too_large' | 'cut_off' | null;

export type SendResult =
  | {
      readonly type: 'answer';
      readonly status: number;
      /** Names in lower case; a repeated header has its first value. */
      readonly headers: Readonly<Record<string, string | undefined>>;
      readonly body: Buffer;
      readonly incomplete: Incomplete;
    }
  | {
      readonly type: 'no_answer';
      /** False if no byte of the request can have left, so that nothing was billed. */
      readonly wasSent: boolean;
      readonly reason: string;
      /** Absent if the kind of fault is unknown. */
      readonly fault?: FaultKind;
    };

/** Never rejects. */
export type Send = (request: SendRequest) => Promise<SendResult>;

export interface HttpSendOptions {
  /** `https://host[:port][/prefix]`. */
  readonly baseUrl: string;
  readonly connections: number;
  readonly timeoutMs: number;
  /** Longest body that is read. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Default: no proxy. */
  readonly network?: Network;
  /** Replaces the pool of connections; the caller closes it. */
  readonly dispatcher?: RequestDispatcher | undefined;
}

const STOPPED = 'stopped before the answer arrived';
/** Most extra time for a request after this process was suspended. */
const MOST_EXTRA_MS = 1_000;

export function createHttpSend(options: HttpSendOptions) {
  const { timeoutMs, maxBodyBytes = 1_048_576 } = options;
  const base = new URL(options.baseUrl);
  const prefix = pathBeforeRoutes(base.pathname);
  const pool = options.dispatcher ? null : openPool(base.origin, options);
  const dispatcher: RequestDispatcher = options.dispatcher ?? (pool as RequestDispatcher);
  const send: Send = ({ path, authorization, signal }) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve({ type: 'no_answer', wasSent: false, reason: STOPPED });
      const exchange = new Exchange(resolve, maxBodyBytes, timeoutMs, signal);
      const headers = { authorization, accept: 'application/json' };
      exchange.sendBy(dispatcher, { origin: base.origin, method: 'GET', path: prefix + path, headers });
    });
  return { send, close: async (): Promise<void> => pool?.destroy() };
}

function openPool(origin: string, { connections, timeoutMs, network = PLAIN_NETWORK }: HttpSendOptions) {
  // Loaded with the first client: commands that send nothing start sooner.
  const Pool = load('undici/lib/dispatcher/pool.js') as typeof import('undici').Pool;
  return new Pool(origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    connect: createConnector(network, { timeoutMs: Math.min(timeoutMs, 10_000) }),
    // Undici's timers would close sockets with unread answers; our timer bounds the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 65_536,
  });
}

/** One request on its way: collects what undici reports and settles once. */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: string | undefined;
  #wasSent = false;
  #status = 0;
  #headers: Record<string, string | undefined> = {};
  #chunks: Uint8Array[] = [];
  #length = 0;
  #timer: NodeJS.Timeout;
  #lastTurn: NodeJS.Immediate | undefined;
  readonly #onAbort = () => this.#abort(STOPPED);

  constructor(
    private readonly resolve: (result: SendResult) => void,
    private readonly maxBodyBytes: number,
    timeoutMs: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    const dueAt = performance.now() + timeoutMs;
    const giveUp = () => this.#abort(`no complete answer within ${timeoutMs} ms`);
    // After a suspension, timers fire before the event loop reads what has arrived.
    this.#timer = setTimeout(() => {
      const lateMs = Math.min(performance.now() - dueAt, MOST_EXTRA_MS);
      this.#timer = setTimeout(() => {
        this.#lastTurn = setImmediate(giveUp);
      }, lateMs);
    }, timeoutMs);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  sendBy(dispatcher: RequestDispatcher, options: object): void {
    try {
      dispatcher.dispatch(options, this);
    } catch (error) {
      // A caller's dispatcher may have sent the request before it threw.
      this.#end(true, systemFault(error).words);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason === undefined) this.#wasSent = true;
    else controller.abort(new Error(this.#abortReason));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Interim answers (RFC 9110, section 15.2) announce the real one.
    if (status < 200) return;
    this.#status = status;
    for (const [name, value] of Object.entries(headers))
      this.#headers[name.toLowerCase()] = Array.isArray(value) ? value[0] : value;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    if (this.#length <= this.maxBodyBytes) return;
    this.#answer('too_large');
    controller.abort(new Error('the body is too long'));
  }

  onResponseEnd(): void {
    this.#answer(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // Safe to show: no error of undici holds the request's headers.
    const { words, kind } = systemFault(error);
    if (this.#abortReason === undefined) this.#breakOff(words, kind);
    else this.#breakOff(this.#abortReason);
  }

  #abort(reason: string): void {
    this.#abortReason = reason;
    // Without a controller it is still queued: `onRequestStart` will abort it before it is sent.
    attempt(() => this.#controller?.abort(new Error(reason)), undefined);
    // A caller's dispatcher may not report that the request was aborted.
    this.#breakOff(reason);
  }

  /** Status and headers show what was billed, even without the whole body. */
  #breakOff(reason: string, fault?: FaultKind): void {
    if (this.#status !== 0) this.#answer('cut_off');
    else this.#end(this.#wasSent, reason, fault);
  }

  #answer(incomplete: Incomplete): void {
    const raw = Buffer.concat(this.#chunks);
    const encoding = this.#headers['content-encoding'];
    const read =
      incomplete === null ? decodeBody(raw, encoding, this.maxBodyBytes) : { body: raw, incomplete };
    const { body } = read;
    const [status, headers] = [this.#status, this.#headers];
    this.#settle({ type: 'answer', status, headers, body, incomplete: read.incomplete });
  }

  #end(wasSent: boolean, reason: string, fault?: FaultKind): void {
    this.#settle({ type: 'no_answer', wasSent, reason, ...(fault && { fault }) });
  }

  /** Only the first call has an effect. */
  #settle(result: SendResult): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#lastTurn);
    this.signal?.removeEventListener('abort', this.#onAbort);
    this.resolve(result);
  }
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Buffer;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  br: brotliDecompressSync,
  // The name covers two forms; a zlib header tells them apart.
  deflate: (body, options) =>
    ((body[0] ?? 0) & 0x0f) === 8 ? inflateSync(body, options) : inflateRawSync(body, options),
};

/** Each decoding blocks the event loop, and no service encodes more often. */
const MOST_ENCODINGS = 2;

/**
 * Decodes a body by `Content-Encoding`, at most twice and up to `maxBytes`. Returns a body that
 * does not match the header unchanged, since its content shows whether it is usable.
 */
export function decodeBody(
  body: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): { body: Buffer; incomplete: Incomplete } {
  if (contentEncoding === undefined) return { body, incomplete: null };
  let decoded = body;
  const names = contentEncoding.toLowerCase().split(',');
  const decoders = names.flatMap((name) => DECODERS[name.trim()] ?? []).reverse();
  if (decoders.length > MOST_ENCODINGS) return { body, incomplete: null };
  try {
    for (const decoder of decoders)
      if (decoded.length > 0) decoded = decoder(decoded, { maxOutputLength: maxBytes });
    return { body: decoded, incomplete: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const incomplete =
      code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : code === 'Z_BUF_ERROR' ? 'cut_off' : null;
    return { body, incomplete };
  }
}
