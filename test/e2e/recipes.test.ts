/** The recipes of the manual's `nightly-jobs.md`, run as they are written. */
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OUTCOME_STATUSES } from '../../src/core/outcome.js';
import { type EngineUnderTest, embeddedEngine, quickEngine } from '../support/engines.js';
import { startInShell } from '../support/in-shell.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { LONG } from './commands.js';

/** Only the first of them with every change. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = await readFile(join(ROOT, '.github/manual/nightly-jobs.md'), 'utf8');
const SECTION = PAGE.split('\n## ').find((section) => section.startsWith('In a pipeline')) ?? '';

const blockOf = (recipe: string, type: string) => {
  const from = SECTION.slice(SECTION.indexOf(`**${recipe}**`));
  return new RegExp(`\`\`\`${type}\\n([\\s\\S]*?)\`\`\``).exec(from)?.[1] ?? '';
};

async function open(engine?: EngineUnderTest) {
  const scene = await createScene(engine ?? (await quickEngine()), { quota: 5 });
  await mkdir(scene.path('data'));
  await scene.write('customers.csv', domainList(12));
  await scene.write('data/customers.csv', domainList(12));
  return scene;
}

/** `args`: of the shell, as the caller of the recipe gives them. */
async function inShell(scene: Scene, shell: string, args: readonly string[], command: string) {
  return (await startInShell(scene, [shell, ...args, command])).done;
}

/** Raises the quota, so that the rest is there at the next run. */
const nextMonth = (scene: Scene) => {
  scene.service.options.quota = 1_000;
};

test('cron: the line runs, leaves its metrics, and goes on the next night', LONG, async () => {
  const scene = await open();
  const [, fields, command = ''] = /^((?:\S+ ){5})(.*)$/m.exec(blockOf('cron', 'console')) ?? [];
  expect(fields).toBe('0 2 * * * ');
  const line = command
    .replace('cd /data', `cd ${scene.path('data')}`)
    .replace('PATH=', `PATH=${scene.path('bin')}:`)
    .replace('/var/lib/node_exporter/textfile', scene.folder);
  const first = await inShell(scene, 'sh', ['-c'], line);
  expect([first.code, scene.service.meter.billed], first.said).toEqual([7, 5]);
  nextMonth(scene);
  const second = await inShell(scene, 'sh', ['-c'], line);
  expect([second.code, scene.service.meter.billed], second.said).toEqual([0, 12]);
  expect(await readFile(scene.path('customers.prom'), 'utf8')).toMatch(/run_exit_code\{.*\} 0\n/);
});

test('GitHub Actions: 7 is a notice, and the cache carries what was paid for', LONG, async () => {
  const scene = await open(embeddedEngine());
  const { jobs } = parse(blockOf('GitHub Actions', 'yaml'));
  const { env, steps } = jobs.enrich as {
    env: Record<string, string>;
    steps: { name?: string; uses?: string; run?: string; with?: Record<string, string> }[];
  };
  expect(Object.keys(env)).toEqual(['BRAND_API_URL', 'BRAND_API_TOKEN', 'BRAND_ENRICH_STATE']);
  const cached = steps.find(({ uses }) => uses?.startsWith('actions/cache@'))?.with?.path ?? '';
  expect(env.BRAND_ENRICH_STATE?.endsWith(`/${cached}`)).toBe(true);
  const script = steps.find(({ name }) => name === 'enrich')?.run ?? '';
  const own = { ...scene, env: { ...scene.env, BRAND_ENRICH_STATE: scene.path(cached) } };
  const first = await inShell(own, 'bash', ['-e', '-c'], script);
  expect([first.code, scene.service.meter.billed], first.said).toEqual([0, 5]);
  expect(first.said).toContain('::notice::stopped by quota or budget');
  // What the cache does, between two machines.
  const keep = `tar -czf kept.tgz ${cached} && rm -rf ${cached} && tar -xzf kept.tgz`;
  const packed = spawnSync('sh', ['-c', keep], { cwd: scene.folder });
  expect(packed.status).toBe(0);
  nextMonth(scene);
  const second = await inShell(own, 'bash', ['-e', '-c'], script);
  expect([second.code, scene.service.meter.billed], second.said).toEqual([0, 12]);
  expect(scene.service.meter.mostBilledOnce()).toBe(1);
  await scene.write('customers.csv', 'website\nno domain\n');
  expect((await inShell(own, 'bash', ['-e', '-c'], script)).code).toBe(2);
});

