import { describe, expect, it } from 'vitest';
import { Breaker, type Pass } from '../../src/worker/breaker.js';

/** Passed while the breaker was closed. */
const BEFORE: Pass = { type: 'pass', isProbe: false };

/** `+` a good answer, `-` a bad one, each a millisecond after the last. */
function noteAll(breaker: Breaker, answers: string, from = 0): number {
  let now = from;
  for (const answer of answers) breaker.note(BEFORE, answer === '+', now++);
  return now;
}

function openedBreaker(): Breaker {
  const breaker = new Breaker();
  for (let count = 0; count < 8; count += 1) breaker.note(BEFORE, false, 0);
  return breaker;
}

function probeOf(breaker: Breaker, now: number): Pass {
  const admission = breaker.enter(now);
  if (admission.type !== 'pass' || !admission.isProbe) throw new Error('no probe may pass');
  return admission;
}

const NEXT_DAY = 24 * 3_600_000;

const PASS = { type: 'pass', isProbe: false };
const PROBE = { type: 'pass', isProbe: true };

describe('closed', () => {
  it.each<[string, string, boolean]>([
    ['no answer yet', '', false],
    ['seven bad answers', '-------', false],
    ['eight bad answers in a row', '--------', true],
    ['eight bad ones with one good one among them', '---+----', false],
    ['a good one before eight bad ones', '+--------', true],
    ['half of the last twenty are bad', '+-+-+-+-+-+-+-+-+-+-', false],
    ['more than half of the last twenty are bad', '+-+-+-+-+-+-+-+--+-+-'.slice(1), true],
    ['more than half, but of fewer than twenty', '--+--+--+--+--+--+', false],
    ['more than half of all, but not of the last twenty', '------+-+-+-+++++++++++++++', false],
  ])('%s: open %s', (_what, answers, isOpen) => {
    const breaker = new Breaker();
    noteAll(breaker, answers);
    expect(breaker.isOpen).toBe(isOpen);
  });

  it('lets all requests pass, however bad the answers are', () => {
    const breaker = new Breaker();
    const now = noteAll(breaker, '-------');
    for (let count = 0; count < 100; count += 1) expect(breaker.enter(now)).toEqual(PASS);
  });
});

describe('open', () => {
  it('lets no request pass for a second', () => {
    const breaker = openedBreaker();
    expect(breaker.enter(0)).toEqual({ type: 'rejected', retryInMs: 1_000 });
    expect(breaker.enter(999)).toEqual({ type: 'rejected', retryInMs: 1 });
  });

  it('then lets one probe pass, and no other request', () => {
    const breaker = openedBreaker();
    expect(breaker.enter(1_000)).toEqual(PROBE);
    expect(breaker.enter(1_000)).toEqual({ type: 'rejected', retryInMs: 1_000 });
    expect(breaker.enter(60_000)).toEqual({ type: 'rejected', retryInMs: 1_000 });
  });

  it('doubles the time to the next probe after a bad one, up to ten seconds', () => {
    const breaker = openedBreaker();
    let now = 1_000;
    const waits: number[] = [];
    for (let probes = 0; probes < 6; probes += 1) {
      breaker.note(probeOf(breaker, now), false, now);
      const turned = breaker.enter(now);
      if (turned.type !== 'rejected') throw new Error('two probes at once');
      waits.push(turned.retryInMs);
      now += turned.retryInMs;
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
  });

  it('has requests that wait for a slow probe check again within five seconds', () => {
    const breaker = openedBreaker();
    for (let now = 1_000, probes = 0; probes < 5; probes += 1) {
      breaker.note(probeOf(breaker, now), false, now);
      now += 10_000;
    }
    expect(breaker.enter(100_000)).toEqual(PROBE);
    expect(breaker.enter(100_000)).toEqual({ type: 'rejected', retryInMs: 5_000 });
  });

  it('is closed by a good probe, and forgets earlier answers', () => {
    const breaker = openedBreaker();
    breaker.note(probeOf(breaker, 1_000), true, 1_000);
    expect(breaker.isOpen).toBe(false);
    noteAll(breaker, '-------', 1_001);
    expect(breaker.isOpen).toBe(false);
    expect(breaker.enter(2_000)).toEqual(PASS);
  });

  it('starts with a second again after a good probe', () => {
    const breaker = openedBreaker();
    breaker.note(probeOf(breaker, 1_000), false, 1_000);
    breaker.note(probeOf(breaker, 3_000), true, 3_000);
    for (let count = 0; count < 8; count += 1) breaker.note(BEFORE, false, 4_000);
    expect(breaker.enter(4_000)).toEqual({ type: 'rejected', retryInMs: 1_000 });
  });

  it('lets the next request probe if a probe sent nothing', () => {
    const breaker = openedBreaker();
    breaker.cancel(probeOf(breaker, 1_000));
    expect(breaker.enter(1_000)).toEqual(PROBE);
  });

  it.each<[string, (breaker: Breaker) => void]>([
    ['sends nothing', (breaker) => breaker.cancel(BEFORE)],
    ['has a bad answer', (breaker) => breaker.note(BEFORE, false, 1_000)],
    ['has many bad answers', (breaker) => noteAll(breaker, '----------', 1_000)],
  ])('lets an earlier request that %s affect neither the probe nor its time', (_what, happens) => {
    const breaker = openedBreaker();
    const probe = probeOf(breaker, 1_000);
    happens(breaker);
    expect(breaker.enter(1_000)).toEqual({ type: 'rejected', retryInMs: 1_000 });
    breaker.note(probe, false, 1_000);
    expect(breaker.enter(1_000)).toEqual({ type: 'rejected', retryInMs: 2_000 });
  });

  it('does not mistake an earlier probe for the current one', () => {
    const breaker = openedBreaker();
    const early = probeOf(breaker, 1_000);
    breaker.note(BEFORE, true, 1_000);
    noteAll(breaker, '--------', 1_000);
    probeOf(breaker, 3_000);
    breaker.cancel(early);
    expect(breaker.enter(3_000).type).toBe('rejected');
  });
});

describe('the length of an outage', () => {
  it('counts from the first bad answer since the last good one', () => {
    const breaker = new Breaker();
    expect(breaker.badForMs(5_000)).toBe(0);
    breaker.note(BEFORE, false, 1_000);
    breaker.note(BEFORE, false, 9_000);
    expect(breaker.badForMs(10_000)).toBe(9_000);
    breaker.note(BEFORE, true, 10_000);
    expect(breaker.badForMs(11_000)).toBe(0);
    breaker.note(BEFORE, false, 12_000);
    expect(breaker.badForMs(12_500)).toBe(500);
  });

  it('does not count a time without requests', () => {
    const breaker = openedBreaker();
    for (const since of ['badForMs', 'awayForMs'] as const) {
      expect(breaker[since](1_199_999)).toBe(1_199_999);
      expect(breaker[since](NEXT_DAY)).toBe(0);
    }
    breaker.note(probeOf(breaker, NEXT_DAY), false, NEXT_DAY);
    for (const since of ['badForMs', 'awayForMs'] as const) expect(breaker[since](NEXT_DAY + 500)).toBe(500);
  });

  it('does not count refusals as absence', () => {
    const breaker = new Breaker();
    breaker.note(BEFORE, false, 1_000);
    breaker.note(BEFORE, false, 2_000, true);
    expect([breaker.badForMs(3_000), breaker.awayForMs(3_000)]).toEqual([2_000, 0]);
    breaker.note(BEFORE, false, 4_000);
    expect([breaker.badForMs(5_000), breaker.awayForMs(5_000)]).toEqual([4_000, 1_000]);
  });
});
