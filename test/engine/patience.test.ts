import { Writable } from 'node:stream';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { FailFileError } from '../../src/core/errors.js';
import { silentLog } from '../../src/core/log.js';
import { createPatience, withPatience } from '../../src/engine/patience.js';

const away = () => new FailFileError({ code: 'engine-unreachable', subject: 'redis', todo: 'wait' });
const running = () => ({ log: silentLog(), stop: new AbortController().signal });

/** Throws so many times, then answers `there`. */
function absent(times: number, error: () => Error = away) {
  const call = async () => {
    call.count += 1;
    if (call.count <= times) throw error();
    return 'there';
  };
  call.count = 0;
  return call;
}

describe('patience', () => {
  it('asks an engine again that was away for a moment', async () => {
    const call = absent(1);
    expect([await createPatience(running())(call), call.count]).toEqual(['there', 2]);
  });

  it.each([
    ['an engine that is not fit', new FailFileError({ code: 'engine-unfit', subject: '', todo: '' })],
    ['an engine that another process has', new FailFileError({ code: 'engine-held', subject: '', todo: '' })],
    ['a bug', new Error('cannot read properties of undefined')],
  ])('does not ask again for what does not pass by itself: %s', async (_what, error) => {
    const call = absent(9, () => error);
    await expect(createPatience(running())(call)).rejects.toBe(error);
    expect(call.count).toBe(1);
  });

  it('writes two lines for an outage, whoever meets it: its begin with the reason, and its end', async () => {
    const lines: { msg: string }[] = [];
    const stream = new Writable({
      write(chunk, _, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    const log = pino({ base: null, timestamp: false }, stream);
    const patience = createPatience({ ...running(), log });
    await Promise.all([patience(absent(2)), patience(absent(2))]);
    expect(lines).toEqual([
      { level: 40, reason: away().message, msg: 'the engine does not answer; trying again' },
      { level: 30, msg: 'the engine answers again' },
    ]);
  });

  it('ends a few seconds after a stop, also for all that is asked later', async () => {
    const stopping = new AbortController();
    const patience = createPatience({ log: silentLog(), stop: stopping.signal });
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
  ] as const)('makes %s.%s again', async (store, method) => {
    const call = absent(1);
    const engine: Record<string, Record<string, () => Promise<string>>> = { [store]: { [method]: call } };
    const patient = withPatience(engine, createPatience(running()));
    expect([await patient[store]?.[method]?.(), call.count]).toEqual(['there', 2]);
  });

  it.each([
    ['ledger', 'exchange', 'the governor repeats it, and tells whoever waits'],
    ['outcomes', 'record', 'what the engine does not take goes to disk'],
    ['outcomes', 'claim', 'its chunk comes back'],
    ['keyValues', 'remove', 'it would find nothing the second time'],
  ] as const)('leaves %s.%s as it is: %s', async (store, method, _why) => {
    const call = absent(1);
    const engine: Record<string, Record<string, () => Promise<string>>> = { [store]: { [method]: call } };
    const patient = withPatience(engine, createPatience(running()));
    await expect(patient[store]?.[method]?.()).rejects.toMatchObject({ code: 'engine-unreachable' });
    expect(call.count).toBe(1);
  });

  it('has patience with its chunk line too, but for taking chunks back', async () => {
    const add = absent(1);
    const withdraw = absent(1);
    const engine = { openChunkQueue: (_name: string) => ({ add, withdraw }) };
    const line = withPatience(engine, createPatience(running())).openChunkQueue('chunks');
    expect(await line.add()).toBe('there');
    await expect(line.withdraw()).rejects.toMatchObject({ code: 'engine-unreachable' });
  });
});
