import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, it } from 'vitest';
import { FailFileError } from '../../src/errors.js';
import { silentLog } from '../../src/log.js';
import { patiently } from '../../src/pipeline/engine-patience.js';

const running = { log: silentLog(), stop: new AbortController().signal };

it('an engine that was away for a moment is asked again', async () => {
  let calls = 0;
  const answer = await patiently(running, async () => {
    calls += 1;
    if (calls === 1) throw new FailFileError({ code: 'engine-unreachable', subject: 'redis', todo: 'wait' });
    return 'there';
  });
  expect([answer, calls]).toEqual(['there', 2]);
});

it.each(['engine-unfit', 'engine-held'] as const)(
  'what does not pass by itself (%s) is not asked again',
  async (code) => {
    let calls = 0;
    const asking = patiently(running, async () => {
      calls += 1;
      throw new FailFileError({ code, subject: 'redis', todo: 'run again' });
    });
    await expect(asking).rejects.toMatchObject({ code });
    expect(calls).toBe(1);
  },
);

it('an outage is two lines in the log, its begin with the reason and its end', async () => {
  const lines: { msg: string; reason?: string }[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  let calls = 0;
  await patiently({ ...running, log: pino({ base: null, timestamp: false }, stream) }, async () => {
    calls += 1;
    if (calls <= 2) throw new Error('connection refused');
  });
  expect(lines).toEqual([
    { level: 40, reason: 'connection refused', msg: 'the engine does not answer; trying again' },
    { level: 30, msg: 'the engine answers again' },
  ]);
});
