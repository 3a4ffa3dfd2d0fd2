/** Until an answer of its run shows the service, a worker asks for one identifier at a time. */
import { describe, expect, it, vi } from 'vitest';
import type { Answer } from '../../src/brand-api/read-answer.js';
import { NO_TALLY, type RunRecord } from '../../src/engine/stores/run-store.js';
import { createAddressTrust } from '../../src/worker/address-trust.js';
import { ask } from '../../src/worker/ask.js';
import type { Asked } from '../../src/worker/asked.js';
import { HALTS } from '../support/halts.js';
import { type Asking, answerOf, createAsking, MATCHED, runRecord, UNUSABLE, untilAborted } from './asking.js';

const JSON_404 = answerOf({ type: 'not_found', status: 404, retryLater: false, evidence: 'object' });
const SHOWN = { ...JSON_404, usage: 7 };
const STOPPED = { result: { type: 'again', retryInMs: 0, failedAttempt: null }, requests: 0, billed: 0 };

/** Identifiers of a run at once, whose answers the test gives one after the other. */
function createRun(run = runRecord(), halts = {}) {
  const waiting: ((answer: Answer) => void)[] = [];
  const answerOnce = () => new Promise<Answer>((resolve) => waiting.push(resolve));
  const asking = createAsking({ answers: [answerOnce], halts });
  return {
    ...asking,
    waiting,
    ask: (count: number, of = run, stop = asking.stop.signal) => askMany(asking, of, count, stop),
    /** Answers the one that is next, once so many are in flight. */
    async answer(inFlight: number, answer: Answer): Promise<void> {
      await vi.waitUntil(() => waiting.length === inFlight);
      waiting.shift()?.(answer);
    },
  };
}

function askMany({ context, abort }: Asking, run: RunRecord, count: number, stop: AbortSignal) {
  return Array.from({ length: count }, (_, at): Promise<Asked> => {
    const value = `b${at}.com`;
    const identifier = { kind: 'domain', value } as const;
    return ask(context, run, value, identifier, { stop, abort: abort.signal });
  });
}

describe('until an answer shows the service', () => {
  it.each([
    ['a brand', MATCHED],
    ['a "not found" with its usage header', SHOWN],
  ])('one request of the run is sent at a time, and all once there is %s', async (_, good) => {
    const run = createRun();
    const all = run.ask(6);
    await run.answer(1, JSON_404);
    await run.answer(1, JSON_404);
    await run.answer(1, good);
    for (const left of [3, 2, 1]) await run.answer(left, JSON_404);
    const types = (await Promise.all(all)).map(({ result }) => result.type);
    expect(types).toEqual(['failed', 'failed', good.meaning.type, ...Array(3).fill('not_found')]);
    // The first two were paid for: they are kept as what they said.
    expect(run.recorded.map(({ key }) => key).sort()).toEqual([0, 1, 2, 3, 4, 5].map((at) => `b${at}.com`));
  });

  it('each run waits for its own answer', async () => {
    const run = createRun();
    const first = run.ask(1);
    await run.answer(1, MATCHED);
    await Promise.all(first);
    const other = run.ask(2, runRecord({}, { id: 'other' }));
    await run.answer(1, MATCHED);
    await run.answer(1, JSON_404);
    expect((await Promise.all(other)).map(({ result }) => result.type)).toEqual(['matched', 'not_found']);
  });

  it('a waiting request can be stopped, and the next one continues', async () => {
    const run = createRun();
    const [first] = run.ask(1);
    const gone = new AbortController();
    const [stopped] = run.ask(1, undefined, gone.signal);
    const [next] = run.ask(1);
    gone.abort(new Error('stop'));
    await run.answer(1, JSON_404);
    await run.answer(1, MATCHED);
    expect(await stopped).toEqual(STOPPED);
    expect((await Promise.all([first, next])).map((it) => it?.result.type)).toEqual(['failed', 'matched']);
  });

  it('a stop ends all waiting requests once the one in flight has ended', async () => {
    const run = createRun();
    const [first, ...rest] = run.ask(4);
    await vi.waitUntil(() => run.waiting.length === 1);
    run.stop.abort(new Error('stop'));
    await run.answer(1, MATCHED);
    expect((await first)?.result.type).toBe('matched');
    expect(await Promise.all(rest)).toEqual(rest.map(() => STOPPED));
  });

  it.each<[string, RunRecord, object]>([
    ['an answer in the record of the run', runRecord({}, { tally: { ...NO_TALLY, notFound: 1 } }), {}],
    ['a user who expects unknown brands', runRecord({ allowUnknown: true }), {}],
  ])('nothing waits with %s', async (_, record, halts) => {
    const run = createRun(record, halts);
    const all = run.ask(3);
    for (const left of [3, 2, 1]) await run.answer(left, JSON_404);
    expect((await Promise.all(all)).map(({ result }) => result.type)).toEqual(Array(3).fill('not_found'));
  });

  it('nothing waits, and nothing is sent, in a run that is halted', async () => {
    const run = createRun(runRecord(), { run: HALTS.useless });
    expect((await Promise.all(run.ask(3))).map(({ result }) => result.type)).toEqual(Array(3).fill('halted'));
    expect(run.log).toEqual([]);
  });
});

