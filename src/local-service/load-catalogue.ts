/**
 * A catalogue file (JSONL, plain or gzip) becomes a `Catalogue`: streamed line by line, each line judged, and
 * whatever is wrong named by line and field. What a line means is `catalogue-line.ts`'s.
 */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FailFileError } from '../core/errors.js';
import { openPlainFile } from '../core/plain-file.js';
import { systemWords } from '../core/system-error.js';
import { type Catalogue, createCatalogueIndex } from './catalogue.js';
import { readCatalogueLine } from './catalogue-line.js';

const LINE_FEED = 0x0a;
/** Longer lines are not brands; without a cap a file without line ends would be taken into memory whole. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** Read size; larger than Node's 64 KiB default, which costs a quarter of the speed. */
const READ_BYTES = 512 * 1024;
/** So many further bad lines are named; of the rest only their number. */
const MAX_NAMED_LINES = 10;

interface BadLine {
  readonly line: number;
  readonly problem: string;
}

/**
 * Loads and validates a whole catalogue. Gzip is recognised by its first bytes, not by the name. Blank lines and
 * a byte order mark are ignored.
 *
 * Throws `FailFileError`: `input-missing` when the file cannot be opened, `input-empty` when it holds no brand,
 * `catalogue-invalid` naming the first bad line with its field, and the numbers of further ones.
 */
export async function loadCatalogue(path: string): Promise<Catalogue> {
  const index = createCatalogueIndex();
  const bad: BadLine[] = [];
  let line = 0;
  for await (const bytes of readLines(path)) {
    line += 1;
    if (isBlank(bytes)) continue;
    const read = readCatalogueLine(bytes);
    if (read.type === 'bad') {
      bad.push({ line, problem: read.problem });
      continue;
    }
    const conflict = index.add({ ...read.brand, line });
    if (conflict) {
      const { kind, value, ownerLine } = conflict;
      bad.push({ line, problem: `keys: the ${kind} ${value} belongs to the brand of line ${ownerLine}` });
    }
  }
  if (bad.length > 0) throw badLinesError(path, bad);
  if (index.catalogue.size === 0) {
    throw new FailFileError({
      code: 'input-empty',
      what: 'the catalogue holds no brands',
      subject: path,
      todo: 'write one brand per line as JSON',
    });
  }
  return index.catalogue;
}

function badLinesError(path: string, bad: readonly BadLine[]): FailFileError {
  const [first, ...others] = bad;
  const named = others.slice(0, MAX_NAMED_LINES).map(({ line }) => line);
  const rest = others.length - named.length;
  const more =
    others.length === 0 ? '' : ` and lines ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return new FailFileError({
    code: 'catalogue-invalid',
    subject: `${path} line ${first?.line}, ${first?.problem}`,
    todo: `correct it${more}`,
  });
}

/** The lines of a file without their line feeds. A view is valid only until the next one is asked for. */
async function* readLines(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for await (const chunk of readBytes(path)) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (isFirst) {
      if (bytes.length < 3) {
        rest = bytes;
        continue;
      }
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
      isFirst = false;
    }
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_LINE_BYTES) {
      throw new FailFileError({
        code: 'catalogue-invalid',
        subject: `${path}, a line of more than ${MAX_LINE_BYTES} bytes`,
        todo: 'write one brand per line',
      });
    }
  }
  if (rest.length > 0) yield rest;
}

/** The bytes of the file, unpacked. */
async function* readBytes(path: string): AsyncGenerator<Buffer> {
  try {
    if (await isGzip(path)) yield* unpack(createReadStream(path, { highWaterMark: READ_BYTES }));
    else yield* createReadStream(path, { highWaterMark: READ_BYTES }) as Readable;
  } catch (error) {
    throw new FailFileError({
      code: 'input-missing',
      what: 'the catalogue cannot be read',
      subject: `${path} (${systemWords(error)})`,
      todo: 'name a readable JSONL file, plain or gzip',
      cause: error,
    });
  }
}

async function* unpack(file: Readable): AsyncGenerator<Buffer> {
  const plain = createGunzip({ chunkSize: READ_BYTES });
  file.on('error', (error) => plain.destroy(error));
  try {
    yield* file.pipe(plain);
  } finally {
    file.destroy();
  }
}

async function isGzip(path: string): Promise<boolean> {
  const file = await openPlainFile(path, { followsLinks: true });
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
