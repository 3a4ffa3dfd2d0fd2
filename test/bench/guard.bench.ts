/** Guards against lost speed, in CI too: CPU time and counts against the script, in one run. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { take } from './measure.ts';
import { sayFigure } from './results.ts';
import { redisFacts, TOKEN, useStage } from './stage.ts';

const SCRIPT = fileURLToPath(new URL('script.mjs', import.meta.url));
const LOOKUPS = 20_000;
const ROUNDS = 3;
const stage = useStage();

/** The least CPU time of each way, in rounds, so that a slow moment meets all of them. */
async function leastCpu(ways: readonly (() => Promise<{ cpuSeconds: number }>)[]): Promise<number[]> {
  const least = ways.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [nth, way] of ways.entries()) least[nth] = Math.min(least[nth] ?? 0, (await way()).cpuSeconds);
  return least;
}

function expectAtMost(figure: string, value: number, bound: number): void {
  sayFigure(figure, value.toFixed(2), `at most ${bound}`);
  expect(value, figure).toBeLessThan(bound);
}

it(`${LOOKUPS} lookups cost no more CPU time than they did, start included`, {
  tags: ['guard'],
}, async () => {
  const url = await stage.service(LOOKUPS);
  const input = await stage.input(LOOKUPS);
  const ours = (engine: 'redis' | 'embedded') => async () => {
    await stage.startAnew();
    const took = await stage.run(input, engine, url);
    expect(took.report.requests.billed).toBe(LOOKUPS);
    return took;
  };
  const script = () => take(SCRIPT, [input, stage.path('script.csv'), url, TOKEN]);
  const ways = [script, ours('embedded'), ours('redis')];
  const [least = 0, embedded = 0, redis = 0] = await leastCpu(ways);
  expectAtMost('embedded, CPU of the script', embedded / least, 10);
  expectAtMost('Redis, CPU of the script', redis / least, 6);
  const fact = await redisFacts(stage.redis.url);
  const calls = fact('cmdstat_evalsha.calls') + fact('cmdstat_eval.calls');
  expectAtMost('Redis, scripts run per lookup', calls / LOOKUPS, 0.6);
  expectAtMost('Redis, bytes per stored answer', fact('used_memory') / LOOKUPS, 1_100);
});
