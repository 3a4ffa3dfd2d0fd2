/** A webhook receiver that answers as configured and records what it receives. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenForTest } from '../support/listen-anew.js';

export type Hook = Awaited<ReturnType<typeof startHook>>;

/** Answers with these statuses in turn, then with the last; 0: with none. Closes with the test. */
export async function startHook(...statuses: number[]) {
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      const status = statuses[Math.min(received.length, statuses.length) - 1] ?? 200;
      if (status > 0) response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  const port = await listenForTest(server);
  return { url: `http://127.0.0.1:${port}/hook?key=of-the-receiver`, received };
}
