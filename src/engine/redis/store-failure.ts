/**
 * What an error of the Redis client means for the caller, as one of the house's errors. Errors of ioredis carry the
 * command with all its arguments, credentials and brands among them, so only their text goes further.
 */
import type { BrandEnrichError } from '../../errors.js';
import { errorText, FailFileError } from '../../errors.js';
import { systemWords } from '../../system-error.js';

/** Replies by which a server says that it cannot do its work, as told by Redis' own sources. */
const REFUSALS = [
  'OOM',
  'MISCONF',
  'READONLY',
  'LOADING',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'MOVED',
  'CROSSSLOT',
  'NOREPLICAS',
  'NOAUTH',
  'WRONGPASS',
  'NOPERM',
  'NOPROTO',
  'BUSY',
  'DENIED',
] as const;

const TODO: Partial<Record<string, string>> = {
  OOM: 'give Redis more memory (maxmemory), then run again',
  MISCONF: 'make room on the disk of Redis, then run again',
  READONLY: 'use the address of the primary, then run again',
  MOVED: 'use the address of the node that holds the keys, then run again',
  NOAUTH: 'put user and password into the address, then run again',
  WRONGPASS: 'correct user and password in the address, then run again',
  NOPERM: 'allow this user all commands on its keys, then run again',
};

/** True for an error that Redis itself answered with, so the command did arrive. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/**
 * `engine-unfit` when the server answered that it cannot, `engine-unreachable` when it did not answer or the answer was
 * lost. Any other reply is a bug of ours and comes back as a plain `Error`.
 */
export function storeFailure(address: string, error: unknown): BrandEnrichError | Error {
  const text = errorText(error);
  const cause = new Error(text);
  if (!isReply(error)) {
    return new FailFileError({
      code: 'engine-unreachable',
      subject: `${address} (${systemWords(error)})`,
      todo: 'check the address (--engine), and that Redis runs and can be reached; then run again',
      cause,
    });
  }
  const refusal = REFUSALS.find((word) => text.startsWith(word) || text.includes(`-${word} `));
  if (refusal === undefined) return cause;
  return new FailFileError({
    code: 'engine-unfit',
    what: 'the engine refuses to work',
    subject: `${address} (${text})`,
    todo: TODO[refusal] ?? 'see what Redis logs, then run again',
    cause,
  });
}
