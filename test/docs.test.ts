/**
 * The README's tables are made of the code. `npm run docs` rewrites them; the test fails while they differ.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT_MEANINGS } from '../src/config/command-line.ts';
import { ERROR_CATALOGUE } from '../src/core/errors.ts';
import { parseAccounts } from '../src/local-service/accounts.ts';
import { readCatalogueLine } from '../src/local-service/catalogue-line.ts';
import { settingsTable } from './support/settings-table.ts';

const README = new URL('../README.md', import.meta.url);

const TABLES: Record<string, string> = {
  settings: settingsTable(),
  exits: table(
    ['exit code', 'meaning'],
    EXIT_MEANINGS.map(([code, meaning]) => [`${code}`, meaning]),
  ),
  errors: table(
    ['code', 'meaning'],
    Object.entries(ERROR_CATALOGUE).map(([code, meaning]) => [`\`${code}\``, meaning]),
  ),
};

function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
}

function block(name: string): RegExp {
  return new RegExp(`(<!-- ${name}:[^>]*-->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
}

describe('the README', () => {
  for (const [name, made] of Object.entries(TABLES)) {
    it(`shows the ${name} as the code has them`, () => {
      const text = readFileSync(README, 'utf8');
      if (process.env.REWRITE_DOCS) {
        writeFileSync(
          README,
          text.replace(block(name), (_, open, __, close) => `${open}${made}\n${close}`),
        );
        return;
      }
      expect(block(name).exec(text)?.[2]).toBe(`${made}\n`);
    });
  }

  it('shows an accounts file and a line of a catalogue that can be served', () => {
    const text = readFileSync(README, 'utf8');
    const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => json ?? '');
    const accounts = blocks.find((json) => json.includes('"tokenSha256"')) ?? '';
    const { all } = parseAccounts(accounts.replace('<64 hex digits>', 'a1'.repeat(32)), 'README');
    expect(all).toMatchObject([{ name: 'data-team', plan: 'paid' }]);
    const line = blocks.find((json) => json.startsWith('{"brand"')) ?? '';
    expect(readCatalogueLine(Buffer.from(line.trim()))).toMatchObject({ type: 'brand' });
  });
});
