/** Reads the accounts of the local service (fields: the manual). Hashes plain tokens at once. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { parseDecimal } from '../core/decimal.js';
import { ConfigError, usageProblem } from '../core/errors.js';
import { attempt } from '../core/lifecycle.js';
import { readPlainFileSync } from '../core/plain-file.js';
import { systemWords } from '../core/system-error.js';

const amount = z.union([z.number(), z.string()]).transform((value, context) => {
  const decimal = parseDecimal(value);
  if (decimal !== null) return decimal;
  context.addIssue({ code: 'custom', message: 'not an amount of money of zero or more' });
  return z.NEVER;
});

/** The defaults are those of the specification ("Limits"). */
const accountSchema = z
  .strictObject({
    name: z.string().min(1).max(100),
    tokenSha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, '64 hex digits')
      .optional(),
    token: z.string().regex(/^\S+$/, 'one word without blanks').optional(),
    plan: z.enum(['free', 'paid']).default('free'),
    quota: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
    /** `month`: the quota renews each UTC month. `lifetime`: it never does, and has no overage. */
    period: z.enum(['month', 'lifetime']).default('month'),
    /** The monthly overage budget, and the price of one request beyond the quota. */
    overageBudget: amount.prefault(100),
    overagePrice: amount.refine((price) => price.units > 0n, 'must be more than 0').prefault(0.1),
    notices: z.strictObject({ webhook: z.url().optional(), email: z.email().optional() }).optional(),
  })
  .refine((account) => (account.token === undefined) !== (account.tokenSha256 === undefined), {
    message: 'needs either tokenSha256 or token',
  })
  .transform(({ token, tokenSha256, notices, ...terms }) => ({
    ...terms,
    tokenHash: token === undefined ? Buffer.from(tokenSha256 ?? '', 'hex') : hashToken(token),
    /** True if the file has the token in clear, which deserves a warning. */
    isInClear: token !== undefined,
    /** Receivers of the 80 % notice, besides the log. */
    notices: { webhook: notices?.webhook ?? null, email: notices?.email ?? null },
  }));
export type Account = Readonly<z.output<typeof accountSchema>>;

/** `smtp://` or `smtps://`, with credentials. */
const mailSchema = z.strictObject({ url: z.url({ protocol: /^smtps?$/ }), from: z.string().min(1) });
export type MailSettings = Readonly<z.output<typeof mailSchema>>;

const fileSchema = z.strictObject({ smtp: mailSchema.optional(), accounts: z.array(accountSchema).min(1) });

export class Accounts {
  constructor(
    readonly all: readonly Account[],
    readonly mail: MailSettings | null = null,
  ) {}

  /** Returns the account of an `Authorization` header. Compares every hash, in constant time. */
  authenticate(authorization: string | undefined): Account | undefined {
    const token = bearerToken(authorization);
    if (token === null) return undefined;
    const hash = hashToken(token);
    return this.all.filter(({ tokenHash }) => timingSafeEqual(tokenHash, hash)).at(-1);
  }
}

/** Reads accounts. Throws `ConfigError` with every problem, but no value, which may be a secret. */
export function parseAccounts(text: string, source: string): Accounts {
  const json: unknown = attempt(() => JSON.parse(text), undefined);
  if (json === undefined) throw unusable(source, ['it is not JSON']);
  const parsed = fileSchema.safeParse(json);
  if (!parsed.success) {
    throw unusable(
      source,
      parsed.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`),
    );
  }
  const { accounts: all, smtp: mail = null } = parsed.data;
  const names = all.map(({ name }) => name);
  const hashes = all.map(({ tokenHash }) => tokenHash.toString('hex'));
  const unsendable = all.filter(({ notices }) => notices.email !== null && mail === null);
  const problems = [
    ...repeated(names).map((name) => `two accounts are named ${name}`),
    ...repeated(hashes).map(() => 'two accounts share a token'),
    ...unsendable.map(({ name }) => `${name}: notices.email needs smtp`),
  ];
  if (problems.length > 0) throw unusable(source, problems);
  return new Accounts(all, mail);
}

/** Reads an accounts file. Throws `ConfigError` if it cannot be read or used. */
export function loadAccounts(path: string): Accounts {
  let text: string;
  try {
    text = readPlainFileSync(path);
  } catch (error) {
    const what = `the accounts file cannot be read: ${systemWords(error)}`;
    throw new ConfigError(usageProblem(what, path, 'give a readable file with --accounts'));
  }
  return parseAccounts(text, path);
}

function repeated(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))];
}

function unusable(source: string, problems: readonly string[]): ConfigError {
  const what = 'the accounts file cannot be used';
  return new ConfigError(usageProblem(what, source, `correct: ${problems.join(' · ')}`));
}

/** Returns the SHA-256 of a token, the only form in which the service keeps it. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Returns the token of `Bearer <token>`, in any case (RFC 9110, 11.1); null for other headers. */
export function bearerToken(authorization: string | undefined): string | null {
  const match = /^bearer +([^\s]+) *$/i.exec(authorization ?? '');
  return match?.[1] ?? null;
}
