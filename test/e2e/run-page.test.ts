/** A file on the dashboard of a real `up`, from drop to download. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Document } from '../../src/run/documents.js';
import { createInboxScene, type InboxScene } from '../jobs/inbox-scene.js';
import { quickEngine } from '../support/engines.js';
import { domainList } from '../support/scene.js';
import { expectPaidOnce } from './commands.js';
import { signIn } from './person.js';
import { askAs, dashboardUrl, startUpHere } from './start-up.js';

/** Starts `up` with its dashboard; `ask` is a program that knows the password. */
async function startWithPages(scene: InboxScene) {
  const up = await startUpHere(scene, { concurrency: 2 });
  const ask = askAs('job', up);
  const page = async (path: string) => {
    const answer = await ask(path);
    return { status: answer.status, text: await answer.text() };
  };
  const runs = async () => {
    const status = (await (await ask('/status.json')).json()) as Document<'dashboard'>;
    return status.data?.runs ?? [];
  };
  return { up, ask, page, runs };
}

test('a dropped file is paused, resumed and downloaded on its page, and each identifier is billed once', async () => {
  const scene = await createInboxScene(await quickEngine(), { latencyMs: 40 });
  const { ask, page, runs, up } = await startWithPages(scene);
  await scene.drop('Kunden März.csv', domainList(60));
  await scene.service.until((meter) => meter.billed >= 6);
  // Nearly nothing is sent until the pause is given.
  scene.service.options.latencyMs = 1_000;
  const [run] = await runs();
  const path = `/runs/${run?.id}`;
  expect((await page('/')).text).toContain(`<a href="${path}"><bdi>Kunden März.csv</bdi></a>`);

  expect((await ask(`${path}/pause`, {})).status).toBe(200);
  scene.service.options.latencyMs = 0;
  // The run ends, and its file waits without a place; a resume begins another run of it.
  await scene.until('waiting', 1);
  // What a page shows may be a second old.
  const paused = async () => (await page(path)).text;
  await expect.poll(paused, { timeout: 20_000 }).toContain('Paused by job since ');
  expect(await paused()).toContain(`action="${path}/resume"`);
  const billed = scene.service.meter.billed;
  const { get, press } = await signIn(dashboardUrl(up));
  const question = await (await press(await get(path), 'Resume')).text();
  expect(question).toMatch(/Resume Kunden März\.csv\?[\s\S]*\d+ companies are left\./);
  expect(scene.service.meter.billed - billed).toBeLessThanOrEqual(2 * 2);
  expect(scene.service.meter.billed).toBeLessThan(60);
  expect((await press(question, 'Resume')).headers.get('location')).toMatch(/^\/files\/j-[0-9a-f]{16}$/);

  const [done = ''] = await scene.until('done', 1);
  const [latest] = await runs();
  const newer = `/runs/${latest?.id}`;
  expect(newer).not.toBe(path);
  await expect.poll(async () => (await page(newer)).text).toContain('Enriched rows</a>');
  const ended = (await page(newer)).text;
  expect(ended).toMatch(/\d+ of 60 rows have a brand\./);
  expect(ended).not.toContain(`action="${newer}/`);
  const links = [...ended.matchAll(/<a href="(\/files\/[^"#]+)"/g)].map(([, link]) => link ?? '');
  expect(links.map((link) => decodeURIComponent(link.split('/').at(-1) ?? ''))).toEqual([
    'Kunden März.report.html',
    'Kunden März.enriched.csv',
    'Kunden März.report.json',
    'Kunden März.csv',
  ]);
  const [, enriched = ''] = links;
  const kept = await readFile(join(done, 'Kunden März.enriched.csv'), 'utf8');
  expect(await (await ask(enriched)).text()).toBe(kept);
  // The dashboard itself has one link, which leads to the enriched rows.
  expect((await page('/')).text).toContain(`<a href="${newer}/result">Download`);
  expect(new URL((await ask(`${newer}/result`)).url).pathname).toBe(links[1]);
  expect((await page('/runs/r-20260101-00000000')).status).toBe(404);
  expectPaidOnce(scene.service.meter, 60);
  expect(up.said).toContain(`"action":"${path}/pause"`);
});
