/** The topology of `docker-compose.yml`, as processes of this machine. */
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { argsOf, type ComposeService, readCompose } from '../compose/compose-file.js';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { redisEngine } from '../support/engines.js';
import { domainList, type Scene } from '../support/scene.js';
import { answeredIn, expectPaidOnce, LONG, onEngines, stop } from './commands.js';

const { services } = readCompose();
const flagsOfRedis = (services.redis?.command ?? []).slice(1);
const redis = redisEngine(flagsOfRedis);

/** What containers have of their own, and processes of one machine share. */
const ofMachine = ({ folder }: Scene): Readonly<Record<string, string>> => ({
  BRAND_ENRICH_METRICS_PORT: '0',
  BRAND_ENRICH_DASHBOARD_PORT: '0',
  BRAND_ENRICH_METRICS_HOST: '127.0.0.1',
  BRAND_ENRICH_DASHBOARD_HOST: '127.0.0.1',
  BRAND_ENRICH_INBOX: folder,
});

/** The environment that Compose would give this container, with local addresses. */
function environmentOf(service: ComposeService | undefined, scene: Scene, name: string) {
  const { BRAND_ENRICH_ENGINE: engine = '', ...env } = service?.environment ?? {};
  return {
    ...env,
    BRAND_ENRICH_ENGINE: engine.replace('redis://redis:6379', redis.server.url),
    BRAND_API_URL: scene.service.url,
    BRAND_API_TOKEN: scene.token,
    BRAND_ENRICH_STATE: join(scene.folder, name),
    ...Object.fromEntries(Object.entries(ofMachine(scene)).filter(([each]) => env[each] !== undefined)),
  };
}

onEngines([redis], () => {
  test('three workers, two runs and one inbox buy each identifier once', LONG, async () => {
    const scene = await createInboxScene(redis, { jitterMs: 20 });
    const workers = [1, 2, 3].map(() =>
      scene.start(argsOf(services.worker), environmentOf(services.worker, scene, 'worker-state')),
    );
    const up = scene.start(argsOf(services.up), {
      ...environmentOf(services.up, scene, 'up-state'),
      BRAND_ENRICH_SETTLE: '200ms',
    });
    await Promise.all([...workers.map((worker) => worker.untilSaid(/for chunks/)), up.untilSaid(/"up"/)]);
    // 600 each, 400 of them in both runs; the inbox has 200 of each and 100 of its own.
    const all = domainList(900).trimEnd().split('\n');
    const [header = ''] = all;
    const part = (from: number, to: number) => `${[header, ...all.slice(from + 1, to + 1)].join('\n')}\n`;
    await scene.write('one.csv', part(0, 600));
    await scene.write('two.csv', part(200, 800));
    await scene.drop('three.csv', part(400, 900));
    const results = await Promise.all(
      ['one', 'two'].map((name) =>
        scene.run([...argsOf(services.run), `${name}.csv`], environmentOf(services.run, scene, name)),
      ),
    );
    for (const { code, stderr } of results) expect(code, stderr).toBe(0);
    const [done = ''] = await scene.until('done', 1);
    expectPaidOnce(scene.service.meter, 900);
    const outputs = { one: 600, two: 600, [join(done, 'three')]: 500 };
    for (const [name, rows] of Object.entries(outputs)) {
      expect(await answeredIn(resolve(scene.folder, `${name}.enriched.csv`)), name).toBe(rows);
    }
    await Promise.all([...workers, up].map(stop));
  });
});
