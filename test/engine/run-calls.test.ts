/** Answers of an engine for a run: ours, or damaged. */
import { expect, test } from 'vitest';
import { createRuns } from '../../src/engine/run-calls.js';
import type { FailureReason, RunStop } from '../../src/engine/stores/run-reasons.js';
import { NO_TALLY } from '../../src/engine/stores/run-store.js';
import { checked } from '../../src/engine/stores/store-calls.js';
import { HALTS } from '../support/halts.js';
import { beginningRun, NO_PROGRESS, runSettings } from './contract/run-settings.js';

const SETTINGS = runSettings();
const STOP: RunStop = { type: 'halted', halt: HALTS.unreachable };
const LABEL = { host: 'etl-1', name: 'a: b.csv' };
const RUN = {
  ...beginningRun({ id: 'r-1', asOf: 1, identifiers: 7 }),
  label: JSON.stringify(LABEL),
  settings: JSON.stringify(SETTINGS),
  stop: JSON.stringify(STOP),
};
const PROGRESS = { ...NO_PROGRESS, chunks: 1, halt: JSON.stringify(HALTS.limit) };
const JUNK = [undefined, null, '', 'x', Number.NaN, 1e300, [], {}, true, () => 1];

/** The runs of an engine that answers this to everything. */
const answering = (answer: unknown) =>
  createRuns({
    address: 'redis://mill',
    roundTrips: { count: 0 },
    call: async (shape) => checked(shape, answer, 'redis://mill'),
    walk: async function* () {},
  });
const runOf = (answer: unknown) => answering(answer).get('r-1');
const progressOf = (answer: unknown) => answering(answer).heartbeat('r-1');
const pausesOf = (answer: unknown) => answering(answer).pauses();
const reasonOf = async (reason: string) => {
  const found = [{ position: 1, reason, billed: true, isDeferred: false }];
  return (await answering(found).failures('r-1', ['k']))[0]?.reason;
};

test('a run that we wrote is read whole, without unknown fields', async () => {
  expect(await runOf({ ...RUN, later: 1 })).toEqual({ ...RUN, label: LABEL, settings: SETTINGS, stop: STOP });
  expect((await runOf({ ...RUN, stop: null }))?.stop).toBeNull();
  expect(await progressOf(PROGRESS)).toEqual({ ...PROGRESS, halt: HALTS.limit });
  const pause = { by: 'ada@mill', at: 1, owner: 'o', label: RUN.label, run: null };
  const others = [{ ...pause, at: 1e300 }, { ...pause, label: 'nightly' }, null, 'x'];
  expect(await pausesOf([pause, ...others])).toEqual([{ ...pause, label: LABEL }]);
});

test('any other record is damaged, and counts as missing', async () => {
  for (const junk of JUNK) {
    expect([await runOf(junk), await pausesOf(junk)]).toEqual([null, []]);
    await expect(progressOf(junk)).rejects.toMatchObject({ code: 'engine-unfit' });
  }
  const damaged: Record<string, unknown[]> = {
    ...Object.fromEntries(['id', 'key', 'job', 'owner'].map((name) => [name, [7]])),
    ...Object.fromEntries(
      ['asOf', 'keyStartedAt', 'heartbeatAt', 'endedAt'].map((name) => [name, [-1, Number.NaN, 1e300, 'x']]),
    ),
    label: [7, '', 'etl-1: a.csv', '{"host":7,"name":"a.csv"}'],
    settings: [7, '', '{', 'null', '[]', '7', '{}', JSON.stringify({ ...SETTINGS, service: {} })],
    status: [7, 'constructor'],
    tally: [{ ...NO_TALLY, billed: 'x' }],
    stop: ['', '{', '[]', '7', '{"type":"toString"}', '{"type":"halted","halt":{"why":"limit"}}'],
  };
  for (const [name, values] of Object.entries(damaged))
    for (const value of values)
      expect([name, value, await runOf({ ...RUN, [name]: value })]).toEqual([name, value, null]);
  for (const text of ['', 'null', '{"why":"toString"}', '{"why":"limit","reached":{"name":"quota"}}']) {
    await expect(progressOf({ ...PROGRESS, halt: text })).rejects.toMatchObject({ code: 'engine-unfit' });
    expect([text, await reasonOf(text)]).toEqual([text, { code: 'unknown' }]);
  }
});

test.each(Object.values(HALTS))('a halt comes back as it was: %j', async (halt) => {
  expect((await progressOf({ ...PROGRESS, halt: JSON.stringify(halt) })).halt).toEqual(halt);
});

test.each<FailureReason>([
  { code: 'answer', text: 'the service answered 410' },
  { code: 'damaged' },
  { code: 'unavailable' },
  { code: 'lost' },
  { code: 'unproven', text: 'the service answered 404', saysNotFound: true },
  { code: 'foreign', text: 'the service answered 301' },
])('a reason comes back as it was: %j', async (reason) => {
  expect(await reasonOf(JSON.stringify(reason))).toEqual(reason);
});
