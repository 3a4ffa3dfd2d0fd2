/** The documents match the code; `npm run docs` rewrites what is made from it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../src/core/errors.ts';
import { parseAccounts } from '../src/local-service/accounts.ts';
import { readCatalogueLine } from '../src/local-service/load-catalogue.ts';
import { DEFAULT_COLUMNS } from '../src/run/output/columns.ts';
import { EXIT_MEANINGS } from '../src/settings/help.ts';
import { makePictures } from './support/pictures.ts';
import { settingsList } from './support/settings-table.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const README = 'README.md';
const MANUAL = '.github/manual';
const LOCAL_SERVICE = `${MANUAL}/a-service-to-test-against.md`;
const MOST_WORDS = 12_000;
const LONGEST_ROOM = 30;

/** By document and name of the block. */
const TABLES: readonly (readonly [document: string, name: string, made: string])[] = [
  [`${MANUAL}/settings.md`, 'settings', settingsList()],
  [
    `${MANUAL}/errors.md`,
    'errors',
    Object.entries(ERROR_CATALOGUE)
      .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
      .join('\n'),
  ],
  ...[README, `${MANUAL}/errors.md`].map(
    (document) =>
      [
        document,
        'exits',
        table(
          ['exit code', 'meaning'],
          EXIT_MEANINGS.map(([code, meaning]) => [`${code}`, meaning]),
        ),
      ] as const,
  ),
];

function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
}

function block(name: string): RegExp {
  return new RegExp(`(<!-- ${name}:[^>]*-->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const documents = listed.status === 0 ? listed.stdout.trim().split('\n') : [README];

describe('tables', () => {
  it.each(TABLES)('%s has the current table of %s', (document, name, made) => {
    const text = read(document);
    if (process.env.REWRITE_DOCS) {
      const rewritten = text.replace(block(name), (_, open, __, close) => `${open}${made}\n${close}`);
      writeFileSync(join(ROOT, document), rewritten);
      return;
    }
    expect(block(name).exec(text)?.[2]).toBe(`${made}\n`);
  });

  it('of columns lists each of ours', () => {
    const text = read(README);
    const missing = DEFAULT_COLUMNS.filter(({ name }) => !text.includes(`\`brand_${name}\``));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });
});

describe('the pictures of the README', () => {
  const names = [...read(README).matchAll(/\((\.github\/pictures\/[^)]+)\)/g)].map(([, path]) => path ?? '');

  it.runIf(process.env.REWRITE_PICTURES)('are made anew', { timeout: 180_000 }, () =>
    makePictures(join(ROOT, '.github/pictures')),
  );

  it.each(names)('%s is small, and loads nothing', (path) => {
    const bytes = readFileSync(join(ROOT, path));
    expect(bytes.length).toBeLessThan(120_000);
    if (path.endsWith('.svg')) expect(bytes.toString()).not.toMatch(/<script|href=|url\((?!#)|@import/);
  });
});

it('the README: has at most 160 lines, of at most 120 characters but in tables', () => {
  const lines = read(README).trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(160);
  expect(lines.filter((line) => line.length > 120 && !line.startsWith('|'))).toEqual([]);
});

describe('the manual', () => {
  it(`has at most ${MOST_WORDS} words`, () => {
    const pages = documents.filter((path) => path.startsWith(MANUAL));
    const words = pages.flatMap((path) => read(path).match(/\S+/g) ?? []);
    expect(words.length).toBeLessThanOrEqual(MOST_WORDS);
  });

  it('leaves rooms a README for contributors', () => {
    const rooms = documents.filter((path) => /^src\/.*README\.md$/.test(path));
    const long = rooms.filter((path) => read(path).trimEnd().split('\n').length > LONGEST_ROOM);
    expect(long).toEqual([]);
  });
});

/** Anchors as GitHub generates them from headings. */
function anchorsIn(text: string): string[] {
  const headings = text.replace(/```[\s\S]*?```/g, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it.each(documents)('the links of %s lead to existing files and headings', (document) => {
  const links = [...read(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, to]) => to ?? '');
  const broken = links.filter((link) => {
    const [file = '', anchor] = link.split('#');
    const path = file === '' ? document : join(dirname(document), file);
    if (!existsSync(join(ROOT, path))) return true;
    return anchor !== undefined && !anchorsIn(read(path)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

it('the local service accepts the accounts file and the catalogue line in its README', () => {
  const blocks = [...read(LOCAL_SERVICE).matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => json ?? '');
  const accounts = blocks.find((json) => json.includes('"tokenSha256"')) ?? '';
  const { all } = parseAccounts(accounts.replace('<64 hex digits>', 'a1'.repeat(32)), 'README');
  expect(all).toMatchObject([{ name: 'data-team', plan: 'paid' }]);
  const line = blocks.find((json) => json.startsWith('{"brand"')) ?? '';
  expect(readCatalogueLine(Buffer.from(line.trim()))).toMatchObject({ adult: 'none' });
});
