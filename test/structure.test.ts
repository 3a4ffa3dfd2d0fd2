/**
 * The house keeps its shape: floors, no cycles, no barrels, and the process only in the roots. What is
 * checked here is the text of the sources; types and style are the compiler's and the linter's.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Rooms and single files of `src`, from the ground up. What stands on one floor does not know each other, except on the ground. */
const FLOORS: readonly (readonly string[])[] = [
  [
    'model.ts',
    'errors.ts',
    'system-error.ts',
    'clock.ts',
    'decimal.ts',
    'figures.ts',
    'log.ts',
    'lifecycle.ts',
    'process-identity.ts',
    'private-file.ts',
    'plain-file.ts',
    'secrets.ts',
    'terminal-text.ts',
    'table.ts',
    'config',
    'contract',
    'notify',
  ],
  ['intake', 'identify', 'lookup', 'quota', 'outcomes', 'runs', 'collate', 'catalogue', 'report-page'],
  ['engine', 'metrics', 'telemetry'],
  ['resolve', 'schedules'],
  ['pipeline', 'inbox', 'dashboard'],
  ['doors'],
  ['main.ts', 'index.ts'],
  ['cli.ts', 'workers'],
];
/** `main.ts` is what the roots share. */
const TOUCHES_PROCESS = /^(src\/(cli|index|main)\.ts|src\/config\/|workers\/)/;
const TOP_LEVEL = [
  '.biome.json',
  '.ci',
  '.gitignore',
  '.knip.js',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'docker-compose.yml',
  'fixtures',
  'package-lock.json',
  'package.json',
  'src',
  'test',
  'tsconfig.json',
  'workers',
];

interface Source {
  /** From the top of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

function sourcesUnder(...folders: readonly string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .sort()
      .map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') })),
  );
}

/** Files that this one imports or re-exports, types included, at the top or on demand. */
function importsOf({ path, text }: Source): string[] {
  const found = [
    ...text.matchAll(/^(?:import|export)\b[^;'"]*?\bfrom\s*['"](\.[^'"]+)['"]/gm),
    ...text.matchAll(/^import\s*['"](\.[^'"]+)['"]/gm),
    ...text.matchAll(/\bimport\(\s*['"](\.[^'"]+)['"]/g),
  ];
  return found.map(([, to]) => posix.join(posix.dirname(path), (to ?? '').replace(/\.js$/, '.ts')));
}

/** `src/quota/pace.ts` is of the room `quota`, `src/model.ts` of `model.ts`, `workers/x.ts` of `workers`. */
function roomOf(path: string): string {
  const [top, second] = path.split('/');
  return top === 'src' ? (second ?? '') : (top ?? '');
}

function floorOf(path: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(roomOf(path)));
}

function isAllowed(from: string, to: string): boolean {
  if (roomOf(from) === roomOf(to)) return true;
  const floor = floorOf(from);
  return floorOf(to) < floor || (floor === 0 && floorOf(to) === 0);
}

/** One cycle per knot, as the files on it; empty when there is none. */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const at = way.indexOf(path);
    if (at >= 0) cycles.push([...way.slice(at), path]);
    if (at >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return cycles;
}

/** Whether nothing is left of a file when what it passes on from others is taken away. */
function isBarrel(text: string): boolean {
  const rest = text
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    .replace(/^export\s+(type\s+)?(\*(\s+as\s+\w+)?|\{[^}]*\})(\s+from\s+['"][^'"]+['"])?;?/gm, '')
    .replace(/^import\b[^;]*;/gm, '');
  return rest.trim() === '';
}

/** Lines of code that match, as `path:line`. Comments may say what they like. */
function linesWith(sources: readonly Source[], pattern: RegExp): string[] {
  return sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, at) =>
        pattern.test(line.replace(/^\s*(\*|\/\*|\/\/ ).*/, '')) ? [`${path}:${at + 1}`] : [],
      ),
  );
}

const sources = sourcesUnder('src', 'workers');
const tests = sourcesUnder('test').filter(({ path }) => path !== 'test/structure.test.ts');

