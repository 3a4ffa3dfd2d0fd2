/** A web server that is not the API, as behind a mistyped address. Counts its requests. */
import { createServer, type RequestListener } from 'node:http';
import { listenForTest } from './listen-anew.js';

export async function startWebServer(answer: RequestListener) {
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
  const port = await listenForTest(server);
  const web = {
    url: `http://127.0.0.1:${port}`,
    asked,
    /** The highest number of concurrent requests. */
    get mostAtOnce() {
      return most;
    },
    answer,
  };
  return web;
}
