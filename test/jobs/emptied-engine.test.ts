/**
 * What an emptied engine forgot, records know: files that wait for a person stay as they are.
 *
 * @module-tag long
 */
import { rm } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { kill, onEngines, stop } from '../e2e/commands.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { domainList } from '../support/scene.js';
import { createInboxScene, type InboxScene } from './inbox-scene.js';

async function empty(scene: InboxScene): Promise<void> {
  const { BRAND_ENRICH_ENGINE: address } = scene.env;
  if (address === undefined)
    return rm(scene.path('state/postgres'), { recursive: true, force: true, maxRetries: 9 });
  if (address.startsWith('redis')) {
    const client = new Redis(address);
    await client.flushall();
    return client.disconnect();
  }
  const client = new Client({ connectionString: address });
  await client.connect();
  await client.query('DROP SCHEMA brand_enrich CASCADE');
  await client.end();
}

/** How often the service was asked for rows of a file. */
const askedFor = ({ service }: InboxScene, prefix: string) =>
  service.meter.requests.filter(({ identifier }) => identifier.includes(`${prefix}-`)).length;

onEngines([redisEngine(), inLongTests(postgresEngine()), inLongTests(embeddedEngine())], (engine) => {
  test('files that are paused, tried and capped stay so, others go on, and a person resumes', async () => {
    const scene = await createInboxScene(engine, { latencyMs: 50 });
    const first = await scene.watchAlone('--concurrency', '2');
    await scene.drop('paused.csv', domainList(60, 'paused'));
    await expect.poll(() => askedFor(scene, 'paused'), { timeout: 20_000 }).toBeGreaterThan(2);
    expect(await scene.run(['pause', 'paused.csv'])).toMatchObject({ code: 0 });
    await scene.until('waiting', 1);
    await scene.drop('tried.csv.json', '{"try": 2}');
    await scene.drop('tried.csv', domainList(5, 'tried'));
    await scene.drop('capped.csv.json', '{"maxRequests": 3}');
    await scene.drop('capped.csv', domainList(5, 'capped'));
    await scene.until('waiting', 3);
    await scene.drop('killed.csv', domainList(40, 'killed'));
    await expect.poll(() => askedFor(scene, 'killed'), { timeout: 20_000 }).toBeGreaterThan(2);
    await kill(first);
    await scene.drop('new.csv', domainList(2, 'new'));
    const held = () => ['paused', 'tried', 'capped'].map((name) => askedFor(scene, name));
    const before = held();
    expect(before.slice(1)).toEqual([2, 3]);

    await empty(scene);
    const second = await scene.watch(...(engine.name === 'embedded' ? ['--start-empty'] : []));
    await scene.until('done', 2);
    // Twice looked at since: what comes later waits for a look of its own.
    await scene.drop('later.csv.json', '{"try": 1}');
    await scene.drop('later.csv', domainList(2, 'later'));
    await scene.until('waiting', 4);
    expect(held()).toEqual(before);
    await expect
      .poll(async () => (await scene.run(['resume', 'paused.csv'])).code, { timeout: 20_000 })
      .toBe(0);
    await scene.until('done', 3);
    expect(held().slice(1)).toEqual([2, 3]);
    await stop(second);
  });
});
