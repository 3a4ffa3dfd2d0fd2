/**
 * The package as others install it: what `npm pack` makes, in a strict TypeScript project without
 * the types of our dependencies. The examples of the documents are compiled and run there, and a
 * program is killed.
 */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LONG } from '../e2e/commands.js';
import { embeddedEngine } from '../support/engines.js';
import { createScene, domainAt, domainList, type Scene } from '../support/scene.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** Every example of the library in these documents is a program, in TypeScript or JavaScript. */
const DOCUMENTS = ['README.md', '.github/manual/the-library.md'];

/** Takes its domains and stops only when it is killed, or forgets to close. */
const PROGRAMS = {
  'ask.ts': `import { createEnricher } from 'brand-enrich';
const [, , count, end] = process.argv;
const enricher = await createEnricher({ env: process.env, concurrency: 4 });
const domains = Array.from({ length: Number(count) }, (_, at) => \`brand-\${String(at + 1).padStart(5, '0')}.com\`);
for await (const { identifier, status } of enricher.enrich(domains)) console.log(status, identifier);
if (end === 'close') await enricher.close();
`,
  'types.ts': `import { type Brand, fieldOf } from 'brand-enrich';
import type { AccountState, Enriched, Enricher, EnricherLog, EnricherOptions, FilePlan } from 'brand-enrich';
export const log: EnricherLog = console;
const dispatcher = { dispatch: (_options: object, _handler: object) => true };
export const options: EnricherOptions = { baseUrl: 'https://api.example.com', token: 't', dispatcher, log };
export const isMisspelt: 'nmae' extends keyof Brand ? true : false = false;
export function kindOf(brand: Brand): unknown {
  return fieldOf(brand, 'company.kind') ?? fieldOf(brand, 'brandTier');
}
export async function name(enricher: Enricher): Promise<string> {
  const found: Enriched<number>[] = [];
  for await (const row of enricher.enrich(new Set([1, 2]), { identifier: (id) => String(id) })) found.push(row);
  const [first] = found;
  // The status tells whether there is a brand.
  return first?.status === 'matched' ? (first.brand.company?.location?.city ?? '') : (first?.error?.message ?? '');
}
export async function spent(enricher: Enricher, website: string | null): Promise<number> {
  const one: Enriched = await enricher.lookup('acme.com');
  const kept: Promise<Enriched>[] = ['a.com', 'b.com'].map((domain) => enricher.lookup(domain));
  const maybe: Enriched<string | null> = await enricher.lookup(website);
  const { input } = await enricher.lookup({ value: 'AAPL', kind: 'ticker' });
  const value: string = input.value;
  const plan: FilePlan = await enricher.plan('list.csv', { column: value, fields: 'name,domain' });
  const account: AccountState = await enricher.account();
  const all = [one, ...(await Promise.all(kept)), maybe];
  return all.reduce((sum, { billed }) => sum + billed, 0) + plan.requests.most + (account.left ?? 0);
}
`,
};

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    // The default of TypeScript 7.
    types: [],
    rootDir: 'src',
    outDir: 'out',
  },
  include: ['src'],
};

let project = '';
let compilerOutput = '';

async function examples(): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const document of DOCUMENTS) {
    const text = await readFile(join(ROOT, document), 'utf8');
    const name = document.replaceAll(/[^a-z]+/gi, '-').toLowerCase();
    const programs = [...text.matchAll(/^```(ts|js)\n([\s\S]*?)^```$/gm)];
    for (const [at, [, type, code = '']] of programs.entries())
      if (code.includes('createEnricher')) found.push([`${name}-${at + 1}.${type}`, code]);
  }
  return found;
}

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'brand-enrich-package-'));
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, '@types'), { recursive: true });
  const packing = ['pack', '--ignore-scripts', '--silent', '--pack-destination', project];
  const { stdout } = await run('npm', packing, { cwd: ROOT });
  await run('tar', ['-xzf', stdout.trim().split('\n').at(-1) ?? '', '-C', project], { cwd: project });
  await cp(join(project, 'package'), join(modules, 'brand-enrich'), { recursive: true });
  for (const types of ['@types/node', 'undici-types']) await link(modules, types);
  await mkdir(join(project, 'src'));
  await mkdir(join(project, 'out'));
  for (const [name, text] of [...Object.entries(PROGRAMS), ...(await examples())])
    await writeFile(join(project, name.endsWith('.ts') ? 'src' : 'out', name), text);
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  const described = { name: 'program', type: 'module', private: true };
  await writeFile(join(project, 'package.json'), JSON.stringify(described));
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const compiled = await run(process.execPath, [tsc, '-p', project]).catch((error) => error);
  compilerOutput = compiled.stdout;
  // To run, the programs need what the package depends on; to compile they do not.
  const ours = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...ours.dependencies, ...ours.optionalDependencies }))
    await link(modules, name);
}, 120_000);
afterAll(() => rm(project, { recursive: true, force: true }));

