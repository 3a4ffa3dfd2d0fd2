/** `mcp`: agents that look up and enrich within a cap of the day, by a client of the protocol. */
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { CLI } from '../support/cli.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readRows } from '../support/output-files.js';
import { createScene, domainAt, domainList, type Scene } from '../support/scene.js';
import { ends, expectPaidOnce, LONG, onEngines } from './commands.js';

/** What the tests read of answers; the protocol checks them by the schemas of the tools. */
interface Answer {
  readonly error: string;
  readonly output: string;
  readonly run: string;
  readonly rows: readonly { readonly status: string }[];
  readonly today: { readonly spent: number; readonly left: number };
}

/** An agent of its own process, and all that it was told. */
async function startAgent({ folder, env }: Pick<Scene, 'folder' | 'env'>, ...args: readonly string[]) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', ...args],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
    stderr: 'pipe',
  });
  const heard: string[] = [];
  transport.stderr?.on('data', (text: Buffer) => heard.push(text.toString()));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    heard,
    client,
    kill: () => process.kill(transport.pid ?? 0, 'SIGKILL'),
    /** The structured answer of a call; the text of an error. */
    async call(name: string, given: Readonly<Record<string, unknown>> = {}) {
      const answer = await client.callTool({ name, arguments: given });
      heard.push(JSON.stringify(answer));
      const [content] = answer.content;
      return (
        answer.isError ? { error: (content as { text: string }).text } : answer.structuredContent
      ) as Answer;
    },
  };
}

const domains = (count: number, from = 0) => Array.from({ length: count }, (_, at) => domainAt(from + at));
const statuses = ({ rows }: Answer) => rows.map(({ status }) => status);

onEngines([redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)], (engine) => {
  test('servers with one name keep their daily cap through kill -9', LONG, async () => {
    const scene = await createScene(engine, { latencyMs: 5 });
    const { meter } = scene.service;
    const start = (cap: number) => startAgent(scene, 'crm', '--max-requests', `${cap}`, '--timeout', '2s');
    const both = await Promise.all([start(53), start(53)]);
    const answers = await Promise.all(
      both.map((agent, at) => agent.call('lookup_brands', { identifiers: domains(40, 100 * at) })),
    );
    expect(answers.flatMap(statuses).filter((status) => status === 'deferred')).toHaveLength(27);
    expectPaidOnce(meter, 53);

    const [one, other] = await Promise.all([start(90), start(90)]);
    const killed = one.call('lookup_brands', { identifiers: domains(40, 300) }).catch(() => null);
    await scene.service.until(({ billed }) => billed > 58);
    one.kill();
    await killed;
    expect(statuses(await other.call('lookup_brands', { identifiers: domains(60, 400) }))).toContain(
      'deferred',
    );
    const next = await start(90);
    expect(new Set(statuses(await next.call('lookup_brands', { identifiers: domains(9, 500) })))).toEqual(
      new Set(['deferred']),
    );
    expect((await next.call('account')).today).toEqual({ spent: 90, left: 0 });
    // What was in flight counts as spent, though the service may not have seen it.
    expect(meter.billed).toBeLessThanOrEqual(90);
    expect(meter.mostBilledOnce()).toBe(1);

    // Another server has a cap of its own, and stored answers cost nothing.
    const another = await startAgent(scene, 'mail', '--max-requests', '2');
    expect(await another.call('lookup_brand', { identifier: domainAt(600) })).toMatchObject({ billed: 1 });
    const [stored] = meter.requests;
    const identifier = stored?.identifier.slice('domain:'.length);
    expect(await another.call('lookup_brand', { identifier })).toMatchObject({ billed: 0, source: 'stored' });
  });
});

