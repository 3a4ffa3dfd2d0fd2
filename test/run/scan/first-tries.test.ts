/** Ordinary lists without a setting: the right columns, or a question that a layman can answer. */
import { describe, expect, it } from 'vitest';
import { NeverStartError } from '../../../src/core/errors.js';
import { remediesIn } from '../../../src/core/phrase.js';
import { FIRST_TRIES, type FirstTry, type Stopped, type Taken } from '../../fixtures/first-tries.js';
import { scanText } from '../scanned.js';

type Case<T> = FirstTry & { readonly answer: T };
const taken = FIRST_TRIES.filter((each): each is Case<Taken> => 'columns' in each.answer);
const stopped = FIRST_TRIES.filter((each): each is Case<Stopped> => 'stops' in each.answer);

async function assertRead({ name, text, answer }: Case<Taken>): Promise<void> {
  const { scan, texts } = await scanText(text, { name, ragged: null });
  const columns = scan.chosen.choices.map((choice) => `${choice.name.trim()}:${choice.kind}`);
  expect({ columns, rows: scan.rows.count, identifiers: texts.length }).toEqual(answer);
}

describe('is read at the first try', () => {
  it.each(taken.filter(({ isOpen }) => !isOpen))('$name: $about', assertRead);
  it.fails.each(taken.filter(({ isOpen }) => isOpen))('not yet: $name: $about', assertRead);
});

describe('stops, and offers only what helps', () => {
  it.each(stopped)('$name: $about', async ({ name, text, answer }) => {
    const error = await scanText(text, { name, ragged: null }).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(Error);
    if (!(error instanceof NeverStartError)) return;
    const offered = remediesIn(error.detail.todo).flatMap((remedy) =>
      'set' in remedy ? [remedy.set.column ?? []].flat().map((column) => String(column)) : [],
    );
    const { mustOffer = [], mustNotOffer = [] } = answer;
    for (const column of mustOffer) expect(offered.join()).toContain(`${column}:`);
    for (const column of mustNotOffer) expect(offered.join()).not.toContain(`${column}:`);
  });
});
