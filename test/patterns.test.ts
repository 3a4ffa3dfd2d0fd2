/**
 * Regular expressions take time in step with the text. `recheck` looks for texts that take more; a
 * pattern that it calls safe and that is started anew at each place of a text is found by
 * `npm run test:speed`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Expression, type Program, parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Its checker in JavaScript: the others are programs, and no machine has all of them. */
const RECHECK = 'recheck/lib/browser.js';
const { checkSync } = createRequire(import.meta.url)(RECHECK) as typeof import('recheck');

/** Without limits of time within it, so that a busy machine finds the same. */
const LIMITS = { timeout: 120_000, attackTimeout: null, incubationTimeout: null, randomSeed: 1 };

/** Not safe on a text of any length, and why none is long. */
const BOUNDED: Readonly<Record<string, string>> = {
  'src/core/figures.ts /\\B(?=(?:\\d{3})+$)/g':
    'at most 80 digits: of a number, or of an amount that `parseDecimal` has read',
};

/** Built while the program runs, with parts like these. */
const BUILT: Readonly<Record<string, RegExp>> = {
  'src/core/secrets.ts':
    /(?:a|\\u0061)(?:\\?"|\\u0022)(?:a|\\u0061)(?:\\?\\|\\u005c)(?:a|\\u0061)|a%22a%5Ca|(?:a|\\u0061)/gi,
  'src/engine/stores/outcome-key.ts': /^[\w-]{7}:[utf][dticba]:./,
  'src/input/identify/header-words.ts': /(?<![^ ])web|domain|(?<![^ ])pes?(?![^ ])|сайт/g,
};

interface Pattern {
  readonly path: string;
  readonly pattern: string;
  readonly flags: string;
}

/** The patterns of all sources, and the files that build others while they run. */
function patternsOf(paths: readonly string[]) {
  const patterns: Pattern[] = [];
  const builders: string[] = [];
  for (const path of paths) {
    const { program, errors } = parseSync(path, readFileSync(ROOT + path, 'utf8'));
    expect(errors, path).toEqual([]);
    const constants = constantsOf(program);
    const build = (callee: Expression, [source, flags]: readonly unknown[]) => {
      if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return;
      const pattern = textOf(source as Expression, constants);
      if (pattern === null) builders.push(path);
      else
        patterns.push({ path, pattern, flags: flags ? (textOf(flags as Expression, constants) ?? '') : '' });
    };
    new Visitor({
      Literal(node) {
        if ('regex' in node) patterns.push({ path, ...node.regex });
      },
      NewExpression: (node) => build(node.callee, node.arguments),
      CallExpression: (node) => build(node.callee, node.arguments),
    }).visit(program);
  }
  return { patterns, builders };
}

/** What the constants of a file are set to, by name. */
function constantsOf(program: Program): ReadonlyMap<string, Expression> {
  const constants = new Map<string, Expression>();
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init !== null) constants.set(id.name, init);
    },
  }).visit(program);
  return constants;
}

/** Returns the text of a constant expression, or the source of a pattern; null for others. */
function textOf(node: Expression, constants: ReadonlyMap<string, Expression>): string | null {
  const joined = (texts: readonly (string | null)[]) =>
    texts.reduce((whole, text) => (whole === null || text === null ? null : whole + text), '');
  if (node.type === 'Literal') return 'regex' in node ? node.regex.pattern : String(node.value);
  if (node.type === 'BinaryExpression' && node.operator === '+')
    return joined([textOf(node.left, constants), textOf(node.right, constants)]);
  if (node.type === 'TemplateLiteral')
    return joined(
      node.quasis.flatMap(({ value }, at) => {
        const inserted = node.expressions[at];
        return inserted === undefined ? [value.cooked] : [value.cooked, textOf(inserted, constants)];
      }),
    );
  const known = node.type === 'Identifier' ? constants.get(node.name) : undefined;
  return known === undefined ? null : textOf(known, constants);
}

it('no pattern takes time with the square of a text, unless its text is short', {
  tags: ['long'],
  timeout: 900_000,
}, async () => {
  const paths = ['src', 'workers'].flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /[.]tsx?$/.test(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .sort(),
  );
  const { patterns, builders } = patternsOf(paths);
  expect(builders.sort()).toEqual(Object.keys(BUILT));
  const built = Object.entries(BUILT).map(([path, { source, flags }]) => ({ path, pattern: source, flags }));
  const verdicts = new Map<string, string>();
  const unsafe: string[] = [];
  for (const { path, pattern, flags } of [...patterns, ...built]) {
    const text = `/${pattern}/${flags}`;
    const verdict = verdicts.get(text) ?? checkSync(pattern, flags, LIMITS).status;
    verdicts.set(text, verdict);
    if (verdict !== 'safe') unsafe.push(`${path} ${text}`);
    // Vitest hears from a file at least once a minute.
    await setImmediate();
  }
  expect(patterns.length).toBeGreaterThan(400);
  expect(unsafe).toEqual(Object.keys(BOUNDED));
});