describe('floors', () => {
  it('every file of src and workers stands on one', () => {
    expect(sources.filter(({ path }) => floorOf(path) < 0).map(({ path }) => path)).toEqual([]);
  });

  it('a file imports only from lower floors and its own room', () => {
    const wrong = sources.flatMap((source) =>
      importsOf(source)
        .filter((to) => !isAllowed(source.path, to))
        .map((to) => `${source.path} imports ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it('every import is of a file that is there', () => {
    const known = new Set(sources.map(({ path }) => path));
    const missing = sources.flatMap((source) => importsOf(source).filter((to) => !known.has(to)));
    expect(missing).toEqual([]);
  });

  it('no import leads in a circle', () => {
    expect(cyclesIn(new Map(sources.map((source) => [source.path, importsOf(source)])))).toEqual([]);
  });

  it.each([
    ['src/intake/rows.ts', 'src/model.ts', true],
    ['src/intake/rows.ts', 'src/intake/limits.ts', true],
    ['src/engine/sql/runs.ts', 'src/engine/engine.ts', true],
    ['src/config/setting.ts', 'src/errors.ts', true],
    ['src/intake/rows.ts', 'src/collate/sort.ts', false],
    ['src/quota/governor.ts', 'src/resolve/ask.ts', false],
    ['src/model.ts', 'src/quota/ledger.ts', false],
    ['src/resolve/ask.ts', 'src/pipeline/acquire.ts', false],
    ['workers/lookup.ts', 'src/main.ts', true],
    ['src/doors/run.ts', 'src/main.ts', false],
  ])('%s may import %s: %s', (from, to, allowed) => {
    expect(isAllowed(from, to)).toBe(allowed);
  });
});

describe('files', () => {
  it('are named in kebab case after one idea, and never after nothing', () => {
    const names = sources.map(({ path }) => posix.basename(path));
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name))).toEqual([]);
    expect(names.filter((name) => /^(utils?|helpers?|common|types?|manager|misc)\.ts$/.test(name))).toEqual(
      [],
    );
  });

  it('say something of their own: only the public library passes on what others say', () => {
    const barrels = sources.filter(({ path, text }) => path !== 'src/index.ts' && isBarrel(text));
    expect(barrels.map(({ path }) => path)).toEqual([]);
  });
});

describe('the process', () => {
  it('is touched by the roots alone', () => {
    const others = sources.filter(({ path }) => !TOUCHES_PROCESS.test(path));
    expect(linesWith(others, /\bprocess\.(env|argv|exit|exitCode|abort|on|once)\b/)).toEqual([]);
    expect(linesWith(others, /from 'node:process'/)).toEqual([]);
  });
});

describe('the terminal', () => {
  it('gets its text in one way, which shows what would steer it', () => {
    const others = sources.filter(({ path }) => path !== 'src/terminal-text.ts');
    expect(linesWith(others, /\b(?:stdout|stderr)\.write\(|\bconsole\./)).toEqual([]);
  });
});

describe('the compiler and the linter', () => {
  it('are silenced nowhere', () => {
    const silencers =
      /@ts-(ignore|nocheck|expect-error)|biome-ignore|eslint-disable|prettier-ignore|v8 ignore/;
    const all = [...sources, ...tests];
    const found = all.filter(({ text }) => silencers.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it('are told every type', () => {
    const untyped = /(?:[:<|&,(]|=>|\bas)\s*any\b(?=\s*(?:[;,)>\]|&={[]|$))|\bany\[\]/;
    expect(linesWith([...sources, ...tests], untyped)).toEqual([]);
    expect(untyped.test('const x: any = 1')).toBe(true);
    expect(untyped.test('return value as any;')).toBe(true);
    expect(untyped.test('Record<string, any>')).toBe(true);
  });
});

const listed = spawnSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' });

it.skipIf(listed.status !== 0)('the top of the repository holds nothing else', () => {
  const names = new Set(
    listed.stdout
      .trim()
      .split('\n')
      .map((path) => path.split('/')[0] ?? ''),
  );
  expect([...names].filter((name) => !TOP_LEVEL.includes(name))).toEqual([]);
});

describe('what is checked with', () => {
  it('finds imports of every form', () => {
    const text = [
      "import { a } from './a.js';",
      "import type {\n  B,\n} from '../b/b.js';",
      "export { c } from './c.js';",
      "import './d.js';",
      "const e = await import('./e.js');",
      "import { f } from 'node:fs';",
    ].join('\n');
    expect(importsOf({ path: 'src/x/x.ts', text })).toEqual([
      'src/x/a.ts',
      'src/b/b.ts',
      'src/x/c.ts',
      'src/x/d.ts',
      'src/x/e.ts',
    ]);
  });

  it('finds circles', () => {
    const graph = { a: ['b'], b: ['c', 'd'], c: ['a'], d: ['d'] };
    expect(cyclesIn(new Map(Object.entries(graph)))).toEqual([
      ['a', 'b', 'c', 'a'],
      ['d', 'd'],
    ]);
  });

  it.each([
    ["/** Words. */\nexport * from './a.js';\nexport type { B } from './b.js';", true],
    ["import { a } from './a.js';\nexport { a };", true],
    ["export type { A } from './a.js';\nexport const b = 1;", false],
  ])('knows a barrel', (text, expected) => {
    expect(isBarrel(text)).toBe(expected);
  });
});
