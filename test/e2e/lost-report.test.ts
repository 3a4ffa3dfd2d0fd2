/** A report that cannot be written takes nothing from the output, and the message says so. */
import { mkdir, rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { redisEngine } from '../support/engines.js';
import { readRows } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

onEngines([redisEngine()], (engine) => {
  test.each(['its folder is gone', 'a folder is in the place of its page', 'the run is stopped'])(
    'exit 5 names the output when the report cannot be written: %s',
    async (fault) => {
      const scene = await createScene(engine, { latencyMs: 20 }, domainList(100));
      await mkdir(scene.path('out'));
      const running = scene.startHere(['run', 'list.csv', '--report', 'out/r.json', '--concurrency', '4']);
      await scene.service.until((meter) => meter.billed >= 20);
      if (fault.includes('page')) await mkdir(scene.path('out/r.html'));
      else await rm(scene.path('out'), { recursive: true });
      if (fault.includes('stopped')) running.kill('SIGINT');
      const { stderr } = await ends(5, running.done);
      const isPartial = fault.includes('stopped');
      const output = isPartial ? 'list.enriched.partial.csv' : 'list.enriched.csv';
      const state = isPartial ? 'the partial file is written' : 'the output is complete';
      expect(stderr).toContain(`${state} (${output})`);
      expect(stderr).toMatch(/report cannot be written: out\/r\.(json|html);/);
      expect(await readRows(scene.path(output))).toHaveLength(100);
      if (isPartial) return;
      const billed = scene.service.meter.billed;
      await ends(0, scene.run(['run', 'list.csv']));
      expect(scene.service.meter.billed).toBe(billed);
    },
  );
});
