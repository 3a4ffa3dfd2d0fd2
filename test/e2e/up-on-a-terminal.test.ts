/** What the commands that stay say on a terminal: a few lines of text; elsewhere JSON, as ever. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { quickEngine } from '../support/engines.js';
import { hasTerminal, startOnTerminal } from '../support/on-terminal.js';
import { LONG } from './commands.js';

const UP = 'up --inbox . --settle 200ms --metrics-port 0 --dashboard-port 0';

test.skipIf(!hasTerminal)('`up` says where it is, and when files come and go', async () => {
  const scene = await createInboxScene(await quickEngine());
  const up = startOnTerminal(scene, UP);
  await up.until(/Ctrl-C/);
  const { folder } = scene;
  // An engine may have a warning of its own.
  const lines = up.seen().split('\n');
  expect(lines.filter((line) => !/^[\d:]{8} /.test(line))).toEqual([
    'brand-enrich is up.',
    expect.stringMatching(/^ {2}dashboard {2}http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/),
    '             the link signs you in; it is new at each start',
    `  inbox      ${folder}/inbox, results in ${folder}/done`,
    expect.stringMatching(/^ {2}metrics {4}http:\/\/127\.0\.0\.1:\d+\/metrics$/),
    '  stop       Ctrl-C; requests in flight are awaited, and the next start continues',
    '',
  ]);
  await scene.drop('list.csv', 'note\nnothing to find\n');
  await up.until(/^\d\d:\d\d:\d\d list\.csv: taken/m);
  await up.until(/^\d\d:\d\d:\d\d warning: list\.csv: failed: .+$/m);
  await scene.drop('sites.csv', 'website\nacme.com\n');
  await up.until(/^\d\d:\d\d:\d\d sites\.csv: The only row has .*; .* billed\.$/m);
  expect(await up.stop()).toBe(0);
  expect(up.seen()).not.toMatch(/^\{/m);
});

test.skipIf(!hasTerminal)('with --log-file the lines are JSON, in the file', LONG, async () => {
  const scene = await createInboxScene(await quickEngine());
  const up = startOnTerminal(scene, `${UP} --log-file up.log`);
  await expect.poll(() => readFile(scene.path('up.log'), 'utf8').catch(() => '')).toContain('"msg":"up"');
  await up.until(/dashboard: http.*token=/);
  const lines = (await readFile(scene.path('up.log'), 'utf8')).trimEnd().split('\n');
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
  expect(lines.join()).not.toContain('token=');
  expect(await up.stop()).toBe(0);
});

test.skipIf(!hasTerminal)('`watch` and `worker` log in text, and say how to stop them', LONG, async () => {
  const scene = await createInboxScene(await quickEngine());
  for (const [args, words] of [
    ['watch . --settle 200ms', /^\d\d:\d\d:\d\d watching the inbox \(folder \S+, watcher \S+\)$/m],
    ['worker', /^\d\d:\d\d:\d\d waiting for chunks \(worker \S+, engine .+, service \S+\)$/m],
  ] as const) {
    const process = startOnTerminal(scene, args);
    await process.until(words);
    expect(process.seen()).toContain('Press Ctrl-C to stop; requests in flight are awaited.');
    expect(await process.stop()).toBe(0);
    expect(process.seen()).not.toMatch(/^\{/m);
  }
});
