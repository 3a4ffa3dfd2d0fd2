import { expect } from 'vitest';
import { ConfigError } from '../../../src/core/errors.js';
import type { IdentifierKind } from '../../../src/core/identifier.js';
import { sayPhrase } from '../../../src/core/phrase.js';
import { chooseFrom, type TableChoice } from '../../../src/input/identify/choose-columns.js';
import { columnChoices } from '../../../src/settings/column-value.js';
import { Refusal } from '../../../src/settings/parse-value.js';

export interface Options {
  readonly column?: readonly string[];
  readonly kind?: IdentifierKind | null;
  readonly prefix?: string;
  readonly allowMismatch?: boolean;
  readonly fileName?: string;
}

export const CHOICE = {
  columns: [],
  kind: null,
  allowMismatch: false,
  prefix: 'brand_',
  priority: null,
  where: [],
  nameColumn: null,
} as const;

/** The first line is the header; `|` separates cells. The sentence is that of a page. */
export function choose(
  table: readonly string[],
  { column = [], kind = null, prefix = 'brand_', allowMismatch = false, fileName = '' }: Options = {},
): Omit<TableChoice['chosen'], 'sentence'> & { readonly sentence: string } {
  const [header = [], ...sample] = table.map((line) => line.split('|').map((cell) => cell.trim()));
  const requested = columnChoices.parse(column);
  if (requested instanceof Refusal) throw new Error(`--column is refused: ${column.join(' ')}`);
  const shape = { columns: header, format: 'csv' } as const;
  const { chosen } = chooseFrom(
    { name: fileName, shape, sample },
    { ...CHOICE, columns: requested, kind, allowMismatch, prefix },
  );
  return { ...chosen, sentence: sayPhrase(chosen.sentence, 'keys') };
}

/** `name:kind` of each choice. */
export function chosen(table: readonly string[], options: Options = {}): string {
  return choose(table, options)
    .choices.map((choice) => `${choice.name}:${choice.kind}`)
    .join(' ');
}

export function refusal(table: readonly string[], options: Options = {}): ConfigError {
  try {
    choose(table, options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('a column was chosen');
}

/** Cases of a text, a line each: a title, a table with ` / ` between its lines, and the choice. */
export const cases = (text: string) =>
  text.match(/\S.*/g)?.map((line) => {
    const [, title = '', table = '', expected = ''] = /^(.+?): (.*) -> (.*)$/.exec(line) ?? [];
    return [title, table.split(' / '), expected] as const;
  }) ?? [];

export function expectChosen(_title: string, table: readonly string[], expected: string): void {
  expect(chosen(table)).toBe(expected);
}

const CUSTOMER_LINES = 'id|company|website|country 1|Acme|acme.com|US 2|Beta|https://beta.de/|DE 3|Gamma||FR';
export const CUSTOMERS = CUSTOMER_LINES.split(' ');
