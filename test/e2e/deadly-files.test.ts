/** A file that ends its process is held for a person, and the files beside it are done. */
import { readdirSync, readlinkSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { listWaiting } from '../../src/jobs/find-files.js';
import { readRecord } from '../../src/jobs/job-folder.js';
import { createInboxScene, type InboxScene, readReason } from '../jobs/inbox-scene.js';
import type { CliProcess } from '../support/cli.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { kill, onEngines, stop } from './commands.js';
import { signIn } from './person.js';
import { dashboardUrl, startUp } from './start-up.js';

/** Takes about a second to read. */
const longList = (domain: string) => {
  const sites = [domain, ...Array.from({ length: 27 }, (_, at) => `site-${at}.com`)];
  return `website,note\n${sites
    .map((site) => `${site},a note of some length\n`)
    .join('')
    .repeat(25_000)}`;
};

/** True if a process has a list open; Linux. */
function hasOpen(pid: number, list: string): boolean {
  const at = `/proc/${pid}/fd`;
  return readdirSync(at).some((fd) => {
    try {
      return basename(readlinkSync(`${at}/${fd}`)) === list;
    } catch {
      return false;
    }
  });
}

/** What the record of a file in progress says of its reading. */
async function markOf({ path }: InboxScene, list: string): Promise<unknown> {
  const processing = path('processing');
  for (const each of await readdir(processing, { recursive: true })) {
    if (!each.endsWith('.brand-enrich-job.json')) continue;
    const record = JSON.parse(await readFile(join(processing, each), 'utf8').catch(() => '{}'));
    if (record.file === list) return record.reading;
  }
  return undefined;
}

/** True when a process reads a list with this mark, false when one waits for a person. */
async function untilRead(scene: InboxScene, up: CliProcess, list: string, mark: string): Promise<boolean> {
  const isRead = async () => hasOpen(up.pid, list) && (await markOf(scene, list)) === mark;
  let read = false;
  const seen = async () => {
    read = await isRead();
    const waiting = await listWaiting(scene.path('waiting'));
    return read || waiting.some(({ parked }) => parked.state.why === 'crashed');
  };
  await expect.poll(seen, { timeout: 60_000, interval: 2 }).toBe(true);
  return read;
}

const askedFor = ({ service }: InboxScene, domain: string) =>
  service.meter.requests.filter(({ identifier }) => identifier.includes(domain)).length;

onEngines([redisEngine(), embeddedEngine()].map(inLongTests), (engine) => {
  test.skipIf(process.platform !== 'linux')('after a death with others and three alone', async () => {
    const scene = await createInboxScene(engine);
    const first = await startUp(scene);
    await scene.drop('poison.csv', longList('poison.com'));
    await scene.drop('honest.csv', longList('honest.com'));
    await scene.drop('small.csv', 'website\nsmall.com\n');
    await untilRead(scene, first, 'poison.csv', 'with others');
    await kill(first);
    let deaths = 0;
    let up = await startUp(scene);
    while (await untilRead(scene, up, 'poison.csv', 'alone')) {
      // As the system does when memory is short. It counts unless a small file began just then.
      await kill(up);
      deaths += 1;
      up = await startUp(scene);
      if (deaths === 1) await scene.drop('later.csv', 'website\nlater.com\n');
    }
    expect(deaths).toBeGreaterThanOrEqual(3);
    const [waiting = ''] = await scene.until('waiting', 1);
    expect(basename(waiting)).toMatch(/^poison-/);
    expect(await readReason(waiting)).toMatch(
      /^The program ended three times while it read this file and no other\.\n\n.*press "Go on"/s,
    );
    await scene.until('done', 3);
    expect(await scene.list('failed')).toEqual([]);
    expect(askedFor(scene, 'poison.com')).toBe(0);
    const others = ['honest.com', 'small.com', 'later.com'].map((each) => askedFor(scene, each));
    // An answer that was on its way at a death is asked for again.
    expect([Math.min(...others), Math.max(...others) <= 2]).toEqual([1, true]);

    // Its page says so, and its button has it read again.
    const { get, press } = await signIn(dashboardUrl(up));
    expect(await get('/')).toContain('1 file waits for your decision');
    const page = await get(`/files/${(await readRecord(waiting))?.id}`);
    expect(page).toContain('The program ended three times while it read this file and no other');
    await press(await (await press(page, 'Go on')).text(), 'Go on');
    await scene.until('done', 4);
    expect(askedFor(scene, 'poison.com')).toBe(1);
    await stop(up);
  });
});
