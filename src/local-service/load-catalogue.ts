/** Reads a catalogue. Fields inside a brand may be absent, null or new, but of no other type. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { BRAND, isList, type Shape } from '../brand-api/brand.js';
import { errorText, RunError } from '../core/errors.js';
import { isIsin } from '../core/identifier.js';
import { byteLines, membersOf } from '../core/json-text.js';
import { systemWords } from '../core/system-error.js';
import { openByteSource } from '../input/byte-source.js';
import { ADULT_STATUSES, Catalogue, type IndexedBrand, normalKey } from './catalogue.js';

const BLANKS = [0x20, 0x09, 0x0d];
/** Longer lines are no brands; a file without line ends must not fill the memory. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** Further bad lines that a message names; it counts the rest. */
const MAX_NAMED_LINES = 10;

/** Loads JSONL, plain or gzip. Throws `input-missing`, `input-empty` or `catalogue-invalid`. */
export async function loadCatalogue(path: string): Promise<Catalogue> {
  const catalogue = new Catalogue();
  const bad: { readonly line: number; readonly problem: string }[] = [];
  for await (const [line, bytes] of byteLines(readBytes(path), MAX_LINE_BYTES)) {
    if (bytes === null) {
      const subject = `${path}, a line of more than ${MAX_LINE_BYTES} bytes`;
      throw new RunError({ code: 'catalogue-invalid', subject, todo: 'write one brand per line' });
    }
    const text = line === 1 && bytes.indexOf('\uFEFF') === 0 ? bytes.subarray(3) : bytes;
    if (text.every((byte) => BLANKS.includes(byte))) continue;
    const brand = readCatalogueLine(text);
    if (typeof brand === 'string') {
      bad.push({ line, problem: brand });
      continue;
    }
    const conflict = catalogue.add({ ...brand, line });
    if (conflict === null) continue;
    const { kind, value, ownerLine } = conflict;
    bad.push({ line, problem: `keys: the ${kind} ${value} belongs to the brand of line ${ownerLine}` });
  }
  const [first, ...others] = bad;
  if (first !== undefined) {
    const named = others.slice(0, MAX_NAMED_LINES).map((other) => other.line);
    const rest = others.length - named.length;
    const more = named.length === 0 ? '' : ` and lines ${named.join(', ')}`;
    const subject = `${path} line ${first.line}, ${first.problem}`;
    const todo = `correct it${more}${rest > 0 ? ` and ${rest} more` : ''}`;
    throw new RunError({ code: 'catalogue-invalid', subject, todo });
  }
  if (catalogue.size === 0) {
    const what = 'the catalogue holds no brands';
    const todo = 'write one brand per line as JSON';
    throw new RunError({ code: 'input-empty', what, subject: path, todo });
  }
  return catalogue;
}

async function* readBytes(path: string): AsyncGenerator<Buffer> {
  try {
    const source = await openByteSource(path, { only: 'file', spoolFolder: '' });
    try {
      yield* source.read();
    } finally {
      await source.close();
    }
  } catch (error) {
    const { cause = error } = error as Error;
    const what = 'the catalogue cannot be read';
    const subject = `${path} (${systemWords(cause)})`;
    const todo = 'give a readable JSONL file, plain or gzip';
    throw new RunError({ code: 'input-missing', what, subject, todo, cause });
  }
}

const isin = z
  .string()
  .refine((value) => isIsin(value.toUpperCase()), 'the ISIN has a wrong form or check digit');
const symbol = z.string().regex(/^\S(.{0,30}\S)?$/u, 'must be 1 to 32 characters without blanks around them');
const DOMAIN = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;
const domain = z.string().refine((value) => DOMAIN.test(normalKey('domain', value)), 'is not a domain name');
const id = z.string().regex(/^id[A-Za-z0-9_-]+$/, 'must be id_ followed by letters, digits, _ or -');
const HEX = /^#([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i;

const VALUES = { string: z.string(), number: z.number(), boolean: z.boolean(), unknown: z.unknown() };
/** Fields with more rules than their type in the specification. */
const STRICTER: Readonly<Record<string, z.ZodType>> = {
  hex: z.string().regex(HEX, 'must look like #1a2b3c'),
  isin: z.array(isin).nullish(),
  ticker: z.array(symbol).nullish(),
};

function schemaOf(shape: Shape): z.ZodType {
  if (typeof shape === 'string') return VALUES[shape];
  if (isList(shape)) return shape[1] === 'unknown' ? z.unknown() : z.array(schemaOf(shape[0] ?? 'unknown'));
  const fields = Object.entries(shape).map(([name, inner]) => {
    const schema = schemaOf(inner);
    return [name, STRICTER[name] ?? (name === 'formats' ? schema : schema.nullish())];
  });
  return z.looseObject(Object.fromEntries(fields));
}

/** Live services send null for a brand without a company. */
const NULLABLE = ['name', 'description', 'longDescription', 'company'];
const root = Object.entries(BRAND).map(([name, shape]) => {
  const schema = schemaOf(shape);
  return [name, NULLABLE.includes(name) ? schema.nullable() : schema];
});
const brand = z.looseObject({
  ...(Object.fromEntries(root) as Record<string, z.ZodType>),
  id,
  qualityScore: z.number().min(0).max(1),
  isNsfw: z.boolean(),
});

const keys = z.strictObject({
  domains: z.array(domain),
  tickers: z.array(symbol),
  isins: z.array(isin),
  crypto: z.array(symbol),
  id,
});

const catalogueRecord = z
  .strictObject({ brand, keys, adult: z.enum(ADULT_STATUSES) })
  .refine((record) => record.brand.id === record.keys.id, {
    path: ['keys', 'id'],
    error: 'must equal brand.id',
  })
  .refine((record) => record.brand.isNsfw === (record.adult !== 'none'), {
    path: ['brand', 'isNsfw'],
    error: 'must be true for an adult brand and false for any other',
  });

/** Reads a line; returns field and problem of a bad one. `body` is a view of `bytes`. */
export function readCatalogueLine(bytes: Buffer): Omit<IndexedBrand, 'line'> | string {
  if (!isUtf8(bytes)) return 'is not UTF-8';
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `is not JSON (${errorText(error)})`;
  }
  const read = catalogueRecord.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    return `${pathText(issue?.path ?? [])}: ${issue?.message ?? 'is wrong'}`;
  }
  const { keys, adult } = read.data;
  const { domains: domain, tickers: ticker, isins: isin, crypto, id } = keys;
  return { body: memberBytes(bytes, 'brand', text), adult, keys: { domain, ticker, isin, crypto, id: [id] } };
}

/** Writes `['brand', 'logos', 0, 'type']` as `brand.logos[0].type`. */
function pathText(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return parts.join('').replace(/^\./, '') || 'line';
}

/** Returns a view of a member of valid JSON; of a repeated name the last, as `JSON.parse` does. */
export function memberBytes(bytes: Buffer, name: string, text = bytes.toString('utf8')): Buffer {
  const member = membersOf(text)?.findLast(({ key }) => key === name);
  if (member === undefined) return bytes.subarray(0, 0);
  const start = Buffer.byteLength(text.slice(0, member.valueStart));
  return bytes.subarray(start, start + Buffer.byteLength(text.slice(member.valueStart, member.valueEnd)));
}
