/**
 * The structure of the codebase: rooms in order, no cycles, no barrels, and the process only in the
 * roots. These tests read the sources as text; compiler and linter check types and style.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * The rooms of `src` in order, and inside a room its parts in order: a file imports from its own
 * part and from those before it. A part is a folder, a file, or the rest of its room.
 */
const ROOMS: readonly (readonly [room: string, ...parts: readonly (readonly string[])[]])[] = [
  ['core'],
  ['brand-api'],
  ['settings'],
  ['notify'],
  [
    'input',
    ['identify'],
    ['text', 'json', 'binary-signature.ts', 'byte-source.ts', 'cell-kinds.ts', 'input.ts', 'row-readers.ts'],
  ],
  ['local-service'],
  ['ledger'],
  ['engine', ['stores']],
  ['worker'],
  ['run', ['documents.ts'], ['facts'], ['words'], ['report/kit']],
  ['app'],
  ['jobs', ['schedules']],
  ['library'],
  ['dashboard'],
  ['commands'],
];

/** What the order would allow, and nothing does: [a file below, imports nothing of these]. */
const NEVER: readonly (readonly [from: string, to: readonly string[]])[] = [
  ['src/input/', ['src/notify/']],
  ['src/ledger/', ['src/notify/', 'src/local-service/']],
  ['src/engine/', ['src/notify/', 'src/local-service/']],
  ['src/worker/', ['src/notify/', 'src/local-service/']],
  ['src/run/', ['src/local-service/']],
  ['src/run/documents.ts', ['src/brand-api/', 'src/settings/', 'src/input/', 'src/ledger/', 'src/engine/']],
  ['src/run/facts/', ['src/engine/', 'src/worker/', 'src/notify/']],
  ['src/run/words/', ['src/engine/', 'src/worker/', 'src/notify/']],
  ['src/library/', ['src/jobs/']],
];
/** A part of the engine that facts and words may read: the interfaces alone. */
const STORES = 'src/engine/stores/';
/** After all rooms: the process itself, and the library's entry. */
const ROOTS = 'roots';

/**
 * The most lines of each module, in every language, without `README.md`. A commit that raises a
 * number says what for and what was taken out.
 */
const CEILINGS: Readonly<Record<string, number>> = {
  core: 2_790,
  'brand-api': 805,
  settings: 2_900,
  notify: 385,
  input: 8_020,
  'local-service': 1_675,
  ledger: 1_645,
  engine: 8_780,
  worker: 2_060,
  run: 10_635,
  app: 1_005,
  jobs: 4_300,
  library: 1_585,
  dashboard: 5_695,
  commands: 2_905,
  roots: 356,
};
const CEILING_OF_ALL = 55_500;
const WIDEST_LINE = 110;

