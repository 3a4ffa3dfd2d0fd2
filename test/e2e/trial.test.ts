/** A run that looks up a few identifiers first, counted at the service. */
import { expect, test } from 'vitest';
import { redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene, domainAt, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

onEngines([redisEngine()], (engine) => {
  test('in a script --try buys that many, spread over the file, and stops; --yes continues, and nothing is bought twice', async () => {
    const { run, files, path, service } = await createScene(engine, {}, domainList(40));
    const tried = await ends(0, run(['run', 'list.csv', '--try', '5']));
    expect([...service.meter.billedOf.keys()].sort()).toEqual(
      [4, 12, 20, 28, 36].map((index) => `domain:${domainAt(index)}`),
    );
    expect(tried.stderr).toMatch(/^tried 5 identifiers: \d matched \(\d+ %\)/m);
    expect(tried.stderr).toMatch(/^ {2}domain:brand-\d+\.com: \S.*, (score 0|1|unscored)/m);
    expect(tried.stderr).toMatch(/^35 more identifiers to look up, 35 within the quota/m);
    expect(tried.stderr).toContain('to continue, run the same command without --try, or answer y');
    expect(await files()).toContain('list.enriched.partial.csv');
    expect(await files()).not.toContain('list.enriched.csv');
    expect(countStatuses(await readRows(path('list.enriched.partial.csv'))).deferred).toBe(35);
    expect((await readReport(path('list.report.json'))).run).toMatchObject({
      status: 'declined',
      isComplete: false,
      exitCode: 0,
    });

    await ends(0, run(['run', 'list.csv', '--try', '5', '--yes']), /^tried 5 identifiers/m);
    expect([service.meter.billed, service.meter.mostBilledOnce()]).toEqual([40, 1]);
    expect(await files()).not.toContain('list.enriched.partial.csv');
  });
});
