/** The runs of a program, on a clock that the test turns: when one ends and the next one begins. */
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { openingPace } from '../../src/ledger/pace.js';
import { createProgramRuns } from '../../src/library/program-runs.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { createHandClock } from '../model/hand-clock.js';
import { hasRedisServer } from '../support/redis-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { SERVICE, usePlaces } from '../worker/workplace.js';

const HOUR_MS = 3_600_000;

describe.skipIf(!hasRedisServer())('the run of a program (needs redis-server)', () => {
  const openPlace = usePlaces('program-runs');

  async function programOf(settings: Parameters<typeof runSettings>[0] = {}) {
    const { engine, openWorker, client } = await openPlace();
    const clock = createHandClock();
    const stateFolder = await temporaryFolder();
    const runs = createProgramRuns({
      engine,
      worker: openWorker({ client: client(), spoolFolder: stateFolder }),
      clock,
      log: silentLog(),
      stateFolder,
      name: 'nightly',
      owner: null,
      settings: runSettings({ service: SERVICE, ...settings }),
      pace: openingPace(null, true),
      storeTime: clock.now(),
    });
    const standingOf = async ({ record: { id } }: { readonly record: { readonly id: string } }) => {
      const known = await engine.runs.get(id);
      return [known?.status, known?.stop];
    };
    return { clock, runs, engine, standingOf };
  }

  test('is the same for an hour, and then another one, because stored answers are judged at its start', async () => {
    const { clock, runs, standingOf } = await programOf();
    const first = await runs.enter();
    runs.leave(first);
    await clock.advance(HOUR_MS);
    expect(await runs.enter()).toBe(first);
    runs.leave(first);
    await clock.advance(1);
    const second = await runs.enter();
    expect(second.record.id).not.toBe(first.record.id);
    await expect.poll(() => standingOf(first)).toEqual(['completed', null]);
    expect(await standingOf(second)).toEqual(['running', null]);
    runs.leave(second);
    await runs.close(true);
    expect(await standingOf(second)).toEqual(['completed', null]);
  });

  test('is paused like the one before: a pause is of the program, not of one of its runs', async () => {
    const { clock, runs, engine } = await programOf();
    const first = await runs.enter();
    runs.leave(first);
    await engine.runs.pause(first.record.id, 'ada');
    await clock.advance(2 * HOUR_MS);
    const second = await runs.enter();
    expect(second).not.toBe(first);
    expect(await engine.runs.heartbeat(second.record.id)).toMatchObject({ isPausedAlone: true });
    await engine.runs.resume(second.record.owner);
    runs.leave(second);
    await runs.close(true);
  });

  test('ends with its last lookup if one is under way when the next run begins', async () => {
    const { clock, runs, standingOf } = await programOf();
    const first = await runs.enter();
    await clock.advance(HOUR_MS + 1);
    const second = await runs.enter();
    expect(second).not.toBe(first);
    expect(await standingOf(first)).toEqual(['running', null]);
    runs.leave(first);
    await expect.poll(() => standingOf(first)).toEqual(['completed', null]);
    expect(await standingOf(second)).toEqual(['running', null]);
    await runs.close(true);
  });

  test('with a cap is stopped and not completed, so that the next one goes on under the same cap', async () => {
    const { clock, runs, standingOf } = await programOf({ maxRequests: 5 });
    const first = await runs.enter();
    runs.leave(first);
    await clock.advance(HOUR_MS + 1);
    const second = await runs.enter();
    await expect.poll(() => standingOf(first)).toEqual(['stopped', { type: 'renewed' }]);
    expect(second.record.keyStartedAt).toBe(first.record.keyStartedAt);
    await runs.close(true);
  });
});
