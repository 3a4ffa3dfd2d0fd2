/** Bull Board, read-only: a job removed or retried could buy twice or leave rows unanswered. */
import { resolve } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Queue } from 'bullmq';
import { withinDeadline } from '../core/lifecycle.js';
import { listWorkers } from '../engine/queues.js';
import { QUEUE_PATH } from './technical-section.js';

/** `title` and `description` are for people. */
type ShownQueue = { readonly queue: Queue; readonly title: string; readonly description: string };
export type QueueBoard = ReturnType<typeof createQueueBoard>;

/** Its own scripts, styles and pictures; styles also where its components write them. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
/** An unavailable engine may never answer. */
const DEADLINE_MS = 10_000;
/** Elements that load something. */
const LOADERS = /<(?:link|script|img)\b[^<>]*>(?:<\/script>)?/gi;

/** Its own links are in a menu. First in the page, so the first stop of the Tab key. */
const WAY_BACK =
  '<a href="/" style="position:fixed;right:16px;bottom:16px;z-index:50;padding:8px 14px;border-radius:99px;' +
  'background:#1a1d23;color:#fff;border:1px solid #98a1b0;font:600 14px ' +
  'system-ui,sans-serif;text-decoration:none">← Back to the dashboard</a>';

const UNAVAILABLE = 'the engine is unavailable; reload this page later\n';

/** BullMQ's list of sessions has no addresses on PostgreSQL; the base class leaves those out. */
class ShownQueueAdapter extends BullMQAdapter {
  readonly #queue: Queue;

  constructor(...[queue, options]: ConstructorParameters<typeof BullMQAdapter>) {
    super(queue, options);
    this.#queue = queue;
  }

  override async getWorkers() {
    const workers = await listWorkers(this.#queue);
    return (
      workers?.map(({ id, host, pid, since, address }) => ({
        id,
        name: `${host}, process ${pid}`,
        addr: address || 'a PostgreSQL session',
        age: Math.max(0, Math.round((Date.now() - since) / 1_000)),
      })) ?? null
    );
  }
}

/** The caller closes the queues. `onError` gets the driver's message; readers do not see it. */
export function createQueueBoard(shown: readonly ShownQueue[], onError: (reason: string) => void) {
  const adapter = new HonoAdapter(serveFiles);
  adapter.setBasePath(QUEUE_PATH);
  createBullBoard({
    queues: shown.map(
      ({ queue, title, description }) =>
        new ShownQueueAdapter(queue, { readOnlyMode: true, displayName: title, description }),
    ),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'brand-enrich',
        hideDocsLink: true,
        pollingInterval: { showSetting: false, forceInterval: 5 },
      },
    },
  });
  const app = adapter.registerPlugin();
  return {
    /** `request`: of a path below `QUEUE_PATH`. */
    async answer(request: Request): Promise<Response> {
      if (request.method !== 'GET') {
        return new Response('the queue is read-only\n', { status: 405, headers: { allow: 'GET' } });
      }
      const url = new URL(request.url);
      url.pathname = url.pathname.slice(QUEUE_PATH.length);
      const asked = Promise.resolve(app.fetch(new Request(url, { headers: request.headers })));
      const answer = await withinDeadline(asked, DEADLINE_MS);
      if (answer === undefined) return new Response(UNAVAILABLE, { status: 504 });
      if (answer.status >= 500) {
        onError(await answer.text());
        return new Response(UNAVAILABLE, { status: 503 });
      }
      const headers = new Headers(answer.headers);
      headers.set('content-security-policy', POLICY);
      const isPage = headers.get('content-type')?.startsWith('text/html') === true;
      if (isPage) headers.delete('content-length');
      const body = isPage ? withWayBack(await answer.text()) : answer.body;
      return new Response(body, { status: answer.status, headers });
    },
  };
}

/** The adapter gives its folder relative to the working one, and strips a path already stripped. */
function serveFiles(options: Parameters<typeof serveStatic>[0] = {}): ReturnType<typeof serveStatic> {
  return serveStatic({
    ...options,
    root: resolve(options.root ?? ''),
    rewriteRequestPath: (path) => path.replace(/^\/static/, ''),
  });
}

function withWayBack(page: string): string {
  const own = page.replace(LOADERS, (it) => (/\b(?:href|src)="(?:https?:)?\/\//i.test(it) ? '' : it));
  return own.replace(/<body\b[^<>]*>/, (body) => `${body}${WAY_BACK}`);
}
