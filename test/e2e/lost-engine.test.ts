/**
 * An engine that is gone for a moment or for good, with its processes or its sessions alone.
 *
 * @module-tag long
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { embeddedEngine, engineAt, postgresEngine, redisEngine } from '../support/engines.js';
import { readReport, readRows } from '../support/output-files.js';
import { startPostgres } from '../support/postgres-server.js';
import { hasRedisServer, startRedis } from '../support/redis-server.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce, onEngines } from './commands.js';

const servers = [
  { name: 'redis', isMissing: !hasRedisServer(), start: () => startRedis(), signal: 'SIGKILL' },
  { name: 'postgres', isMissing: false, start: () => startPostgres(), signal: 'SIGQUIT' },
] as const;

// Requests may take longer than this test, so a run that waited for requests not in flight would
// not end in time.
test.for(servers)(
  'Ctrl-C ends a run whose $name is gone, without waiting for requests that are not in flight',
  async ({ name, isMissing, start, signal }, { skip }) => {
    if (isMissing) skip();
    const server = await start();
    onTestFinished(() => server.stop());
    const scene = await createScene(engineAt(name, server.url), { latencyMs: 20 }, domainList(2_000));
    const running = scene.start(['run', 'list.csv', '--timeout', '300s']);
    await scene.service.until((meter) => meter.billed >= 200);
    await server.kill(signal);
    await scene.service.until((meter) => meter.inFlight === 0);
    await running.untilSaid(/does not answer/);
    running.kill('SIGINT');
    const result = await ends(130, running.done);
    expect(result.stderr).toContain('the engine could not record the end of this run');
    expect(await readRows(scene.path('list.enriched.partial.csv'))).toHaveLength(2_000);
    // Paid answers that the engine never recorded are counted too.
    const { billed } = scene.service.meter;
    const { requests } = await readReport(scene.path('list.report.json'));
    expect(requests).toMatchObject({ sent: billed, billed });
    expect(result.stderr).toMatch(/the engine could not store \d+ paid answers?: they are on disk/);
  },
);

const END_SESSIONS =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'brand-enrich'";

onEngines([postgresEngine()], (engine) => {
  test.each([
    { what: 'is complete', quota: 1_000_000, code: 0, billed: 300, file: 'list.enriched.csv' },
    { what: 'its quota stops', quota: 200, code: 7, billed: 200, file: 'list.enriched.partial.csv' },
  ])('sessions that end all the time cost a run that $what neither file nor request', async (each) => {
    const { quota, code, billed, file } = each;
    const scene = await createScene(engine, { quota }, domainList(300));
    // Connected beforehand: the run may end soon.
    const administrator = new Client({ connectionString: scene.env.BRAND_ENRICH_ENGINE ?? '' });
    await administrator.connect();
    onTestFinished(() => administrator.end());
    const running = scene.start(['run', 'list.csv']);
    await scene.service.until((meter) => meter.billed >= billed);
    let isDone = false;
    void running.done.finally(() => {
      isDone = true;
    });
    let ended = 0;
    for (let times = 0; times < 60 && !isDone; times += 1) {
      ended += (await administrator.query(END_SESSIONS)).rowCount ?? 0;
      await after(20);
    }
    expect(ended).toBeGreaterThan(0);
    await ends(code, running.done);
    expectPaidOnce(scene.service.meter, billed);
    expect(await readRows(scene.path(file))).toHaveLength(300);
  });
});

const redis = redisEngine();
onEngines([redis], (engine) => {
  test.each([
    ['a read-only replica', 'yes', /read-only replica at the moment: READONLY/],
    ['a replica without its primary', 'no', /its primary is unavailable: MASTERDOWN|READONLY/],
  ] as const)('a Redis that becomes %s is waited for, with a message', async (_, servesStale, words) => {
    const admin = new Redis(redis.server.url);
    onTestFinished(() => admin.disconnect());
    await admin.config('SET', 'replica-serve-stale-data', servesStale);
    const scene = await createScene(engine, { latencyMs: 20 }, domainList(600));
    const { meter } = scene.service;
    const running = scene.start(['run', 'list.csv', '--concurrency', '8']);
    await scene.service.until(() => meter.billed >= 50);
    // Nothing listens there.
    await admin.replicaof('127.0.0.1', 1);
    onTestFinished(async () => void (await admin.replicaof('NO', 'ONE')));
    await running.untilSaid(words);
    await admin.replicaof('NO', 'ONE');
    await ends(0, running.done);
    expectPaidOnce(meter, 600);
  });
});

async function serverPid(scene: Scene): Promise<number> {
  const text = await readFile(scene.path('state/postgres/data/postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

onEngines([embeddedEngine()], (engine) => {
  test('a server that is killed again and again costs no answer and no request', async () => {
    const scene = await createScene(engine, { latencyMs: 50 }, domainList(400));
    const { meter } = scene.service;
    const run = scene.start(['run', 'list.csv', '--concurrency', '16']);
    for (const billed of [60, 180]) {
      await scene.service.until(() => meter.billed >= billed);
      process.kill(await serverPid(scene), 'SIGKILL');
    }
    await ends(0, run.done);
    expect(await answeredIn(scene.path('list.enriched.csv'))).toBe(400);
    expectPaidOnce(meter, 400);
  });

  test('a supervisor that ends server and run together loses nothing', async () => {
    const scene = await createScene(engine, { latencyMs: 200 }, domainList(200));
    const { meter, options } = scene.service;
    const run = scene.start(['run', 'list.csv', '--concurrency', '8']);
    await scene.service.until(() => meter.billed >= 40 && meter.inFlight > 4);
    const server = await serverPid(scene);
    run.kill('SIGTERM');
    process.kill(server, 'SIGTERM');
    await ends(130, run.done);
    expect(await answeredIn(scene.path('list.enriched.partial.csv'))).toBe(meter.billed);
    options.latencyMs = 0;
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(meter, 200);
  });
});
