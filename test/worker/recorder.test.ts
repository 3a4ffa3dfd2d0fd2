/**
 * How answers become durable: batched, one flush after the other, and on disk when the store
 * refuses.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/core/clock.js';
import { silentLog } from '../../src/core/log.js';
import type { NewOutcome } from '../../src/core/outcome.js';
import type { OutcomeStore } from '../../src/engine/stores/outcome-store.js';
import type { PaidAnswer } from '../../src/ledger/outbox.js';
import { recordSpooled } from '../../src/worker/answer-spool.js';
import { createRecorder, LeftOnDisk, type Recorder } from '../../src/worker/recorder.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { untilAborted } from './asking.js';

const NOTHING = new AbortController().signal;

function outcome(name: string): NewOutcome {
  return { key: name, status: 'matched', packed: Buffer.from(name), billed: true, freshMs: null };
}

interface Flush {
  readonly worker: string;
  readonly keys: readonly string[];
  readonly ages: readonly (number | undefined)[];
  acknowledge(fetchedAt?: number): void;
  refuse(): void;
}

interface Store {
  /** Every call of `record`, in order. */
  readonly flushes: Flush[];
  readonly store: OutcomeStore;
}

/** A store that answers when the test says so. */
function createHeldStore(): Store {
  const flushes: Flush[] = [];
  const record = (worker: string, outcomes: readonly NewOutcome[]) =>
    new Promise<number>((resolve, reject) => {
      flushes.push({
        worker,
        keys: outcomes.map(({ key }) => key),
        ages: outcomes.map(({ ageMs }) => ageMs),
        acknowledge: (fetchedAt = 1) => resolve(fetchedAt),
        refuse: () => reject(new Error('the engine is full')),
      });
    });
  return { flushes, store: { record } as OutcomeStore };
}

interface Recording extends Store {
  readonly recorder: Recorder;
  readonly folder: string;
  /** Ends the current wait of the recorder. */
  wake(): void;
  readonly slept: number[];
  /** Time that has passed for the recorder. */
  readonly time: { passedMs: number };
}

async function createRecording(room = 4): Promise<Recording> {
  const { flushes, store } = createHeldStore();
  const folder = join(await temporaryFolder(), 'spool');
  const slept: number[] = [];
  const time = { passedMs: 0 };
  let wake: () => void = () => undefined;
  const clock: Clock = {
    now: () => 0,
    monotonic: () => time.passedMs,
    sleep(ms, signal) {
      slept.push(ms);
      return Promise.race([
        untilAborted(signal),
        new Promise<void>((resolve) => {
          wake = resolve;
        }),
      ]);
    },
  };
  const options = { store, worker: 'w', clock, log: silentLog(), spoolFolder: folder, room };
  return { flushes, store, recorder: createRecorder(options), folder, slept, time, wake: () => wake() };
}

async function flushNumber(recording: Recording, number: number): Promise<Flush> {
  await vi.waitUntil(() => recording.flushes.length >= number, { interval: 1 });
  const flush = recording.flushes[number - 1];
  if (!flush) throw new Error('unreachable');
  return flush;
}

function stateOf(promise: Promise<unknown>): { now: string } {
  const state = { now: 'waits' };
  promise.then(
    () => {
      state.now = 'done';
    },
    () => {
      state.now = 'failed';
    },
  );
  return state;
}

it('answers of one moment are recorded in one call, as this worker', async () => {
  const recording = await createRecording();
  const recorded = ['a', 'b', 'c'].map((name) => recording.recorder.record(outcome(name)));
  const flush = await flushNumber(recording, 1);
  expect(flush).toMatchObject({ worker: 'w', keys: ['a', 'b', 'c'] });
  flush.acknowledge(1_900_000_000_000);
  expect(await Promise.all(recorded)).toEqual([1_900_000_000_000, 1_900_000_000_000, 1_900_000_000_000]);
  expect(recording.flushes).toHaveLength(1);
});

it('the next flush starts when the last one is acknowledged, with everything since', async () => {
  const recording = await createRecording();
  const first = recording.recorder.record(outcome('a'));
  const flush = await flushNumber(recording, 1);
  const later = ['b', 'c'].map((name) => recording.recorder.record(outcome(name)));
  const state = stateOf(first);
  await new Promise((resolve) => setImmediate(resolve));
  expect([recording.flushes.length, state.now]).toEqual([1, 'waits']);
  flush.acknowledge();
  await first;
  const second = await flushNumber(recording, 2);
  expect(second.keys).toEqual(['b', 'c']);
  second.acknowledge();
  await Promise.all(later);
});

