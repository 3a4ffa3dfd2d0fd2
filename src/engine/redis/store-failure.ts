/** Turns errors of ioredis, which also hold credentials and brands, into ours with their text. */
import { type BrandEnrichError, errorText, RunError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { isErrorCode, systemWords } from '../../core/system-error.js';
import { ADDRESS, FIND_WRITER, unfit } from '../stores/store-calls.js';

/** Replies of a server that starts or is replaced: the command was not run, and can be repeated. */
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

/** True for an error in Redis' reply, so the command did arrive. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** True if Redis refuses the database in the address. */
export function isRefusedDatabase(error: unknown): boolean {
  if (!isReply(error) || !('command' in error)) return false;
  const { name } = error.command as { readonly name?: unknown };
  return name === 'select';
}

/** Returns `engine-unfit` if a person must act, `engine-unreachable` if it passes with time. */
export function storeFailure(address: string, error: unknown): BrandEnrichError {
  const text = errorText(error).slice(0, LONGEST_REPLY);
  const cause = new Error(text);
  const unreachable = (why: string, todo: Phrase) =>
    new RunError({ code: 'engine-unreachable', subject: `${address} (${why})`, todo, cause });
  if (!isReply(error)) {
    const reachable = 'and that Redis is running and reachable; then run again';
    const isTls = address.startsWith('rediss') && isErrorCode(error, 'ECONNRESET', 'EPIPE');
    // With TLS 1.3 the server's reason may come too late.
    const asks = isTls ? phrase`${{ setting: 'clientCert' }} if it asks for a client certificate, ` : '';
    const todo = phrase`check ${asks}the address (${ADDRESS}), ${reachable}`;
    const isOdd = error instanceof TypeError || /please report/i.test(text);
    return unreachable(isOdd ? 'that port does not speak Redis' : systemWords(error), todo);
  }
  // An error of a script contains the word of the command that failed in it.
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
    const what = 'the engine refuses the database in the address';
    const has = 'that exists and that this user may SELECT; a cluster has only 0';
    const todo = phrase`use a database in the address (${ADDRESS}) ${has}`;
    return unfit(what, `${address} (${text})`, todo, cause);
  }
  const [, known] = saidOf(REFUSALS) ?? [];
  // One of our scripts may fail on data of another program.
  const todo = known ?? (/user_script/.test(text) ? FIND_WRITER : SEE_LOG);
  return unfit('the engine refuses to work', `${address} (${text})`, todo, cause);
}
