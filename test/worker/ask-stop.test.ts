/** A stop in each place where asking waits: nothing new is sent, and paid answers are kept. */
import { setMaxListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import type { Answer } from '../../src/brand-api/read-answer.js';
import {
  type Asking,
  askFor,
  createAsking,
  createPassingClock,
  DOWN,
  MATCHED,
  UNUSABLE,
  untilAborted,
} from './asking.js';

describe('a stop', () => {
  const STOPPED = { type: 'again', retryInMs: 0, failedAttempt: null };

  /** The stop comes while the only request is in flight. */
  const createStopping = (answer: Answer) => {
    const answerLate = async () => {
      asking.stop.abort(new Error('stop'));
      return answer;
    };
    const asking: Asking = createAsking({ answers: [answerLate] });
    return asking;
  };

  it('before the first request sends nothing', async () => {
    const asking = createAsking({ answers: [MATCHED] });
    asking.stop.abort(new Error('stop'));
    expect(await askFor(asking)).toEqual({ result: STOPPED, requests: 0, billed: 0 });
    expect(asking.log).toEqual([]);
  });

  it('during the wait for a permit sends nothing', async () => {
    const asking = createAsking({ answers: [MATCHED], grants: [untilAborted] });
    const asked = askFor(asking);
    await vi.waitUntil(() => asking.log.includes('take p1'));
    asking.stop.abort(new Error('stop'));
    expect(await asked).toEqual({ result: STOPPED, requests: 0, billed: 0 });
  });

  it('while a request is in flight waits for it: a paid answer is kept', async () => {
    const asking = createStopping(MATCHED);
    expect(await askFor(asking)).toMatchObject({ result: { type: 'matched' } });
    expect(asking.recorded).toHaveLength(1);
  });

  it('before the next quick retry leaves it to a later job, without loss', async () => {
    const asking = createAsking({ answers: [DOWN], clock: createPassingClock({ isHeld: true }) });
    const asked = askFor(asking);
    await vi.waitUntil(() => asking.clock.slept.length > 0);
    asking.stop.abort(new Error('stop'));
    expect(await asked).toMatchObject({ result: { type: 'again', failedAttempt: null }, requests: 1 });
  });

  it('after an unusable answer does not repeat it', async () => {
    const asking = createStopping(UNUSABLE);
    expect(await askFor(asking)).toEqual({ result: STOPPED, requests: 1, billed: 1 });
    expect(asking.log).toContain('settle p1 maybe_billed');
  });

  it('that aborts ends a request in flight, which may have been billed', async () => {
    const asking: Asking = createAsking({
      answers: [
        async (signal) => {
          asking.stop.abort(new Error('stop'));
          asking.abort.abort(new Error('late'));
          return untilAborted(signal).catch(() => UNUSABLE);
        },
      ],
    });
    // Only the ledger counts it for the run.
    expect(await askFor(asking)).toEqual({ result: STOPPED, requests: 0, billed: 0 });
    expect(asking.log).toContain('settle p1 maybe_billed');
    expect(asking.context.gauge.cutOff).toBe(1);
  });

  it('that aborts many requests halts no run: it shows nothing of the service', async () => {
    const asking: Asking = createAsking({
      answers: [MATCHED, (signal) => untilAborted(signal).catch(() => UNUSABLE)],
    });
    await askFor(asking);
    setMaxListeners(0, asking.abort.signal);
    const all = Array.from({ length: 30 }, () => askFor(asking));
    await vi.waitUntil(() => asking.context.gauge.inFlight === 30);
    asking.stop.abort(new Error('stop'));
    asking.abort.abort(new Error('late'));
    expect(await Promise.all(all)).toEqual(all.map(() => ({ result: STOPPED, requests: 0, billed: 0 })));
    expect(asking.context.addressTrust.noteUnusable()).toBe(1);
    expect(asking.context.breaker.badForMs(asking.clock.now())).toBe(0);
  });
});
