import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { RunError } from '../../src/core/errors.js';
import { silentLog } from '../../src/core/log.js';
import { createPatience, withPatience } from '../../src/engine/patience.js';

const unreachable = () => new RunError({ code: 'engine-unreachable', subject: 'redis', todo: 'wait' });
const running = () => ({ log: silentLog(), stop: new AbortController().signal });

/** A clock whose waits end at once, and take their time by it. */
function fastClock() {
  let now = 0;
  const sleep = async (ms: number) => {
    await setImmediate();
    now += ms;
  };
  return { monotonic: () => now, sleep };
}

/** Throws this many times, then answers `there`. */
function absent(times: number, error: () => Error = unreachable) {
  const call = async () => {
    call.count += 1;
    if (call.count <= times) throw error();
    return 'there';
  };
  call.count = 0;
  return call;
}

describe('patience', () => {
  it('retries a call to an engine that was briefly unavailable', async () => {
    const call = absent(1);
    expect([await createPatience(running(), fastClock())(call), call.count]).toEqual(['there', 2]);
  });

  it.each([
    ['an engine in an unfit state', new RunError({ code: 'engine-unfit', subject: '', todo: '' })],
    ['an engine that another one has locked', new RunError({ code: 'engine-held', subject: '', todo: '' })],
    ['a bug', new Error('cannot read properties of undefined')],
  ])('does not retry a permanent error: %s', async (_what, error) => {
    const call = absent(9, () => error);
    await expect(createPatience(running(), fastClock())(call)).rejects.toBe(error);
    expect(call.count).toBe(1);
  });

  it('logs the start of an outage with its reason, and its end, whichever call meets it', async () => {
    const lines: { msg: string }[] = [];
    const stream = new Writable({
      write(chunk, _, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    const log = pino({ base: null, timestamp: false }, stream);
    const patience = createPatience({ ...running(), log }, fastClock());
    await Promise.all([patience(absent(2)), patience(absent(2))]);
    expect(lines).toEqual([
      { level: 40, reason: unreachable().message, msg: 'the engine does not answer; trying again' },
      { level: 30, msg: 'the engine answers again' },
    ]);
  });

  it('ends a few seconds after a stop, even for later calls', async () => {
    const stopping = new AbortController();
    const patience = createPatience({ log: silentLog(), stop: stopping.signal }, fastClock());
    const asking = patience(absent(1_000));
    stopping.abort();
    await expect(asking).rejects.toMatchObject({ code: 'engine-unreachable' });
    const later = absent(1_000);
    await expect(patience(later)).rejects.toMatchObject({ code: 'engine-unreachable' });
    expect(later.count).toBe(1);
  });
});

describe('an engine with patience', () => {
  it.each([
    ['runs', 'end'],
    ['runs', 'start'],
    ['runs', 'addTally'],
    ['ledger', 'show'],
    ['outcomes', 'read'],
    ['keyValues', 'list'],
    ['scheduledJobs', 'list'],
  ] as const)('retries %s.%s', async (store, method) => {
    const call = absent(1);
    const engine: Record<string, Record<string, () => Promise<string>>> = { [store]: { [method]: call } };
    const patient = withPatience(engine, createPatience(running(), fastClock()));
    expect([await patient[store]?.[method]?.(), call.count]).toEqual(['there', 2]);
  });

  it.each([
    ['ledger', 'exchange', 'the governor repeats it, and tells whoever waits'],
    ['outcomes', 'record', 'what the engine does not take goes to disk'],
    ['outcomes', 'claim', 'its chunk comes back'],
    ['keyValues', 'remove', 'it would find nothing the second time'],
  ] as const)('does not retry %s.%s: %s', async (store, method, _why) => {
    const call = absent(1);
    const engine: Record<string, Record<string, () => Promise<string>>> = { [store]: { [method]: call } };
    const patient = withPatience(engine, createPatience(running(), fastClock()));
    await expect(patient[store]?.[method]?.()).rejects.toMatchObject({ code: 'engine-unreachable' });
    expect(call.count).toBe(1);
  });

  it('retries its chunk queue too, except for withdrawing chunks', async () => {
    const add = absent(1);
    const withdraw = absent(1);
    const engine = { openChunkQueue: (_name: string) => ({ add, withdraw }) };
    const line = withPatience(engine, createPatience(running(), fastClock())).openChunkQueue('chunks');
    expect(await line.add()).toBe('there');
    await expect(line.withdraw()).rejects.toMatchObject({ code: 'engine-unreachable' });
  });
});
