/** The JSON of real commands matches the schemas of `brand-enrich schema`. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startHook } from '../notify/hook-server.js';
import { redisEngine } from '../support/engines.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { faultsOf } from '../support/schemas.js';
import { ends, onEngines } from './commands.js';

const DAY = '0 2 * * *';

/** Runs a command with `--json`, which must print this document. */
async function printed(scene: Scene, document: string, args: readonly string[], env = {}) {
  const [command = ''] = args;
  const { stdout, stderr } = await scene.run([...args, '--json'], env);
  const made = JSON.parse(stdout || '{}');
  expect(faultsOf(document, made), `${command}: ${stdout}${stderr}`).toEqual([]);
  return made;
}

onEngines([redisEngine()], (engine) => {
  test('of a run and its account: report, plan, notice, status, ledger', async () => {
    const scene = await createScene(engine, { quota: 20, plan: 'paid' }, `${domainList(30)}no domain,x\n`);
    const hook = await startHook(200);
    const money = ['--plan', 'paid', '--overage-budget', '1', '--currency', 'EUR'];
    const plan = await printed(scene, 'plan', ['plan', 'list.csv', ...money]);
    expect(plan).toMatchObject({ currency: 'EUR', requests: { most: 30 }, input: { name: 'list.csv' } });
    const report = await printed(scene, 'report', ['run', 'list.csv', ...money, '--notify-url', hook.url]);
    expect(report).toMatchObject({ version: 1, currency: 'EUR', account: { quota: 20, limit: 30, left: 0 } });
    expect(report).toEqual(JSON.parse(await readFile(scene.path('list.report.json'), 'utf8')));
    const notices = hook.received.map(({ body }) => JSON.parse(body));
    expect(notices.map(({ event }) => event)).toContain('finish');
    for (const notice of notices) expect(faultsOf('notice', notice)).toEqual([]);

    const terms = [...money, '--overage-price', '0.1'];
    const status = await printed(scene, 'status', ['status', ...terms]);
    const { sent, billed } = report.requests;
    const requests = { sent, billed, unreported: 0, overage: 10 };
    expect(status).toMatchObject({
      currency: 'EUR',
      account: { used: 30, left: 0 },
      budget: { used: '1', overage: 10 },
      runs: [{ id: report.run.id, status: 'finished', requests }],
    });
    expect(JSON.stringify(status)).not.toMatch(/epoch|probe/i);
    const ledger = await printed(scene, 'ledger', ['ledger', 'show']);
    expect(ledger.account.sent).toBe(30);
    expect(status.account).toMatchObject({ name: ledger.account.name, period: ledger.account.period });
    await printed(scene, 'error', ['cancel', 'r-nobody']);
    await scene.write('more.csv', domainList(5, 'more'));
    const stopped = await printed(scene, 'report', ['run', 'more.csv', ...money]);
    await printed(scene, 'cancel', ['cancel', stopped.run.id]);
    await printed(scene, 'ledger', ['ledger', 'observe', '--usage', '31']);
    await printed(scene, 'ledger-check', ['ledger', 'check', 'ticker:ACME']);
    await printed(scene, 'ledger-reset', ['ledger', 'reset']);
  });

  test('of all other commands', { tags: ['long'] }, async () => {
    const scene = await createScene(engine, {}, domainList(3));
    await printed(scene, 'report', ['run', 'list.csv']);
    await printed(scene, 'answers', ['outcomes', 'stats']);
    await printed(scene, 'forgotten', ['outcomes', 'forget', 'brand-00001.com']);
    await printed(scene, 'forgotten', ['outcomes', 'purge', '--older-than', '365d']);
    await printed(scene, 'pause', ['pause']);
    await printed(scene, 'pause', ['resume']);
    await printed(scene, 'error', ['pause', 'r-nobody']);
    await printed(scene, 'engine-status', ['engine', 'status']);
    await printed(scene, 'engine-export', ['engine', 'export', '-o', 'all.jsonl']);
    const embedded = { BRAND_ENRICH_ENGINE: 'embedded', BRAND_ENRICH_STATE: scene.path('own') };
    const taken = await printed(scene, 'engine-import', ['engine', 'import', 'all.jsonl'], embedded);
    expect(taken.accounts).not.toHaveLength(0);
    await printed(scene, 'engine-status', ['engine', 'status'], embedded);
    await printed(scene, 'engine-stop', ['engine', 'stop'], embedded);
    const add = ['schedule', 'add', 'nightly', '--cron', DAY, '--json', '--', 'run', 'list.csv'];
    const added = await scene.run(add);
    expect(faultsOf('schedule-add', JSON.parse(added.stdout))).toEqual([]);
    await printed(scene, 'schedules', ['schedule', 'list']);
    await printed(scene, 'schedule-run', ['schedule', 'run-now', 'nightly']);
    await printed(scene, 'schedule-remove', ['schedule', 'remove', 'nightly']);
    const nightly = { name: 'nightly', cron: DAY, tz: 'UTC', run: 'list.csv -o {date}.csv' };
    await scene.write('brand-enrich.config.json', JSON.stringify({ schedules: [nightly] }));
    const { settings, schedules } = await printed(scene, 'config', ['config']);
    expect(settings).toContainEqual({ name: 'json', value: true, origin: 'flag' });
    const { run: _, ...said } = nightly;
    const line = 'run list.csv -o {date}.csv';
    const input = scene.path('list.csv');
    expect(schedules).toEqual([{ ...said, line, input, catchesUp: false }]);
    const { stdout } = await scene.run(['config']);
    expect(stdout).toContain(`schedules in the file:\n  nightly: ${DAY} (UTC): ${line}\n`);
    await scene.write('brand-enrich.config.json', JSON.stringify({ schedules: [{ ...nightly, cron: '9' }] }));
    await ends(2, scene.run(['config']), 'not a cron expression');
    await scene.write('brand-enrich.config.json', '{}');
    const account = { name: 'team', tokenSha256: 'a'.repeat(64), plan: 'paid', quota: 5 };
    await scene.write('accounts.json', JSON.stringify({ accounts: [account] }));
    await printed(scene, 'statement', ['serve', '--statement', '--accounts', 'accounts.json']);
    await printed(scene, 'doctor', ['doctor']);
    await printed(scene, 'init', ['init', '--yes', '--config', 'made.json']);
  });
});
