/** A web server that knows nothing of brands: what an address is that was mistyped. Counts what it is asked. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';

export interface WebServer {
  readonly url: string;
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[];
  /** The most requests that were under way at one time. */
  readonly mostAtOnce: number;
  answer: RequestListener;
}

export async function startWebServer(answer: RequestListener): Promise<WebServer> {
  const asked: string[] = [];
  let underWay = 0;
  let most = 0;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    underWay += 1;
    most = Math.max(most, underWay);
    response.on('close', () => {
      underWay -= 1;
    });
    web.answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  const web: WebServer = {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    get mostAtOnce() {
      return most;
    },
    answer,
  };
  return web;
}
