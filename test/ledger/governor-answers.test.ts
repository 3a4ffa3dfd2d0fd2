/** Answers that travel with the settlements of their permits. */
import { describe, expect, test } from 'vitest';
import type { PaidAnswer } from '../../src/ledger/outbox.js';
import { CONFIRMED, createStage, headers, outcomes } from './governing.js';

interface Followed extends PaidAnswer {
  /** What happened to it, in order. */
  readonly events: string[];
  /** Ends keeping it alone. */
  end(isKept: boolean): void;
}

function answerFor(key: string): Followed {
  const events: string[] = [];
  let end: (isKept: boolean) => void = () => undefined;
  const alone = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  return {
    events,
    outcome: { key, status: 'matched', packed: Buffer.from(key), billed: true, freshMs: null },
    recorded: (at) => void events.push(`recorded at ${at}`),
    recordDirectly() {
      events.push('alone');
      return alone;
    },
    end,
  };
}

/** A governor with a permit out, whose request was answered. */
async function createAnswered(permits = 1) {
  const stage = await createStage({ quota: 100 });
  const askers = stage.askMany(permits);
  await stage.clock.rest();
  const settle = (at: number, answer: PaidAnswer) =>
    stage.governor.settle(askers[at]?.permit ?? '', 'billed', CONFIRMED, answer);
  return { ...stage, settle, before: stage.ledger.requests.length };
}

describe('an answer', () => {
  test('is recorded at once, in the exchange that settles its permit', async () => {
    const { clock, ledger, account, settle, before } = await createAnswered();
    const answer = answerFor('a');
    settle(0, answer);
    await clock.rest();
    expect(ledger.answers.slice(before)).toEqual([['a']]);
    expect(ledger.requests.at(-1)?.settle).toHaveLength(1);
    expect(answer.events).toEqual([`recorded at ${clock.now()}`]);
    expect([account().sent, account().held]).toEqual([1, 0]);
  });

  test('takes those with it that wait for a permit', async () => {
    const { clock, ledger, askMany, settle, before } = await createAnswered();
    const askers = askMany(2);
    settle(0, answerFor('a'));
    await clock.rest();
    expect(ledger.requests.slice(before).map(({ take }) => take.length)).toEqual([2]);
    expect(outcomes(askers)).toEqual({ granted: 2 });
  });

  test('that came while an exchange was under way is kept by the next', async () => {
    const { clock, ledger, askMany, settle, before } = await createAnswered();
    const release = ledger.hold();
    askMany(1);
    await clock.rest();
    const answer = answerFor('a');
    settle(0, answer);
    await clock.rest();
    expect(answer.events).toEqual([]);
    release();
    await clock.rest();
    expect(ledger.answers.slice(before)).toEqual([[], ['a']]);
    expect(answer.events).toHaveLength(1);
  });
});

describe('a failed exchange', () => {
  test('has its answers kept alone, and is sent again without them when they are', async () => {
    const { clock, ledger, account, settle, before } = await createAnswered();
    ledger.setReach('out');
    const answer = answerFor('a');
    settle(0, answer);
    await clock.rest();
    expect(answer.events).toEqual(['alone']);
    ledger.setReach('good');
    await clock.advance(60_000);
    expect(ledger.requests.length - before).toBe(1);
    answer.end(true);
    await clock.advance(5_000);
    expect(ledger.answers.slice(before)).toEqual([['a'], []]);
    expect(ledger.requests.at(-1)).toEqual(ledger.requests.at(-2));
    expect([account().sent, account().held]).toEqual([1, 0]);
    expect(answer.events).toEqual(['alone']);
  });

  test('whose answer was lost settles nothing twice', async () => {
    const { clock, ledger, account, settle } = await createAnswered();
    ledger.setReach('deaf');
    const answer = answerFor('a');
    answer.end(true);
    settle(0, answer);
    await clock.rest();
    ledger.setReach('good');
    await clock.advance(5_000);
    expect([account().sent, account().held]).toEqual([1, 0]);
  });

  test('leaves the permit of an answer unsettled that cannot be kept: it runs out as sent', async () => {
    const { clock, ledger, settle } = await createAnswered(2);
    ledger.setReach('out');
    const [lost, kept] = [answerFor('a'), answerFor('b')];
    settle(0, lost);
    settle(1, kept);
    await clock.rest();
    ledger.setReach('good');
    lost.end(false);
    kept.end(true);
    await clock.advance(5_000);
    const settled = ledger.requests.at(-1)?.settle.map(({ permit }) => permit);
    expect(settled).toEqual([ledger.requests.at(-2)?.settle[1]?.permit]);
  });

  test('lets no answer wait: each is kept alone at once until an exchange is answered', async () => {
    const { clock, ledger, ask, account, settle } = await createAnswered(3);
    ledger.setReach('out');
    ask('other');
    const early = answerFor('a');
    settle(0, early);
    await clock.rest();
    expect(early.events).toEqual(['alone']);
    const late = answerFor('b');
    settle(1, late);
    expect(late.events).toEqual(['alone']);
    ledger.setReach('good');
    early.end(true);
    late.end(true);
    await clock.advance(5_000);
    expect([account().sent, account().held]).toEqual([2, 2]);
    const third = answerFor('c');
    settle(2, third);
    await clock.rest();
    expect(third.events).toEqual([expect.stringContaining('recorded at')]);
  });

  test('has answers kept alone that wait for the next', async () => {
    const { clock, ledger, ask, settle } = await createAnswered();
    const release = ledger.hold();
    ledger.setReach('deaf');
    ask('other');
    await clock.rest();
    const waiting = answerFor('a');
    settle(0, waiting);
    expect(waiting.events).toEqual([]);
    release();
    await clock.rest();
    expect(waiting.events).toEqual(['alone']);
  });
});

describe('the end', () => {
  test('keeps the answers that are left', async () => {
    const { governor, account, settle } = await createAnswered();
    const answer = answerFor('a');
    settle(0, answer);
    await governor.close(5_000);
    expect(answer.events).toEqual([expect.stringContaining('recorded at')]);
    expect([account().sent, account().held]).toEqual([1, 0]);
  });

  test('has them kept alone where the ledger does not answer', async () => {
    const { governor, ledger, settle } = await createAnswered();
    ledger.setReach('out');
    const answer = answerFor('a');
    answer.end(false);
    settle(0, answer);
    await governor.close(5_000);
    expect(answer.events).toEqual(['alone']);
  });
});

test('a reading of two periods leaves the later answer for the next exchange', async () => {
  const { clock, ledger, governor, askMany } = await createStage({ quota: 100 });
  const [one, two] = askMany(2);
  await clock.rest();
  const before = ledger.requests.length;
  const [early, late] = [answerFor('a'), answerFor('b')];
  const period = (day: string) => ({ ...headers(100, 1, day), period: day });
  governor.settle(two?.permit ?? '', 'billed', period('2030-02-01'), late);
  governor.settle(one?.permit ?? '', 'billed', period('2030-01-01'), early);
  await clock.advance(50);
  expect(ledger.answers.slice(before)).toEqual([['a'], ['b']]);
  expect([early.events.length, late.events.length]).toEqual([1, 1]);
});
