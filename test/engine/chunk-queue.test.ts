/** Turns of the chunk queue: the priority of a run's next chunk. */
import { expect, test } from 'vitest';
import { chunkSizeFor, firstTurn } from '../../src/engine/chunk-queue.js';

interface Waiting {
  readonly run: string;
  readonly priority: number;
  readonly attemptsStarted: number;
}

/** A queue in the order of BullMQ: the lowest priority first, then the earliest. */
function createQueue() {
  let waiting: Waiting[] = [];
  return {
    add(run: string, ahead: number, attemptsStarted = 0, priority = firstTurn(waiting.slice(0, 5), ahead)) {
      waiting = [...waiting, { run, priority, attemptsStarted }].sort((a, b) => a.priority - b.priority);
    },
    take: () => waiting.shift()?.run,
  };
}

const BACK = [2, 1] as const;
test.each([
  { what: 'an empty queue', front: [], ahead: 0, turn: 1 },
  { what: 'own chunks, all in work', front: [], ahead: 4, turn: 5 },
  { what: 'a long queue of another run', front: [[70, 0]], ahead: 0, turn: 71 },
  { what: 'own chunks ahead', front: [[70, 0]], ahead: 3, turn: 74 },
  { what: 'a chunk that came back from parking in front', front: [BACK, [70, 0]], ahead: 0, turn: 71 },
  { what: 'nothing but chunks that came back', front: [BACK, [9, 3]], ahead: 0, turn: 10 },
] as const)('$what', ({ front, ahead, turn }) => {
  const jobs = front.map(([priority = 0, attemptsStarted = 0]) => ({ priority, attemptsStarted }));
  expect(firstTurn([...jobs, undefined], ahead)).toBe(turn);
});

test.each([
  { what: 'nothing is known', perSecond: 0, active: 0, size: 50 },
  { what: 'the pace of a remote service, one worker', perSecond: 90, active: 5, size: 50 },
  { what: 'latency of 100 ms, 64 at once', perSecond: 640, active: 5, size: 128 },
  { what: 'a service that answers at once', perSecond: 5_000, active: 5, size: 200 },
  { what: 'a pace that many workers share', perSecond: 1_000, active: 500, size: 50 },
  { what: 'no chunk at that moment', perSecond: 130, active: 0, size: 130 },
])('a chunk is about a second of work: $what', ({ perSecond, active, size }) => {
  expect(chunkSizeFor(perSecond, active)).toBe(size);
});

test('two long runs with full windows get equal shares, even if the second starts late', () => {
  const queue = createQueue();
  const ahead: Record<string, number> = { a: 0, b: 0 };
  const served: string[] = [];
  const fill = (run: string) => {
    for (; (ahead[run] ?? 0) < 200; ahead[run] = (ahead[run] ?? 0) + 1) queue.add(run, ahead[run] ?? 0);
  };
  for (let step = 0; step < 2_000; step += 1) {
    fill('a');
    if (step >= 500) fill('b');
    const run = queue.take() ?? '';
    served.push(run);
    ahead[run] = (ahead[run] ?? 0) - 1;
  }
  const shareOf = (run: string) => served.slice(510).filter((each) => each === run).length;
  expect(Math.abs(shareOf('a') - shareOf('b'))).toBeLessThan(5);
});

test('new runs at twice the rate of service do not starve an older run', () => {
  const queue = createQueue();
  for (let ahead = 0; ahead < 10; ahead += 1) queue.add('old', ahead);
  const served: (string | undefined)[] = [];
  for (let step = 0; step < 3_000; step += 1) {
    queue.add(`new-${step}-a`, 0);
    queue.add(`new-${step}-b`, 0);
    served.push(queue.take());
  }
  expect(served.filter((run) => run === 'old').length).toBeGreaterThan(8);
});
