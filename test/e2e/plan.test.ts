/** Commands that look: `plan` and `run --dry-run` are the same, and nothing is spent or written. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

const redis = redisEngine();
onEngines([redis], (engine) => {
  test.each([
    [[], 'list.enriched.csv, list.errors.csv'],
    [
      '-o out/x.jsonl.gz --errors no.csv --yes --concurrency 3 --on-limit wait --no-worker'.split(' '),
      'out/x.jsonl.gz, no.csv',
    ],
    [['-o', '-', '--notify-url', 'http://127.0.0.1:9/hook', '--own-domain', 'brand.example'], null],
  ])('with %j', async (flags, files) => {
    const scene = await createScene(engine, {}, domainList(30));
    await mkdir(scene.path('out'));
    const [dry, plan] = await Promise.all([
      scene.run(['run', 'list.csv', '--dry-run', ...flags]),
      scene.run(['plan', 'list.csv', ...flags]),
    ]);
    expect(dry).toMatchObject({ code: 0, stdout: plan.stdout, stderr: plan.stderr });
    expect(plan.code).toBe(0);
    const text = files === null ? plan.stderr : plan.stdout;
    expect(text).toContain('requests needed     30\n');
    if (files === null) expect(plan.stdout).toBe('');
    else expect(text).toContain(`a run would write   ${files}\n`);
    expect(scene.service.meter.requests).toHaveLength(0);
    expect((await scene.files()).sort()).toEqual(['list.csv', 'out', 'state']);
    expect(await readdir(scene.path('out'))).toEqual([]);
  });

  test('says how many lines above a table are left out', async () => {
    const scene = await createScene(engine, {}, 'Customers\n\nname,website\nAcme,acme.com\n');
    const { stdout } = await scene.run(['plan', 'list.csv', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ leftOut: { linesAbove: 2, sheets: [] } });
  });

  test('neither needs a service, and both report a file that a run could not write', async () => {
    const scene = await createScene(engine, {}, domainList(3));
    const env = { BRAND_API_URL: '', BRAND_API_TOKEN: '' };
    const args = ['list.csv', '-o', 'list.csv/x.csv'];
    const dry = await scene.run(['run', '--dry-run', ...args], env);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toMatch(/^a run would stop at once: .*list\.csv\/x\.csv; its folder is not a folder/m);
    expect(dry.stdout).toContain('stored answers      unknown: no service and token are set\n');
    expect((await scene.run(['plan', ...args], env)).stdout).toBe(dry.stdout);
  });

  test('status, plan and the like write nothing to an empty Redis', async () => {
    const scene = await createScene(engine, {}, domainList(3));
    const admin = new Redis(redis.server.url);
    onTestFinished(() => admin.disconnect());
    await admin.flushall();
    for (const command of ['status', 'ledger show', 'outcomes stats', 'schedule list', 'plan list.csv']) {
      await ends(0, scene.run(command.split(' ')));
      expect([command, ...(await admin.keys('*'))]).toEqual([command]);
    }
  });
});

onEngines([embeddedEngine()], (engine) => {
  test('--start-empty sets nothing aside', async () => {
    const scene = await createScene(engine, {}, domainList(3));
    const state = scene.path('state');
    await mkdir(state, { mode: 0o711 });
    await mkdir(`${state}/postgres/data`, { recursive: true });
    await writeFile(`${state}/postgres/data/damaged`, '');
    const refused = await scene.run(['plan', 'list.csv', '--state', state]);
    expect(refused).toMatchObject({ code: 5 });
    expect(refused.stderr).toContain('--start-empty');
    const { code, stdout } = await scene.run(['plan', 'list.csv', '--state', state, '--start-empty']);
    expect(stdout).toContain('stored answers      none: a run would set the data aside and start empty');
    expect(stdout).toContain('requests needed     3\n');
    expect(code).toBe(0);
    expect(await readdir(`${state}/postgres/data`)).toEqual(['damaged']);
  });
});
