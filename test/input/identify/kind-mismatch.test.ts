/** A kind named for a column whose values do not fit it stops the run. */
import { describe, expect, it } from 'vitest';
import { choose, chosen, refusal } from './choose-from-table.js';

const column = (header: string, cells: readonly string[]) => [header, ...cells];

const WEBSITES = [
  ...['apple.com', 'Apple.com', 'microsoft.com.', 'https://github.com/acme', 'www.beta.de'],
  ...['info@gamma.com', 'siemens.de', 'shop.acme.co.uk', 'delta.org/about', 'n/a'],
];
const GERMAN_SITES = ['siemens.de', 'deutsche-bank.de', 'lufthansa.de', 'www.sap.de', 'volkswagen.de/autos'];
const ISINS = ['US0378331005', 'DE0007164600', 'us5949181045', 'US0231351067', 'US02079K3059'];
const NAMES = ['Acme', 'Apple Inc.', 'Deutsche Bank', 'the bakery at the corner', 'Gamma Limited'];
const EXCHANGE_TICKERS = ['SAP.DE', 'AIR.PA', 'BHP.AX', '7203.T', 'BSANTANDER.SN', 'VOD.L', 'ENI.MIL'];
const TICKERS = ['AAPL', 'BRK.B', 'BF-B', 'brk b', 'M&M', 'AGO$F', '^GSPC', 'NYSE:GE', 'GC=F', 'sap.de'];
const COINS = ['BTC', 'eth', 'USDC.e', 'stETH', 'LINK', 'BTC.b'];

describe('a run is stopped before anything is spent', () => {
  it.each([
    ['websites as tickers', column('website', WEBSITES), 'website:ticker', 'website:domain'],
    ['websites of one country as tickers', column('web', GERMAN_SITES), 'web:ticker', 'web:domain'],
    ['tickers in capitals with a web suffix', column('x', ['ACME.COM', 'BETA.ORG']), 'x:ticker', 'x:domain'],
    ['ISINs as tickers', column('code', ISINS), 'code:ticker', 'code:isin'],
    ['tickers as domains', column('code', ['AAPL', 'MSFT', 'GE']), 'code:domain', 'code:ticker'],
    ['tickers as ISINs', column('ticker', ['AAPL', 'MSFT', 'GE']), 'ticker:isin', 'ticker:ticker'],
    ['names as domains', column('company', NAMES), 'company:domain', null],
    ['names as anything', column('company', NAMES), 'company:auto', null],
    ['domains as brand ids', column('x', ['acme.com', 'beta.com']), 'x:id', 'x:domain'],
    ['five invalid values under a name that fits', column('website', NAMES), 'website:domain', null],
  ])('%s', (_, table, flag, fitting) => {
    const error = refusal(table, { column: [flag] });
    expect(error.code).toBe('column-mismatch');
    expect(error.exitCode).toBe(2);
    const advice = fitting === null ? 'name the right column or kind' : `use --column ${fitting}`;
    expect(error.todo).toBe(`${advice}, or use --allow-mismatch to continue anyway`);
    expect(chosen(table, { column: [flag], allowMismatch: true })).toBe(flag);
  });

  it('with the counts and the most frequent cause', () => {
    expect(refusal(column('website', WEBSITES), { column: ['website:ticker'] }).message).toBe(
      'most values of this column cannot be tickers: "website" as ticker: 9 of 9 sampled values do not fit ' +
        '(most often: a domain); use --column website:domain, or use --allow-mismatch to continue anyway',
    );
  });

  it('when at least 80 % of the values do not fit', () => {
    const of = (good: number) =>
      column(
        'x',
        Array.from({ length: 10 }, (_, at) => (at < good ? 'AAPL' : 'acme.com')),
      );
    expect(refusal(of(2), { column: ['x:ticker'] }).code).toBe('column-mismatch');
    expect(chosen(of(3), { column: ['x:ticker'] })).toBe('x:ticker');
  });

  it('also for a kind set by --kind', () => {
    expect(refusal(column('what', WEBSITES), { kind: 'ticker' }).code).toBe('column-mismatch');
    expect(refusal(column('x', WEBSITES), { column: ['x'], kind: 'isin' }).code).toBe('column-mismatch');
  });

  it('also for a fallback column, which would be bought', () => {
    const table = ['isin|website', ...ISINS.map((isin, at) => `${isin}|company-${at}.com`)];
    expect(refusal(table, { column: ['isin', 'website:ticker'] }).subject).toContain('"website" as ticker');
  });
});

describe('a run is not stopped', () => {
  it.each([
    ['tickers with their exchange', column('x', EXCHANGE_TICKERS), 'x:ticker'],
    ['tickers of every shape', column('x', TICKERS), 'x:ticker'],
    ['coins', column('x', COINS), 'x:crypto'],
    ['tickers that could be domains, as domains', column('x', ['SAP.DE', 'AIR.PA']), 'x:domain'],
    ['anything as auto', column('x', ['AAPL', 'acme.com', 'US0378331005', 'btc']), 'x:auto'],
    ['websites in title case as anything', column('x', ['Apple.com', 'Bosch.de', 'Shell.nl']), 'x:auto'],
    ['addresses at free mail providers', column('x', ['a@gmail.com', 'b@web.de']), 'x:domain'],
    ['a blank column', column('x', ['', 'n/a', '-']), 'x:ticker'],
    ['a file without rows', column('x', []), 'x:ticker'],
    ['a few invalid values under a name that fits', column('website', ['acme', 'beta']), 'website:domain'],
  ])('%s', (_, table, flag) => {
    expect(chosen(table, { column: [flag] })).toBe(flag);
  });

  it('one column read as two kinds, whichever fits more values', () => {
    const mostly = (many: readonly string[], few: string) => column('code', [...many, ...many, few]);
    const both = { column: ['code:isin', 'code:ticker'] };
    expect(chosen(mostly(ISINS, 'AAPL'), both)).toBe('code:isin code:ticker');
    expect(chosen(mostly(['AAPL', 'MSFT', 'GE'], 'US0378331005'), both)).toBe('code:isin code:ticker');
  });

  it('a column of mostly names whose rows have a fallback column', () => {
    const table = ['isin_or_name|ticker', ...NAMES.map((name) => `${name}|AAPL`), 'US0378331005|'];
    expect(choose(table, { column: ['isin_or_name:isin', 'ticker'] }).choices).toHaveLength(2);
  });

  it('a kind that was not named', () => {
    expect(chosen(['name|website', 'A|acme.com', 'B|beta', 'C|gamma.de', 'D|delta', 'E|eps'])).toBe(
      'website:domain',
    );
  });
});
