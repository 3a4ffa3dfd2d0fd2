/**
 * Sends over HTTP: one keep-alive pool per process, no redirects (the token never reaches another
 * host), no pipelining and no retries (each would hide a second paid request), every wait bounded,
 * bodies capped.
 */

import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { systemFault } from '../core/system-error.js';
import { pathBeforeRoutes } from './routes.js';
import type { Send, SendResult } from './send.js';

export interface HttpSendOptions {
  /** `https://host[:port][/prefix]`. */
  readonly baseUrl: string;
  /** Sockets at most. */
  readonly connections: number;
  /** Total time for one request, connection included. */
  readonly timeoutMs: number;
  /** Longest body that is read. Default 1 MiB. */
  readonly maxBodyBytes?: number;
}

export interface HttpSend {
  readonly send: Send;
  close(): Promise<void>;
}

const MIB = 1_048_576;
const STOPPED = 'stopped before an answer came';

export function createHttpSend(options: HttpSendOptions): HttpSend {
  const base = new URL(options.baseUrl);
  const prefix = pathBeforeRoutes(base.pathname);
  const maxBodyBytes = options.maxBodyBytes ?? MIB;
  const pool = new Pool(base.origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: Math.min(options.timeoutMs, 10_000) },
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 65_536,
  });
  const send: Send = (request) =>
    new Promise<SendResult>((resolve) => {
      if (request.signal?.aborted) {
        resolve({ type: 'no_answer', wasSent: false, reason: STOPPED });
        return;
      }
      const exchange = new Exchange(resolve, maxBodyBytes, options.timeoutMs, request.signal);
      const path = prefix + request.path;
      const headers = { authorization: request.authorization, accept: 'application/json' };
      pool.dispatch({ method: 'GET', path, headers }, exchange);
    });
  return { send, close: () => pool.destroy() };
}

/** One request on its way: collects what undici reports and settles once. */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: string | undefined;
  #wasSent = false;
  #status = 0;
  #headers: Record<string, string | undefined> = {};
  #chunks: Buffer[] = [];
  #length = 0;
  #isSettled = false;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.#abort(STOPPED);

  constructor(
    private readonly resolve: (result: SendResult) => void,
    private readonly maxBodyBytes: number,
    timeoutMs: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.#timer = setTimeout(() => this.#abort(`no complete answer within ${timeoutMs} ms`), timeoutMs);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason !== undefined) {
      controller.abort(new Error(this.#abortReason));
      return;
    }
    this.#wasSent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Interim answers (RFC 9110, section 15.2) announce, they do not answer.
    if (status < 200) return;
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
      this.#headers[name.toLowerCase()] = Array.isArray(value) ? value[0] : value;
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.maxBodyBytes) {
      this.#answer('too_large');
      controller.abort(new Error('the body is longer than the cap'));
      return;
    }
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#answer(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // Status and headers have arrived: whether it was billed is known, only the body is not,
    // whoever ended it.
    if (this.#status !== 0) this.#answer('cut_off');
    else
      this.#settle({
        type: 'no_answer',
        wasSent: this.#wasSent,
        ...(this.#abortReason === undefined ? faultOf(error) : { reason: this.#abortReason }),
      });
  }

  #abort(reason: string): void {
    this.#abortReason ??= reason;
    if (this.#controller) this.#controller.abort(new Error(reason));
    // Still queued behind a connection: undici will not send what `onRequestStart` aborts.
    else this.#settle({ type: 'no_answer', wasSent: false, reason });
  }

  #answer(damage: 'too_large' | 'cut_off' | null): void {
    if (this.#isSettled) return;
    const [first] = this.#chunks;
    const raw = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    const status = this.#status;
    const headers = this.#headers;
    const whole =
      damage === null
        ? decodeBody(raw, headers['content-encoding'], this.maxBodyBytes)
        : { body: raw, damage };
    this.#settle({ type: 'answer', status, headers, ...whole });
  }

  #settle(result: SendResult): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.signal?.removeEventListener('abort', this.#onAbort);
    this.resolve(result);
  }
}

/** Undici wraps nothing that holds the request's headers. */
function faultOf(error: Error): Pick<SendResult & { type: 'no_answer' }, 'reason' | 'fault'> {
  const { words, kind } = systemFault(error);
  return { reason: words, fault: kind };
}

interface DecodedBody {
  readonly body: Buffer;
  readonly damage: 'too_large' | 'cut_off' | null;
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Buffer;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  br: brotliDecompressSync,
  // Both forms go by that name; a zlib header tells them apart.
  deflate: (body, options) =>
    ((body[0] ?? 0) & 0x0f) === 8 ? inflateSync(body, options) : inflateRawSync(body, options),
};

/**
 * Undoes what `Content-Encoding` says was done. A body that is not what the header says comes back
 * as it is: whether it is of use shows in its content. `maxBytes` holds for the decoded length.
 */
export function decodeBody(body: Buffer, contentEncoding: string | undefined, maxBytes: number): DecodedBody {
  if (contentEncoding === undefined || body.length === 0) return { body, damage: null };
  const names = contentEncoding.toLowerCase().split(',');
  let decoded = body;
  for (const name of names.reverse()) {
    const decode = DECODERS[name.trim()];
    if (decode === undefined) continue;
    try {
      decoded = decode(decoded, { maxOutputLength: maxBytes });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ERR_BUFFER_TOO_LARGE') return { body, damage: 'too_large' };
      if (code === 'Z_BUF_ERROR') return { body, damage: 'cut_off' };
      return { body, damage: null };
    }
  }
  return { body: decoded, damage: null };
}
