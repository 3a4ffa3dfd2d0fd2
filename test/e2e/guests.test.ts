/**
 * Runs of a second terminal on the embedded engine: the process that holds the state folder does their lookups. The holder here is
 * `watch` with nothing in its inbox.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { type CliProcess, runCli } from '../support/cli.js';
import { embeddedEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene, domainAt, domainList, type Scene } from '../support/scene.js';
import { newToken } from '../support/service-options.js';

const engine = embeddedEngine();
const SOON = { timeout: 20_000, interval: 5 };
const isSocket = (name: string) => name.endsWith('.sock');
const folderNames = (path: string) => readdir(path).catch(() => []);

async function startHolder(scene: Scene, env: Record<string, string> = {}): Promise<CliProcess> {
  await mkdir(scene.path('inbox'), { recursive: true });
  const holder = scene.start(['watch', 'inbox'], env);
  await holder.untilSaid(/watching the inbox/);
  return holder;
}

async function answered(path: string): Promise<number> {
  const counts = countStatuses(await readRows(path));
  return (counts.matched ?? 0) + (counts.not_found ?? 0);
}

describe('a run while another process holds the state folder', () => {
  test('is complete, and every distinct identifier is billed once', async () => {
    const scene = await createScene(engine);
    const holder = await startHolder(scene);
    const rows = domainList(700) + domainList(100).split('\n').slice(1).join('\n');
    await scene.write('list.csv', rows);
    const { code, stderr } = await scene.run(['run', 'list.csv']);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(`the lookups are done by process ${holder.pid} (watch)`);
    expect(scene.service.meter.billed).toBe(700);
    expect(scene.service.meter.mostBilledOnce()).toBe(1);
    expect(await answered(scene.path('list.enriched.csv'))).toBe(800);
    const report = await readReport(scene.path('list.report.json'));
    expect(report.requests).toMatchObject({ sent: 700, billed: 700 });
    expect(report.accounting).toEqual({ recordsRead: 800, rowsByStatus: 800, recordsWritten: 800 });
    // Queue and account are the holder's, and it tells.
    const status = JSON.parse((await scene.run(['status', '--json'])).stdout);
    expect(status).toMatchObject({ queue: { waiting: 0, active: 0, delayed: 0 }, ledger: { sent: 700 } });
    const args = ['run', '-', '-o', '-', '--no-worker', '--metrics-port', '0'];
    const again = await runCli(args, { cwd: scene.folder, env: scene.env, stdin: rows });
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toMatch(/metrics at http/);
    expect(await answered(await scene.write('again.csv', again.stdout))).toBe(800);
    expect(scene.service.meter.billed).toBe(700);
  });

  test('two at once with files that overlap buy each identifier once, the dearest first', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(engine, { latencyMs: 10, quota: 500 });
    await startHolder(scene);
    const all = Array.from({ length: 500 }, (_, index) => `${domainAt(index)},${index}`);
    await scene.write('one.csv', `website,worth\n${all.slice(0, 350).join('\n')}\n`);
    await scene.write('two.csv', `website,worth\n${all.slice(150).reverse().join('\n')}\n`);
    const results = await Promise.all(
      ['one.csv', 'two.csv'].map((name) => scene.run(['run', name, '--priority', 'worth'])),
    );
    for (const { code, stderr } of results) expect(code, stderr).toBe(0);
    expect(scene.service.meter.billed).toBe(500);
    expect(scene.service.meter.mostBilledOnce()).toBe(1);
    expect(await answered(scene.path('one.enriched.csv'))).toBe(350);
    expect(await answered(scene.path('two.enriched.csv'))).toBe(350);
  });

  test('with another token, another service or a holder that serves nobody nothing is sent, and it says why', async () => {
    const token = newToken();
    const scene = await createScene(engine);
    scene.service.options.tokens.push(token);
    await scene.write('list.csv', domainList(20));
    const holder = await startHolder(scene);
    const other = await scene.run(['run', 'list.csv'], { BRAND_API_TOKEN: token });
    expect(other.code).toBe(5);
    expect(other.stderr).toMatch(
      new RegExp(`held by process ${holder.pid} \\(watch\\).*another token.*--state`),
    );
    const elsewhere = await scene.run(['run', 'list.csv'], { BRAND_API_URL: 'http://127.0.0.1:1' });
    expect(elsewhere.stderr).toMatch(/\(watch\).*another service.*--base-url/);
    expect(scene.service.meter.requests).toEqual([]);
    holder.kill('SIGTERM');
    await holder.done;

    // Its first answer does not come before the test is over.
    scene.service.options.latencyMs = 120_000;
    const running = scene.start(['run', 'list.csv']);
    await scene.service.until((meter) => meter.billed > 0);
    const second = await scene.run(['run', 'list.csv']);
    expect(second.code).toBe(5);
    expect(second.stderr).toMatch(
      new RegExp(`held by process ${running.pid} \\(run\\).*no lookups for other runs.*brand-enrich up`),
    );
  });

  test('goes on when its holder is killed and started again, and nothing is bought twice beyond what was in flight', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(engine, { latencyMs: 100 });
    const { meter } = scene.service;
    const concurrency = 16;
    const env = { BRAND_ENRICH_CONCURRENCY: String(concurrency) };
    const first = await startHolder(scene, env);
    await scene.write('list.csv', domainList(600));
    const running = scene.start(['run', 'list.csv']);
    await scene.service.until(() => meter.billed >= 150);
    first.kill('SIGKILL');
    await first.done;
    const second = await startHolder(scene, env);
    const { code, stderr } = await running.done;
    expect(code, stderr).toBe(0);
    expect(await answered(scene.path('list.enriched.csv'))).toBe(600);
    expect(meter.billed).toBeGreaterThanOrEqual(600);
    expect(meter.billed).toBeLessThanOrEqual(600 + 2 * concurrency);
    expect(meter.mostBilledOnce()).toBeLessThanOrEqual(2);
    second.kill('SIGTERM');
    expect((await second.done).code).toBe(0);
  });

  test('Ctrl-C ends it with 130 and a partial file of what was paid for; the holder goes on, and so does the same command', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(engine, { latencyMs: 300 });
    const { meter, options } = scene.service;
    const holder = await startHolder(scene, { BRAND_ENRICH_CONCURRENCY: '16' });
    await scene.write('list.csv', domainList(300));
    const running = scene.start(['run', 'list.csv']);
    await scene.service.until(() => meter.billed >= 40 && meter.inFlight > 4);
    running.kill('SIGINT');
    const { code, stderr } = await running.done;
    expect(code, stderr).toBe(130);
    expect(meter.billed).toBeLessThan(300);
    expect(await answered(scene.path('list.enriched.partial.csv'))).toBe(meter.billed);
    options.latencyMs = 0;
    const again = await scene.run(['run', 'list.csv']);
    expect(again.code, again.stderr).toBe(0);
    expect(meter.billed).toBe(300);
    expect(meter.mostBilledOnce()).toBe(1);
    holder.kill('SIGTERM');
    expect((await holder.done).code).toBe(0);
  });

  test('that was begun while the holder was still opening its engine waits for it', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(engine);
    await mkdir(scene.path('inbox'));
    await scene.write('list.csv', domainList(30));
    const holder = scene.start(['watch', 'inbox']);
    // Its lock's socket is there long before its database is.
    await vi.waitUntil(async () => (await folderNames(scene.path('state/embedded'))).some(isSocket), SOON);
    const { code, stderr } = await scene.run(['run', 'list.csv']);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(`process ${holder.pid} (watch)`);
  });
});
