/**
 * What an engine knows of the address of a service, for all its workers: whether it is trusted, and
 * how many answers were unusable.
 */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../../src/core/clock.js';
import { silentLog } from '../../src/core/log.js';
import type { KeyValueStore } from '../../src/engine/stores/key-value-store.js';
import { RULES } from '../../src/ledger/rules.js';
import { createAddressTrust } from '../../src/worker/address-trust.js';
import { createMemoryKeyValues } from '../support/memory-key-values.js';
import { createPassingClock, type PassingClock } from './asking.js';

const GOING = new AbortController().signal;

/** Workers of one engine; they share the clock. */
function createEngine<C extends Clock = PassingClock>(clock = createPassingClock() as Clock as C) {
  const keyValues = createMemoryKeyValues(clock.now);
  const worker = (name: string, service = 'https://api.example', store: KeyValueStore = keyValues) =>
    createAddressTrust({
      keyValues: store,
      service,
      worker: name,
      clock,
      log: silentLog(),
    });
  return { clock, keyValues, worker };
}

describe('a good answer', () => {
  it('makes every worker trust the address, later ones included, and no other address', async () => {
    const { worker } = createEngine();
    const one = worker('one');
    expect(await worker('two').isTrusted()).toBe(false);
    await one.markTrusted();
    expect(await worker('two').isTrusted()).toBe(true);
    expect(await worker('two', 'https://other.example').isTrusted()).toBe(false);
  });

  it('that does not show the service leaves the address untrusted', async () => {
    const { worker } = createEngine();
    await worker('one').noteGood();
    expect(await worker('one').isTrusted()).toBe(false);
  });

  it('resets the count of unusable answers of all workers', async () => {
    const { worker, clock } = createEngine();
    const [one, two] = [worker('one'), worker('two')];
    for (let permit = 1; permit <= 3; permit += 1) await one.noteUnusable(`one.${permit}`);
    expect(await two.noteUnusable('two.1')).toBe(4);
    await two.noteGood();
    expect(await one.noteUnusable('one.4')).toBe(1);
    // The second worker has had none since: it checks once a second.
    clock.pass(1_000);
    await two.noteGood();
    expect(await one.noteUnusable('one.5')).toBe(1);
  });

  it('makes earlier 404s trusted, once', async () => {
    const { worker } = createEngine();
    const [one, two] = [worker('one'), worker('two')];
    await one.noteUntrusted('k1', { run: 'run', billed: true });
    await one.noteUntrusted('k2', { run: 'other run', billed: false });
    // Not believable: it is not about a brand.
    await one.noteUntrusted('k3', { run: 'run', billed: true, isFailure: true });
    expect(await two.markTrusted()).toEqual([
      { key: 'k1', status: 'not_found', packed: null, billed: true, freshMs: null },
      { key: 'k2', status: 'not_found', packed: null, billed: false, freshMs: null },
    ]);
    expect(await one.markTrusted()).toEqual([]);
  });
});

describe('unusable answers', () => {
  it('are counted once per permit', async () => {
    const one = createEngine().worker('one');
    expect([
      await one.noteUnusable('p1'),
      await one.noteUnusable('p1'),
      await one.noteUnusable('p2'),
    ]).toEqual([1, 1, 2]);
  });

  it('are forgotten after ten minutes', async () => {
    const { worker, clock } = createEngine();
    const one = worker('one');
    await one.noteUnusable('p1');
    clock.pass(600_001);
    expect(await one.noteUnusable('p2')).toBe(1);
  });

  it('of another service are not counted', async () => {
    const { worker } = createEngine();
    await worker('one').noteUnusable('p1');
    expect(await worker('one', 'https://other.example').noteUnusable('p2')).toBe(1);
  });
});

describe('untrusted 404s', () => {
  it('are counted by run, over all workers, and forgotten with it', async () => {
    const { worker } = createEngine();
    expect(await worker('one').noteUntrusted('k1', { run: 'run', billed: true })).toBe(1);
    expect(await worker('two').noteUntrusted('k2', { run: 'run', billed: true })).toBe(2);
    expect(await worker('two').noteUntrusted('k3', { run: 'other', billed: true })).toBe(1);
    await worker('one').forgetUntrusted('run');
    expect(await worker('one').noteUntrusted('k1', { run: 'run', billed: true })).toBe(1);
  });

  it('are asked for again when the trust comes an hour later', async () => {
    const { worker, clock } = createEngine();
    await worker('one').noteUntrusted('k1', { run: 'run', billed: true });
    clock.pass(3_600_001);
    expect(await worker('two').markTrusted()).toEqual([]);
  });
});

describe('until the address is trusted', () => {
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

  it('all requests are admitted once it is', async () => {
    const { worker } = createEngine();
    const [one, two] = [worker('one'), worker('two')];
    const leave = await one.enter(GOING);
    const waiting = [one.enter(GOING), two.enter(GOING), two.enter(GOING)];
    await one.markTrusted();
    void leave();
    // None leaves, and yet all have entered.
    expect(await Promise.all(waiting)).toHaveLength(3);
  });

  it('the probe of a killed worker is taken over', async () => {
    const { worker, clock } = createEngine();
    await worker('killed').enter(GOING);
    const startedAt = clock.now();
    await worker('two').enter(GOING);
    const waitedMs = clock.now() - startedAt;
    expect(waitedMs).toBeGreaterThan(RULES.workerDeadAfterMs);
    expect(waitedMs).toBeLessThan(RULES.workerDeadAfterMs + 2_000);
  });

  it('the probe of a worker that waits long for its answer is not taken over', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const passing = createPassingClock();
    const clock: Clock = {
      ...passing,
      async sleep(ms, signal) {
        await passing.sleep(ms, signal);
        vi.advanceTimersByTime(ms);
      },
    };
    const { worker } = createEngine(clock);
    const leave = await worker('slow').enter(GOING);
    let isNext = false;
    const next = worker('two')
      .enter(GOING)
      .then(() => {
        isNext = true;
      });
    const startedAt = clock.now();
    while (clock.now() < startedAt + 10 * RULES.workerDeadAfterMs) await clock.sleep(1_000, GOING);
    expect(isNext).toBe(false);
    await leave();
    await next;
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

test('what another program wrote is none of its answers, and ends nothing', async () => {
  const { worker, keyValues } = createEngine();
  const one = worker('one');
  const [scope = ''] = await scopesOf(async (seen) => {
    const store: KeyValueStore = {
      ...keyValues,
      put: async (name, ...rest) => {
        seen(name);
        return keyValues.put(name, ...rest);
      },
    };
    await worker('other', undefined, store).noteUntrusted('key', { run: 'r', billed: true });
  });
  for (const [at, text] of ['', '{', 'null', '7', '[]', '{"run":{}}', '{"run":"r"}'].entries())
    await keyValues.put(scope, `planted-${at}`, text);
  expect(await one.noteUntrusted('another', { run: 'r', billed: false })).toBe(2);
  await one.forgetUntrusted('other-run');
  expect((await one.markTrusted()).map(({ key }) => key)).toEqual(['another', 'key']);
});

async function scopesOf(act: (seen: (scope: string) => void) => Promise<unknown>): Promise<string[]> {
  const scopes: string[] = [];
  await act((scope) => scopes.push(scope));
  return scopes;
}
