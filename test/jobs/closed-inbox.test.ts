/**
 * What other users may put into a watched folder: named pipes, endless files and links stop neither
 * `up` nor other inboxes, and give no access to files elsewhere.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newJobId, writeRecord } from '../../src/jobs/job-folder.js';
import { ends, onEngines, stop } from '../e2e/commands.js';
import { askAs, PASSWORD } from '../e2e/start-up.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { domainList } from '../support/scene.js';
import { createInboxScene, hurry, type InboxScene, readReason } from './inbox-scene.js';

const SECRET_KEY = 'keyOfSomebodyElse';

const BROKEN: Readonly<Record<string, (path: string, scene: InboxScene) => Promise<unknown>>> = {
  'a named pipe': async (path) => execFileSync('mkfifo', [path]),
  'a file of 3 GB': async (path) => {
    await writeFile(path, '');
    await truncate(path, 3 * 1024 ** 3);
  },
  'a link to a file with secrets': async (path, scene) => {
    await scene.write('elsewhere.json', `{"${SECRET_KEY}": 1}`);
    await symlink(scene.path('elsewhere.json'), path);
  },
  'a folder': (path) => mkdir(path),
  'a setting that is not allowed': (path) => writeFile(path, '{"baseUrl": "https://elsewhere.example"}'),
  'no JSON': (path) => writeFile(path, '{"column": '),
  'arrays that do not end': (path) => writeFile(path, '['.repeat(500_000)),
};

const LONG_AGO = new Date(Date.now() - 120_000);
const DEAD = [
  ['dead-1-abc', 'list.csv'],
  ['dead-2-abc', 'pipe.csv'],
] as const;

/** A line of the log that contains both. */
function lineWith(one: string, other: string): RegExp {
  return new RegExp(`^(?=.*${one}).*${other}`, 'm');
}

onEngines([redisEngine(), inLongTests(embeddedEngine())], (engine) => {
  test('an unreadable brand-enrich.json closes its own inbox with a log line, and the inbox opens again once it is repaired', async () => {
    hurry();
    const scene = await createInboxScene(engine);
    const broken = Object.entries(BROKEN).map(([name, put]) => ({ folder: name.replaceAll(' ', '-'), put }));
    for (const name of ['good', ...broken.map(({ folder }) => folder)])
      await mkdir(scene.path(`${name}/inbox`), { recursive: true });
    for (const { folder, put } of broken) {
      await put(scene.path(`${folder}/brand-enrich.json`), scene);
      await writeFile(scene.path(`${folder}/inbox/list.csv`), domainList(3, folder));
    }
    const up = scene.startHere(['up', '--settle', '200ms', '--metrics-port', '0', '--dashboard-port', '0'], {
      BRAND_ENRICH_DASHBOARD_PASSWORD: PASSWORD,
      BRAND_ENRICH_INBOX: ['good', ...broken.map(({ folder }) => folder)].join(','),
    });
    await up.untilSaid(/"msg":"up"/);
    for (const { folder } of broken) await up.untilSaid(lineWith(`/${folder}"`, 'the inbox is closed'));
    await writeFile(scene.path('good/inbox/.part'), domainList(2, 'good'));
    await rename(scene.path('good/inbox/.part'), scene.path('good/inbox/list.csv'));
    await expect.poll(() => scene.service.meter.billed, { timeout: 40_000, interval: 50 }).toBe(2);

    const [, metrics = ''] = /"metrics":"(http:[^"]+)\/metrics"/.exec(up.said) ?? [];
    expect((await fetch(`${metrics}/readyz`)).status).toBe(200);
    const { stdout: status } = await scene.run(['status']);
    const page = await (await askAs('ada', up)('/')).text();
    for (const { folder } of broken) {
      expect(status).toMatch(new RegExp(`^inbox {7}\\S+/${folder} on \\S+ is closed: `, 'm'));
      expect(page).toContain(`/${folder} is closed`);
    }
    expect(status).not.toContain('/good on');
    expect(up.said).not.toContain(SECRET_KEY);

    // Repaired one by one, to show that none opens because of another.
    const [first, ...others] = broken;
    if (first === undefined) throw new Error('nothing is broken');
    await rm(scene.path(`${first.folder}/brand-enrich.json`), { recursive: true });
    await up.untilSaid(lineWith(`/${first.folder}"`, 'the inbox is open again'));
    await expect.poll(() => scene.service.meter.billed, { timeout: 40_000, interval: 50 }).toBe(5);
    for (const { folder } of others) {
      expect(up.said).not.toMatch(lineWith(`/${folder}"`, 'the inbox is open again'));
      await rm(scene.path(`${folder}/brand-enrich.json`), { recursive: true });
    }
    for (const { folder } of others) await up.untilSaid(lineWith(`/${folder}"`, 'the inbox is open again'));
    const all = 2 + 3 * broken.length;
    await expect.poll(() => scene.service.meter.billed, { timeout: 40_000, interval: 50 }).toBe(all);
    await scene.write('good/brand-enrich.json', '{"baseUrl": "https://elsewhere.example"}');
    await up.untilSaid(lineWith('/good"', 'the inbox is closed'));
    await stop(up);
  });
});

