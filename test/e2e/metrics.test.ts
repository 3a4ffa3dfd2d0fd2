/** Metrics and health of real processes. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { userAtHost } from '../../src/core/process-identity.js';
import type { Document } from '../../src/run/documents.js';
import { scrape } from '../app/scrape.js';
import { redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { faultsOf } from '../support/schemas.js';
import { ends, LONG, onEngines, stop } from './commands.js';

const METRICS_AT = /(http:\/\/127\.0\.0\.1:\d+)\/metrics/;
const urlIn = (output: string) => METRICS_AT.exec(output)?.[1] ?? '';

const redis = redisEngine(['--appendonly', 'yes']);
onEngines([redis], () => {
  test('reports lookups, queue and limit, and is ready again when Redis is back', LONG, async () => {
    const scene = await createScene(redis);
    const worker = scene.start(['worker', '--metrics-port', '0', '--concurrency', '4']);
    await worker.untilSaid(METRICS_AT);
    const url = urlIn(worker.said);
    await scene.write('list.csv', domainList(120));
    await ends(0, scene.run(['run', 'list.csv', '--no-worker']));
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
    await stop(worker);
  });

  test('a run leaves its metrics in a file, a failed one too, and status says who spent it', async () => {
    const scene = await createScene(redis, { quota: 1_000 }, domainList(20));
    const { meter } = scene.service;
    const value = async (line: RegExp) => line.exec(await readFile(scene.path('nightly.prom'), 'utf8'))?.[1];
    const flags = ['list.csv', '--metrics-file', 'nightly.prom'];
    await ends(0, scene.run(['run', ...flags]));
    expect(await value(/requests\{input="list.csv",type="billed"\} (\d+)/)).toBe(String(meter.billed));
    const completeAt = await value(/last_complete_timestamp_seconds\{.*\} (\S+)/);
    expect(Number(completeAt)).toBeGreaterThan(1_700_000_000);
    const failed = await scene.run(['run', ...flags, '--column', 'nothing']);
    expect(failed.code).toBe(2);
    expect(await value(/exit_code\{input="list.csv"\} (\d+)/)).toBe('2');
    expect(await value(/last_complete_timestamp_seconds\{.*\} (\S+)/)).toBe(completeAt);
    await ends(0, scene.run(['run', 'list.csv', '--metrics-file', 'none/x.prom']), 'no metrics were written');

    await scene.write('more.csv', domainList(5, 'more'));
    await ends(0, scene.run(['run', 'more.csv']));
    for (const by of ['input', 'schedule', 'person', 'month']) {
      const { stdout } = await scene.run(['status', '--by', by, '--json']);
      const spending = JSON.parse(stdout) as Document<'spending'>;
      expect(faultsOf('spending', spending)).toEqual([]);
      const sum = spending.groups.reduce((all, { billed }) => all + billed, 0);
      // The other scenes of this Redis have accounts of their own.
      expect(sum).toBeGreaterThanOrEqual(25);
      expect(spending.account).toMatchObject({ sent: 25, unattributed: 0, others: 0 });
      expect(spending.unknown.length).toBeGreaterThan(1);
      const more = expect.objectContaining({ name: 'more.csv', runs: 1, billed: 5 });
      if (by === 'input') expect(spending.groups).toContainEqual(more);
      if (by === 'person') expect(spending.groups.map(({ name }) => name)).toEqual([userAtHost()]);
    }
    const { stdout } = await scene.run(['status', '--by', 'person']);
    expect(stdout).toContain(`${userAtHost()}: `);
    expect(meter.billed).toBe(25);
  });

  test('a taken port stops the run when a flag set it, and is skipped otherwise', LONG, async () => {
    const scene = await createScene(redis, {}, domainList(3));
    const { port } = new URL(scene.service.url);
    await ends(5, scene.run(['run', 'list.csv', '--metrics-port', port]), 'choose another --metrics-port');
    expect(scene.service.meter.billed).toBe(0);
    const shared = await ends(0, scene.run(['run', 'list.csv'], { BRAND_ENRICH_METRICS_PORT: port }));
    expect(shared.stderr).toContain('choose another --metrics-port');
    expect(scene.service.meter.billed).toBe(3);
  });
});