test('dbt: the source is complete or as it was', LONG, async () => {
  const scene = await open();
  const [enrich = '', build] = blockOf('dbt', 'console').trimEnd().split('\n');
  const [source] = parse(blockOf('dbt', 'yaml')).sources;
  const [table] = source.tables;
  expect(build).toBe(`dbt build --select source:${source.name}+`);
  const file = source.meta.external_location.replace('{name}', table.name);
  expect((await inShell(scene, 'sh', ['-c'], enrich)).code).toBe(0);
  await expect(readFile(scene.path(file))).rejects.toThrow(/ENOENT/);
  nextMonth(scene);
  expect((await inShell(scene, 'sh', ['-c'], enrich)).code).toBe(0);
  expect((await readFile(scene.path(file))).subarray(0, 4).toString()).toBe('PAR1');
  const { values } = table.columns[0].tests[1].accepted_values;
  // A complete file defers nothing.
  expect([...values, 'deferred'].sort()).toEqual([...OUTCOME_STATUSES].sort());
  expect(scene.service.meter.billed).toBe(12);
});

/** In place of Airflow: tells what the task was given. */
const AIRFLOW = {
  'airflow/sdk.py': `class DAG:
    def __init__(self, dag_id, schedule, start_date, catchup, max_active_runs): pass
    def __enter__(self): return self
    def __exit__(self, *error): pass
`,
  'airflow/providers/standard/operators/bash.py': `import json
def BashOperator(task_id, bash_command, skip_on_exit_code, retries):
    print(json.dumps({"command": bash_command, "skips": skip_on_exit_code}))
`,
};

const hasPython = spawnSync('python3', ['--version']).status === 0;
test.skipIf(!hasPython)('Airflow (needs python3) skips the task at the limit', LONG, async () => {
  const scene = await open();
  for (const [path, text] of Object.entries(AIRFLOW)) {
    await mkdir(join(scene.path(path), '..'), { recursive: true });
    await scene.write(path, text);
  }
  await scene.write('dag.py', blockOf('Airflow', 'python'));
  const read = spawnSync('python3', ['dag.py'], { cwd: scene.folder, encoding: 'utf8' });
  expect(read.stderr).toBe('');
  const { command, skips } = JSON.parse(read.stdout);
  const task = command.replaceAll('/data/', `${scene.path('data')}/`);
  const first = await inShell(scene, 'bash', ['-c'], task);
  expect([first.code, scene.service.meter.billed], first.said).toEqual([skips, 5]);
  nextMonth(scene);
  expect((await inShell(scene, 'bash', ['-c'], task)).code).toBe(0);
  expect(scene.service.meter.billed).toBe(12);
});

const UNIT = /```ini\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? '';

test('the systemd unit is hardened, and does not restart what a restart cannot mend', () => {
  for (const line of [
    'RestartPreventExitStatus=2 4',
    'ProtectSystem=strict',
    'NoNewPrivileges=yes',
    'PrivateTmp=yes',
    'PrivateDevices=yes',
    'ProtectHome=yes',
  ])
    expect(UNIT.split('\n')).toContain(line);
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
test.skipIf(!hasSystemd)('systemd knows every line of the unit (needs systemd-analyze)', async () => {
  const scene = await open();
  const verify = async (text: string) => {
    const path = await scene.write('brand-enrich.service', text);
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
    await rm(path);
    return stderr.split('\n').filter((line) => line.includes('brand-enrich.service'));
  };
  expect(await verify(UNIT)).toEqual([]);
  expect(await verify(UNIT.replace('ProtectHome', 'ProtectHose'))).not.toEqual([]);
});