/** The roots share `main.ts`. */
const TOUCHES_PROCESS = /^(src\/(cli|file-reader|index|main)\.ts|src\/settings\/|workers\/)/;
const TOP_LEVEL = [
  '.biome.json',
  '.ci',
  '.github',
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
  /** Relative to the top of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

function sourcesUnder(...folders: readonly string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => /[.]tsx?$/.test(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .sort()
      .map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') })),
  );
}

/** The source of what a file imports as `./a.js`. */
function sourceOf(from: string, to: string): string {
  const path = posix.join(posix.dirname(from), to);
  return path.replace(/[.]js$/, existsSync(ROOT + path.replace(/[.]js$/, '.tsx')) ? '.tsx' : '.ts');
}

/** Files that this one imports or re-exports, types included, statically or dynamically. */
function importsOf({ path, text }: Source): string[] {
  const found = [
    ...text.matchAll(/^(?:import|export)\b[^;'"]*?\bfrom\s*['"](\.[^'"]+)['"]/gm),
    ...text.matchAll(/^import\s*['"](\.[^'"]+)['"]/gm),
    ...text.matchAll(/\bimport\(\s*['"](\.[^'"]+)['"]/g),
  ];
  return found.map(([, to = '']) => sourceOf(path, to));
}

/**
 * `src/ledger/pace.ts` belongs to the room `ledger`; files at the top of `src`, and `workers`, are
 * roots.
 */
function roomOf(path: string): string {
  const [top, second = '', ...rest] = path.split('/');
  return top === 'src' && rest.length > 0 ? second : ROOTS;
}

/** The place of a file in the order of rooms and parts; -1 for a file outside of all rooms. */
function orderOf(path: string): number {
  const room = roomOf(path);
  const at = [...ROOMS.map(([name]) => name), ROOTS].indexOf(room);
  const [, ...parts] = ROOMS[at] ?? [room];
  const part = parts.findIndex((names) =>
    names.some((name) => path === `src/${room}/${name}` || path.startsWith(`src/${room}/${name}/`)),
  );
  return at < 0 ? -1 : at * 10 + (part < 0 ? parts.length : part);
}

function isAllowed(from: string, to: string): boolean {
  const isNever = NEVER.some(
    ([below, others]) =>
      from.startsWith(below) &&
      others.some((other) => to.startsWith(other) && !(other === 'src/engine/' && to.startsWith(STORES))),
  );
  return !isNever && orderOf(to) >= 0 && orderOf(to) <= orderOf(from);
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

/** Packages that are loaded with this file, by `import` of a value and not on demand. */
function packagesWith(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  const text = readFileSync(ROOT + path, 'utf8');
  const found = [...text.matchAll(/^(?:import|export)\s+(?!type\b)([^;'"]*?)\bfrom\s*['"]([^'"]+)['"]/gm)];
  return found.flatMap(([, names = '', from = '']) => {
    const isOfTypes =
      /^\{/.test(names) && names.split(',').every((name) => /^[{\s]*(type\b|\}|$)/.test(name));
    if (isOfTypes || from.startsWith('node:')) return [];
    if (!from.startsWith('.')) return [`${path}: ${from}`];
    return packagesWith(sourceOf(path, from), seen);
  });
}

/** Whether a file consists of re-exports only. */
function isBarrel(text: string): boolean {
  const rest = text
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    .replace(/^export\s+(type\s+)?(\*(\s+as\s+\w+)?|\{[^}]*\})(\s+from\s+['"][^'"]+['"])?;?/gm, '')
    .replace(/^import\b[^;]*;/gm, '');
  return rest.trim() === '';
}

/** Lines of code that match, as `path:line`. Comments are ignored. */
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

describe('rooms', () => {
  it('contain every file of src and workers', () => {
    expect(sources.filter(({ path }) => orderOf(path) < 0).map(({ path }) => path)).toEqual([]);
  });

  it('import only from themselves and from those before them', () => {
    const wrong = sources.flatMap((source) =>
      importsOf(source)
        .filter((to) => !isAllowed(source.path, to))
        .map((to) => `${source.path} imports ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it('import only existing files', () => {
    const known = new Set(sources.map(({ path }) => path));
    const missing = sources.flatMap((source) => importsOf(source).filter((to) => !known.has(to)));
    expect(missing).toEqual([]);
  });

  it('have no import cycles', () => {
    expect(cyclesIn(new Map(sources.map((source) => [source.path, importsOf(source)])))).toEqual([]);
  });

  it.each(['src/main.ts', 'src/commands/plan.ts', 'src/commands/admin.ts'])(
    'of short commands bring no package by `import`, which takes longer than `load`: %s',
    (path) => {
      expect(packagesWith(path)).toEqual([]);
    },
  );

  it.each([
    ['src/input/text/rows.ts', 'src/core/table.ts', true],
    ['src/input/text/rows.ts', 'src/input/json/limits.ts', true],
    ['src/input/text/rows.ts', 'src/input/identify/words.ts', true],
    ['src/input/identify/words.ts', 'src/input/input.ts', false],
    ['src/engine/redis/redis-calls.ts', 'src/engine/engine.ts', true],
    ['src/core/table.ts', 'src/ledger/ledger.ts', false],
    ['src/input/xlsx/xlsx-table.ts', 'src/input/text/header-check.ts', true],
    ['src/input/text/text-table.ts', 'src/input/open-input.ts', false],
    ['src/input/text/rows.ts', 'src/run/output/sort.ts', false],
    ['src/run/facts/judge.ts', 'src/engine/stores/run-store.ts', true],
    ['src/run/facts/judge.ts', 'src/engine/engine.ts', false],
    ['src/run/facts/judge.ts', 'src/run/run-file.ts', false],
    ['src/library/enricher.ts', 'src/jobs/inbox-work.ts', false],
    ['src/ledger/governor.ts', 'src/worker/ask.ts', false],
    ['workers/lookup.ts', 'src/main.ts', true],
    ['src/commands/run.ts', 'src/main.ts', false],
  ])('%s may import %s: %s', (from, to, allowed) => {
    expect(isAllowed(from, to)).toBe(allowed);
  });
});

describe('files', () => {
  it('have kebab-case names after one idea', () => {
    const names = sources.map(({ path }) => posix.basename(path));
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/.test(name))).toEqual([]);
    expect(names.filter((name) => /^(utils?|helpers?|common|types?|manager|misc)\.ts$/.test(name))).toEqual(
      [],
    );
  });

  it('contain code of their own: only the public library re-exports', () => {
    const barrels = sources.filter(({ path, text }) => path !== 'src/index.ts' && isBarrel(text));
    expect(barrels.map(({ path }) => path)).toEqual([]);
  });
});

/** All files of `src` and `workers` but `README.md`, whatever their language. */
const programs = ['src', 'workers'].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'README.md')
    .map((entry) => `${posix.relative(ROOT, entry.parentPath)}/${entry.name}`)
    .map((path) => ({
      path,
      lines: readFileSync(ROOT + path, 'utf8')
        .replace(/\n$/, '')
        .split('\n'),
    })),
);

describe('lines', () => {
  it('are at most 110 characters wide, in every language', () => {
    const wide = programs.flatMap(({ path, lines }) =>
      lines.flatMap((line, at) => ([...line].length > WIDEST_LINE ? [`${path}:${at + 1}`] : [])),
    );
    expect(wide).toEqual([]);
  });

  it.each(Object.entries(CEILINGS))('of %s are at most %i', (name, most) => {
    const inModule = programs.filter(({ path }) => roomOf(path) === name);
    assertWithin(name, inModule, most);
  });

  it('of all modules together are within their limit, and each module has one', () => {
    expect(Object.keys(CEILINGS).sort()).toEqual([...ROOMS.map(([room]) => room), ROOTS].sort());
    assertWithin('src and workers', programs, CEILING_OF_ALL);
  });
});

/** Throws with the name, its lines and its limit, and what to do about it. */
function assertWithin(name: string, files: typeof programs, most: number): void {
  const count = files.reduce((sum, { lines }) => sum + lines.length, 0);
  const advice = 'take something out, or raise the number in a commit that says what for';
  expect(count, `${name} has ${count} lines, limit ${most}: ${advice}`).toBeLessThanOrEqual(most);
}

describe('comments', () => {
  it('are at most 100 columns wide', () => {
    const wide = [...sources, ...sourcesUnder('test')].flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          /^\s*(\/\/|\/\*\*|\* )/.test(line) && [...line].length > 100 ? [`${path}:${at + 1}`] : [],
        ),
    );
    expect(wide).toEqual([]);
  });

  // One voice: phrases that are never right. Readers judge the rest.
  it('contain no phrase that makes a reader stop', () => {
    const stopping =
      /(?<!there )\bis none\b|\bwhat of\b|\bwho (lives|leaves)\b|\bso many of\b|\bis (told|heard)\b|\bnull: /i;
    const comments = sources.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          /^\s*(\/\/|\/\*\*|\* )/.test(line) && stopping.test(line) ? [`${path}:${at + 1}`] : [],
        ),
    );
    expect(comments).toEqual([]);
  });
});

describe('the process', () => {
  it('is used by the roots alone', () => {
    const others = sources.filter(({ path }) => !TOUCHES_PROCESS.test(path));
    expect(linesWith(others, /\bprocess\.(env|argv|exit|exitCode|abort|on|once)\b/)).toEqual([]);
    expect(linesWith(others, /from 'node:process'/)).toEqual([]);
  });
});

describe('the terminal', () => {
  it('is written in one place, which escapes control characters', () => {
    const others = sources.filter(({ path }) => path !== 'src/core/terminal-text.ts');
    expect(linesWith(others, /\b(?:stdout|stderr)\.write\(|\bconsole\./)).toEqual([]);
  });
});

describe('the compiler and the linter', () => {
  it('are suppressed nowhere', () => {
    const silencers =
      /@ts-(ignore|nocheck|expect-error)|biome-ignore|eslint-disable|prettier-ignore|v8 ignore/;
    const all = [...sources, ...tests];
    const found = all.filter(({ text }) => silencers.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it('know every type', () => {
    const untyped = /(?:[:<|&,(]|=>|\bas)\s*any\b(?=\s*(?:[;,)>\]|&={[]|$))|\bany\[\]/;
    expect(linesWith([...sources, ...tests], untyped)).toEqual([]);
    expect(untyped.test('const x: any = 1')).toBe(true);
    expect(untyped.test('return value as any;')).toBe(true);
    expect(untyped.test('Record<string, any>')).toBe(true);
  });
});

const log = spawnSync('git', ['log', '-20', '--no-merges', '--format=%s'], { cwd: ROOT, encoding: 'utf8' });

it.skipIf(log.status !== 0)('the subjects of the last commits have at most 72 characters', () => {
  expect(log.stdout.split('\n').filter((subject) => [...subject].length > 72)).toEqual([]);
});

const listed = spawnSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' });

it.skipIf(listed.status !== 0)('the top of the repository contains nothing else', () => {
  const names = new Set(
    listed.stdout
      .trim()
      .split('\n')
      .map((path) => path.split('/')[0] ?? ''),
  );
  expect([...names].filter((name) => !TOP_LEVEL.includes(name))).toEqual([]);
});

/** Names of files and packages whose code is loaded together with this one. */
function loadedWith({ path, text }: Source): string[] {
  const imports = text.matchAll(/^(?:import|export)\b(?!\s+type\b)[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm);
  return [...imports].map(([, name = '']) => (name.startsWith('.') ? sourceOf(path, name) : name));
}

it('formats that few files have are loaded when a file needs them, and not at the start', () => {
  const graph = new Map(sourcesUnder('src').map((source) => [source.path, loadedWith(source)]));
  const atStart = new Set(['src/main.ts', 'src/commands/run.ts', 'src/commands/up.ts', 'src/index.ts']);
  for (const path of atStart) for (const name of graph.get(path) ?? []) atStart.add(name);
  expect([...atStart]).toEqual(expect.arrayContaining(['src/input/open-input.ts', 'zod']));
  expect([...atStart].filter((name) => /hyparquet|saxes|yauzl|yazl/.test(name))).toEqual([]);
});

describe('the checks themselves', () => {
  it('find imports of every form', () => {
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

  it('find cycles', () => {
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
  ])('recognise a barrel', (text, expected) => {
    expect(isBarrel(text)).toBe(expected);
  });
});