onEngines([redisEngine()], (engine) => {
  test('an unreadable brand-enrich.json fails the start when only its inbox is watched', async () => {
    const scene = await createInboxScene(engine);
    execFileSync('mkfifo', [scene.path('brand-enrich.json')]);
    await ends(2, scene.run(['watch', '.']), 'brand-enrich.json (it is not a regular file)');
  });

  test('pipes and links in place of notes and reasons are neither waited for nor written through', async () => {
    hurry();
    const scene = await createInboxScene(engine, { quota: 2 });
    const first = await scene.watch();
    await scene.drop('list.csv', domainList(4));
    const [waiting = ''] = await scene.until('waiting', 1);
    // A watcher could take the file back while its notes are replaced.
    await stop(first);
    await scene.write('victim', 'as it was');
    await rm(join(waiting, 'reason.txt'));
    await symlink(scene.path('victim'), join(waiting, 'reason.txt'));
    const report = await readdir(waiting).then(
      (names) => names.find((name) => name.endsWith('.report.json')) ?? '',
    );
    await rm(join(waiting, report));
    await symlink(scene.path('victim'), join(waiting, report));
    await symlink(scene.path('victim'), join(waiting, 'list.enriched.csv'));
    const strange = scene.path('waiting/strange');
    await mkdir(strange);
    execFileSync('mkfifo', [join(strange, '.brand-enrich-job.json'), join(strange, 'reason.txt')]);
    await writeFile(join(strange, 'other.csv'), domainList(1));
    await utimes(strange, LONG_AGO, LONG_AGO);
    const watcher = await scene.watch();

    scene.service.options.quota = 1_000;
    // A person says so: nothing else would see it within half a minute.
    await ends(0, scene.run(['ledger', 'observe', '--quota', '1000']));
    await scene.until('done', 1);
    await scene.until('failed', 1);
    expect(await readFile(scene.path('victim'), 'utf8')).toBe('as it was');
    await stop(watcher);
  });

  test('a dropped file that was replaced by a link or a pipe is not read', async () => {
    const scene = await createInboxScene(engine, { latencyMs: 10 });
    await scene.write('elsewhere.csv', domainList(3, 'elsewhere'));
    for (const [dead, file] of DEAD) {
      const job = scene.path(`processing/${dead}/job`);
      await mkdir(job, { recursive: true });
      await writeRecord(job, { id: newJobId(), run: null, file, reason: null, parked: null });
      if (file === 'list.csv') await symlink(scene.path('elsewhere.csv'), join(job, file));
      else execFileSync('mkfifo', [join(job, file)]);
      // A watcher without a heartbeat for a minute is dead.
      await utimes(scene.path(`processing/${dead}`), LONG_AGO, LONG_AGO);
    }
    const watcher = await scene.watch();
    const failed = await scene.until('failed', 2);
    const reasons = await Promise.all(failed.map(readReason));
    expect(reasons.join('')).toContain('list.csv (it is a symbolic link)');
    expect(reasons.join('')).toContain('it is not a regular file');
    expect(scene.service.meter.requests).toEqual([]);
    await stop(watcher);
  });
});
