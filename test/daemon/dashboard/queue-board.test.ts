/** Bull Board while its engine is away. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Queue } from 'bullmq';
import { afterEach, expect, it } from 'vitest';
import { createQueueBoard } from '../../../src/daemon/dashboard/queue-board.js';

/** Nobody listens there any more. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const queues: Queue[] = [];
afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.disconnect().catch(() => undefined)));
});

it('an engine that is away is said in a line, and its driver’s words go elsewhere', async () => {
  const queue = new Queue('lookups', {
    connection: {
      host: '127.0.0.1',
      port: await closedPort(),
      enableOfflineQueue: false,
      retryStrategy: () => null,
    },
  });
  queue.on('error', () => undefined);
  queues.push(queue);
  const told: string[] = [];
  const board = createQueueBoard([{ queue, title: 'Lookups', description: 'x' }], (reason) => {
    told.push(reason);
  });
  const answer = await board.answer(new Request('http://127.0.0.1/queue/api/queues'));
  expect([answer.status, await answer.text()]).toEqual([
    503,
    'the engine is unavailable; reload this page later\n',
  ]);
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('ECONNREFUSED');
});
