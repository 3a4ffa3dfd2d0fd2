/** The budget holds, counted at the service: quota, caps, overage, and spending by others. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { ends, expectPaidOnce, LONG, onEngines } from './commands.js';

const redis = redisEngine();
onEngines([redis], () => {
  test('a run whose cap is raised continues where the lower one stopped it', async () => {
    const scene = await createScene(redis, {}, domainList(200));
    await ends(7, scene.run(['run', 'list.csv', '--max-requests', '30']));
    // The plan of the same command knows what it sent, and that other commands sent nothing.
    const deferred = async (file: string) => {
      const plan = await scene.run(['plan', file, '--max-requests', '50', '--json']);
      return JSON.parse(plan.stdout).spending.deferred;
    };
    expect(await deferred('list.csv')).toBe(150);
    await scene.write('other.csv', domainList(200, 'other'));
    expect(await deferred('other.csv')).toBe(150);
    await ends(7, scene.run(['run', 'list.csv', '--max-requests', '50']));
    expect(await deferred('list.csv')).toBe(150);
    expect(scene.service.meter.billed).toBe(50);
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(scene.service.meter, 200);
  });

  async function expectFewRefusals(dialect: 'coded' | 'body' | 'spec'): Promise<void> {
    const scene = await createScene(redis, { quota: 100, hasHeaders: false, dialect }, domainList(400));
    await ends(7, scene.run(['run', 'list.csv']));
    expect(scene.service.meter.billed).toBe(100);
    expect(scene.service.meter.count({ why: 'quota' })).toBeLessThanOrEqual(30);
    const report = await readReport(scene.path('list.report.json'));
    expect(report.rows).toMatchObject({ deferred: 300, failed: 0 });
  }

  const title = 'without usage headers (%s) the run ends after a few refusals for quota';
  test.each(['body'] as const)(title, expectFewRefusals);
  // With `spec` nothing says what is refused.
  test.each(['coded', 'spec'] as const)(title, LONG, expectFewRefusals);
});

/** Requests that the service bills beyond its quota. */
const billedBeyond = ({ service }: Scene) => Math.max(0, service.meter.billed - service.options.quota);

const requestsIn = async (scene: Scene) => (await readReport(scene.path('list.report.json'))).requests;

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

const ALLOWED: readonly (readonly [string, number])[] = [
  ['', 0],
  ['--overage-budget 100 --max-cost 0', 0],
  ['--overage-budget 100 --max-cost 0.5', 5],
];
const CASES = ALLOWED.flatMap(([settings, allowed]) =>
  [0.1, 1, 3].flatMap((pace) => [1, 8, 64].map((atOnce) => ({ settings, allowed, pace, atOnce }))),
);

onEngines([redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)], (engine) => {
  test('the reports of several starts add up to the bill', async () => {
    const scene = await createScene(engine, { quota: 20, plan: 'paid', badShare: 0.3 }, domainList(200));
    const billed: number[] = [];
    for (const budget of ['0', '1.5', '4', '100']) {
      await scene.run(['run', 'list.csv', '--plan', 'paid', '--overage-budget', budget]);
      billed.push((await requestsIn(scene)).overage);
    }
    expect(billed.slice(0, 3)).toEqual([0, 15, 25]);
    expect(billed.reduce((sum, each) => sum + each, 0)).toBe(billedBeyond(scene));
  });

  test('a budget of 0 spends nothing beyond a used-up quota, however often the run starts', async () => {
    const scene = await createScene(engine, { quota: 3, plan: 'paid' }, domainList(7));
    for (let start = 0; start < 3; start += 1)
      await ends(7, scene.run(['run', 'list.csv', '--overage-budget', '0']));
    expect(scene.service.meter.billed).toBe(3);
  });

  test('as long as no header shows the quota, what is beyond --quota is overage', async () => {
    const scene = await createScene(engine, { quota: 20, hasQuota: false, dialect: 'coded' }, domainList(60));
    // One at a time: the refusal at the end shows the quota to what is settled after it.
    const command = ['run', 'list.csv', '--quota', '16', '--overage-budget', '10', '--concurrency', '1'];
    await ends(7, scene.run(command));
    expect(scene.service.meter.billed).toBe(20);
    expect(await requestsIn(scene)).toMatchObject({ billed: 20, overage: 4, overageCost: '0.4' });
  });

  test('a cost cap is used up fully, and a second start keeps it', async () => {
    const scene = await createScene(engine, { quota: 10, plan: 'paid', badShare: 0.5 }, domainList(300));
    const command = ['run', 'list.csv', '--overage-budget', '20', '--max-cost', '5'];
    for (let start = 0; start < 2; start += 1) {
      await ends(7, scene.run(command), '--max-cost is reached');
      expect(billedBeyond(scene)).toBe(50);
    }
    const rows = countStatuses(await readRows(scene.path('list.enriched.partial.csv')));
    expect((rows.matched ?? 0) + (rows.not_found ?? 0)).toBe(60);
  });

  async function expectWithin({ settings, allowed, pace, atOnce }: (typeof CASES)[number]) {
    const scene = await createScene(engine, { quota: QUOTA, plan: 'paid', latencyMs: 30, jitterMs: 30 });
    await scene.write('list.csv', domainList(400));
    const beside = spendBeside(scene.service, pace);
    const command = ['run', 'list.csv', '--concurrency', String(atOnce)];
    await ends(7, scene.run([...command, ...settings.split(' ').filter(Boolean)]));
    const beyond = beside.beyond();
    const { overage, billed } = await requestsIn(scene);
    expect(billed).toBe(scene.service.meter.billed);
    expect(scene.service.options.others + billed).toBeGreaterThanOrEqual(QUOTA);
    expect(beyond).toBeLessThanOrEqual(allowed + 1);
    expect(Math.abs(overage - beyond), `${overage} reported, ${beyond} billed`).toBeLessThanOrEqual(1);
  }

  const isQuick = ({ pace, atOnce }: (typeof CASES)[number]) => pace === 1 && atOnce === 64;
  test.each(CASES.filter(isQuick))('one for each of ours, 64 at once: "$settings"', expectWithin);
  const others = CASES.filter((each) => !isQuick(each));
  test.each(others)('$pace for each of ours, $atOnce at once: "$settings"', LONG, expectWithin);
});
