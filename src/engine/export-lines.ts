/**
 * An export of an engine as lines of JSON. The service's answers are copied as text, so that large
 * numbers keep their digits; an answer that does not fit on a line is written as base64.
 */
import { z } from 'zod';
import { isMoment } from '../core/clock.js';
import { membersOf } from '../core/json-text.js';
import { attempt } from '../core/lifecycle.js';
import type { StoredOutcome } from '../core/outcome.js';
import type { Spending } from '../ledger/ledger.js';
import { isOutcomeKey } from './stores/outcome-key.js';
import { LONGEST_PROFILE, packProfile, unpackProfile } from './stores/profile-codec.js';
import type { Cancel, Pause } from './stores/run-store.js';

const TYPE = 'brand-enrich export';
const VERSION = 3;

export interface ExportHeader {
  readonly engine: string;
  readonly exportedAt: number;
}

const iso = (ms: number) => new Date(ms).toISOString();

export function headerLine({ engine, exportedAt }: ExportHeader): string {
  return line({ type: TYPE, version: VERSION, engine, exportedAt: iso(exportedAt) });
}

export function accountLine(account: string, { period, sent, others, quota }: Spending): string {
  return line({ type: 'account', account, period, sent, others, quota });
}

export function pauseLine({ at, ...pause }: Pause): string {
  return line({ type: 'pause', ...pause, at: iso(at) });
}

export function cancelLine({ job, by, at }: Cancel): string {
  return line({ type: 'cancel', job, by, at: iso(at) });
}

/** Returns the line of a stored answer. Throws if its bytes cannot be unpacked. */
export function answerLine({ key, status, packed, fetchedAt, billed, freshUntil }: StoredOutcome): string {
  const until = freshUntil === null ? null : iso(freshUntil);
  const known = { type: 'answer', key, status, fetchedAt: iso(fetchedAt), billed, freshUntil: until };
  if (packed === null) return line(known);
  const body = unpackProfile(packed);
  const text = textOnOneLine(body);
  if (text === null) return line({ ...known, base64: body.toString('base64') });
  return `${JSON.stringify(known).slice(0, -1)},"answer":${text}}\n`;
}

export function endLine(answers: number): string {
  return line({ type: 'end', answers });
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the body as text if it is a JSON object on one line, else null. */
function textOnOneLine(body: Buffer): string | null {
  const text = attempt(() => UTF8.decode(body), '');
  const isObject = /^\{[^\r\n]*\}$/.test(text) && attempt(() => [JSON.parse(text)], null) !== null;
  return isObject ? text : null;
}

/** Returns the header of an export, or the reason why the line is no header. */
export function readHeader(bytes: Buffer): ExportHeader | string {
  const given = readObject(bytes);
  if (typeof given === 'string' || given.type !== TYPE)
    return 'it does not start with the header of an export';
  if (given.version !== VERSION)
    return `it is an export of version ${String(given.version)}, and this release reads ${VERSION}`;
  return { engine: String(given.engine), exportedAt: Date.parse(String(given.exportedAt)) };
}

function readObject(bytes: Buffer): Readonly<Record<string, unknown>> | string {
  const value: unknown = attempt(() => JSON.parse(UTF8.decode(bytes)), undefined);
  if (value === undefined) return 'it is not JSON, or it is cut off';
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { ...value } : 'it is not a JSON object';
}

/** No engine stores NUL, and our names contain no other control characters either. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,4000}$/u;
const NO_NAME = 'the name of the account is missing';
const NO_PERIOD = 'the period is not a date';
const NO_KEY = 'the key has an unknown form';

const countOr = (fault: string) => z.int(fault).min(0, fault);
const count = countOr('a count is not a whole number');
const date = z.unknown().transform((text, context) => {
  const time = Date.parse(String(text));
  if (!isMoment(time)) context.addIssue({ code: 'custom', message: 'a date cannot be read' });
  return time;
});

const NO_ORDER = 'the order has an unknown form';
const name = z.string(NO_ORDER).regex(NAME, NO_ORDER);
/** Any text, because names of files may contain anything. */
const words = z.string(NO_ORDER);

const lineSchema = z.discriminatedUnion(
  'type',
  [
    z.object({
      type: z.literal('account'),
      account: z.string(NO_NAME).regex(NAME, NO_NAME),
      period: z.union([z.null(), z.literal('none'), z.iso.date(NO_PERIOD)], NO_PERIOD),
      sent: count,
      others: count,
      quota: count.nullable(),
    }),
    z.object({
      type: z.literal('answer'),
      key: z.string(NO_KEY).regex(NAME, NO_KEY).refine(isOutcomeKey, NO_KEY),
      status: z.enum(['matched', 'not_found'], 'the status is neither matched nor not_found'),
      billed: z.boolean('billed is neither true nor false'),
      fetchedAt: date,
      freshUntil: date.nullable(),
    }),
    z.object({
      type: z.literal('pause'),
      owner: name,
      label: z.strictObject({ host: words.nullable(), name: words }, 'the label is damaged'),
      run: name.nullable(),
      by: words,
      at: date,
    }),
    z.object({ type: z.literal('cancel'), job: name, by: words, at: date }),
    z.object({ type: z.literal('end'), answers: countOr('the count is missing') }),
  ],
  { error: ({ input }) => `its type is ${JSON.stringify((input as { type?: unknown }).type)}` },
);

type ExportLine =
  | Exclude<z.infer<typeof lineSchema>, { readonly type: 'answer' }>
  | { readonly type: 'answer'; readonly outcome: StoredOutcome }
  /** `reason` is part of a sentence. */
  | { readonly type: 'broken'; readonly reason: string };

/** Reads a line after the header. */
export function readLine(bytes: Buffer): ExportLine {
  const given = readObject(bytes);
  if (typeof given === 'string') return { type: 'broken', reason: given };
  const { data, error } = lineSchema.safeParse(given);
  if (data === undefined) return { type: 'broken', reason: error.issues[0]?.message ?? 'it is damaged' };
  if (data.type !== 'answer') return data;
  const { type, ...known } = data;
  const body = bodyOf(given, bytes);
  if ((body === null) !== (data.status === 'not_found'))
    return { type: 'broken', reason: 'answer and status do not match' };
  if (body !== null && body.length > LONGEST_PROFILE)
    return { type: 'broken', reason: 'the answer is too long' };
  return { type, outcome: { ...known, packed: body && packProfile(body) } };
}

/** Returns the body as the service sent it; null if the line has none. */
function bodyOf({ answer, base64 }: Readonly<Record<string, unknown>>, bytes: Buffer): Buffer | null {
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64');
  if (typeof answer !== 'object' || answer === null) return null;
  const line = UTF8.decode(bytes);
  const member = membersOf(line)?.findLast(({ key }) => key === 'answer');
  return member === undefined ? null : Buffer.from(line.slice(member.valueStart, member.valueEnd));
}