const redis = redisEngine();
onEngines([redis], () => {
  test('a file is planned, enriched within the caps, and continued; no file is replaced', async () => {
    const scene = await createScene(redis, {}, domainList(60));
    const agent = await startAgent(scene, '--max-requests', '70', '--per-call', '60');
    expect(await agent.call('plan_file', { path: 'list.csv' })).toMatchObject({
      rows: { total: 60 },
      requests: { most: 60 },
      today: { spent: 0, left: 70 },
    });
    await scene.write('long.csv', domainList(61));
    const long = await agent.call('enrich_file', { path: 'long.csv' });
    expect(long.error).toMatch(/61 paid lookups.*limit or where/);
    expect(await agent.call('lookup_brands', { identifiers: domains(61) })).toHaveProperty('error');
    const misspelt = { identifier: domainAt(0), fields: ['company.loction.city'] };
    expect((await agent.call('lookup_brand', misspelt)).error).toContain(
      'did you mean company.location.city',
    );
    const unknown = { path: 'list.csv', fill: ['name=name'] };
    expect((await agent.call('enrich_file', unknown)).error).toContain('"fill"');
    expect(scene.service.meter.requests).toHaveLength(0);

    const done = await agent.call('enrich_file', { path: 'list.csv', limit: 40 });
    expect(done).toMatchObject({ state: 'finished', billed: 40, today: { spent: 40, left: 30 } });
    expect(await readRows(done.output)).toHaveLength(40);
    expect(await agent.call('run_status', { run: done.run })).toEqual(done);
    expect((await agent.call('enrich_file', { path: 'list.csv' })).error).toContain('this file exists');

    await scene.write('more.csv', domainList(50, 'more'));
    const stopped = await agent.call('enrich_file', { path: 'more.csv' });
    expect(stopped).toMatchObject({ state: 'stopped', rows: { deferred: 20 }, today: { left: 0 } });
    expect(stopped).toHaveProperty(
      'reason',
      "today's limit of 70 requests (UTC) is used up; continue tomorrow",
    );
    const raised = await startAgent(scene, '--max-requests', '90');
    const whole = await raised.call('enrich_file', { path: 'more.csv' });
    expect(whole).toMatchObject({ state: 'finished', billed: 20 });
    expect(await raised.call('run_status', { run: stopped.run })).toMatchObject({ state: 'stopped' });
    expectPaidOnce(scene.service.meter, 90);
    expect([...agent.heard, ...raised.heard].join('\n')).not.toContain(scene.token);
  });

  test('a long file continues after its call has returned, and a pause stops it', LONG, async () => {
    const scene = await createScene(redis, { latencyMs: 600 }, domainList(90));
    const agent = await startAgent(scene, '--concurrency', '1');
    const begun = await agent.call('enrich_file', { path: 'list.csv' });
    expect(begun).toMatchObject({ state: 'running', progress: { wanted: 90 } });
    expect((await scene.run(['pause', 'mcp'])).code).toBe(0);
    const stateOf = async () => (await agent.call('run_status', { run: begun.run })) as { state?: string };
    await expect.poll(async () => (await stateOf()).state, { timeout: 30_000 }).toBe('stopped');
    const { billed } = scene.service.meter;
    expect(billed).toBeLessThan(90);
    expect(await stateOf()).toMatchObject({ billed, reason: expect.stringContaining('paused') });
    expect((await scene.run(['resume', 'mcp'])).code).toBe(0);
    scene.service.options.latencyMs = 0;
    expect(await agent.call('enrich_file', { path: 'list.csv' })).toMatchObject({ state: 'finished' });
    expectPaidOnce(scene.service.meter, 90);
  });

  test('reads and writes nothing outside of its root, and follows no link', async () => {
    const scene = await createScene(redis, {}, domainList(3));
    await mkdir(scene.path('root/inner'), { recursive: true });
    await writeFile(scene.path('root/mine.csv'), domainList(2));
    await symlink(scene.path('list.csv'), scene.path('root/link.csv'));
    await symlink(scene.folder, scene.path('root/out'));
    const agent = await startAgent(scene, '--root', 'root');
    const refused = [
      ...['../list.csv', scene.path('list.csv'), 'link.csv', 'out/list.csv', 'inner', 'none.csv', '.', '-'],
    ].map((path) => ({ path }));
    const elsewhere = ['../x.csv', scene.path('x.csv'), 'out/x.csv', 'link.csv', '/dev/stdout'].map(
      (output) => ({ path: 'mine.csv', output }),
    );
    for (const given of [...refused, ...elsewhere])
      expect(await agent.call('enrich_file', given), JSON.stringify(given)).toHaveProperty('error');
    expect(scene.service.meter.requests).toHaveLength(0);
    expect(await readdir(scene.path('root'))).toEqual(['inner', 'link.csv', 'mine.csv', 'out']);
    const inner = await agent.call('enrich_file', { path: 'mine.csv', output: 'inner/new.csv' });
    expect(inner).toMatchObject({ state: 'finished', output: scene.path('root/inner/new.csv') });
  });

  test("a person's pause stops it, whenever it is given, until a person resumes it", async () => {
    const scene = await createScene(redis);
    const agent = await startAgent(scene);
    expect(await agent.call('lookup_brand', { identifier: domainAt(0) })).toMatchObject({ billed: 1 });
    for (const runs of [['mcp'], []]) {
      await ends(0, scene.run(['pause', ...runs]));
      const held = await agent.call('lookup_brand', { identifier: domainAt(1) });
      expect(held.error).toMatch(/paused by .*resume/);
      const anew = await startAgent(scene);
      expect(await anew.call('lookup_brand', { identifier: domainAt(1) })).toHaveProperty('error');
      await ends(0, scene.run(['resume', ...runs]));
    }
    expect(await agent.call('lookup_brand', { identifier: domainAt(1) })).toMatchObject({ billed: 1 });
  });

  test.each([
    [[], 10],
    [['--plan', 'paid', '--overage-budget', '0.5'], 15],
  ] as const)('with %j it buys %i of 20 at a quota of 10', async (flags, bought) => {
    const scene = await createScene(redis, { plan: 'paid', quota: 10, overageTenths: 100 });
    const agent = await startAgent(scene, ...flags);
    const rows = await agent.call('lookup_brands', { identifiers: domains(20) });
    expect(statuses(rows).filter((status) => status !== 'deferred')).toHaveLength(bought);
    await agent.call('lookup_brand', { identifier: domainAt(50) });
    expectPaidOnce(scene.service.meter, bought);
  });
});
