/** Ordinary lists without a setting; `.answers.jsonl` has what a careful reader would do. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ConfigError } from '../../../src/core/errors.js';
import { remediesIn } from '../../../src/core/phrase.js';
import { scanText } from '../scanned.js';

interface Taken {
  /** `name:kind` of the columns that must be taken, in order; `column_1` where none has a name. */
  readonly columns: readonly string[];
  /** Rows below the header that hold anything. */
  readonly rows: number;
  /** Distinct identifiers that the rows give. */
  readonly identifiers: number;
}

interface Stopped {
  readonly stops: 'names-only' | 'two-companies' | 'symbols-unclear' | 'not-a-table';
  /** Columns that the message must offer, and must not. */
  readonly mustOffer?: readonly string[];
  readonly mustNotOffer?: readonly string[];
}

/** File name, and in one short line what it looks like. */
type FirstTry<What> = What & { readonly name: string; readonly about: string };

const LISTS = new URL('../../fixtures/first-tries/', import.meta.url);
const tries = readFileSync(new URL('.answers.jsonl', LISTS), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as FirstTry<Taken> | FirstTry<Stopped>);
const scanList = (name: string) => scanText(readFileSync(new URL(name, LISTS)), { name, ragged: null });

it.each(tries.filter((each): each is FirstTry<Taken> => 'columns' in each))(
  '$name is read: $about',
  async ({ name, columns, rows, identifiers }) => {
    const { scan, texts } = await scanList(name);
    const taken = scan.chosen.choices.map((choice) => `${choice.name.trim()}:${choice.kind}`);
    expect({ columns: taken, rows: scan.rows.count, identifiers: texts.length }).toEqual({
      columns,
      rows,
      identifiers,
    });
  },
);

it.each(tries.filter((each): each is FirstTry<Stopped> => 'stops' in each))(
  'a list that stops: $name offers only what helps: $about',
  async ({ name, mustOffer = [], mustNotOffer = [] }) => {
    const error = await scanList(name).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(Error);
    if (!(error instanceof ConfigError)) return;
    const offered = remediesIn(error.detail.todo).flatMap((remedy) =>
      'set' in remedy ? [remedy.set.column ?? []].flat().map((column) => String(column)) : [],
    );
    for (const column of mustOffer) expect(offered.join()).toContain(`${column}:`);
    for (const column of mustNotOffer) expect(offered.join()).not.toContain(`${column}:`);
  },
);
