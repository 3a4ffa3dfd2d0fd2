/**
 * A nightly job with `--quiet` prints nothing on success, and one line with the reason whenever a
 * run stopped.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { createScene, describeOn, domainList } from '../support/scene.js';

describeOn([redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)], (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

  test('a completed run prints nothing', async () => {
    const scene = await createScene(engine);
    await scene.write('list.csv', domainList(10));
    const { code, stdout, stderr } = await scene.run(['run', 'list.csv', '--quiet']);
    expect([code, stdout, stderr]).toEqual([0, '', '']);
  });

  test('a run stopped by its quota prints one line (7)', async () => {
    const scene = await createScene(engine, { quota: 5 });
    await scene.write('list.csv', domainList(10));
    const { code, stderr } = await scene.run(['run', 'list.csv', '--quiet']);
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /^brand-enrich: list\.csv: stopped: .*5 identifiers are left.*run the same command again/m,
    );
  });

  test('a run with a refused token prints one line (4)', async () => {
    const scene = await createScene(engine, { tokens: [] });
    await scene.write('list.csv', domainList(10));
    const { code, stderr } = await scene.run(['run', 'list.csv', '--quiet']);
    expect([code, stderr]).toEqual([
      4,
      'brand-enrich: list.csv: the service refused the credentials: the token is malformed or unknown (status 401); check the token, then run the same command again: nothing is lost\n',
    ]);
  });

  test('a run with a misspelt host prints one line, soon (5)', async () => {
    const scene = await createScene(engine);
    await scene.write('list.csv', domainList(200));
    const { code, stderr } = await scene.run([
      'run',
      'list.csv',
      '--quiet',
      '--base-url',
      'https://nowhere.invalid',
    ]);
    expect(code).toBe(5);
    expect(stderr.match(/the host nowhere\.invalid does not exist/g)).toHaveLength(1);
    // Neither an outage nor an idle queue is waited for.
    expect(stderr).not.toMatch(/for a minute|no chunk has finished/);
  });
});
