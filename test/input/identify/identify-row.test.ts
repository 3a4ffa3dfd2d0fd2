import { describe, expect, it } from 'vitest';
import { identifierText } from '../../../src/core/identifier.js';
import type { ColumnChoice } from '../../../src/input/identify/find-column.js';
import { identifyRow } from '../../../src/input/identify/identify-cell.js';

const website: ColumnChoice = { column: 1, name: 'website', kind: 'domain' };
const email: ColumnChoice = { column: 0, name: 'email', kind: 'domain' };
const ticker: ColumnChoice = { column: 2, name: 'ticker', kind: 'ticker' };

function read(cells: readonly string[], choices: readonly ColumnChoice[]): string[] {
  return identifyRow(cells, choices).identifiers.map(identifierText);
}

describe('the identifiers of a row', () => {
  it('are in the order of the choices, not of the columns', () => {
    expect(read(['jo@beta.com', 'acme.com', 'ACM'], [website, ticker, email])).toEqual([
      'domain:acme.com',
      'ticker:ACM',
      'domain:beta.com',
    ]);
  });

  it('start with the first column that has one', () => {
    expect(read(['jo@beta.com', 'n/a', 'acm'], [website, ticker])).toEqual(['ticker:ACM']);
  });

  it('contain an identifier once, however many columns have it', () => {
    expect(read(['jo@acme.com', 'https://www.acme.com/', ''], [website, email])).toEqual(['domain:acme.com']);
  });

  it('are the coins of a column of markets, and of no other', () => {
    const choice = { column: 0, name: 'pair', kind: 'crypto' } as const;
    const idsOf = (cell: string, areMarkets: boolean) =>
      identifyRow([cell], [{ ...choice, areMarkets }]).identifiers.map(({ value }) => value);
    for (const market of ['BTC-USDT', 'btc/eur', 'BTCUSDC', 'BTCUSD'])
      expect(idsOf(market, true)).toEqual(['BTC']);
    expect(idsOf('PYTHUSDT', true)).toEqual(['PYTH']);
    expect(idsOf('EUR/USD', true)).toEqual(['EUR/USD']);
    expect(idsOf('WBTC', true)).toEqual(['WBTC']);
    expect(idsOf('BTCUSDT', false)).toEqual(['BTCUSDT']);
  });

  it('treat missing cells of a short row as blank', () => {
    expect(identifyRow([], [website])).toEqual({
      identifiers: [],
      otherwise: { type: 'skipped', reason: { code: 'blank' } },
      cell: '',
      hasSeveral: false,
    });
  });
});

const NOT_SYMBOL = { type: 'invalid', reason: { code: 'not_symbol', kind: 'ticker' } };
const NOT_DOMAIN = { type: 'invalid', reason: { code: 'not_domain' } };
const FREE_MAIL = { type: 'skipped', reason: { code: 'free_mail' } };
const BLANK = { type: 'skipped', reason: { code: 'blank' } };

describe('a row without an identifier', () => {
  it('names the cell that it is about', () => {
    expect(identifyRow(['', 'a,b', ' 10.0.0.1 '], [website, ticker, email])).toMatchObject({ cell: 'a,b' });
  });

  it.each<[string, readonly string[], object]>([
    ['invalid for the first reason when any cell is invalid', ['localhost', '', '..'], NOT_SYMBOL],
    ['invalid even when another cell was skipped before', ['acme', 'jo@gmail.com', ''], NOT_DOMAIN],
    ['skipped for a free mail address rather than a blank cell', ['jo@gmail.com', '', 'n/a'], FREE_MAIL],
    ['skipped as blank when all cells are blank', ['', ' ', '-'], BLANK],
  ])('is %s', (_, cells, otherwise) => {
    expect(identifyRow(cells, [website, ticker, email]).otherwise).toEqual(otherwise);
  });
});
