import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

const used = new Set<number>();

/**
 * Listens on loopback, on a port that no server of this process had before: engines remember what
 * they learned of a service by its address. Returns the port.
 */
export async function listenAnew(server: Server): Promise<number> {
  for (;;) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (!used.has(port)) {
      used.add(port);
      return port;
    }
    server.close();
    await once(server, 'close');
  }
}
