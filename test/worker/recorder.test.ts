/** How answers become durable. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Clock } from '../../src/core/clock.js';
import { silentLog } from '../../src/core/log.js';
import type { NewOutcome } from '../../src/core/outcome.js';
import type { Fetched } from '../../src/ledger/outbox.js';
import { recordSpooled } from '../../src/worker/answer-spool.js';
import { createRecorder, LeftOnDisk } from '../../src/worker/recorder.js';
import { deferred } from '../support/deferred.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { untilAborted } from './asking.js';

function fetched(name: string, fetchedAt = 0): Fetched {
  const outcome = { key: name, status: 'matched', packed: Buffer.from(name) } as const;
  return { outcome: { ...outcome, billed: true, freshMs: null }, fetchedAt };
}

/** What the next start finds. */
async function foundIn(folder: string): Promise<NewOutcome[]> {
  const found: NewOutcome[] = [];
  await recordSpooled(folder, async (outcomes) => found.push(...outcomes));
  return found;
}

interface Flush {
  readonly keys: readonly string[];
  readonly ages: readonly (number | undefined)[];
  acknowledge(fetchedAt?: number): void;
  refuse(): void;
}

/** A store that answers when the test says so. */
function createHeldStore() {
  const flushes: Flush[] = [];
  const record = (outcomes: readonly NewOutcome[]) =>
    new Promise<number>((resolve, reject) => {
      flushes.push({
        keys: outcomes.map(({ key }) => key),
        ages: outcomes.map(({ ageMs }) => ageMs),
        acknowledge: (fetchedAt = 1) => resolve(fetchedAt),
        refuse: () => reject(new Error('the engine is full')),
      });
    });
  return { flushes, store: { record } };
}

type Recording = Awaited<ReturnType<typeof createRecording>>;

async function createRecording() {
  const { flushes, store } = createHeldStore();
  const folder = join(await temporaryFolder(), 'spool');
  const slept: number[] = [];
  const time = { passedMs: 0 };
  let woken = deferred();
  const clock: Clock = {
    now: () => 0,
    monotonic: () => time.passedMs,
    sleep(ms, signal) {
      slept.push(ms);
      woken = deferred();
      return Promise.race([untilAborted(signal), woken.promise]);
    },
  };
  const stop = new AbortController();
  const options = { store, clock, log: silentLog(), spoolFolder: folder, stop: stop.signal };
  const recorder = createRecorder(options);
  return { flushes, recorder, stop, folder, slept, time, wake: () => woken.resolve() };
}

async function flushNumber(recording: Recording, number: number): Promise<Flush> {
  await vi.waitUntil(() => recording.flushes.length >= number, { interval: 1 });
  const flush = recording.flushes[number - 1];
  if (!flush) throw new Error('unreachable');
  return flush;
}

function stateOf(promise: Promise<unknown>): { now: string } {
  const state = { now: 'waits' };
  const becomes = (what: string) => () => Object.assign(state, { now: what });
  promise.then(becomes('done'), becomes('failed'));
  return state;
}

/** The store refuses this flush, and the recorder waits for the next try. */
async function refuse(recording: Recording, flush = 1): Promise<void> {
  (await flushNumber(recording, flush)).refuse();
  await vi.waitUntil(() => recording.slept.length === flush, { interval: 1 });
}

it('answers of one moment are recorded in one call', async () => {
  const recording = await createRecording();
  const recorded = ['a', 'b', 'c'].map((name) => recording.recorder.record(fetched(name)));
  const flush = await flushNumber(recording, 1);
  expect(flush.keys).toEqual(['a', 'b', 'c']);
  flush.acknowledge(1_900_000_000_000);
  expect(await Promise.all(recorded)).toEqual([1_900_000_000_000, 1_900_000_000_000, 1_900_000_000_000]);
  expect(recording.flushes).toHaveLength(1);
});

