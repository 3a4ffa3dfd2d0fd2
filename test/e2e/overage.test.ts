/** The overage that a run reports is what the service bills; `--max-cost` is used up fully. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

/** Requests that the service bills beyond its quota. */
const beyond = ({ service }: Scene) => Math.max(0, service.meter.billed - service.options.quota);

async function overageIn(scene: Scene, name: string) {
  return (await readReport(scene.path(name))).requests;
}

onEngines([redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)], (engine) => {
  test('the reports of several starts add up to the bill', async () => {
    const scene = await createScene(engine, { quota: 20, plan: 'paid', badShare: 0.3 }, domainList(200));
    const billed: number[] = [];
    for (const budget of ['0', '1.5', '4', '100']) {
      await scene.run(['run', 'list.csv', '--plan', 'paid', '--overage-budget', budget]);
      const [report] = (await scene.files())
        .filter((name) => name.endsWith('report.json'))
        .sort()
        .reverse();
      billed.push((await overageIn(scene, report ?? '')).overage);
    }
    expect(billed[0]).toBe(0);
    expect(billed[1]).toBe(15);
    expect(billed[2]).toBe(25);
    expect(billed.reduce((sum, each) => sum + each, 0)).toBe(beyond(scene));
  });

  test('as long as no header shows the quota, what is beyond --quota is overage', async () => {
    const scene = await createScene(engine, { quota: 20, hasQuota: false, dialect: 'coded' }, domainList(60));
    // One at a time: the refusal at the end shows the quota to what is settled after it.
    const command = ['run', 'list.csv', '--quota', '16', '--overage-budget', '10', '--concurrency', '1'];
    await ends(7, scene.run(command));
    expect(scene.service.meter.billed).toBe(20);
    const report = (await scene.files()).find((name) => name.endsWith('report.json')) ?? '';
    expect(await overageIn(scene, report)).toMatchObject({ billed: 20, overage: 4, overageCost: '0.4' });
  });

  test('a cost cap is used up fully, and a second start keeps it', async () => {
    const scene = await createScene(engine, { quota: 10, plan: 'paid', badShare: 0.5 }, domainList(300));
    const command = ['run', 'list.csv', '--overage-budget', '20', '--max-cost', '5'];
    for (let start = 0; start < 2; start += 1) {
      const { stderr } = await ends(7, scene.run(command));
      expect(stderr).toContain('--max-cost is reached');
      expect(beyond(scene)).toBe(50);
    }
    const rows = countStatuses(await readRows(scene.path('list.enriched.partial.csv')));
    expect((rows.matched ?? 0) + (rows.not_found ?? 0)).toBe(60);
  });
});
