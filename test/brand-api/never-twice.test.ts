/** A request that may have been paid for is never resent, however a connection ends. */
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { SendResult } from '../../src/brand-api/send.js';
import { type Arrived, answerText } from './raw-server.js';
import { createSending, type Sending } from './sending.js';

const ROUNDS = 40;
const OK = answerText('{"name":"Acme"}');

/** The sender is right about the server: answered is once, unsent never, else at most once. */
function expectTruth({ server }: Sending, path: string, result: SendResult): void {
  const count = server.countOf(path);
  if (result.type === 'answer') expect([path, count]).toEqual([path, 1]);
  else if (!result.wasSent) expect([path, count]).toEqual([path, 0]);
  else expect(count).toBeLessThanOrEqual(1);
}

describe('at most once', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['destroys', (socket) => socket.destroy()],
  ])('when a server that kept the connection alive %s it as the next request arrives', async (_what, end) => {
    const sending = await createSending(
      (socket, _request, index) => {
        if (index % 2 === 0) socket.write(OK);
        else end(socket);
      },
      { connections: 1 },
    );
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = await sending.send(`/${round}/first`);
      const second = await sending.send(`/${round}/second`);
      expect([first.type, second]).toMatchObject(['answer', { type: 'no_answer', wasSent: true }]);
    }
    const counts = Array.from({ length: ROUNDS }, (_, round) => sending.server.countOf(`/${round}/second`));
    expect(counts).toEqual(counts.map(() => 1));
  });

  test.each<[string, (socket: Socket) => void]>([
    ['closes', (socket) => socket.end(OK)],
    ['resets', (socket) => socket.write(OK, () => socket.resetAndDestroy())],
    ['closes later', (socket) => socket.write(OK, () => setImmediate(() => socket.end()))],
    ['resets later', (socket) => socket.write(OK, () => setTimeout(() => socket.resetAndDestroy(), 1))],
  ])('when a server that promised to keep the connection %s at the next request', async (_what, respond) => {
    const sending = await createSending(respond, { connections: 2 });
    for (let round = 0; round < ROUNDS; round += 1) {
      // No pause in between: the next request meets the end of the connection wherever it is by
      // then.
      const path = `/${round}`;
      expectTruth(sending, path, await sending.send(path));
    }
    expect(sending.server.arrived.length).toBeGreaterThan(ROUNDS / 2);
  });

  test('when many requests at once meet connections that end at any moment', async () => {
    const respond = (socket: Socket, _request: Arrived, index: number) => {
      if (index % 3 === 0) socket.write(OK);
      else if (index % 3 === 1) socket.end(OK);
      else socket.resetAndDestroy();
    };
    const sending = await createSending(respond, { connections: 8 });
    const paths = Array.from({ length: 300 }, (_, index) => `/${index}`);
    const results = await Promise.all(
      paths.map(async (path) => ({ path, result: await sending.send(path) })),
    );
    for (const { path, result } of results) expectTruth(sending, path, result);
  });

  test('when a stopped request has its connection opened anew', async () => {
    const sending = await createSending(
      (socket, { path }) => {
        if (path === '/next') socket.write(OK);
      },
      { connections: 1 },
    );
    const stop = new AbortController();
    const stopped = sending.send('/stopped', stop.signal);
    await sending.server.untilArrived(1);
    stop.abort();
    await stopped;
    expect((await sending.send('/next')).type).toBe('answer');
    expect(sending.server.arrived.map(({ path }) => path)).toEqual(['/stopped', '/next']);
  });
});
