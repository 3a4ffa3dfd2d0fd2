/** Signed notifications about every way to end; a failed delivery never affects the run. */
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Hook, startHook } from '../notify/hook-server.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, engineOfFile, stop } from './commands.js';

const engine = engineOfFile();

const SECRET = 'a secret of the receiver';
const noticesOf = (hook: Hook) => hook.received.map(({ body }) => JSON.parse(body));
const eventsOf = (hook: Hook) => noticesOf(hook).map(({ event }) => event);

/** Verifies as the README tells receivers to do it. */
function isGenuine({ headers, body }: Hook['received'][number]): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = createHmac('sha256', SECRET).update(signed).digest('base64');
  return headers['webhook-signature'] === `v1,${expected}`;
}

test('a finished run sends a signed notice with counts and names, and without token or rows', async () => {
  const scene = await createScene(engine, {}, domainList(20));
  const hook = await startHook(200);
  await ends(
    0,
    scene.run(['run', 'list.csv', '--notify-url', hook.url], { BRAND_ENRICH_NOTIFY_SECRET: SECRET }),
  );
  expect(noticesOf(hook)).toMatchObject([
    {
      event: 'finish',
      isSample: false,
      run: { label: expect.stringContaining('list.csv') },
      rows: { matched: expect.any(Number) },
      requests: { billed: 20 },
      files: { output: 'list.enriched.csv' },
    },
  ]);
  const [received] = hook.received;
  if (received === undefined) throw new Error('nothing was received');
  expect(isGenuine(received)).toBe(true);
  expect(received.body).not.toContain(scene.token);
  expect(received.body).not.toContain('brand-00001');
  expect(received.body).not.toContain(SECRET);
});

test('an inbox notifies of each file with the final path of its report, and of one that cannot be read', async () => {
  const scene = await createScene(engine);
  const hook = await startHook(200);
  const watcher = scene.startHere(['watch', '.', '--settle', '200ms', '--notify-url', hook.url]);
  await watcher.untilSaid(/watching the inbox/);
  await scene.write(join('inbox', 'list.csv'), domainList(5));
  await expect.poll(() => eventsOf(hook)).toEqual(['finish']);
  const [finish] = noticesOf(hook);
  expect(finish.report).toContain(join(scene.folder, 'done'));
  expect(existsSync(finish.report)).toBe(true);
  await scene.write(join('inbox', 'empty.csv'), '');
  await expect.poll(() => eventsOf(hook)).toEqual(['finish', 'failure']);
  expect(noticesOf(hook)[1]).toMatchObject({
    run: { label: expect.stringContaining('empty.csv') },
    reason: expect.stringMatching(/no records|empty/),
  });
  await stop(watcher);
});
