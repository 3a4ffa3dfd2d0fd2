/** Which user of this machine a connection on loopback comes from. */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** The number of the user; null: another machine, or a system that does not say (Linux does). */
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
