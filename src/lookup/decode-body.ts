/**
 * Bodies that a service, or something in front of it, compressed without being asked: RFC 9110 (section 12.5.3) lets it
 * do so where a request says nothing of encodings, and an answer that was billed should not be thrown away for it.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

export interface DecodedBody {
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
 * Undoes what `Content-Encoding` says was done. A body that is not what the header says comes back as it is: whether it
 * is of use shows in its content. `maxBytes` holds for the decoded length.
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
