/** Passes on only the text of ioredis errors: they also hold arguments, credentials and brands. */
import { type BrandEnrichError, errorText, RunError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { isErrorCode, systemWords } from '../../core/system-error.js';
import { ADDRESS, FIND_WRITER, unfit } from '../stores/store-calls.js';

/** Replies of a server that starts or is being replaced: they pass, and nothing was done. */
const PASSING: Readonly<Record<string, string>> = {
  LOADING: 'it is loading its data',
  READONLY: 'it is a read-only replica at the moment',
  MASTERDOWN: 'it is a replica, and its primary is unavailable',
  CLUSTERDOWN: 'its cluster is down',
  TRYAGAIN: 'its cluster is moving keys',
  BUSY: "it is busy with another client's script",
};

const SEE_LOG = 'see the log of Redis, then run again';
const REFUSALS: Readonly<Record<string, string>> = {
  OOM: 'give Redis more memory (maxmemory), then run again',
  MISCONF: 'free space on the disk of Redis, then run again',
  MOVED: 'use the address of the node that owns the keys, then run again',
  NOAUTH: 'add user and password to the address, then run again',
  WRONGPASS: 'correct user and password in the address, then run again',
  NOPERM: 'allow this user all commands on the keys, then run again',
  CROSSSLOT: SEE_LOG,
  NOREPLICAS: SEE_LOG,
  NOPROTO: SEE_LOG,
  WRONGTYPE: 'another program has written to a key of brand-enrich: remove that key, then run again',
  DENIED: SEE_LOG,
};

const LONGEST_REPLY = 500;

/** True for an error that Redis itself answered with, so the command did arrive. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** True for the refusal of the database that an address names, before any other command is sent. */
export function isRefusedDatabase(error: unknown): boolean {
  if (!isReply(error) || !('command' in error)) return false;
  const { name } = error.command as { readonly name?: unknown };
  return name === 'select';
}

/** `engine-unfit` when the server answered that it cannot, else `engine-unreachable`. */
export function storeFailure(address: string, error: unknown): BrandEnrichError {
  const text = errorText(error).slice(0, LONGEST_REPLY);
  const cause = new Error(text);
  const unreachable = (why: string, todo: Phrase) =>
    new RunError({ code: 'engine-unreachable', subject: `${address} (${why})`, todo, cause });
  if (!isReply(error)) {
    const reachable = 'and that Redis is running and reachable; then run again';
    const isTls = address.startsWith('rediss') && isErrorCode(error, 'ECONNRESET', 'EPIPE');
    // With TLS 1.3 its reason may come too late.
    const asks = isTls ? phrase`${{ setting: 'clientCert' }} if it asks for a client certificate, ` : '';
    const todo = phrase`check ${asks}the address (${ADDRESS}), ${reachable}`;
    const isOdd = error instanceof TypeError || /please report/i.test(text);
    return unreachable(isOdd ? 'what answers there does not speak as Redis does' : systemWords(error), todo);
  }
  // An error within a script holds the word of the command that failed there.
  const saidOf = (table: object) =>
    Object.entries(table).find(([word]) => text.startsWith(`${word} `) || text.includes(`-${word} `));
  const [word, meaning] = saidOf(PASSING) ?? [];
  if (word !== undefined) {
    const todo =
      'this usually passes within seconds; see the log of Redis, or use the address of the ' +
      'primary; then run again';
    return unreachable(`${meaning}: ${word}`, todo);
  }
  if (isRefusedDatabase(error) && !/^NOAUTH /.test(text)) {
    const what = 'the engine refuses the database of its address';
    const has = 'that this Redis has and this user may SELECT; a cluster has only 0';
    const todo = phrase`name one in the address (${ADDRESS}) ${has}`;
    return unfit(what, `${address} (${text})`, todo, cause);
  }
  const [, known] = saidOf(REFUSALS) ?? [];
  // A script of ours may fail on what it has read.
  const todo = known ?? (/user_script/.test(text) ? FIND_WRITER : SEE_LOG);
  return unfit('the engine refuses to work', `${address} (${text})`, todo, cause);
}
