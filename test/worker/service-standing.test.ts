/**
 * What an engine knows of a service, for all its workers: whether its address is proven, and how
 * many answers were useless.
 */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, test } from 'vitest';
import type { Clock } from '../../src/core/clock.js';
import { silentLog } from '../../src/core/log.js';
import type { AnswerSign } from '../../src/lookup/read-answer.js';
import type { KeyValueStore } from '../../src/stores/key-value-store.js';
import { type AnswerWorth, worthOfSign } from '../../src/worker/answer-worth.js';
import { createServiceStanding } from '../../src/worker/service-standing.js';
import { createMemoryKeyValues } from '../support/memory-key-values.js';
import { createPassingClock, type PassingClock } from './asking.js';

const GOING = new AbortController().signal;

/** Workers of one engine; they share the clock. */
function createEngine<C extends Clock = PassingClock>(clock = createPassingClock() as Clock as C) {
  const keyValues = createMemoryKeyValues(clock.now);
  const worker = (name: string, service = 'https://api.example', store: KeyValueStore = keyValues) =>
    createServiceStanding({
      keyValues: store,
      service,
      worker: name,
      timeoutMs: 40_000,
      clock,
      log: silentLog(),
    });
  return { clock, keyValues, worker };
}

describe('the weight of a "not found"', () => {
  const NEW = { isProven: false, allowsUnknown: false };
  const PROVEN = { isProven: true, allowsUnknown: false };
  const INSISTED = { isProven: false, allowsUnknown: true };
  test.each<[AnswerSign, typeof NEW, AnswerWorth]>([
    ['own', NEW, 'own'],
    ['own', PROVEN, 'own'],
    ['own', INSISTED, 'own'],
    ['object', NEW, 'unproven'],
    ['object', PROVEN, 'believed'],
    ['object', INSISTED, 'believed'],
    ['none', NEW, 'foreign'],
    ['none', PROVEN, 'believed'],
    ['none', INSISTED, 'foreign'],
  ])('%s from %o: %s', (sign, address, worth) => {
    expect(worthOfSign(sign, address)).toBe(worth);
  });
});

describe('a good answer', () => {
  it('proves the address to every worker, later ones included, and no other address', async () => {
    const { worker } = createEngine();
    const one = worker('one');
    expect(await worker('two').isProven()).toBe(false);
    await one.prove();
    expect(await worker('two').isProven()).toBe(true);
    expect(await worker('two', 'https://other.example').isProven()).toBe(false);
  });

  it('that proves nothing leaves the address unproven', async () => {
    const { worker } = createEngine();
    await worker('one').noteGood();
    expect(await worker('one').isProven()).toBe(false);
  });

  it('resets the count of useless answers of all workers', async () => {
    const { worker, clock } = createEngine();
    const [one, two] = [worker('one'), worker('two')];
    for (let permit = 1; permit <= 3; permit += 1) await one.noteUseless(`one.${permit}`);
    expect(await two.noteUseless('two.1')).toBe(4);
    await two.noteGood();
    expect(await one.noteUseless('one.4')).toBe(1);
    // The second worker has had none since: it checks once a second.
    clock.pass(1_000);
    await two.noteGood();
    expect(await one.noteUseless('one.5')).toBe(1);
  });

  it('makes earlier 404s believable, once', async () => {
    const { worker } = createEngine();
    const [one, two] = [worker('one'), worker('two')];
    await one.noteUnproven('k1', { run: 'run', billed: true });
    await one.noteUnproven('k2', { run: 'other run', billed: false });
    // Not believable: it is not about a brand.
    await one.noteUnproven('k3', { run: 'run', billed: true, isFailure: true });
    expect(await two.prove()).toEqual([
      { key: 'k1', status: 'not_found', packed: null, billed: true, freshMs: null },
      { key: 'k2', status: 'not_found', packed: null, billed: false, freshMs: null },
    ]);
    expect(await one.prove()).toEqual([]);
  });
});

