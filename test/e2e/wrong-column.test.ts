/** A wrong column or kind: the run refuses to buy nonsense. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

const others = [embeddedEngine(), postgresEngine()].map(inLongTests);
// Hardly any of it depends on the engine.
onEngines([redisEngine(), ...others], (engine) => {
  test('websites named as tickers are refused by run and plan until a flag insists', async () => {
    const scene = await createScene(engine, {}, domainList(30));
    const wrong = ['list.csv', '--column', 'website:ticker'];
    for (const command of ['run', 'plan']) {
      const { code, stderr } = await scene.run([command, ...wrong]);
      expect(code).toBe(2);
      expect(stderr).toContain('most values of this column cannot be tickers: "website" as ticker');
      expect(stderr).toContain('use --column website:domain, or use --allow-mismatch');
    }
    expect(scene.service.meter.requests).toHaveLength(0);
    expect(await scene.files()).toEqual(expect.not.arrayContaining(['list.enriched.csv']));

    await ends(0, scene.run(['run', ...wrong, '--allow-mismatch', '--limit', '1']));
    expect(scene.service.meter.billed).toBe(1);
  });
});