describe('what a worker remembers', () => {
  const trust = createAddressTrust('http://service.example', { get: async () => null });

  it('counts the unusable answers since the last good one', () => {
    expect([trust.noteUnusable(), trust.noteUnusable()]).toEqual([1, 2]);
    trust.noteGood();
    expect(trust.noteUnusable()).toBe(1);
    trust.forget('run');
    expect(trust.noteUnusable()).toBe(1);
  });

  it('covers a thousand runs, and forgets a halted one', () => {
    trust.of({ id: 'old', tally: NO_TALLY }).untrusted = 3;
    trust.of({ id: 'used', tally: NO_TALLY }).untrusted = 4;
    for (let at = 0; at < 999; at += 1) {
      trust.of({ id: `run ${at}`, tally: NO_TALLY });
      trust.of({ id: 'used', tally: NO_TALLY });
    }
    expect(trust.of({ id: 'used', tally: NO_TALLY }).untrusted).toBe(4);
    expect(trust.of({ id: 'old', tally: NO_TALLY }).untrusted).toBe(0);
    trust.forget('used');
    expect(trust.of({ id: 'used', tally: NO_TALLY }).untrusted).toBe(0);
  });
});

it('five untrusted answers halt their run, whatever other runs get, without reading its record', async () => {
  const run = createRun();
  const other = run.ask(1, runRecord({}, { id: 'other' }));
  await run.answer(1, MATCHED);
  await Promise.all(other);
  run.records.run = null;
  const all = run.ask(5);
  for (let count = 0; count < 4; count += 1) await run.answer(1, JSON_404);
  await vi.waitUntil(() => run.waiting.length === 1);
  expect(run.log).not.toContain('halt run useless');
  await run.answer(1, JSON_404);
  await Promise.all(all);
  expect(run.log).toContain('halt run useless');
});

it.each([
  ['a "not found"', JSON_404],
  ['an unusable answer', UNUSABLE],
])('%s is judged by what the record of its run shows by then', async (_, fifth) => {
  const run = createRun();
  const all = run.ask(6);
  for (let count = 0; count < 4; count += 1) await run.answer(1, fifth);
  await vi.waitUntil(() => run.waiting.length === 1);
  run.records.run = runRecord({}, { tally: { ...NO_TALLY, matched: 1 } });
  run.stop.abort(new Error('stop'));
  await run.answer(1, fifth);
  await Promise.all(all);
  expect(run.log.filter((line) => line.startsWith('halt'))).toEqual([]);
});

it('a request that fails leaves the line to the next', async () => {
  const asking = createAsking({
    answers: [MATCHED],
    grants: [() => Promise.reject(new Error('x')), untilAborted],
  });
  const [first, second] = askMany(asking, runRecord(), 2, asking.stop.signal);
  expect(await first).toEqual(STOPPED);
  await vi.waitUntil(() => asking.log.includes('take p2'));
  asking.stop.abort(new Error('stop'));
  expect(await second).toEqual(STOPPED);
});
