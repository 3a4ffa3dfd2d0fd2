/** Somebody who can write to the engine; what reached another host is counted there. */
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { accountNames } from '../../src/app/open-service.js';
import type { Engine } from '../../src/engine/engine.js';
import { outcomeKeys } from '../../src/engine/stores/outcome-key.js';
import { packProfile } from '../../src/engine/stores/profile-codec.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { listenForTest } from '../support/listen-anew.js';
import { readRows } from '../support/output-files.js';
import { createScene, domainAt, domainList, type Scene } from '../support/scene.js';
import { onEngines, openEngineOf, stop } from './commands.js';

/** A host that an attacker owns, and how often anybody connected to it. */
async function startThief() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  return { url: `http://127.0.0.1:${await listenForTest(server)}`, connections: () => connections };
}

/** Puts a run and its chunks where the scene's worker looks for work. */
async function plant(
  { service, token }: Scene,
  engine: Engine,
  { id, ...terms }: Parameters<typeof runSettings>[0] & { readonly id: string },
  identifiers: readonly string[],
) {
  const { account, queueName, service: address } = accountNames(service.url, token, null);
  const settings = runSettings({ service: address, account, ...terms });
  await engine.runs.start({ id, key: id, label: { host: 'etl-1', name: id }, settings });
  const heartbeats = setInterval(() => void engine.runs.heartbeat(id).catch(() => undefined), 1_000);
  onTestFinished(() => clearInterval(heartbeats));
  const queue = engine.openChunkQueue(queueName);
  onTestFinished(() => queue.close());
  const chunks = identifiers.map((each, chunk) => ({ run: id, chunk, identifiers: [each], attempts: {} }));
  await queue.add(chunks, 0);
  return queue;
}

onEngines([redisEngine(), inLongTests(postgresEngine()), inLongTests(embeddedEngine())], (under) => {
  test('a planted run with another host is left alone, and named once in the log', async () => {
    const scene = await createScene(under);
    const thief = await startThief();
    const engine = await openEngineOf(scene);
    const stolen = [0, 1].map((chunk) => `domain:stolen-${chunk}.com`);
    const queue = await plant(scene, engine, { id: 'planted', service: thief.url }, stolen);
    const worker = scene.startHere(['worker']);
    await worker.untilSaid(/another service/);
    await expect.poll(() => queue.counts()).toMatchObject({ waiting: 0, active: 0, delayed: 2 });

    // It goes on with what is its own.
    await scene.write('list.csv', domainList(20));
    const { code, stderr } = await scene.run(['run', 'list.csv', '--no-worker']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('20 billed')]);
    await stop(worker);
    expect(thief.connections()).toBe(0);
    expect(scene.service.meter.billed).toBe(20);
    expect((await queue.chunksOf('planted')).sort()).toEqual([0, 1]);
    expect(await engine.runs.get('planted')).toMatchObject({ status: 'running', tally: { requests: 0 } });
    expect(worker.said.match(/another service/g)).toHaveLength(1);
    expect(worker.said).toContain(new URL(thief.url).host);
  });

  test('planted answers and an id that is a path: every row comes back, and no folder is left', async () => {
    const scene = await createScene(under);
    const engine = await openEngineOf(scene);
    const { service } = accountNames(scene.service.url, scene.token, null);
    const keyOf = outcomeKeys(service, 'unset');
    // Said to be 16 MiB long, and 16 MiB of it are there.
    const bomb = Buffer.concat([Buffer.from([1, 255, 255, 255, 0x1f, 32, 1, 0]), Buffer.alloc(66_000, 255)]);
    const later = Buffer.concat([Buffer.from([7]), packProfile(Buffer.from('{"name":"Later"}')).subarray(1)]);
    const planted = [bomb, packProfile(Buffer.from('null')), Buffer.alloc(0), later];
    await engine.outcomes.record(
      planted.map((packed, at) => {
        const key = keyOf(`domain:${domainAt(at)}`);
        return { key, status: 'matched', packed, billed: false, freshMs: null };
      }),
    );
    await engine.keyValues.put('engine', 'id', '../../../escaped');
    await scene.write('list.csv', domainList(10));
    const { code, stderr } = await scene.run(['run', 'list.csv']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('4 failed')]);
    const rows = await readRows(scene.path('list.enriched.csv'));
    expect(rows).toHaveLength(10);
    expect(rows.filter((row) => row.brand_error?.includes('the stored answer is damaged'))).toHaveLength(3);
    expect(rows.filter((row) => row.brand_error?.includes('was packed with dictionary 7'))).toHaveLength(1);
    expect(scene.service.meter.billed).toBe(6);
    const other = await openEngineOf(scene);
    expect(other.id).toMatch(/^[0-9a-f]{16}$/);
    expect(await scene.files()).not.toContain('escaped');
    await engine.keyValues.put('engine', 'id', engine.id);
  });
});

test('`status` warns of a Redis on another host without password and TLS, in one line', async () => {
  const scene = await createScene(embeddedEngine());
  const env = { BRAND_ENRICH_ENGINE: 'redis://queue.invalid:6379' };
  const { code, stderr } = await scene.run(['status'], env);
  expect(code).toBe(5);
  const said = stderr.split('\n').filter((each) => each.includes('without a password and TLS'));
  expect(said).toEqual([expect.stringContaining('use rediss://USER:PASSWORD@HOST:PORT')]);
});
