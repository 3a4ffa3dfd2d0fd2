/** Contract of the key-value store and the scheduled jobs, run against each engine. */
import { describe, expect, test } from 'vitest';
import { engineId, readEngineId } from '../../../src/engine/engine-stores.js';
import { dueAtOf, type ScheduledJobData } from '../../../src/engine/stores/scheduled-jobs.js';
import { engineOfSuite, type OpenEngineUnderTest } from './engine-under-test.js';

const EVERY_SECOND = '* * * * * *';
const ONCE_A_YEAR = '0 0 1 1 *';

export function describeKeyValues(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: key-values and scheduled jobs`, () => {
    const subject = engineOfSuite(open);
    const { clock } = subject;
    let counted = 0;

    const keyValues = () => subject.engine.keyValues;
    const ticks = () => subject.engine.scheduledJobs;
    const newName = (word: string) => {
      counted += 1;
      return `${word}-${counted}`;
    };
    const texts = async (scope: string) =>
      (await keyValues().list(scope)).map(({ name, text }) => [name, text]);

    test('the engine has one id, whoever sets it first', async () => {
      const given = await Promise.all([engineId(keyValues()), engineId(keyValues()), engineId(keyValues())]);
      expect(new Set([...given, await readEngineId(keyValues()), subject.engine.id]).size).toBe(1);
      expect(subject.engine.id).toMatch(/^[0-9a-f]{16}$/);
    });

    test('values are listed by name, with their age, and the last write wins', async () => {
      const scope = newName('scope');
      await keyValues().put(scope, 'b', 'two words, and: "signs" äö');
      await keyValues().put(scope, 'a', 'one');
      await keyValues().put(scope, 'a', '');
      clock.advance(40_000);
      const found = await keyValues().list(scope);
      expect(found.map(({ name, text }) => [name, text])).toEqual([
        ['a', ''],
        ['b', 'two words, and: "signs" äö'],
      ]);
      for (const { ageMs } of found) expect(ageMs).toBeGreaterThanOrEqual(40_000);
      expect(await texts(newName('scope'))).toEqual([]);
    });

    test('a value is removed once, and only when it has the expected text, if one is given', async () => {
      const scope = newName('scope');
      await keyValues().put(scope, 'a', 'one');
      expect(await keyValues().remove(scope, 'a', 'two')).toBe(false);
      expect(await keyValues().remove(scope, 'a', 'one')).toBe(true);
      expect(await keyValues().remove(scope, 'a', null)).toBe(false);
      await keyValues().put(scope, 'a', 'one');
      expect(await keyValues().remove(scope, 'a', null)).toBe(true);
    });

    test('one of many concurrent claims of a value succeeds, until its owner is dead', async () => {
      const scope = newName('scope');
      const names = Array.from({ length: 8 }, (_, index) => `holder ${index}`);
      const claims = await Promise.all(names.map((each) => keyValues().claim(scope, 'a', each, 30_000)));
      const owner = names[claims.indexOf(true)] ?? '';
      expect(claims.filter((isOurs) => isOurs)).toHaveLength(1);
      expect(await texts(scope)).toEqual([['a', owner]]);
      clock.advance(29_000);
      expect(await keyValues().claim(scope, 'a', 'another', 30_000)).toBe(false);
      expect(await keyValues().claim(scope, 'a', owner, 30_000)).toBe(true);
      clock.advance(29_000);
      expect(await keyValues().claim(scope, 'a', 'another', 30_000)).toBe(false);
      clock.advance(2_000);
      expect(await keyValues().claim(scope, 'a', 'another', 30_000)).toBe(true);
      clock.advance(1_000_000);
      expect(await keyValues().claim(scope, 'a', 'a third', null)).toBe(false);
    });

    test('a scheduled job is listed with its next tick, replaced, and removed', async () => {
      const queue = newName('ticks');
      await ticks().set(queue, ONCE_A_YEAR, 'UTC', { name: 'nightly', id: '1' });
      await ticks().set(queue, '0 12 1 1 *', 'UTC', { name: 'nightly', id: '2' });
      const [found, ...others] = await ticks().list(queue);
      expect(others).toEqual([]);
      expect(found?.name).toBe('nightly');
      expect(new Date(found?.nextAt ?? 0).toISOString()).toMatch(/-01-01T12:00:00.000Z$/);
      expect(await ticks().remove(queue, 'nightly')).toBe(true);
      expect(await ticks().remove(queue, 'nightly')).toBe(false);
      expect(await ticks().list(queue)).toEqual([]);
    });

    test('one of two workers takes a tick, with its time; a tick by hand has no time', async () => {
      const queue = newName('ticks');
      const taken: { data: ScheduledJobData; id: string | undefined; dueAt: number | null }[] = [];
      const workers = Array.from({ length: 2 }, () =>
        subject.engine.openScheduledJobWorker(
          queue,
          async (job) => {
            taken.push({ data: job.data, id: job.id, dueAt: dueAtOf(job) });
          },
          5,
        ),
      );
      for (const worker of workers) void worker.run();
      await ticks().addNow(queue, { name: 'by hand', id: '7' });
      await ticks().set(queue, EVERY_SECOND, 'UTC', { name: 'clock', id: '1' });
      const byClock = () => taken.filter(({ data }) => data.name === 'clock');
      await expect.poll(() => byClock().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
      await ticks().remove(queue, 'clock');
      await Promise.all(workers.map((worker) => worker.close()));
      expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length);
      for (const { dueAt } of byClock()) expect((dueAt ?? 1) % 1_000).toBe(0);
      expect(taken.filter(({ data }) => data.name === 'by hand')).toEqual([
        expect.objectContaining({ data: { name: 'by hand', id: '7' }, dueAt: null }),
      ]);
    });
  });
}
