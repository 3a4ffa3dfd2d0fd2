/**
 * Others send with the same token, up to three times as fast: one request of ours at most is billed
 * beyond what the settings allow, and the report's overage is the service's count, up to one.
 */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

const QUOTA = 200;

/**
 * Others send `pace` requests as the service accepts one of ours: a client of their own would lag
 * behind, and then be faster than that. Counts ours that are billed beyond the quota.
 */
function spendBeside({ meter, options, until }: Scene['service'], pace: number) {
  let seen = 0;
  let beyond = 0;
  // The condition is looked at as soon as a request is accepted.
  const watching = until(() => {
    for (; seen < meter.billed; seen += 1) {
      if (options.others + seen >= QUOTA) beyond += 1;
      options.others = Math.floor(pace * (seen + 1));
    }
    return false;
  });
  watching.catch(() => undefined);
  return { beyond: () => beyond };
}

const SETTINGS: readonly (readonly [string, number])[] = [
  ['', 0],
  ['--overage-budget 100 --max-cost 0', 0],
  ['--overage-budget 100 --max-cost 0.5', 5],
];
const CASES = SETTINGS.flatMap(([settings, allowed]) =>
  [0.1, 1, 3].flatMap((pace) => [1, 8, 64].map((atOnce) => ({ settings, allowed, pace, atOnce }))),
);

onEngines([redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)], (engine) => {
  async function expectWithin({ settings, allowed, pace, atOnce }: (typeof CASES)[number]) {
    const scene = await createScene(engine, { quota: QUOTA, plan: 'paid', latencyMs: 30, jitterMs: 30 });
    await scene.write('list.csv', domainList(400));
    const beside = spendBeside(scene.service, pace);
    const command = ['run', 'list.csv', '--concurrency', String(atOnce)];
    await ends(7, scene.run([...command, ...settings.split(' ').filter(Boolean)]));
    const beyond = beside.beyond();
    const name = (await scene.files()).find((each) => each.endsWith('report.json')) ?? '';
    const { overage, billed } = (await readReport(scene.path(name))).requests;
    expect(billed).toBe(scene.service.meter.billed);
    expect(scene.service.options.others + billed).toBeGreaterThanOrEqual(QUOTA);
    expect(beyond).toBeLessThanOrEqual(allowed + 1);
    expect(Math.abs(overage - beyond), `${overage} reported, ${beyond} billed`).toBeLessThanOrEqual(1);
  }

  const isQuick = ({ pace, atOnce }: (typeof CASES)[number]) => pace === 1 && atOnce === 64;
  test.each(CASES.filter(isQuick))('one for each of ours, 64 at once: "$settings"', expectWithin);
  test.each(CASES.filter((each) => !isQuick(each)))(
    '$pace for each of ours, $atOnce at once: "$settings"',
    { tags: ['long'], timeout: 120_000 },
    expectWithin,
  );
});
