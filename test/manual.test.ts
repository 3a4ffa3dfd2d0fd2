/**
 * The manual, as somebody follows it. Each block `sh` runs as it is written, in the folder of its
 * page, and must print the lines of the block `text` after it, where `…` stands for what varies. A
 * block `console` needs a person, a server or another machine: what it names must exist.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { COMMAND_NAMES, oppositeFlag } from '../src/settings/setting.js';
import { SETTING_ENTRIES } from '../src/settings/settings.js';
import { LONG } from './e2e/commands.js';
import { startCli } from './support/cli.js';
import { quickEngine } from './support/engines.js';
import { startInShell } from './support/in-shell.js';
import { temporaryFolder } from './support/temporary-folder.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MANUAL = join(ROOT, '.github/manual');
/** They run until Ctrl-C, which comes once they have printed what the page shows. */
const STAYS = /^brand-enrich (up|watch|worker|serve|schedule serve)\b(?!.*--(statement|help))/m;
const FREE_PORTS = {
  BRAND_ENRICH_DASHBOARD_PORT: '0',
  BRAND_ENRICH_METRICS_PORT: '0',
  BRAND_ENRICH_PORT: '0',
};
const FLAGS = new Set(
  SETTING_ENTRIES.flatMap(([, line]) => [line.flag, line.short, oppositeFlag(line), '--help', '--version']),
);

const pages = readdirSync(MANUAL).map((name): [name: string, text: string] => [
  name,
  readFileSync(join(MANUAL, name), 'utf8'),
]);

function blocksOf(text: string) {
  const blocks = text.matchAll(/^```(\w+)\n(.*?)^```$(?:\n\n```text\n(.*?)\n```$)?/gms);
  return [...blocks].map(([, kind = '', code = '', output = '']) => ({ kind, code, output }));
}

/** The lines in the order in which they are printed, others between them. */
function pattern(output: string): RegExp {
  const escaped = output.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*');
  return new RegExp(`^${escaped.replaceAll('\n', '$[^]*?^')}$`, 'm');
}

test.each(pages)('the commands of %s run, and print what it shows', LONG, async (_, text) => {
  const folder = await temporaryFolder();
  for (const name of ['customers.csv', 'securities.csv', 'coins.jsonl'])
    await cp(join(ROOT, 'fixtures', name), join(folder, name));
  await mkdir(join(folder, 'node_modules'));
  await symlink(ROOT, join(folder, 'node_modules/brand-enrich'));
  const service = startCli(['serve', '--port', '0'], { cwd: folder });
  onTestFinished(() => service.kill('SIGKILL'));
  await service.untilSaid(/serving .* at /);
  const url = /http:\S+/.exec(service.said)?.[0] ?? '';
  const env = { ...(await quickEngine()).env(folder), BRAND_API_URL: url, BRAND_API_TOKEN: 'demo-token' };
  for (const { kind, code, output } of blocksOf(text)) {
    if (kind !== 'sh') continue;
    const shown = pattern(output);
    const isStaying = STAYS.test(code);
    const script = ['sh', '-ec', `trap : INT; exec 2>&1\n${code}`];
    const shell = await startInShell({ folder, env: { ...env, ...(isStaying && FREE_PORTS) } }, script);
    if (isStaying) {
      await shell.until(shown);
      process.kill(-shell.pid, 'SIGINT');
    }
    const ended = await shell.done;
    expect(ended.code, `${code}${ended.said}`).toBe(0);
    expect(ended.said).toMatch(output === '' ? /^/ : shown);
  }
});

test.each(pages)('every command and flag of %s exists', (_, text) => {
  const code = blocksOf(text).flatMap((block) => (/^(sh|console)$/.test(block.kind) ? [block.code] : []));
  const commands = [...code.join('').matchAll(/brand-enrich ([a-z][^|;&>\n]*)/g)].map(
    ([, line = '']) => `${line.split(/ #| -- /)[0]} `,
  );
  const unknown = commands.filter((line) => !COMMAND_NAMES.some((name) => line.startsWith(`${name} `)));
  const inline = [...text.matchAll(/`(--[a-z][a-z-]+)/g)].map(([, flag = '']) => flag);
  const flags = commands.flatMap((line) => line.match(/(?<= )--?[a-z][a-z-]*/g) ?? []).concat(inline);
  expect([...unknown, ...flags.filter((flag) => !FLAGS.has(flag))]).toEqual([]);
});
