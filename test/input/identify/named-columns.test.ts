/** Columns that the user names, and columns that an earlier run added. */
import { describe, expect, it } from 'vitest';
import { sayPhrase } from '../../../src/core/phrase.js';
import { columnLabel, columnSetting } from '../../../src/input/identify/find-column.js';
import { CUSTOMERS, choose, chosen, refusal } from './choose-from-table.js';

describe('--column', () => {
  it.each([
    ['takes columns in the order given', ['website', 'company:ticker'], 'website:domain company:ticker'],
    ['finds a name without case and outer blanks', [' WebSite '], 'website:domain'],
    ['finds a position', ['3'], 'website:domain'],
    ['finds a position with its kind', ['2:crypto'], 'company:crypto'],
    ['takes one column as two kinds', ['company:isin', 'company:ticker'], 'company:isin company:ticker'],
    ['drops repetitions', ['website', 'website:domain'], 'website:domain'],
  ])('%s', (_, column, expected) => {
    expect(chosen(CUSTOMERS, { column, allowMismatch: true })).toBe(expected);
  });

  it('prefers a column of that name to a position', () => {
    expect(chosen(['2|x', 'acme.com|beta.com'], { column: ['2:domain'] })).toBe('2:domain');
  });

  it('prefers the exact name to one in other case', () => {
    expect(choose(['URL|url', 'a.com|b.com'], { column: ['url'] }).choices[0]?.column).toBe(1);
  });

  it('accepts a header that contains a colon and a kind', () => {
    const table = ['price:isin|price', 'US0378331005|1'];
    const expected = { column: 0, name: 'price:isin', kind: 'isin' };
    expect(choose(table, { column: ['price:isin'] }).choices).toEqual([expected]);
    expect(choose(table, { column: ['price:isin:auto'] }).choices[0]).toMatchObject({
      column: 0,
      kind: 'auto',
    });
  });

  it('takes its kind from --kind, unless it names one itself', () => {
    const options = { column: ['company', 'website:domain'], kind: 'crypto', allowMismatch: true } as const;
    expect(chosen(CUSTOMERS, options)).toBe('company:crypto website:domain');
  });

  it('takes its kind from name and values, and says so', () => {
    const table = ['a|x', 'Acme|acme.com', 'Beta|beta.com', 'Gamma|?!'];
    const { choices, sentence } = choose(table, { column: ['x'] });
    expect(choices).toEqual([{ column: 1, name: 'x', kind: 'domain' }]);
    expect(sentence).toBe('identifiers come from column "x" as domain (2 of 3 sampled values are domains)');
  });

  it('accepts addresses that would not be chosen automatically', () => {
    expect(chosen(['linkedin', 'https://linkedin.com/a'], { column: ['linkedin'] })).toBe('linkedin:domain');
  });

  it('stops when nothing indicates the kind', () => {
    const error = refusal(CUSTOMERS, { column: ['company'] });
    expect(error.code).toBe('column-doubtful');
    expect(error.todo).toBe(
      'name another column, or give the kind: --column company:KIND (kinds: domain, ticker, isin, crypto, id); company names cannot be looked up',
    );
  });

  it('stops when its values are of several kinds, and names the kind that reads each by its shape', () => {
    const table = ['name|Kennung', 'Acme|acme.com', 'Beta|DE0007164600', 'Gamma|AAPL'];
    const error = refusal(table, { column: ['Kennung'] });
    expect(error.message).toBe(
      'this column has domains, ISINs and symbols: "Kennung"; use --column Kennung:auto, which reads each value by its shape',
    );
    expect(chosen(table, { column: ['Kennung:auto'] })).toBe('Kennung:auto');
  });

  it('stops so, too, when half of them are of one kind, unless its name says that', () => {
    const values = ['ikea.com', 'nike.com', 'US0378331005', 'MSFT', 'spotify.com'];
    expect(refusal(['Kennung', ...values], { column: ['Kennung'] }).message).toBe(
      'this column has domains, ISINs and symbols: "Kennung"; use --column Kennung:auto, which reads each value by its shape, or --column Kennung:domain for those alone',
    );
    expect(chosen(['website', ...values], { column: ['website'] })).toBe('website:domain');
    const mostly = ['a.com', 'b.com', 'c.com', 'd.com', 'US0378331005'];
    expect(chosen(['Kennung', ...mostly], { column: ['Kennung'] })).toBe('Kennung:domain');
    const capitals = ['IKEA.COM', 'BMW.DE', 'OTTO.DE', 'NIKE.COM', 'ZALANDO.DE', 'ADIDAS.COM'];
    expect(chosen(['Kennung', ...capitals], { column: ['Kennung'] })).toBe('Kennung:domain');
  });

  it('stops when a symbol may be of either kind', () => {
    const error = refusal(['symbol|name', 'LINK|Link'], { column: ['symbol'] });
    expect(error.todo).toBe('use --column symbol:ticker or --column symbol:crypto');
  });

  it('stops when several columns have the name', () => {
    const error = refusal(['url|x|URL', 'a.com|b|c.com'], { column: ['Url'] });
    expect(error.code).toBe('column-doubtful');
    expect(error.message).toBe(
      'several columns have this name: "Url"; use its position: --column position:1 or --column position:3',
    );
  });

  it('recognises a position in its own notation, where headers are numbers too', () => {
    const table = ['1|x|1', 'a.com|b.com|c.com', 'd.com|e.com|f.com'];
    const todo = 'use its position: --column position:1 or --column position:3';
    expect(refusal(table, { column: ['1'] }).todo).toBe(todo);
    const picked = ['position:3', 'Position:1:domain', 'position:2:ticker'];
    const { choices } = choose(table, { column: picked, allowMismatch: true });
    expect(choices.map(({ column, kind }) => `${column}:${kind}`).join(' ')).toBe(
      '2:domain 0:domain 1:ticker',
    );
    // What a message suggests can be typed as it is.
    const flags = refusal(table).todo.match(/position:\d+:domain/g) ?? [];
    expect(choose(table, { column: flags }).choices.map(({ column }) => column)).toEqual([0, 2]);
  });

  it('never takes a position for the name of a column, and lists the positions', () => {
    expect(choose(['a|position:1', 'x.com|y.com'], { column: ['position:1'] }).choices[0]?.column).toBe(0);
    expect(refusal(CUSTOMERS, { column: ['position:5:domain'] }).message).toBe(
      'no column has this position: --column position:5; use one from position:1 to position:4',
    );
    expect(refusal(CUSTOMERS, { column: ['position:0'] }).code).toBe('column-unknown');
  });

  it('shows the position of a column whose name is a number', () => {
    expect(choose(['0|1|2', 'x|acme.com|y'], { column: ['1:domain'] }).sentence).toBe(
      'identifiers come from column "1" (number 2) as domain (as asked)',
    );
  });

  it.each([
    ['webiste', 'did you mean "website"?'],
    ['webiste:domain', 'did you mean --column website:domain?'],
    ['site', 'did you mean "website"?'],
    ['turnover', 'use one of "id", "company", "website", "country"'],
    ['5', 'use one of "id", "company", "website", "country"'],
    ['0', 'use one of "id", "company", "website", "country"'],
    ['website:url', 'use one of domain, ticker, isin, crypto, id, auto'],
  ])('that is unknown (%s) stops with the nearest', (column, todo) => {
    const error = refusal(CUSTOMERS, { column: [column] });
    expect(error.code).toBe('column-unknown');
    expect(error.todo).toBe(todo);
  });
});