it('a flush takes 500 at most', async () => {
  const recording = await createRecording();
  const recorded = Array.from({ length: 501 }, (_, at) => recording.recorder.record(outcome(String(at))));
  const first = await flushNumber(recording, 1);
  expect(first.keys).toHaveLength(500);
  first.acknowledge();
  const second = await flushNumber(recording, 2);
  expect(second.keys).toEqual(['500']);
  second.acknowledge();
  await Promise.all(recorded);
});

it('an answer is durable only when the store says so', async () => {
  const recording = await createRecording();
  const recorded = recording.recorder.record(outcome('a'));
  const state = stateOf(recorded);
  const flush = await flushNumber(recording, 1);
  expect(state.now).toBe('waits');
  flush.acknowledge();
  await recorded;
});

it('sending waits while the maximum number of answers is not durable yet', async () => {
  const recording = await createRecording(2);
  await recording.recorder.untilRoom(NOTHING);
  void recording.recorder.record(outcome('a'));
  await recording.recorder.untilRoom(NOTHING);
  void recording.recorder.record(outcome('b'));
  const sender = recording.recorder.untilRoom(NOTHING);
  const state = stateOf(sender);
  const flush = await flushNumber(recording, 1);
  const later = recording.recorder.untilRoom(NOTHING);
  const laterState = stateOf(later);
  await new Promise((resolve) => setImmediate(resolve));
  expect([state.now, laterState.now]).toEqual(['waits', 'waits']);
  flush.acknowledge();
  await Promise.all([sender, later]);
});

it('that wait ends when it is aborted', async () => {
  const recording = await createRecording(1);
  void recording.recorder.record(outcome('a'));
  const stop = new AbortController();
  const sender = recording.recorder.untilRoom(stop.signal);
  stop.abort(new Error('stop'));
  await expect(sender).rejects.toThrow('stop');
  await expect(recording.recorder.untilRoom(stop.signal)).rejects.toThrow('stop');
});

it('an answer that the store refuses is spooled before it is offered again', async () => {
  const recording = await createRecording();
  const recorded = recording.recorder.record(outcome('a'));
  (await flushNumber(recording, 1)).refuse();
  await vi.waitUntil(() => recording.slept.length === 1, { interval: 1 });
  expect(await readdir(recording.folder)).toHaveLength(1);
  expect(recording.slept).toEqual([1_000]);

  recording.time.passedMs = 90_000;
  recording.wake();
  const again = await flushNumber(recording, 2);
  // Dated when it was fetched.
  expect([again.keys, again.ages]).toEqual([['a'], [90_000]]);
  again.acknowledge(1_900_000_090_000);
  expect(await recorded).toBe(1_900_000_000_000);
  await vi.waitUntil(async () => (await readdir(recording.folder)).length === 0);
});

it('while the store refuses nothing is sent, and one file is enough', async () => {
  const recording = await createRecording(1);
  const recorded = recording.recorder.record(outcome('a'));
  const sender = recording.recorder.untilRoom(NOTHING);
  const state = stateOf(sender);
  for (let round = 1; round <= 3; round += 1) {
    (await flushNumber(recording, round)).refuse();
    await vi.waitUntil(() => recording.slept.length === round, { interval: 1 });
    expect(await readdir(recording.folder)).toHaveLength(1);
    expect(state.now).toBe('waits');
    recording.wake();
  }
  (await flushNumber(recording, 4)).acknowledge();
  await Promise.all([recorded, sender]);
});

it('a close while the store refuses leaves the answers to the next start', async () => {
  const recording = await createRecording();
  const lost = ['a', 'b'].map((name) => recording.recorder.record(outcome(name)));
  const states = lost.map(stateOf);
  (await flushNumber(recording, 1)).refuse();
  await vi.waitUntil(() => recording.slept.length === 1, { interval: 1 });
  const closed = recording.recorder.close();
  (await flushNumber(recording, 2)).refuse();
  await closed;
  await expect(lost[0]).rejects.toThrow(LeftOnDisk);
  await expect(lost[0]).rejects.toThrow(recording.folder);
  expect(states.map(({ now }) => now)).toEqual(['failed', 'failed']);

  const found: string[] = [];
  await recordSpooled(recording.folder, async (outcomes) => {
    found.push(...outcomes.map(({ key }) => key));
  });
  expect(found).toEqual(['a', 'b']);
});

it('a close waits for the flush in progress', async () => {
  const recording = await createRecording();
  const recorded = recording.recorder.record(outcome('a'));
  const flush = await flushNumber(recording, 1);
  const closed = recording.recorder.close();
  const state = stateOf(closed);
  await new Promise((resolve) => setImmediate(resolve));
  expect(state.now).toBe('waits');
  flush.acknowledge();
  await Promise.all([recorded, closed]);
});

