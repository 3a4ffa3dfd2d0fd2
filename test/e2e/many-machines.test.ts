/**
 * The topology of `docker-compose.yml` as processes: its Redis with its flags, its workers and runs with their commands and
 * environments, where only the addresses are this machine's.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ComposeService, readCompose } from '../compose/compose-file.js';
import { redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { createScene, domainList, type Scene } from '../support/scene.js';

const { services } = readCompose();
const flagsOfRedis = (services.redis?.command ?? []).slice(1);
const redis = redisEngine(flagsOfRedis);

/** What Compose would give this container, with this machine's addresses. */
function environmentOf(
  service: ComposeService | undefined,
  scene: Scene,
  name: string,
): Record<string, string> {
  const { BRAND_ENRICH_ENGINE: engine = '', ...env } = service?.environment ?? {};
  return {
    ...env,
    BRAND_ENRICH_ENGINE: engine.replace('redis://redis:6379', redis.server.url),
    BRAND_API_URL: scene.service.url,
    BRAND_API_TOKEN: scene.token,
    BRAND_ENRICH_STATE: join(scene.folder, name),
    // Containers have a port each; processes of one machine share them.
    ...(env.BRAND_ENRICH_METRICS_PORT === undefined ? {} : { BRAND_ENRICH_METRICS_PORT: '0' }),
  };
}

function argsOf(service: ComposeService | undefined): string[] {
  return [...(service?.entrypoint ?? []).slice(2), ...(service?.command ?? [])];
}

describe.skipIf(redis.missing !== null)(
  `many machines${redis.missing ? ` (skipped: ${redis.missing})` : ''}`,
  () => {
    beforeAll(() => redis.start());
    afterAll(() => redis.stop());

    test('three workers and two runs on one Redis buy each distinct identifier once', async () => {
      const scene = await createScene(redis, { jitterMs: 20 });
      const workers = [1, 2, 3].map(() =>
        scene.start(argsOf(services.worker), environmentOf(services.worker, scene, 'worker-state')),
      );
      await Promise.all(workers.map((worker) => worker.untilSaid(/waiting for chunks/)));
      // 600 each, 400 of them in both.
      const all = domainList(800).trimEnd().split('\n');
      const [header = ''] = all;
      await scene.write('one.csv', `${all.slice(0, 601).join('\n')}\n`);
      await scene.write('two.csv', `${[header, ...all.slice(201)].join('\n')}\n`);
      const results = await Promise.all(
        ['one', 'two'].map((name) =>
          scene.run([...argsOf(services.run), `${name}.csv`], environmentOf(services.run, scene, name)),
        ),
      );
      for (const { code, stderr } of results) expect(code, stderr).toBe(0);
      expect(scene.service.meter.billed).toBe(800);
      expect(scene.service.meter.mostBilledOnce()).toBe(1);
      for (const name of ['one', 'two']) {
        const counts = countStatuses(await readRows(scene.path(`${name}.enriched.csv`)));
        expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(600);
      }
      for (const worker of workers) worker.kill('SIGTERM');
      for (const worker of workers) expect((await worker.done).code).toBe(0);
    });
  },
);
