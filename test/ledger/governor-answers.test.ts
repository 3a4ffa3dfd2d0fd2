/** Answers that travel with the settlements of their permits, or go to the spool. */
import { describe, expect, test } from 'vitest';
import type { NewOutcome } from '../../src/core/outcome.js';
import { CONFIRMED, createStage, LEFT, outcomes } from './governing.js';

function outcome(key: string): NewOutcome {
  return { key, status: 'matched', packed: Buffer.from(key), billed: true, freshMs: null };
}

/** A governor with permits out, whose requests are answered when the test says so. */
async function createAnswered(permits = 1) {
  const stage = await createStage({ quota: 100 });
  const { governor, ledger, spool, clock } = stage;
  const askers = stage.askMany(permits);
  await clock.rest();
  /** What happened to each answer, by its key: its date, or why it is left. */
  const ends: Record<string, unknown> = {};
  const follow = (key: string, recorded: Promise<number>) => {
    recorded.then(
      (at) => {
        ends[key] = at;
      },
      (why) => {
        ends[key] = why;
      },
    );
  };
  const permitOf = (at: number) => askers[at]?.permit ?? '';
  const before = ledger.requests.length;
  return {
    ...stage,
    ends,
    permitOf,
    /** The answer to the request with this permit. */
    answer: (at: number, key: string) =>
      follow(
        key,
        governor.record(outcome(key), { permit: permitOf(at), as: 'billed', observation: CONFIRMED }),
      ),
    /** An answer that has no permit. */
    record: (key: string) => follow(key, governor.record(outcome(key))),
    /** The keys of the answers in each exchange since. */
    carried: () => ledger.answers.slice(before),
    /** The keys that the spool was to record. */
    spooled: () => spool.taken.map((each) => each.outcome.key),
    settled: () => ledger.requests.at(-1)?.settle.map(({ permit }) => permit),
    /** Requests for permits in each exchange since. */
    taken: () => ledger.requests.slice(before).map(({ take }) => take.length),
  };
}

describe('an answer', () => {
  test('is recorded at once, in the exchange that settles its permit', async () => {
    const { clock, account, answer, carried, settled, permitOf, ends, spooled } = await createAnswered();
    answer(0, 'a');
    await clock.rest();
    expect(carried()).toEqual([['a']]);
    expect(settled()).toEqual([permitOf(0)]);
    expect(ends).toEqual({ a: clock.now() });
    expect([account().sent, account().held]).toEqual([1, 0]);
    expect(spooled()).toEqual([]);
  });

  test('without a permit is recorded by the next exchange', async () => {
    const { clock, record, carried, settled, ends } = await createAnswered();
    record('a');
    record('b');
    await clock.rest();
    expect(carried()).toEqual([['a', 'b']]);
    expect(settled()).toEqual([]);
    expect(ends).toEqual({ a: clock.now(), b: clock.now() });
  });

  test('takes waiting requests for a permit with it', async () => {
    const { clock, askMany, answer, taken } = await createAnswered();
    const askers = askMany(2);
    answer(0, 'a');
    await clock.rest();
    expect(taken()).toEqual([2]);
    expect(outcomes(askers)).toEqual({ granted: 2 });
  });

  test('that came during an exchange is kept by the next one', async () => {
    const { clock, ledger, askMany, answer, carried, ends } = await createAnswered();
    const release = ledger.hold();
    askMany(1);
    await clock.rest();
    answer(0, 'a');
    await clock.rest();
    expect(ends).toEqual({});
    release();
    await clock.rest();
    expect(carried()).toEqual([[], ['a']]);
    expect(ends).toEqual({ a: clock.now() });
  });

  test('is recorded when the exchange is answered, and no permit is granted before', async () => {
    const { clock, governor, ledger, ask, answer, ends } = await createAnswered();
    const release = ledger.hold();
    answer(0, 'a');
    await clock.rest();
    let isRecorded = false;
    const recorded = governor.recorded().then(() => {
      isRecorded = true;
    });
    const other = ask('other');
    await clock.advance(60_000);
    expect([ends, isRecorded, other.result]).toEqual([{}, false, 'waiting']);
    release();
    await clock.rest();
    await recorded;
    expect([Object.keys(ends), other.result]).toEqual([['a'], 'granted']);
  });
});