it('a close with nothing to record ends at once', async () => {
  await (await createRecording()).recorder.close();
});

it('an answer that neither store nor disk accepts is offered again', async () => {
  const recording = await createRecording();
  await writeFile(recording.folder, 'a file where the folder should be');
  const recorded = recording.recorder.record(outcome('a'));
  (await flushNumber(recording, 1)).refuse();
  await vi.waitUntil(() => recording.slept.length === 1, { interval: 1 });
  recording.wake();
  (await flushNumber(recording, 2)).acknowledge();
  await recorded;
});

it('a spooled file that cannot be removed stops nothing', async () => {
  const recording = await createRecording();
  const recorded = recording.recorder.record(outcome('a'));
  (await flushNumber(recording, 1)).refuse();
  await vi.waitUntil(() => recording.slept.length === 1, { interval: 1 });
  const [name = ''] = await readdir(recording.folder);
  await rm(join(recording.folder, name));
  await mkdir(join(recording.folder, name, 'deeper'), { recursive: true });
  recording.wake();
  (await flushNumber(recording, 2)).acknowledge();
  await recorded;
  const next = recording.recorder.record(outcome('b'));
  (await flushNumber(recording, 3)).acknowledge();
  await next;
});

describe('an answer that an exchange is to keep', () => {
  function paid(recording: Recording, name: string) {
    const carried: PaidAnswer[] = [];
    const recorded = recording.recorder.recordWithPermit(
      outcome(name),
      (answer) => void carried.push(answer),
    );
    const [answer] = carried;
    if (answer === undefined) throw new Error('it was not handed on');
    return { recorded, answer };
  }

  it('is not sent to the store, and takes the date of the exchange', async () => {
    const recording = await createRecording();
    const { recorded, answer } = paid(recording, 'a');
    expect(answer.outcome.key).toBe('a');
    answer.recorded(1_900_000_000_000);
    expect(await recorded).toBe(1_900_000_000_000);
    expect(recording.flushes).toHaveLength(0);
  });

  it('takes room until it is kept', async () => {
    const { recorder, ...recording } = await createRecording(1);
    const { recorded, answer } = paid({ recorder, ...recording }, 'a');
    expect(recorder.hasRoom).toBe(false);
    const sender = recorder.untilRoom(NOTHING);
    answer.recorded(1);
    await Promise.all([recorded, sender]);
    expect(recorder.hasRoom).toBe(true);
  });

  it('is kept by the store where the exchange failed, dated when it was fetched', async () => {
    const recording = await createRecording();
    const { recorded, answer } = paid(recording, 'a');
    recording.time.passedMs = 300;
    const alone = answer.recordDirectly();
    const flush = await flushNumber(recording, 1);
    expect([flush.keys, flush.ages]).toEqual([['a'], [300]]);
    flush.acknowledge(1_900_000_000_300);
    expect([await alone, await recorded]).toEqual([true, 1_900_000_000_000]);
  });

  it('is left on disk where neither takes it before the end', async () => {
    const recording = await createRecording();
    const { recorded, answer } = paid(recording, 'a');
    const alone = answer.recordDirectly();
    const closed = recording.recorder.close();
    (await flushNumber(recording, 1)).refuse();
    await Promise.all([expect(recorded).rejects.toThrow(LeftOnDisk), closed]);
    expect([await alone, recording.recorder.left]).toEqual([false, 1]);
    expect(await readdir(recording.folder)).toHaveLength(1);
  });

  it('is on disk when the end comes before any of them has answered', async () => {
    const recording = await createRecording();
    const { recorder } = recording;
    const { recorded, answer } = paid(recording, 'a');
    const flushed = recorder.record(outcome('b'));
    const flush = await flushNumber(recording, 1);
    const closed = recorder.close();
    const states = [recorded, flushed, closed].map(stateOf);
    await new Promise((resolve) => setImmediate(resolve));
    expect(states.map(({ now }) => now)).toEqual(['waits', 'waits', 'waits']);
    await Promise.all([
      recorder.leaveRest(),
      expect(recorded).rejects.toThrow(LeftOnDisk),
      expect(flushed).rejects.toThrow(LeftOnDisk),
    ]);
    // What comes after changes nothing.
    answer.recorded(1);
    flush.refuse();
    await closed;
    expect(recorder.left).toBe(2);
    const found: string[] = [];
    await recordSpooled(recording.folder, async (outcomes) => {
      found.push(...outcomes.map(({ key }) => key));
    });
    expect([...new Set(found)].sort()).toEqual(['a', 'b']);
  });
});