it('an answer is durable, and the next flush starts, when the store says so', async () => {
  const recording = await createRecording();
  const first = recording.recorder.record(fetched('a'));
  const flush = await flushNumber(recording, 1);
  const later = ['b', 'c'].map((name) => recording.recorder.record(fetched(name)));
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

it('a flush takes at most 500 answers', async () => {
  const recording = await createRecording();
  const recorded = Array.from({ length: 501 }, (_, at) => recording.recorder.record(fetched(String(at))));
  const first = await flushNumber(recording, 1);
  expect(first.keys).toHaveLength(500);
  first.acknowledge();
  const second = await flushNumber(recording, 2);
  expect(second.keys).toEqual(['500']);
  second.acknowledge();
  await Promise.all(recorded);
});

it('an answer that the store refuses is spooled before it is offered again', async () => {
  const recording = await createRecording();
  const recorded = recording.recorder.record(fetched('a'));
  await refuse(recording);
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

it('while the store refuses, answers need one file only', async () => {
  const recording = await createRecording();
  const recorded = recording.recorder.record(fetched('a'));
  const state = stateOf(recorded);
  for (let round = 1; round <= 3; round += 1) {
    await refuse(recording, round);
    expect(await readdir(recording.folder)).toHaveLength(1);
    expect(state.now).toBe('waits');
    recording.wake();
  }
  (await flushNumber(recording, 4)).acknowledge();
  await recorded;
});

it('a stop while the store refuses leaves the answers to the next start', async () => {
  const recording = await createRecording();
  const lost = ['a', 'b'].map((name) => recording.recorder.record(fetched(name)));
  const states = lost.map(stateOf);
  await refuse(recording);
  recording.stop.abort(new Error('stop'));
  (await flushNumber(recording, 2)).refuse();
  await expect(lost[0]).rejects.toThrow(LeftOnDisk);
  await expect(lost[0]).rejects.toThrow(recording.folder);
  expect(states.map(({ now }) => now)).toEqual(['failed', 'failed']);

  expect((await foundIn(recording.folder)).map(({ key }) => key)).toEqual(['a', 'b']);
});

it('after a stop an answer that the store refuses goes to disk at once', async () => {
  const recording = await createRecording();
  recording.stop.abort(new Error('stop'));
  const recorded = recording.recorder.record(fetched('a'));
  (await flushNumber(recording, 1)).refuse();
  await expect(recorded).rejects.toThrow(LeftOnDisk);
  expect([recording.slept, await readdir(recording.folder)]).toEqual([[], [expect.any(String)]]);
});

it('an answer that neither store nor disk accepts is offered again', async () => {
  const recording = await createRecording();
  await writeFile(recording.folder, 'a file where the folder should be');
  const recorded = recording.recorder.record(fetched('a'));
  await refuse(recording);
  recording.wake();
  (await flushNumber(recording, 2)).acknowledge();
  await recorded;
});

it('a spooled file that cannot be removed stops nothing', async () => {
  const recording = await createRecording();
  const recorded = recording.recorder.record(fetched('a'));
  await refuse(recording);
  const [name = ''] = await readdir(recording.folder);
  await rm(join(recording.folder, name));
  await mkdir(join(recording.folder, name, 'deeper'), { recursive: true });
  recording.wake();
  (await flushNumber(recording, 2)).acknowledge();
  await recorded;
  const next = recording.recorder.record(fetched('b'));
  (await flushNumber(recording, 3)).acknowledge();
  await next;
});

it('answers left at the end are on disk at once, with the age since they were fetched', async () => {
  const { recorder, folder, time, flushes } = await createRecording();
  const answers = [fetched('a', 100), fetched('b', 250)];
  time.passedMs = 400;
  expect(await recorder.leave(answers)).toBeInstanceOf(LeftOnDisk);
  expect(flushes).toEqual([]);
  const found = await foundIn(folder);
  expect(found.map(({ key }) => key)).toEqual(['a', 'b']);
  for (const { ageMs = 0 } of found) expect(ageMs).toBeGreaterThanOrEqual(150);
});

it('answers that can be written nowhere are reported as lost', async () => {
  const recording = await createRecording();
  await writeFile(recording.folder, 'a file where the folder should be');
  const recorded = recording.recorder.record(fetched('a'));
  recording.stop.abort(new Error('stop'));
  const state = recorded.catch((why: unknown) => why);
  (await flushNumber(recording, 1)).refuse();
  for (const why of [await state, await recording.recorder.leave([fetched('b')])]) {
    expect(why).not.toBeInstanceOf(LeftOnDisk);
    expect(String(why)).toContain('lost');
  }
});