describe('a failed exchange', () => {
  test('has its answers spooled, and is sent again without them once they are recorded', async () => {
    const { clock, ledger, account, answer, carried, spool, spooled, ends } = await createAnswered();
    ledger.setReach('out');
    const fetchedAt = clock.monotonic();
    answer(0, 'a');
    await clock.rest();
    expect(spool.taken).toMatchObject([{ outcome: { key: 'a' }, fetchedAt }]);
    ledger.setReach('good');
    await clock.advance(60_000);
    expect(carried()).toHaveLength(1);
    expect(ends).toEqual({});
    spool.end('a', 17);
    await clock.advance(5_000);
    expect(carried()).toEqual([['a'], []]);
    expect(ledger.requests.at(-1)).toEqual(ledger.requests.at(-2));
    expect([account().sent, account().held]).toEqual([1, 0]);
    expect([spooled(), ends]).toEqual([['a'], { a: 17 }]);
  });

  test('whose answer was lost settles nothing twice', async () => {
    const { clock, ledger, account, answer, spool } = await createAnswered();
    ledger.setReach('deaf');
    spool.end('a', 1);
    answer(0, 'a');
    await clock.rest();
    ledger.setReach('good');
    await clock.advance(5_000);
    expect([account().sent, account().held]).toEqual([1, 0]);
  });

  test('leaves the permit of an answer that cannot be kept unsettled: it expires as sent', async () => {
    const { clock, governor, ledger, answer, spool, settled, permitOf, ends } = await createAnswered(2);
    ledger.setReach('out');
    answer(0, 'a');
    answer(1, 'b');
    await clock.rest();
    ledger.setReach('good');
    spool.end('a', 'left');
    spool.end('b', 1);
    await clock.advance(5_000);
    expect(settled()).toEqual([permitOf(1)]);
    expect([governor.left, ends]).toEqual([1, { a: LEFT, b: 1 }]);
  });

  test('lets no answer wait: each is spooled at once until an exchange is answered', async () => {
    const { clock, ledger, ask, account, answer, spool, spooled, carried } = await createAnswered(3);
    ledger.setReach('out');
    ask('other');
    answer(0, 'a');
    await clock.rest();
    expect(spooled()).toEqual(['a']);
    answer(1, 'b');
    expect(spooled()).toEqual(['a', 'b']);
    ledger.setReach('good');
    spool.end('a', 1);
    spool.end('b', 1);
    await clock.advance(5_000);
    expect([account().sent, account().held]).toEqual([2, 2]);
    answer(2, 'c');
    await clock.rest();
    expect([spooled(), carried().at(-1)]).toEqual([['a', 'b'], ['c']]);
  });

  test('spools answers that wait for the next exchange', async () => {
    const { clock, ledger, ask, answer, record, spooled } = await createAnswered();
    const release = ledger.hold();
    ledger.setReach('deaf');
    ask('other');
    await clock.rest();
    answer(0, 'a');
    record('b');
    expect(spooled()).toEqual([]);
    release();
    await clock.rest();
    expect(spooled()).toEqual(['a', 'b']);
  });

  test('is not repeated, and no permit is requested, while any answer waits for the store', async () => {
    const { clock, ledger, ask, answer, record, spool, carried } = await createAnswered();
    ledger.setReach('out');
    answer(0, 'a');
    await clock.rest();
    record('b');
    const other = ask('other');
    const stopped = ask('stopped');
    ledger.setReach('good');
    spool.end('a', 1);
    await clock.advance(60_000);
    expect([carried(), other.result]).toEqual([[['a']], 'waiting']);
    stopped.stop.abort(new Error('stop'));
    await clock.rest();
    expect(stopped.result).toBe('rejected: stop');
    spool.end('b', 1);
    await clock.advance(5_000);
    expect([carried(), other.result]).toEqual([[['a'], [], []], 'granted']);
  });
});

describe('the end', () => {
  test('spools answers if the ledger does not answer', async () => {
    const { governor, ledger, answer, spool, spooled } = await createAnswered();
    ledger.setReach('out');
    spool.end('a', 'left');
    answer(0, 'a');
    await governor.close(5_000);
    expect([spooled(), spool.left, governor.left]).toEqual([['a'], [], 1]);
  });

  test('writes answers that neither ledger nor store has taken to disk, once', async () => {
    const { clock, governor, ledger, answer, record, spool, ends } = await createAnswered(2);
    ledger.setReach('out');
    answer(0, 'a');
    await clock.rest();
    ledger.setReach('good');
    const release = ledger.hold();
    spool.end('a', 1);
    await clock.advance(1_000);
    record('b');
    answer(1, 'c');
    const closed = governor.close(5_000);
    await clock.advance(5_000);
    await closed;
    expect(spool.left.map((each) => each.outcome.key)).toEqual(['b', 'c']);
    expect([ends, governor.left]).toEqual([{ a: 1, b: LEFT, c: LEFT }, 2]);
    // What comes after changes nothing.
    release();
    spool.end('b', 2);
    await clock.rest();
    expect([ends, governor.left]).toEqual([{ a: 1, b: LEFT, c: LEFT }, 2]);
  });
});
