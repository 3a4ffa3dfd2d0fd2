/** Which column is chosen unasked, and when the run stops rather than guess. */
import { describe, expect, it } from 'vitest';
import { CUSTOMERS, choose, chosen, refusal } from './choose-from-table.js';

describe('without --column', () => {
  it.each([
    ['a website by its name and values', CUSTOMERS, 'website:domain'],
    ['a website in another language', ['Firma|Webseite', 'Acme|acme.com', 'Beta|beta.de'], 'Webseite:domain'],
    ['domains without a telling name', ['a|b', 'Acme|acme.com', 'Beta|beta.com'], 'b:domain'],
    [
      'a website whose values are partly unusable',
      ['name|website', 'A|acme.com', 'B|acme', 'C|none yet'],
      'website:domain',
    ],
    [
      'a website whose name is qualified, if it is the only one',
      ['name|parent website', 'A|acme.com'],
      'parent website:domain',
    ],
    [
      'the customer website rather than that of the parent',
      ['website|parent website', 'acme.com|beta.com'],
      'website:domain',
    ],
    ['a website by its name when no row is sampled', ['name|website'], 'website:domain'],
    [
      'an e-mail column when there is nothing better',
      ['name|email', 'Jo|jo@acme.com', 'Al|al@gmail.com'],
      'email:domain',
    ],
    [
      'a website rather than e-mail addresses',
      ['email|website', 'jo@acme.com|acme.com', 'al@beta.com|'],
      'website:domain',
    ],
    ['ISINs by their check digit', ['Fonds|Kennung', 'A|US0378331005', 'B|de000 7164600'], 'Kennung:isin'],
    ['an ISIN rather than its ticker', ['ticker|isin', 'AAPL|US0378331005', 'SAP|DE0007164600'], 'isin:isin'],
    [
      'an ISIN and not the WKN beside it',
      ['wkn|isin', '865985|US0378331005', '716460|DE0007164600'],
      'isin:isin',
    ],
    [
      'a ticker whose values look like domains',
      ['name|ticker', 'SAP|SAP.DE', 'Airbus|AIR.PA'],
      'ticker:ticker',
    ],
    [
      'a website in capitals with a short suffix',
      ['name|website', 'SAP|SAP.DE', 'Axa|AXA.FR'],
      'website:domain',
    ],
    ['a symbol as ticker beside a sector', ['symbol|sector', 'META|Tech', 'DASH|Food'], 'symbol:ticker'],
    [
      'a symbol as coin beside a blockchain',
      ['symbol|blockchain', 'ETH|ethereum', 'LINK|ethereum'],
      'symbol:crypto',
    ],
    ['a coin', ['coin|amount', 'BTC|1', 'META|2'], 'coin:crypto'],
    ['certain brand ids under any name', ['key|x', 'id_abc|1', 'id_def|2'], 'key:id'],
    [
      'brand ids of the wild where the name says so',
      ['Brand ID|x', 'idAbCd1234|1', 'idZz_-9876|2'],
      'Brand ID:id',
    ],
    [
      'no logo and no profile address',
      ['logo_url|linkedin|site', 'cdn.acme.com|linkedin.com/a|acme.com'],
      'site:domain',
    ],
    [
      'a filled website over a nearly empty ISIN',
      ['website|isin', 'a.com|', 'b.com|', 'c.com|US0378331005'],
      'website:domain',
    ],
    ['a filled one of two equal names', ['url|name|url', '|A|acme.com', '|B|beta.com'], 'url:domain'],
  ])('%s', (_, table, expected) => {
    expect(chosen(table)).toBe(expected);
  });

  it('pages of one single site are not the customers’ own', () => {
    const pages = ['a', 'b', 'c', 'd', 'e'].map((page) => `x|https://directory.com/${page}`);
    expect(refusal(['name|website', ...pages]).code).toBe('column-doubtful');
  });

  it('says which column, which kind and why', () => {
    expect(choose(CUSTOMERS).sentence).toBe(
      'identifiers come from column "website" as domain, because its name and 2 of 2 sampled values say so',
    );
  });

  it('says that e-mail addresses were left aside', () => {
    const { sentence } = choose(['email|website', 'jo@acme.com|acme.com', 'al@beta.com|beta.com']);
    expect(sentence).toContain('e-mail addresses ("email") are left aside');
  });

  it('knows two columns of one name by their position', () => {
    expect(choose(['url|name|url', '|A|acme.com', '|B|beta.com']).choices[0]?.column).toBe(2);
  });
});

