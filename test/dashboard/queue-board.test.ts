/** Bull Board while its engine is unavailable. */
import { Queue } from 'bullmq';
import { afterEach, expect, it } from 'vitest';
import { createQueueBoard } from '../../src/dashboard/queue-board.js';
import { freePort } from '../support/free-port.js';

const queues: Queue[] = [];
afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.disconnect().catch(() => undefined)));
});

it('reports an unavailable engine in one line, and sends the driver’s message elsewhere', async () => {
  const queue = new Queue('lookups', {
    connection: {
      host: '127.0.0.1',
      port: await freePort(),
      enableOfflineQueue: false,
      retryStrategy: () => null,
    },
  });
  queue.on('error', () => undefined);
  queues.push(queue);
  const reasons: string[] = [];
  const board = createQueueBoard([{ queue, title: 'Lookups', description: 'x' }], (reason) => {
    reasons.push(reason);
  });
  const answer = await board.answer(new Request('http://127.0.0.1/queue/api/queues'));
  expect([answer.status, await answer.text()]).toEqual([
    503,
    'the engine is unavailable; reload this page later\n',
  ]);
  expect(reasons).toHaveLength(1);
  expect(reasons[0]).toContain('ECONNREFUSED');
});