describe('useless answers', () => {
  it('are counted once per permit', async () => {
    const one = createEngine().worker('one');
    expect([await one.noteUseless('p1'), await one.noteUseless('p1'), await one.noteUseless('p2')]).toEqual([
      1, 1, 2,
    ]);
  });

  it('are forgotten after ten minutes', async () => {
    const { worker, clock } = createEngine();
    const one = worker('one');
    await one.noteUseless('p1');
    clock.pass(600_001);
    expect(await one.noteUseless('p2')).toBe(1);
  });

  it('of another service are not counted', async () => {
    const { worker } = createEngine();
    await worker('one').noteUseless('p1');
    expect(await worker('one', 'https://other.example').noteUseless('p2')).toBe(1);
  });
});

describe('unproven 404s', () => {
  it('are counted by run, over all workers, and forgotten with it', async () => {
    const { worker } = createEngine();
    expect(await worker('one').noteUnproven('k1', { run: 'run', billed: true })).toBe(1);
    expect(await worker('two').noteUnproven('k2', { run: 'run', billed: true })).toBe(2);
    expect(await worker('two').noteUnproven('k3', { run: 'other', billed: true })).toBe(1);
    await worker('one').forgetUnproven('run');
    expect(await worker('one').noteUnproven('k1', { run: 'run', billed: true })).toBe(1);
  });

  it('are asked for again when the proof comes an hour later', async () => {
    const { worker, clock } = createEngine();
    await worker('one').noteUnproven('k1', { run: 'run', billed: true });
    clock.pass(3_600_001);
    expect(await worker('two').prove()).toEqual([]);
  });
});

describe('while the address is unproven', () => {
  it('one request at a time is admitted, over all workers', async () => {
    const { worker } = createEngine({ now: () => 0, monotonic: () => 0, sleep: () => setImmediate() });
    const workers = [worker('one'), worker('two'), worker('three')];
    let atOnce = 0;
    let most = 0;
    await Promise.all(
      [...workers, ...workers, ...workers].map(async (each) => {
        const leave = await each.enter(GOING);
        atOnce += 1;
        most = Math.max(most, atOnce);
        await setImmediate();
        atOnce -= 1;
        await leave();
      }),
    );
    expect(most).toBe(1);
  });

  it('all requests are admitted once it is proven', async () => {
    const { worker } = createEngine();
    const [one, two] = [worker('one'), worker('two')];
    const leave = await one.enter(GOING);
    const waiting = [one.enter(GOING), two.enter(GOING), two.enter(GOING)];
    await one.prove();
    void leave();
    // None leaves, and yet all have entered.
    expect(await Promise.all(waiting)).toHaveLength(3);
  });

  it('the turn of a killed worker is taken over', async () => {
    const { worker, clock } = createEngine();
    await worker('killed').enter(GOING);
    const startedAt = clock.now();
    await worker('two').enter(GOING);
    expect(clock.now() - startedAt).toBeGreaterThan(40_000);
  });

  it('a waiting request can be stopped, and does not block the next', async () => {
    const { worker } = createEngine();
    const one = worker('one');
    const leave = await one.enter(GOING);
    const stop = new AbortController();
    const stopped = one.enter(stop.signal);
    const next = one.enter(GOING);
    stop.abort(new Error('stopping'));
    void leave();
    await expect(stopped).rejects.toThrow('stopping');
    await next;
  });
});

it('retries an engine that is briefly unavailable', async () => {
  const { worker, keyValues } = createEngine();
  let isUnavailable = true;
  const list: KeyValueStore['list'] = async (scope) => {
    if (isUnavailable) {
      isUnavailable = false;
      throw new Error('gone');
    }
    return keyValues.list(scope);
  };
  const one = worker('one', 'https://api.example', { ...keyValues, list });
  await one.enter(GOING);
  expect(isUnavailable).toBe(false);
});