describe('columns of an earlier run', () => {
  const ENRICHED = [
    'website|name|brand_status|brand_identifier|brand_domain|brand_fetched_at',
    'acme.com|Acme|matched|acme.com|acme.com|2026-01-01T00:00:00Z',
  ];

  it('are found together and never chosen', () => {
    const { choices, ours } = choose(ENRICHED);
    expect(ours).toEqual([2, 3, 4, 5]);
    expect(choices).toEqual([{ column: 0, name: 'website', kind: 'domain' }]);
  });

  it('are not used even when they are named', () => {
    const error = refusal(ENRICHED, { column: ['brand_domain'] });
    expect(error.code).toBe('column-ours');
    expect(error.subject).toBe('"brand_domain" in --column');
  });

  it('belong to the user when one of the marks is missing: the run stops and names --prefix', () => {
    const error = refusal(['website|brand_name|brand_status', 'acme.com|Acme|x']);
    expect(error.code).toBe('column-ours');
    expect(error.message).toBe(
      'some columns begin with "brand_" like the columns that a run adds, but brand_identifier, brand_fetched_at are missing: brand_name, brand_status; to keep them, choose another prefix for the added columns, such as --prefix enriched_',
    );
  });

  it('may be chosen under another prefix', () => {
    expect(chosen(['brand_name|brand_website', 'Acme|acme.com'], { prefix: 'x_' })).toBe(
      'brand_website:domain',
    );
  });

  it('do not exist when the prefix is empty', () => {
    expect(choose(CUSTOMERS, { prefix: '' }).ours).toEqual([]);
  });
});

describe('a --column', () => {
  it.each([
    [['website'], 0, '--column website:domain'],
    [['Company URL'], 0, "--column 'Company URL:domain'"],
    [["Client's site"], 0, "--column 'Client'\\''s site:domain'"],
    [['a', ''], 1, '--column position:2:domain'],
    [['url', 'name', 'URL '], 2, '--column position:3:domain'],
    [['2', '1', '2'], 1, '--column 1:domain'],
    [['2', '1', '2'], 2, '--column position:3:domain'],
    [['position:2', 'name'], 0, '--column position:1:domain'],
    [['price', 'price:domain'], 0, '--column position:1:domain'],
  ] as const)('for %j is quoted so that a shell and the program understand it', (columns, column, flag) => {
    expect(sayPhrase([columnSetting(columns, column, 'domain')], 'flags')).toBe(flag);
  });

  it('shows a column by its position when its name is blank or not unique', () => {
    expect(columnLabel(['url', '', 'URL'], 1)).toBe('number 2');
    expect(columnLabel(['url', '', 'URL'], 2)).toBe('number 3');
    expect(columnLabel(['url', ''], 0)).toBe('"url"');
    expect(columnLabel(['0', '1'], 1)).toBe('"1" (number 2)');
  });
});
