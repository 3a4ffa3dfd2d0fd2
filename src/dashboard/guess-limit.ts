/** How often the password may be guessed, and by whom. */
import { readFile } from 'node:fs/promises';
import { isIPv6, type Socket } from 'node:net';

/**
 * Who tries: a browser that signed in before, by its own cookie, else an address; on loopback, one
 * user of this machine where the system tells them apart.
 */
export type Guesser =
  | { readonly type: 'browser'; readonly id: string }
  | { readonly type: 'address'; readonly address: string; readonly user: number | null };

interface Bucket {
  /** Wrong guesses in a row. */
  readonly wrong: number;
  /** The last one, by the monotonic clock. */
  readonly at: number;
}

const FREE_GUESSES = 5;
/** After this time without a wrong guess, a bucket is full again. */
const FORGET_AFTER_MS = 15 * 60_000;
/** At most so many are remembered, of strangers and of others each: the longest silent go first. */
const REMEMBERED_AT_MOST = 1_000;

/** The wait after wrong guesses in a row: none for five, then 1 s, doubled up to a minute. */
export function waitAfter(wrong: number): number {
  return wrong < FREE_GUESSES ? 0 : Math.min(1_000 * 2 ** (wrong - FREE_GUESSES), 60_000);
}

/**
 * After a few wrong passwords a guesser waits, longer and longer; meanwhile even the right one is
 * refused, or trying in parallel would get round the wait. Who signed in before is remembered apart
 * from strangers, so that no number of these pushes them out.
 */
export function createGuessLimit() {
  const strangers = new Map<string, Bucket>();
  const known = new Map<string, Bucket>();

  function bucketOf(name: string, now: number): Bucket {
    const found = known.get(name) ?? strangers.get(name);
    return found === undefined || now - found.at > FORGET_AFTER_MS ? { wrong: 0, at: now } : found;
  }

  function remember(buckets: Map<string, Bucket>, name: string, bucket: Bucket): void {
    // Set anew, so that the map stays in the order of the last change.
    buckets.delete(name);
    buckets.set(name, bucket);
    const oldest = buckets.keys().next();
    if (buckets.size > REMEMBERED_AT_MOST && !oldest.done) buckets.delete(oldest.value);
  }

  return {
    /** How long until the next attempt is looked at; 0: not at all. */
    waitMs(guesser: Guesser, now: number): number {
      const { wrong, at } = bucketOf(nameOf(guesser), now);
      return Math.max(0, at + waitAfter(wrong) - now);
    },
    noteWrong(guesser: Guesser, now: number): void {
      const name = nameOf(guesser);
      const wrong = bucketOf(name, now).wrong + 1;
      const isStranger = guesser.type === 'address' && !known.has(name);
      remember(isStranger ? strangers : known, name, { wrong, at: now });
    },
    /** A browser starts again. An address does not: others may have it too, and guess between. */
    noteRight(guesser: Guesser, now: number): void {
      const name = nameOf(guesser);
      const bucket = guesser.type === 'browser' ? { wrong: 0, at: now } : bucketOf(name, now);
      strangers.delete(name);
      remember(known, name, bucket);
    },
  };
}

function nameOf(guesser: Guesser): string {
  if (guesser.type === 'browser') return `browser ${guesser.id}`;
  return guesser.user === null ? sourceOf(guesser.address) : `user ${guesser.user}`;
}

/** The holder of one IPv6 address usually has the whole /64. */
function sourceOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groupsOf = (part: string) => part.split(':').filter((group) => group !== '');
  const [groups, rest] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = new Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0');
  return [...groups, ...zeros, ...rest].slice(0, 4).join(':');
}

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/**
 * Which user of this machine a connection on loopback comes from; null: another machine, or a
 * system that does not say (Linux does).
 */
export async function localUserOf(socket: Socket): Promise<number | null> {
  const own = endOf(socket.remoteAddress, socket.remotePort);
  const other = endOf(socket.localAddress, socket.localPort);
  if (own === null || other === null) return null;
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')));
  return userIn(tables.join('\n'), own, other);
}

/**
 * The user of the socket with this end and that other one, in the tables of `proc_net(5)`: number,
 * its own end, the other end, state, queues, timer, retransmissions, user. Pure.
 */
export function userIn(tables: string, own: string, other: string): number | null {
  for (const line of tables.split('\n')) {
    const [, local = '', remote = '', , , , , user] = line.trim().split(/\s+/);
    if (local.endsWith(own) && remote.endsWith(other)) return Number(user);
  }
  return null;
}

/** An end on loopback as the tables write it, from its end; null: it is elsewhere. */
function endOf(address = '', port = 0): string | null {
  const host = hexOf(address);
  return host === null ? null : `${host}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

function hexOf(address: string): string | null {
  if (address === '::1') return '00000000000000000000000001000000';
  const [, ...bytes] = /^(?:::ffff:)?(127)\.(\d+)\.(\d+)\.(\d+)$/.exec(address) ?? [];
  if (bytes.length === 0) return null;
  const hex = (byte: string) => Number(byte).toString(16).toUpperCase().padStart(2, '0');
  return bytes.reverse().map(hex).join('');
}
