/**
 * An export of an engine as lines of JSON: a header, the accounts, the stored answers, and an end
 * that counts them. What the service sent stays as it came, so that numbers that JavaScript cannot
 * hold survive; what cannot stand on a line goes as base64.
 */
import { membersOf } from '../core/json-text.js';
import type { Spending } from '../ledger/ledger.js';
import type { StoredOutcome } from '../stores/outcome-store.js';
import { packProfile, unpackProfile } from '../stores/profile-codec.js';

const TYPE = 'brand-enrich export';
const VERSION = 1;

export interface ExportHeader {
  readonly engine: string;
  readonly exportedAt: number;
}

export type ExportLine =
  | { readonly type: 'account'; readonly account: string; readonly spending: Spending }
  | { readonly type: 'answer'; readonly outcome: StoredOutcome }
  | { readonly type: 'end'; readonly answers: number }
  /** The fault of the line, as part of a sentence. */
  | { readonly type: 'broken'; readonly reason: string };

const iso = (ms: number) => new Date(ms).toISOString();

export function headerLine({ engine, exportedAt }: ExportHeader): string {
  return line({ type: TYPE, version: VERSION, engine, exportedAt: iso(exportedAt) });
}

export function accountLine(account: string, { period, sent, others, quota }: Spending): string {
  return line({ type: 'account', account, period, sent, others, quota });
}

/** Throws when the stored bytes are not an answer. */
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

/** A JSON object as text on one line, with `{` and `}` at its ends; null: it is none. */
function textOnOneLine(body: Buffer): string | null {
  try {
    const text = UTF8.decode(body);
    if (!/^\{[^\r\n]*\}$/.test(text)) return null;
    JSON.parse(text);
    return text;
  } catch {
    return null;
  }
}

/** The header; a sentence about what the line is when it is none. */
export function readHeader(bytes: Buffer): ExportHeader | string {
  const given = readObject(bytes);
  if (typeof given === 'string' || given.type !== TYPE)
    return 'it does not start with the header of an export';
  if (given.version !== VERSION)
    return `it is an export of version ${String(given.version)}, and this release reads ${VERSION}`;
  return { engine: String(given.engine), exportedAt: Date.parse(String(given.exportedAt)) };
}

export function readLine(bytes: Buffer): ExportLine {
  const given = readObject(bytes);
  try {
    if (typeof given === 'string') throw new Broken(given);
    if (given.type === 'account') return readAccount(given);
    if (given.type === 'answer') return readAnswer(given, bytes);
    check(given.type === 'end', `its type is ${JSON.stringify(given.type)}`);
    check(isCount(given.answers), 'the count is missing');
    return { type: 'end', answers: given.answers };
  } catch (error) {
    if (error instanceof Broken) return { type: 'broken', reason: error.message };
    throw error;
  }
}

type Given = Readonly<Record<string, unknown>>;

class Broken extends Error {}

function check(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Broken(reason);
}

function readObject(bytes: Buffer): Given | string {
  try {
    const value: unknown = JSON.parse(UTF8.decode(bytes));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Given) : 'it is not a JSON object';
  } catch {
    return 'it is not JSON, or it is cut off';
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isPeriod = (value: unknown): value is string | null =>
  value === null ||
  value === 'none' ||
  (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)));

/** Neither store takes NUL; our names contain no other control characters either. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,4000}$/u.test(value);

function readAccount({ account, period, sent, others, quota }: Given): ExportLine {
  check(isName(account), 'the name of the account is missing');
  check(isPeriod(period), 'the period is not a date');
  const areCounts = isCount(sent) && isCount(others) && (quota === null || isCount(quota));
  check(areCounts, 'a count is not a whole number');
  return { type: 'account', account, spending: { period, sent, others, quota } };
}

/** Service, allowNsfw, kind and value, as `outcome-key.ts` makes them. */
const KEY = /^[0-9a-f]{10}:[utf]:[a-z]+:./;

function readAnswer(given: Given, bytes: Buffer): ExportLine {
  const { key, status, billed } = given;
  const fetchedAt = Date.parse(String(given.fetchedAt));
  const freshUntil = given.freshUntil === null ? null : Date.parse(String(given.freshUntil));
  check(isName(key) && KEY.test(key), 'the key has an unknown form');
  const isStatus = status === 'matched' || status === 'not_found';
  check(isStatus, 'the status is neither matched nor not_found');
  check(typeof billed === 'boolean', 'billed is neither true nor false');
  check(!Number.isNaN(fetchedAt) && !Number.isNaN(freshUntil), 'a date cannot be read');
  const body = bodyOf(given, bytes);
  check((body === null) === (status === 'not_found'), 'answer and status do not match');
  const packed = body === null ? null : packProfile(body, true);
  return { type: 'answer', outcome: { key, status, packed, fetchedAt, billed, freshUntil } };
}

function bodyOf({ answer, base64 }: Given, bytes: Buffer): Buffer | null {
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64');
  if (typeof answer !== 'object' || answer === null) return null;
  const line = UTF8.decode(bytes);
  const member = membersOf(line)?.findLast(({ key }) => key === 'answer');
  const text = member && line.slice(member.valueStart, member.valueEnd);
  return text === undefined ? null : Buffer.from(text);
}
