/** A TCP proxy between programs and their engine, for networks that fail. */
import { connect, createServer, type Socket } from 'node:net';
import { listenForTest } from './listen-anew.js';

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/** Closed with the test. */
export async function startTcpProxy(serverPort: number) {
  const pairs = new Set<Record<'client' | 'server', Socket>>();
  let leadsTo = serverPort;
  let hangs = false;
  let onCut: (() => void) | undefined;

  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ port: leadsTo, host: '127.0.0.1', allowHalfOpen: true });
    const pair = { client, server };
    pairs.add(pair);
    const cut = () => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      if (hangs) from.pause();
      from.on('error', cut);
      from.on('end', () => to.end());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroySoon();
      });
      from.on('data', (bytes) => {
        if (from === server && onCut !== undefined) {
          const isCut = onCut;
          onCut = undefined;
          cut();
          isCut();
        } else if (to.writable) to.write(bytes);
      });
    }
  });

  const cutAll = () => {
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
  };
  const setHangs = (value: boolean) => {
    hangs = value;
    for (const socket of [...pairs].flatMap(({ client, server }) => [client, server]))
      value ? socket.pause() : socket.resume();
  };
  return {
    port: await listenForTest(proxy),
    /** The port on loopback that new connections lead to. */
    get leadsTo() {
      return leadsTo;
    },
    set leadsTo(port) {
      leadsTo = port;
    },
    cut: cutAll,
    /** Swallows the server's next answer, cuts its connection, and resolves then. */
    cutNextAnswer: () =>
      new Promise<void>((resolve) => {
        onCut = resolve;
      }),
    /** Tells one side of every connection that nothing more will come; the other side may go on. */
    halfClose(side: 'client' | 'server') {
      for (const pair of pairs) pair[side].end();
    },
    /** Passes nothing on until `resume`: connections stay open, and are accepted. */
    hang: () => setHangs(true),
    resume: () => setHangs(false),
  };
}
