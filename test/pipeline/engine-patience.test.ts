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

it('an engine that no longer knows the run is not asked again', async () => {
  let calls = 0;
  const asking = patiently(running, async () => {
    calls += 1;
    throw new FailFileError({ code: 'engine-unfit', subject: 'redis', todo: 'run again' });
  });
  await expect(asking).rejects.toMatchObject({ code: 'engine-unfit' });
  expect(calls).toBe(1);
});