describe('a tie or a doubt stops with the flag that settles it', () => {
  it.each([
    [
      'two websites',
      ['website|domain', 'acme.com|acme.de', 'beta.com|beta.de'],
      'more than one column could hold the identifiers: "website", "domain"; say which: --column website:domain or --column domain:domain',
    ],
    [
      'two columns of one name',
      ['url|name|url', 'a.com|A|acme.com', 'b.com|B|beta.com'],
      'more than one column could hold the identifiers: number 1, number 3; say which: --column position:1:domain or --column position:3:domain',
    ],
    [
      'a website and an ISIN',
      ['Web Site|isin', 'apple.com|US0378331005', 'sap.com|DE0007164600'],
      `more than one column could hold the identifiers: "Web Site", "isin"; say which: --column 'Web Site:domain' or --column isin:isin`,
    ],
    [
      'a symbol of which nothing tells what it is',
      ['name|symbol', 'Meta|META', 'Link|LINK'],
      'a symbol may be a ticker or a coin: "symbol"; say which: --column symbol:ticker or --column symbol:crypto',
    ],
    [
      'a ticker in a list of coins',
      ['coin|ticker', 'Bitcoin|BTC', 'Chainlink|LINK'],
      'a symbol may be a ticker or a coin: "ticker"; say which: --column ticker:ticker or --column ticker:crypto',
    ],
    [
      'names of companies',
      ['company|city', 'Acme|Berlin', 'Beta|Rome'],
      'no column clearly holds identifiers: "company", "city"; name it: --column company:domain (kinds: domain, ticker, isin, crypto, id, auto)',
    ],
    [
      'a website whose values nobody can look up',
      ['name|website|rev', 'N0|b0.example|7', 'N1|b1.example|8'],
      'no column clearly holds identifiers ("website" might, but 0 of its 2 sampled values are domains; others: a reserved or private host name): "name", "website", "rev"; name it: --column website:domain (kinds: domain, ticker, isin, crypto, id, auto)',
    ],
    [
      'a website that is the same for all, behind a logo',
      ['logo_url|website', ...['a', 'b', 'c', 'd', 'e'].map((page) => `cdn.org|${page}.acme.com`)],
      'no column clearly holds identifiers ("website" might, but its sampled values all belong to one and the same domain): "logo_url", "website"; name it: --column website:domain (kinds: domain, ticker, isin, crypto, id, auto)',
    ],
    [
      'logos are not suggested',
      ['name|logo_url', 'Acme|cdn.org/1', 'Beta|img.net/2'],
      'no column clearly holds identifiers: "name", "logo_url"; name it: --column name:domain (kinds: domain, ticker, isin, crypto, id, auto)',
    ],
    [
      'values that are partly domains, without a telling name',
      ['name|x', 'A|acme.com', 'B|beta.com', 'C|none yet'],
      'no column clearly holds identifiers ("x" might, but 2 of its 3 sampled values are domains; others: not a domain name): "name", "x"; name it: --column x:domain (kinds: domain, ticker, isin, crypto, id, auto)',
    ],
    [
      'symbols without a telling name',
      ['a|b', 'META|US', 'LINK|US'],
      'no column clearly holds identifiers: "a", "b"; name it: --column a:domain (kinds: domain, ticker, isin, crypto, id, auto)',
    ],
    [
      'tickers that look like domains, without a telling name',
      ['a', 'SAP.DE', 'AIR.PA'],
      'no column clearly holds identifiers: "a"; name it: --column a:domain (kinds: domain, ticker, isin, crypto, id, auto)',
    ],
  ])('%s', (_, table, message) => {
    const error = refusal(table);
    expect(error.code).toBe('column-doubtful');
    expect(error.exitCode).toBe(2);
    expect(error.message).toBe(message);
  });
});

describe('--kind without --column', () => {
  it.each([
    ['looks only for that kind', ['website|isin', 'apple.com|US0378331005'], 'isin', 'isin:isin'],
    ['settles what a symbol is', ['name|symbol', 'Meta|META', 'Dash|dash'], 'crypto', 'symbol:crypto'],
    [
      'finds symbols without a telling name',
      ['name|x', 'Meta Inc|META', 'Doordash|DASH'],
      'ticker',
      'x:ticker',
    ],
    ['finds domains in capitals', ['name|x', 'Sap SE|SAP.DE', 'Airbus SE|AIR.PA'], 'domain', 'x:domain'],
    ['finds brand ids of the wild', ['name|x', 'Acme Ltd|idAbCd1234'], 'id', 'x:id'],
    [
      'takes the ticker of a list of coins as crypto',
      ['coin|ticker', 'Bitcoin|BTC', 'Chainlink|LINK'],
      'crypto',
      'ticker:crypto',
    ],
    ['prefers the name that says it', ['coin|ticker', 'BTC|IBIT', 'ETH|ETHA'], 'crypto', 'coin:crypto'],
    ['takes the only column there is', ['what', 'META', 'acme.com', 'US0378331005'], 'auto', 'what:auto'],
    ['auto takes the surest column', ['name|website', 'Acme|acme.com'], 'auto', 'website:auto'],
  ] as const)('%s', (_, table, kind, expected) => {
    expect(chosen(table, { kind })).toBe(expected);
  });

  it('stops when no column holds that kind', () => {
    const error = refusal(CUSTOMERS, { kind: 'isin' });
    expect(error.message).toContain('no column clearly holds identifiers of kind isin');
    expect(error.message).toContain('--column id:isin');
  });
});
