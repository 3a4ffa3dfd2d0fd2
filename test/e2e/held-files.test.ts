/** Held files of an inbox and of a schedule, counted at the service. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createInboxScene, readReason } from '../jobs/inbox-scene.js';
import { startHook } from '../notify/hook-server.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { createScene } from '../support/scene.js';
import { ends, onEngines, schedulesOf, statusOf, stop } from './commands.js';
import { signIn } from './person.js';
import { dashboardUrl, startUp } from './start-up.js';
import { domains, list, unknown } from './unknown-domains.js';

const QUESTION = '0 of 50 found: is `website` the right column?';

onEngines([redisEngine(), embeddedEngine()].map(inLongTests), (engine) => {
  test('a file waits for a person, through a restart, until the rest is ordered on its page', async () => {
    const hook = await startHook(200);
    const scene = await createInboxScene(engine);
    const { meter } = scene.service;
    const first = await startUp(scene, { notifyUrl: hook.url });
    // The token itself would be masked.
    const file = `${scene.token.slice(-8)}.csv`;
    await scene.drop(file, list(unknown(300)));
    const [folder = ''] = await scene.until('waiting', 1);
    expect(meter.billed).toBe(50);
    expect((await readReason(folder)).split('\n')[0]).toBe(QUESTION);
    expect(await readReason(folder)).toMatch(/250 companies wait for your decision\. .*"Look up the rest"/);
    const name = file.replace('.csv', '.report.json');
    expect(JSON.parse(await readFile(join(folder, name), 'utf8'))).toMatchObject({
      stopped: 'min-match',
      reason: QUESTION,
    });
    await stop(first);
    expect(hook.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { event: 'parked', stopped: 'min-match', reason: QUESTION },
    ]);

    const up = await startUp(scene);
    // Another file is taken meanwhile, and the held one is not.
    await scene.drop('good.csv', list(domains(true, 5, 'good')));
    await scene.until('done', 1);
    expect([meter.billed, (await scene.list('waiting')).length]).toEqual([55, 1]);
    const { runs } = await statusOf(scene);
    const id = runs.find(({ label }) => label.endsWith(file))?.id;
    const { get, press } = await signIn(dashboardUrl(up));
    expect(await get('/')).toContain('1 file waits for your decision');
    const page = await get(`/runs/${id}`);
    expect(page).toMatch(/<span class="verdict[^>]*>Waiting</);
    expect(page).toMatch(/data-part="headline">0 of 50 found: is `website` the right column\?/);
    await press(await (await press(page, 'Look up the rest')).text(), 'Look up the rest');
    await scene.until('done', 2);
    expect([meter.billed, meter.mostBilledOnce()]).toEqual([305, 1]);
  });

  test('a schedule judges 200 answers after a file that matched; its next tick sends nothing, until a person says so', async () => {
    const scene = await createScene(engine);
    const { meter } = scene.service;
    const up = await startUp(scene);
    const name = `s${scene.token.slice(-8)}`.replaceAll(/[^a-z0-9]/gi, 'x');
    const file = `${name}.csv`;
    const add = ['schedule', 'add', name, '--cron', '0 0 1 1 *', '--tz', 'UTC', '--', 'run', file];
    await ends(0, scene.run(add));
    const ended = async () => {
      const schedules = await schedulesOf(scene);
      return schedules.find((each) => each.name === name)?.runs ?? [];
    };
    /** The exit code of a tick on these rows, and what it bought. */
    const tick = async (rows: readonly string[]) => {
      await scene.write(file, list(rows));
      const [before, { billed }] = [(await ended()).length, meter];
      await ends(0, scene.run(['schedule', 'run-now', name]));
      await expect.poll(async () => (await ended()).length).toBe(before + 1);
      return [(await ended())[0]?.exitCode, meter.billed - billed];
    };
    expect(await tick(domains(true, 20))).toEqual([0, 20]);
    // A nightly file of new rows only.
    expect(await tick(unknown(120))).toEqual([0, 120]);
    // After that none had matched.
    expect(await tick(unknown(300, 'second'))).toEqual([7, 50]);
    expect(await tick(domains(true, 3, 'third'))).toEqual([0, 3]);
    const wrong = unknown(300, 'fourth');
    expect(await tick(wrong)).toEqual([7, 200]);
    expect(await tick(wrong)).toEqual([7, 0]);

    const { runs } = await statusOf(scene);
    const id = runs.find(({ label }) => label.endsWith(file))?.id;
    const { get, press } = await signIn(dashboardUrl(up));
    const page = await get(`/runs/${id}`);
    expect(page).toContain('0 of 200 found: is `website` the right column?');
    await press(await (await press(page, 'Look up the rest')).text(), 'Look up the rest');
    expect(await tick(wrong)).toEqual([0, 100]);
  });
});
