import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  createReleasers,
  limitedTo,
  untilAborted,
  withinDeadline,
  withReleasers,
} from '../../src/core/lifecycle.js';

describe('releasers', () => {
  it('run last in, first out, one after the other', async () => {
    const log: string[] = [];
    const releasers = createReleasers();
    for (const name of ['first', 'second', 'third']) {
      releasers.push(async () => {
        log.push(`${name} begins`);
        await Promise.resolve();
        log.push(`${name} ends`);
      });
    }
    await releasers.releaseAll();
    const inTurn = ['third', 'second', 'first'].flatMap((name) => [`${name} begins`, `${name} ends`]);
    expect(log).toEqual(inTurn);
  });

  it('run once, however often they are called', async () => {
    let runs = 0;
    const releasers = createReleasers();
    releasers.push(() => {
      runs += 1;
    });
    await releasers.releaseAll();
    await releasers.releaseAll();
    expect(runs).toBe(1);
  });

  it('all run, and the first error is thrown', async () => {
    const log: string[] = [];
    const releasers = createReleasers();
    releasers.push(() => log.push('oldest'));
    releasers.push(() => Promise.reject(new Error('second to fail')));
    releasers.push(() => {
      throw new Error('first to fail');
    });
    await expect(releasers.releaseAll()).rejects.toThrow('first to fail');
    expect(log).toEqual(['oldest']);
  });

  it('report a thrown undefined as an error too', async () => {
    const releasers = createReleasers();
    releasers.push(() => Promise.reject(undefined));
    await expect(releasers.releaseAll()).rejects.toBeUndefined();
  });
});

describe('an action with releasers', () => {
  it('returns its result when everything is released', async () => {
    let isReleased = false;
    const result = await withReleasers(async (releasers) => {
      releasers.push(() => {
        isReleased = true;
      });
      return 7;
    });
    expect([result, isReleased]).toEqual([7, true]);
  });

  it('releases after a failure, and throws its own error', async () => {
    let isReleased = false;
    const failing = withReleasers(async (releasers) => {
      releasers.push(() => {
        isReleased = true;
        throw new Error('of the release');
      });
      throw new Error('of the action');
    });
    await expect(failing).rejects.toThrow('of the action');
    expect(isReleased).toBe(true);
  });

  it('fails when a releaser fails', async () => {
    const failing = withReleasers(async (releasers) => {
      releasers.push(() => Promise.reject(new Error('of the release')));
      return 7;
    });
    await expect(failing).rejects.toThrow('of the release');
  });
});

describe('withinDeadline', () => {
  it('ends as a promise that settles in time, and returns undefined for one that never does', async () => {
    expect(await withinDeadline(Promise.resolve('kept'), 60_000)).toBe('kept');
    await expect(withinDeadline(Promise.reject(new Error('broken')), 60_000)).rejects.toThrow('broken');
    expect(await withinDeadline(new Promise(() => undefined), 1)).toBeUndefined();
  });
});

it('a limited signal aborts even after a garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const signal = limitedTo(50, new AbortController().signal);
  const rung = untilAborted(signal);
  collect();
  await new Promise(setImmediate);
  collect();
  await rung;
  expect(signal.aborted).toBe(true);
});