async function link(modules: string, name: string): Promise<void> {
  await mkdir(dirname(join(modules, name)), { recursive: true });
  await symlink(join(ROOT, 'node_modules', name), join(modules, name));
}

test('it compiles under strict, its types checked too, without the types of what it depends on', LONG, () => {
  expect(compilerOutput).toBe('');
});

describe('a program', LONG, () => {
  const engine = embeddedEngine();

  function start(scene: Scene, file: string, args: string[] = [], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [join(project, 'out', file), ...args], {
      cwd: scene.folder,
      // Its state is where the command line has it, unless the test says where.
      env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: scene.folder, ...scene.env, ...env },
    });
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const lines: string[] = [];
    const reader = createInterface({ input: child.stdout });
    const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
      child.on('close', (code) => resolve({ code, stderr }));
    });
    return { child, lines, ended, onLine: (take: (line: string) => void) => reader.on('line', take) };
  }

  test('of the documents runs, and its file is whole', async () => {
    const scene = await createScene(engine, { plan: 'paid' });
    await scene.write('customers.csv', domainList(20));
    const programs = (await readdir(join(project, 'out'))).filter((name) => /-md-\d+\.js$/.test(name));
    expect(programs).toHaveLength((await examples()).length);
    await Promise.all(
      programs.map(async (file) => {
        const { code, stderr } = await start(scene, file, [], { BRAND_ENRICH_STATE: '' }).ended;
        expect({ file, code, stderr }).toEqual({ file, code: 0, stderr: '' });
      }),
    );
    expect(await scene.files()).toEqual(expect.arrayContaining(['enriched.csv']));
    expect(scene.service.meter.mostBilledOnce()).toBe(1);
  });

  test('that is killed has paid for nothing that the command line pays for again, but what was in flight', async () => {
    const scene = await createScene(engine, { latencyMs: 20, quota: 60 });
    const { meter } = scene.service;
    const { child, ended, onLine } = start(scene, 'ask.js', ['200']);
    const answered = new Set<string>();
    onLine((line) => {
      answered.add(line.split(' ')[1] ?? '');
      if (answered.size === 20) child.kill('SIGKILL');
    });
    await ended;
    const before = new Map(meter.billedOf);
    expect(answered.size).toBeGreaterThanOrEqual(20);
    await scene.write('list.csv', domainList(200));
    const finished = await scene.run(['run', 'list.csv']);
    expect(finished.code, finished.stderr).toBe(7);
    for (const domain of answered) expect(meter.billedOf.get(`domain:${domain}`)).toBe(1);
    const twice = [...before.keys()].filter((name) => (meter.billedOf.get(name) ?? 0) > 1);
    expect(twice.length).toBeLessThanOrEqual(8);
    // The budget held through it all.
    expect(meter.billed).toBeLessThanOrEqual(60);
    expect(domainAt(0)).toBe([...answered][0]);
  });

  test('that forgets to close ends, and one that closes leaves no server behind', async () => {
    const scene = await createScene(engine);
    expect(await start(scene, 'ask.js', ['5']).ended).toEqual({ code: 0, stderr: '' });
    expect(await start(scene, 'ask.js', ['5', 'close']).ended).toEqual({ code: 0, stderr: '' });
    expect(scene.service.meter.billed).toBe(5);
    const look = await scene.run(['engine', 'status']);
    expect(look.stdout + look.stderr).toMatch(/not running|stopped/);
  });

  test('sees nothing but the face of the library', async () => {
    const seen = "import('brand-enrich').then((face) => console.log(Object.keys(face).sort().join(' ')))";
    const { stdout } = await run(process.execPath, ['-e', seen], { cwd: project });
    expect(stdout.trim().split(' ')).toEqual([
      'AuthenticationError',
      'BrandEnrichError',
      'ConfigError',
      'EXIT',
      'InterruptedError',
      'RunError',
      'createEnricher',
      'fieldOf',
      'qualityTier',
    ]);
    const required = "console.log(typeof require('brand-enrich').createEnricher)";
    expect((await run(process.execPath, ['-e', required], { cwd: project })).stdout).toBe('function\n');
    const inside = "import('brand-enrich/dist/src/engine/open-engine.js')";
    await expect(run(process.execPath, ['-e', inside], { cwd: project })).rejects.toThrow(
      /ERR_PACKAGE_PATH_NOT_EXPORTED/,
    );
  });
});
