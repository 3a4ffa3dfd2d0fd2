/**
 * Metrics and health of real processes: metrics agree with what the service counted, and readiness
 * follows the engine.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scrape } from '../context/scrape.js';
import { redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';

const METRICS_AT = /(http:\/\/127\.0\.0\.1:\d+)\/metrics/;
const urlIn = (output: string) => METRICS_AT.exec(output)?.[1] ?? '';

const redis = redisEngine(['--appendonly', 'yes']);
describe.skipIf(redis.missing !== null)('a worker on redis', () => {
  beforeAll(() => redis.start());
  afterAll(() => redis.stop());

  test('reports lookups, queue and limit, and is ready again when Redis is back', async () => {
    const scene = await createScene(redis);
    const worker = scene.start(['worker', '--metrics-port', '0', '--concurrency', '4']);
    await worker.untilSaid(METRICS_AT);
    const url = urlIn(worker.said);
    await scene.write('list.csv', domainList(120));
    const result = await scene.run(['run', 'list.csv', '--no-worker']);
    expect(result.code, result.stderr).toBe(0);
    const { value, text } = await scrape(`${url}/metrics`);
    expect(value('brand_enrich_billed_total')).toBe(120);
    expect(value('brand_enrich_lookup_duration_seconds_count')).toBe(120);
    expect(value('brand_enrich_queue_chunks', { state: 'waiting' })).toBe(0);
    expect(text).toMatch(/^brand_enrich_limit_left\{account="key-[0-9a-f]{16}"\} \d+$/m);
    expect((await scrape(`${url}/readyz`)).status).toBe(200);

    // Redis hangs first, then is gone.
    await redis.server.kill('SIGSTOP');
    expect(await scrape(`${url}/readyz`)).toMatchObject({
      status: 503,
      text: 'the engine does not answer\n',
    });
    const meanwhile = await scrape(`${url}/metrics`);
    expect(meanwhile.value('brand_enrich_billed_total')).toBe(120);
    expect(meanwhile.value('brand_enrich_queue_chunks', { state: 'waiting' })).toBeUndefined();
    await redis.server.kill('SIGKILL');
    expect((await scrape(`${url}/readyz`)).status).toBe(503);
    expect((await scrape(`${url}/healthz`)).status).toBe(200);

    await redis.server.restart();
    await expect.poll(async () => (await scrape(`${url}/readyz`)).status).toBe(200);
    worker.kill('SIGTERM');
    expect((await worker.done).code).toBe(0);
  });

  test('a taken port stops the run before it spends when a flag set it, and is skipped otherwise', async () => {
    const scene = await createScene(redis);
    const { port } = new URL(scene.service.url);
    await scene.write('list.csv', domainList(3));
    const result = await scene.run(['run', 'list.csv', '--metrics-port', port]);
    expect(result.code).toBe(5);
    expect(result.stderr).toContain('choose another --metrics-port');
    expect(scene.service.meter.billed).toBe(0);
    const shared = await scene.run(['run', 'list.csv'], { BRAND_ENRICH_METRICS_PORT: port });
    expect(shared.code, shared.stderr).toBe(0);
    expect(shared.stderr).toContain('choose another --metrics-port');
    expect(scene.service.meter.billed).toBe(3);
  });
});
