/** Which column is chosen without --column, and when the run stops rather than guesses. */
import { describe, expect, it } from 'vitest';
import { CUSTOMERS, cases, choose, chosen, expectChosen, refusal } from './choose-from-table.js';

describe('without --column', () => {
  it.each([
    ...cases(`
      a website by its name and values: id|company|website / 1|Acme|acme.com / 3|Gamma| -> website:domain
      a website in another language: Firma|Webseite / Acme|acme.com / Beta|beta.de -> Webseite:domain
      domains under a name that says nothing: a|b / Acme|acme.com / Beta|beta.com / Eta|eta.com -> b:domain
      a website with unusable values: name|website / A|acme.com / B|acme / C|none yet -> website:domain
      not that of the parent: website|parent website / acme.com|beta.com / a.com|b.com / c.com|d.com -> website:domain
      the own one, if less full: own website|parent site / a.com|b.com / |c.com / d.com|b.com -> own website:domain
      a website by its name when no row is sampled: name|website -> website:domain
      e-mail if nothing is better: name|email / Jo|jo@acme.com / Al|al@gmail.com -> email:domain
      a website before e-mail: email|website / jo@acme.com|acme.com / al@beta.com| -> website:domain
      ISINs by their check digit: Fonds|Kennung / A|US0378331005 / B|de000 7164600 -> Kennung:isin
      an ISIN rather than its ticker: ticker|isin / AAPL|US0378331005 / SAP|DE0007164600 -> isin:isin
      an ISIN, not its WKN: wkn|isin / 865985|US0378331005 / 716460|DE0007164600 -> isin:isin
      tickers that look like domains: name|ticker / SAP|SAP.DE / Airbus|AIR.PA -> ticker:ticker
      a website that looks like tickers: name|website / SAP|SAP.DE / Axa|AXA.FR / Eni|ENI.IT -> website:domain
      a symbol as ticker beside a sector: symbol|sector / META|Tech / DASH|Food -> symbol:ticker
      a symbol as coin: symbol|blockchain / ETH|ethereum / LINK|ethereum -> symbol:crypto
      a coin: coin|amount / BTC|1 / ETH|2 / META|3 -> coin:crypto
      certain brand ids under any name: key|x / id_abc|1 / id_def|2 -> key:id
      new brand ids by their name: Brand ID|x / idAbCd1234|1 / idZz_-9876|2 -> Brand ID:id
      a filled one of two equal names: url|name|url / |A|acme.com / |B|beta.com / |C|c.com -> url:domain
      numbers with an exchange: name|code / Nissui|1332.T / Inpex|1605.T / Toyota|7203.T -> code:ticker
      symbols with the suffix of an exchange: name|x / BP|BP.L / Vodafone|VOD.L / Tesco|TSCO.L -> x:ticker
      a company's symbol: ACT Symbol|Company Name / A|Agilent / AA|Alcoa / AAP|Advance -> ACT Symbol:ticker`),
    [
      'numbers that repeat, under the name of tickers',
      ['ticker|year', ...Array.from({ length: 12 }, (_, at) => `${1332 + (at % 4)}|${2016 + at}`)],
      'ticker:ticker',
    ],
    [
      'no logo, no profile',
      [
        'logo_url|linkedin|site',
        ...['acme', 'eta', 'zeta'].map((x) => `cdn.a.com/${x}|linkedin.com/${x}|${x}.com`),
      ],
      'site:domain',
    ],
    [
      'the website of a company rather than fuller pages of a few job boards',
      [
        'name|apply|site',
        ...Array.from({ length: 60 }, (_, at) => {
          const board = at % 2 === 0 ? 'boards.greenhouse.io' : 'jobs.lever.co';
          return `A|https://${board}/a${at}|${at % 4 === 0 ? '' : `https://a${at}.com`}`;
        }),
      ],
      'site:domain',
    ],
    [
      'sites rather than links to pages, under names that say nothing',
      ['a|b', ...Array.from({ length: 9 }, (_, at) => `https://x${at % 3}.com/p/${at}|https://a${at}.com/`)],
      'b:domain',
    ],
  ] as const)('%s', expectChosen);

  it('contacts of few companies beside pages of many are a question', () => {
    const rows = Array.from({ length: 60 }, (_, at) => `company-${at % 2}.com|https://a${at}.com/p`);
    expect(refusal(['domain|x', ...rows]).what).toBe('two columns name different companies');
  });

  it('pages of one single site are not the customers’ own', () => {
    const pages = ['a', 'b', 'c', 'd', 'e'].map((page) => `x|https://directory.com/${page}`);
    expect(refusal(['name|website', ...pages]).code).toBe('column-doubtful');
  });

  it('the notice says which column, which kind and why', () => {
    expect(choose(CUSTOMERS).sentence).toBe(
      'identifiers come from column "website" as domain, because 2 of 2 sampled values are domains, its name says so; 1 of 3 sampled rows is blank there',
    );
  });

  it('the notice names the runner-up', () => {
    const { sentence } = choose(['email|website', 'jo@acme.com|acme.com', 'al@beta.com|beta.com']);
    expect(sentence).toContain(
      '; the runner-up is "email" as domain (2 of 2 sampled values are e-mail addresses, its name says so)',
    );
  });

  it('the notice distinguishes two columns of one name by their position', () => {
    expect(choose(['url|name|url', '|A|acme.com', '|B|beta.com', '|C|c.com']).choices[0]?.column).toBe(2);
  });
});

describe('the fill of a column', () => {
  /** The first `websites` rows have a website; all have a ticker, every fourth one a long one. */
  const securities = (rows: number, websites: number) => [
    'name|website|ticker',
    ...Array.from({ length: rows }, (_, at) => {
      const ticker = at % 4 === 0 ? `BSANTANDER${at}.SN` : `T${at}.SN`;
      return `Company ${at}|${at < websites ? `company-${at}.com` : ''}|${ticker}`;
    }),
  ];

  it('matters: a full column of tickers, long ones included, wins over a half-blank website', () => {
    expect(choose(securities(600, 287)).sentence).toBe(
      'identifiers come from column "ticker" as ticker, because 200 of 200 sampled values are written like tickers, its name says so, 78 % show their exchange; the runner-up is "website" as domain (97 of 97 sampled values are domains, its name says so)',
    );
  });

  it('is reported, with the setting to fall back on the column that fills the gaps', () => {
    const { choices, sentence } = choose(securities(600, 540));
    expect(choices).toEqual([{ column: 1, name: 'website', kind: 'domain' }]);
    expect(sentence).toBe(
      'identifiers come from column "website" as domain, because 180 of 180 sampled values are domains, its name says so; ' +
        '20 of 200 sampled rows are blank there, and "ticker" has a value in 20 of them: ' +
        "column: ['website:domain', 'ticker:ticker'] adds it as a fallback; " +
        'the runner-up is "ticker" as ticker (200 of 200 sampled values are written like tickers, its name says so, 78 % show their exchange)',
    );
  });

  it('counts NA as a ticker, not as blank', () => {
    expect(choose(['ticker', 'AAPL', 'NA', 'MSFT']).sentence).not.toContain('blank');
  });

  it('is reported for named columns, all of them together', () => {
    const table = ['a|b', 'x.com|', '|y.com', '|', '-|n/a'];
    expect(choose(table, { column: ['a:domain', 'b:domain'] }).sentence).toBe(
      'identifiers come from column "a" as domain (as asked), then "b" as domain (as asked); 2 of 4 sampled rows are blank there',
    );
  });

  it('decides which of two equal columns is read first, and the other fills its gaps', () => {
    const { choices, sentence } = choose([
      'Company Domain Name|Website URL',
      'acme.com|https://acme.com',
      'beta.com|https://beta.com',
      '|https://gamma.com',
      ...Array.from({ length: 30 }, (_, at) => `d${at}.com|https://d${at}.com`),
    ]);
    expect(choices.map(({ column }) => column)).toEqual([1, 0]);
    expect(sentence).toBe(
      'identifiers come from column "Website URL" as domain, because 33 of 33 sampled values are domains, its name says so; ' +
        'where it has none, from "Company Domain Name" as domain, because 32 of 32 sampled values are domains, its name says so',
    );
  });

  it.each([
    ['a website', ['name|website', 'Acme|', 'Beta|-'], '--column website:domain'],
    ['a ticker', ['name|ticker', 'Acme|', 'Beta|-'], '--column ticker:ticker'],
    ['an ISIN', ['name|isin', 'Acme|', 'Beta|n/a'], '--column isin:isin'],
  ])('%s without a value is never chosen', (_, table, flag) => {
    const error = refusal(table);
    expect(error.message).toContain('(all of its sampled cells are blank or like NA)');
    expect(error.todo).toContain(flag);
  });

  it('NA and NULL alone are tickers or coins, and not blank', () => {
    const { subject, todo } = refusal(['name|ticker', 'Acme|NA', 'Beta|NULL']);
    expect(subject).toContain('2 of 2 sampled values are written like tickers');
    expect(todo).toContain('--column ticker:ticker');
  });

  it('a column without a value does not compete with one that has some', () => {
    expect(chosen(['website|domain', '|acme.com', '|beta.com'])).toBe('domain:domain');
  });

  it.each([
    ['BSANTANDER.SN', 'ADANIPORTS.NS', 'BAJAJ-AUTO.NS'],
    ['OTCMKTS:NSRGY', 'NYSEARCA:SPYG', 'TSXV:ABC.H'],
    ['BRK B', 'NOVO B', 'VOLV A'],
    ['AAPL US Equity', 'SAP GY Equity', '7203 JT Equity'],
  ])('long tickers are tickers (%s)', (...tickers) => {
    expect(chosen(['name|ticker', ...tickers.map((ticker) => `Acme|${ticker}`)])).toBe('ticker:ticker');
  });

  it('currencies are never identifiers, and markets of coins only where no column has the coins', () => {
    const coins = ['AVAX', 'LINK', 'SOL', 'ADA', 'DOT'];
    const table = (name: string, beside: (coin: string, at: number) => string) => [
      `currency ticker|${name}`,
      ...coins.map((coin, at) => `${coin}|${beside(coin, at)}`),
    ];
    const currencies = table('countervalue ticker', (_, at) => ['EUR', 'USD'][at % 2] ?? '');
    expect(chosen(currencies)).toBe('currency ticker:crypto');
    expect(chosen(table('symbol', (coin) => `${coin}USDT`))).toBe('currency ticker:crypto');
    const markets = ['symbol|baseAsset|quoteAsset', ...coins.map((coin) => `${coin}USDT|${coin}|USDT`)];
    expect(chosen(markets)).toBe('baseAsset:crypto');
    expect(chosen(['Symbol|Side', ...coins.map((coin) => `${coin}USDT|Buy`)])).toBe('Symbol:crypto');
    expect(chosen(['symbol|close', 'BTC/USD|1', 'BTC/USD|2'])).toBe('symbol:crypto');
    expect(chosen(['market|last', ...coins.map((coin) => `${coin}-USD|1`)])).toBe('market:crypto');
  });

  it.each([
    ['Código de Negociação|Mercado', ['PETR4|Fracionário', 'VALE3F|À Vista', 'ITUB4|À Vista'], ':ticker'],
    ['Instrument|Qty.|Exchange', ['ADANIENT|1|NSE', 'TCS|3|NSE', 'INFY|2|NSE'], ':ticker'],
    ['code|report_date', ['ABBV.US|1', 'COIN.US|2', 'AVGO.US|3', 'AAPL.US|4'], ':ticker'],
    ['Asset|Fee', ['btc|1', 'eth|2', 'ada|2', 'xrp|2'], ':crypto'],
  ])('codes of exchanges and brokers are taken: %s', (header, rows, kind) => {
    expect(chosen([header, ...rows])).toBe(header.split('|')[0] + kind);
  });

  it.each([
    ['Code|Stock|Units held', ['RMV|Rightmove plc|7', 'NXT|Next plc|9', 'TSCO|Tesco plc|1']],
    ['Code|Customer|Units|Price', ['ACM|Acme Ltd|7|1', 'BET|Beta Ltd|9|2']],
    ['Kod|Firma', ['KOW|Kowalski', 'NOW|Nowak']],
    ['word|count', ['link|1', 'near|2', 'flow|3', 'dash|4', 'dot|5']],
    ['invoice_id|customer', ['100200-EUR|A', '100201-EUR|B', '100202-EUR|C', '100203-EUR|D']],
    ['sku|n', ['A1K-USD|1', 'A2K-USD|2', 'A3K-USD|3', 'A4K-USD|4']],
    ['pair|rate', ['EUR/USD|1', 'GBP/USD|2', 'EUR/CHF|3', 'USD/JPY|4']],
    ['domain logo|n', ['BTC-USD|1', 'ETH-USD|2', 'XRP-USD|3', 'ADA-USD|4']],
  ])('codes of goods and customers are not taken: %s', (header, rows) => {
    expect(refusal([header, ...rows]).code).toBe('column-doubtful');
  });

  it('unclear codes do not compete with websites', () => {
    const rows = ['ACME|acme.com', 'BETA|beta.io', 'GAMMA|', 'DELTA|delta.de'];
    expect(chosen(['Symbol|Firma|WWW', ...rows.map((row) => row.replace('|', '|Firma|'))])).toBe(
      'WWW:domain',
    );
  });

  it('names under the header "ticker" are not tickers', () => {
    const table = ['ticker|city', 'Acme Corporation|Rome', 'Beta Industries|Bonn', 'Gamma Limited|Oslo'];
    expect(refusal(table).message).toContain('0 of 3 sampled values are written like tickers');
  });
});

describe('a list of symbols without a header', () => {
  const SHARES = ['GTLB', 'AAPL', 'MSFT'];
  const named = ['GTLB|Gitlab', 'AAPL|Apple', 'BSANTANDER.SN|Banco Santander'];
  it.each([
    ['a list of tickers', SHARES, undefined, ['ticker', 'crypto']],
    ['with its kind said', SHARES, 'ticker', ['ticker']],
    ['with any kind said', SHARES, 'auto', ['auto']],
    ['a list in lower case', ['gtlb', 'aapl', 'msft'], undefined, ['ticker', 'crypto']],
    ['beside names', named, 'ticker', ['ticker']],
  ] as const)('%s loses none: the run stops and names both ways', (_, table, kind, kinds) => {
    const error = refusal(table, kind === undefined ? {} : { kind });
    const first = table[0].slice(0, 4);
    expect(error.code).toBe('column-doubtful');
    expect(error.message).toContain(`the first line looks like a symbol, not like a header: "${first}"`);
    const [asData, asHeader] = ['--no-header --kind ', `--column ${first}:`].map((flag) =>
      kinds.map((each) => flag + each).join(' or '),
    );
    expect(error.todo).toBe(`use ${asData} if it is data, or ${asHeader} if it is the header`);
  });

  it.each([
    ['TICKER', ['TICKER', 'AAPL', 'MSFT']],
    ['Symbol', ['Symbol', 'AAPL', 'MSFT']],
    ['CODE', ['CODE|NAME', 'AAPL|Apple', 'MSFT|Microsoft']],
    ['a lower-case name', ['what', 'AAPL', 'MSFT']],
    ['a lower-case name of one of several', ['tkr|x', 'aapl|Apple Computer', 'msft|Microsoft Corporation']],
  ])('%s is a header', (_, table) => {
    expect(choose(table, { kind: 'ticker' }).choices[0]?.kind).toBe('ticker');
  });
});

it.each([
  ['numbers', ['red|green', '1|2', '3|4']],
  ['classes', ['sex|ctry', ...Array.from({ length: 8 }, (_, at) => `${at % 2 ? 'm' : 'f'}|DE`)]],
  ['classes in capitals', ['SEX|CTRY', ...Array.from({ length: 8 }, (_, at) => `${at % 2 ? 'M' : 'F'}|DE`)]],
])('%s are not taken for a list of symbols', (_, table) => {
  expect(refusal(table).message).toContain('company names cannot be looked up');
});

/** What each table is, its lines with ` / ` between them, and what is said of it. */
const DOUBTS = `
  # two websites
  website|domain / acme.com|zeta.de / beta.com|eta.de
  two columns name different companies: "website" as domain (2 of 2 sampled values are domains, its name says so); "domain" as domain (2 of 2 sampled values are domains, its name says so); choose one: --column website:domain or --column domain:domain; or use later ones as fallbacks: --column website:domain --column domain:domain
  # two columns of one name
  url|name|url / a.com|A|acme.com / b.com|B|beta.com
  two columns name different companies: number 1 as domain (2 of 2 sampled values are domains, its name says so); number 3 as domain (2 of 2 sampled values are domains, its name says so); choose one: --column position:1:domain or --column position:3:domain; or use later ones as fallbacks: --column position:1:domain --column position:3:domain
  # the websites of two parties, however full
  customer_website|vendor_website / a.com|b.com / c.com| / d.com|
  two columns name different companies: "customer_website" as domain (3 of 3 sampled values are domains, its name says so); "vendor_website" as domain (1 of 1 sampled values are domains, its name says so); choose one: --column customer_website:domain or --column vendor_website:domain; or use later ones as fallbacks: --column customer_website:domain --column vendor_website:domain
  # a symbol of undetermined kind
  name|symbol / Meta|META / Link|LINK
  a symbol may be a ticker or a coin: "symbol" as ticker (2 of 2 sampled values are written like tickers, its name says so, well-known tickers are among them); choose one: --column symbol:ticker or --column symbol:crypto
  # company names
  company|city / Acme|Berlin / Beta|Rome
  no column clearly holds identifiers: "company", "city"; company names cannot be looked up: add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids, or name the column that holds them with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
  # a website whose values cannot be looked up
  name|website|rev / N0|b0.example|7 / N1|b1.example|8
  no column clearly holds identifiers: "website" as domain (0 of 2 sampled values are domains (others: a reserved or private host name), its name says so); company names cannot be looked up: add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids, or name the column that holds them with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
  # the same in the output of an earlier run, whose values are to be corrected
  name|website|brand_status|brand_identifier|brand_fetched_at|brand_error / N0|b0.example|invalid||| / N1|10.0.0.1|invalid|||
  no column clearly holds identifiers: "name", "website"; correct its rows, or name the column that holds them with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
  # the output of an earlier run, with rows that could not be read
  name|x|brand_status|brand_identifier|brand_fetched_at|brand_raw / ||invalid|||"a / ||invalid|||"b
  no column clearly holds identifiers: "name", "x"; correct its rows, or name the column that holds them with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
  # a website that is the same for all, behind a logo
  logo_url|website / cdn.org|a.acme.com / cdn.org|b.acme.com / cdn.org|c.acme.com / cdn.org|d.acme.com / cdn.org|e.acme.com
  all rows have the same site or symbol: "website" as domain (5 of 5 sampled values are domains, only 1 different, its name says so); use --column website:domain if that is right (kinds: domain, ticker, isin, crypto, id)
  # logos are not suggested
  name|logo_url / Acme|cdn.org/1 / Beta|img.net/2
  no column clearly holds identifiers: "name", "logo_url"; company names cannot be looked up: add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids, or name the column that holds them with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
  # values that are partly domains, under a name that says nothing
  name|x / A|acme.com / B|beta.com / C|none yet
  no column surely holds identifiers: "x" as domain (2 of 3 sampled values are domains (others: not a domain name)); use --column x:domain if that is right (kinds: domain, ticker, isin, crypto, id)
  # addresses of persons, most of them of free mail
  name|emails / A|a@gmail.com / B|b@gmail.com / C|c@yahoo.com / D|d@gmail.com / E|e@acme.com / F|f@beta.com
  no column surely holds identifiers: "emails" as domain (6 of 6 sampled values are e-mail addresses, its name says so, 67 % are at free e-mail providers); use --column emails:domain if that is right (kinds: domain, ticker, isin, crypto, id)
  # a title above the names
  Customer list 2024| / id|website / 1|acme.com / 2|beta.com / 3|eta.com
  the names of the columns seem to be below a title: "website" in column number 2; if so, skip the lines above it with --skip-lines N
  # symbols under a name that says nothing
  a|b / META|US / LINK|US
  no column clearly holds identifiers: "a" as ticker (2 of 2 sampled values are written like tickers, well-known tickers are among them); use --column a:ticker if that is right (kinds: domain, ticker, isin, crypto, id)
  # identifiers of several kinds
  Kunde|Kennung / Acme|acme.com / Beta|DE0007164600 / Gamma|AAPL / Eta|eta.de / Zeta|MSFT
  this column has domains, ISINs and symbols: "Kennung"; use --column Kennung:auto, which reads each value by its shape
  # identifiers of several kinds, most of which are domains
  x / acme.com / beta.com / US0378331005
  this column has domains and ISINs: "x"; use --column x:auto, which reads each value by its shape`;
it.each(
  DOUBTS.split('\n    # ')
    .slice(1)
    .map((each) => each.split('\n').map((line) => line.trim())),
)('a tie or a doubt stops with the flag that resolves it: %s', (_, table = '', message = '') => {
  const error = refusal(table.split(' / '));
  expect(error.code).toBe('column-doubtful');
  expect(error.exitCode).toBe(2);
  expect(error.message).toBe(message);
});

describe('columns that name the same companies', () => {
  it.each(
    cases(`
      one meaning: WWW|Company Domain Name / a.com| / b.com|www.b.com -> WWW:domain Company Domain Name:domain
      the fuller first: Website URL|Domain / |b.com / a.com|a.com -> Domain:domain Website URL:domain
      of two countries: website|domain / acme.com|acme.de / beta.com|beta.de -> website:domain domain:domain
      few values: Website|Domain / a.com| / b.com|b.com / c.com| / d.com| -> Website:domain Domain:domain
      numbered: Website 1|Website 2 / a.com|b.com / c.com| -> Website 1:domain Website 2:domain
      e-mail addresses: E-mail 1|E-mail 2 / jo@a.com|x@b.com -> E-mail 1:domain E-mail 2:domain
      three: Web 1|Web 2|Web 3|Web 4 / a.de|a.de|a.de|a.de / b.de|b.de|b.de| -> Web 1:domain Web 2:domain Web 3:domain`),
  )('are read in turn: %s', expectChosen);

  const blank = Array.from({ length: 8 }, (_, at) => ` / a${at}.com|`).join('');
  it.each(
    cases(`
      that of another company: Website|Link / a.com| / b.com| / c.com| / d.com|x.com -> Website:domain
      a nearly empty ISIN: Website|isin / sap.com|DE0007164600 / a.com|US0378331005${blank} -> Website:domain
      a website beside an ISIN: web|isin / apple.com|US0378331005 / sap.com|DE0007164600 -> isin:isin`),
  )('%s is none of them', expectChosen);

  it('a coin and a ticker are a question', () => {
    const table = ['coin|ticker|exchange', 'BTC|IBIT|NASDAQ', 'ETH|ETHA|NASDAQ', 'SOL|SOLZ|NASDAQ'];
    expect(refusal(table).what).toBe('more than one column could hold the identifiers');
  });

  it.each([
    ['no row that has both', ['Website URL|Domain', 'a.com|', '|b.com']],
    ['e-mail addresses', ['E-mail|Contact e-mail', 'jo@a.com|x@b.com']],
  ])('columns that show no common company are a question: %s', (_, table) => {
    expect(refusal(table).what).toBe('two columns name different companies');
  });

  it('values that differ are a question', () => {
    expect(refusal(['Website|Domain', 'a.com|b.com', 'c.com|d.com']).code).toBe('column-doubtful');
  });
});

describe('a column of possible symbols', () => {
  it('is taken if it has a name, unlike the index of a data frame', () => {
    expect(refusal(['|x', 'AAPL|AAPL', 'MSFT|MSFT']).todo).toMatch(/^use --column x:ticker if/);
  });

  it.each([
    ['times', ['name|created', 'Acme|2024-01-05T10:00:00Z', 'Beta|2024-02-05T11:00:00Z']],
    ['countries', ['name|x', 'Acme|US', 'Beta|DE', 'Gamma|FR']],
    ['codes of countries', ['name|Country', 'Acme|USA', 'Beta|DEU', 'Gamma|FRA']],
    ['serial numbers', ['name|x', 'Acme|INV-2024-001', 'Beta|INV-2024-002']],
    ['amounts', ['name|revenue', 'Acme|12M', 'Beta|7M']],
  ])('is not offered for %s', (_, table) => {
    expect(refusal(table).todo).toMatch(/^company names cannot be looked up/);
  });
});

describe('--kind without --column', () => {
  it.each([
    ['considers only that kind', ['website|isin', 'apple.com|US0378331005'], 'isin', 'isin:isin'],
    ['decides what a symbol is', ['name|symbol', 'Meta|META', 'Dash|dash'], 'crypto', 'symbol:crypto'],
    ['finds symbols under any name', ['name|x', 'Meta Inc|META', 'Doordash|DASH'], 'ticker', 'x:ticker'],
    ['finds domains in capitals', ['name|x', 'Sap SE|SAP.DE', 'Airbus SE|AIR.PA'], 'domain', 'x:domain'],
    ['finds undocumented brand ids', ['name|x', 'Acme Ltd|idAbCd1234'], 'id', 'x:id'],
    ['takes a ticker as a coin', ['coin|ticker', 'Bitcoin|BTC', 'Chainlink|LINK'], 'crypto', 'ticker:crypto'],
    ['prefers the name of the kind', ['coin|ticker', 'BTC|IBIT', 'ETH|ETHA'], 'crypto', 'coin:crypto'],
    ['takes the only column', ['what', 'META', 'acme.com', 'US0378331005'], 'auto', 'what:auto'],
    ['auto takes the most certain column', ['name|website', 'Acme|acme.com'], 'auto', 'website:auto'],
  ] as const)('%s', (_, table, kind, expected) => {
    expect(chosen(table, { kind })).toBe(expected);
  });

  it('stops when no column contains that kind', () => {
    const error = refusal(CUSTOMERS, { kind: 'isin' });
    expect(error.message).toContain('no column clearly holds identifiers of kind isin');
    expect(error.todo).toBe(
      'omit --kind to detect the kind from the values, or name the column with --column NAME:isin',
    );
  });
});

describe('well-known symbols', () => {
  const rows = (...columns: string[][]) =>
    (columns[0] ?? []).map((_, at) => columns.map((column) => column[at] ?? '').join('|'));
  const SHARES = ['AAPL', 'MSFT', 'COST', 'UBER', 'XYZ', 'PQR'];
  const COINS = ['BTC', 'ETH', 'USDT', 'LINK', 'ZZZ', 'ADA'];
  const WORDS = ['LOW', 'HIGH', 'LOW', 'MID', 'HIGH', 'MID'];
  const NUMBERS = ['1', '2', '3', '4', '5', '6'];

  it.each([
    ['a column of shares', 'Instrument|Quantity', rows(SHARES, NUMBERS), 'Instrument:ticker'],
    ['a column of coins', 'Asset|Amount', rows(COINS, NUMBERS), 'Asset:crypto'],
    ['symbols of shares', 'symbol|quantity', rows(SHARES, NUMBERS), 'symbol:ticker'],
    ['symbols of coins', 'symbol|exchange|coin_id', rows(COINS, NUMBERS, NUMBERS), 'symbol:crypto'],
    ['symbols of firms', 'symbol|description', ['AB|A Inc.', 'CD|C plc', 'EF|E'], 'symbol:ticker'],
    [
      'the holdings of a fund, whose own ticker is in every row',
      'Fund Ticker|Holding Ticker',
      rows(Array<string>(6).fill('QQQ'), SHARES),
      'Holding Ticker:ticker',
    ],
  ])('show %s', (_, header, body, expected) => {
    expect(chosen([header, ...body])).toBe(expected);
  });

  it('do not show anything in a column of classes, nor where shares and coins have the same codes', () => {
    expect(() => chosen(['level|n', ...rows(WORDS, NUMBERS)])).toThrow('no column clearly holds');
    const both = ['COMP', 'LINK', 'MANA', 'BAT', 'GRT', 'ENS'];
    expect(() => chosen(['symbol|n', ...rows(both, NUMBERS)])).toThrow('a ticker or a coin');
  });
});

describe('codes of an exchange', () => {
  it.each(
    cases(`
      data_j.csv: コード|銘柄名 / 7203|トヨタ / 6758|ソニー / 9984|S / 8306|M / 1301|K -> コード:ticker
      list.csv: code|name / 600519|M / 000001|P / 300750|C -> code:ticker
      dia.csv: Código|Nome|Tipo / PETR4|PETROBRAS|PN / VALE3|VALE|ON / ITUB4|ITAU|PN -> Código:ticker`),
  )('are tickers in %s', (fileName, table, expected) => {
    expect(chosen(table, { fileName })).toBe(expected);
  });

  it('are not those of goods, nor of customers', () => {
    expect(() => chosen(['StockCode|Description', '85123A|MUG', '71053|LAMP'])).toThrow('no column clearly');
    expect(() => chosen(['Code|Company', 'C1|Acme', 'C2|Beta'])).toThrow('no column clearly');
  });
});

const sites = (count: number, isBlank: (at: number) => boolean = () => false) =>
  Array.from({ length: count }, (_, at) => (isBlank(at) ? '' : `https://www.harbor-tools${at}.com`));
const rowsOf = (...columns: readonly (readonly string[])[]) =>
  (columns[0] ?? []).map((_, at) => columns.map((column) => column[at] ?? '').join('|'));
const numbered = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at));

describe('links that are not the website of a row', () => {
  it('one address in all rows loses to a website, however blank', () => {
    const license = numbered(40, () => 'https://creativecommons.org/licenses/by/4.0/');
    const table = [
      'name|website|license',
      ...rowsOf(
        license,
        sites(40, (at) => at % 3 > 0),
        license,
      ),
    ];
    expect(chosen(table)).toBe('website:domain');
  });

  it('the pages of members at three chambers stop, with what is wrong with them', () => {
    const pages = numbered(60, (at) => `Firm ${at}|https://chamber-${at % 3}.com.ar/members/firm-${at}`);
    const error = refusal(['company|file', ...pages]);
    expect(error.what).toBe('the links lead to few sites, not to the site of each row');
    expect(error.message).toContain('100 % are single pages');
    expect(error.todo).toMatch(/^company names cannot be looked up/);
    expect(refusal(['company|website', ...pages]).todo).toMatch(/^use --column website:domain/);
  });

  it('the official website is taken, not the sources beside it', () => {
    const pages = (host: string) => numbered(30, (at) => `https://www.${host}${at}.org/about/x/index.php`);
    const source = numbered(30, (at) => `https://maps.countyfinder.org/what-county?${at}`);
    const table = [
      'label|REF URL label|official website (P856)|REF URL county',
      ...rowsOf(
        numbered(30, (at) => `Library ${at}`),
        pages('source'),
        sites(30, (at) => at === 0),
        source,
      ),
    ];
    expect(chosen(table)).toBe('official website (P856):domain');
  });

  it.each([4, 40])('profiles are never the website of a row: %i rows', (count) => {
    const table = [
      'First Name|URL|Email Address',
      ...numbered(
        count,
        (at) => `Jane|https://www.linkedin.com/in/jane-${at}|${at % 2 === 0 ? '' : `jane@firm${at}.com`}`,
      ),
    ];
    expect(chosen(table)).toBe('Email Address:domain');
  });

  it('words with a dot in them are not websites', () => {
    const words = ['arkku.na', 'pato.na', 'autio.na', 'arvelu.na', 'kala.in', 'iso.n', 'tupa.ssa', 'koti.a'];
    expect(refusal(['ID|form', ...words.map((word, at) => `W${at}|${word}`)]).code).toBe('column-doubtful');
  });
});

describe('symbols of coins and of shares', () => {
  it('are coins beside contracts and decimals', () => {
    const contract = (at: number) => `0x${String(at).padStart(40, '0')}`;
    const symbols = ['FIL', 'stFIL', 'clFIL', 'WPFIL', 'iFIL', 'axlUSDC'];
    const table = [
      'chainId|address|symbol|name|decimals',
      ...symbols.map((symbol, at) => `314|${contract(at)}|${symbol}|${symbol} Token|18`),
    ];
    expect(chosen(table)).toBe('symbol:crypto');
    expect(choose(table).sentence).toContain('the table is about coins');
  });

  it('are tickers when they are written like those of the exchange of Brazil', () => {
    const shares = ['PETR4', 'VALE3', 'ITUB4', 'BBDC4', 'MGLU3'];
    expect(chosen(['acao|quantidade|preco', ...shares.map((each) => `${each}|100|12.34`)])).toBe(
      'acao:ticker',
    );
  });

  it('are markets of coins in a column named symbol', () => {
    const coins = ['BTC', 'ETH', 'XRP', 'ADA', 'SOL', 'ZZZ'];
    const { choices } = choose(['symbol|price', ...coins.map((coin) => `${coin}USDT|1`)]);
    expect(choices).toEqual([{ column: 0, name: 'symbol', kind: 'crypto', areMarkets: true }]);
  });

  it('are taken when all rows have one share, under a plain name and without other symbols', () => {
    const prices = numbered(30, (at) => `2024-01-${String(at + 1).padStart(2, '0')}|XYZ|${at}.5`);
    expect(chosen(['date|ticker|close', ...prices])).toBe('ticker:ticker');
    const error = refusal(['date|x|close', ...prices.map((row) => row.replace('XYZ', 'XYZ.DE'))]);
    expect(error.code).toBe('column-doubtful');
  });
});

describe('a table of fewer than three rows', () => {
  it.each(
    cases(`
      the name is plain and no other link is there: company|website / Acme|acme.com -> website:domain
      it is a list: acme.com / beta.com / eta.com -> acme.com:domain`),
  )('is read where %s', expectChosen);

  it.each([
    ['a name that says nothing', ['a|b', 'Acme|acme.com', 'Beta|beta.com'], 'b'],
    ['another link', ['website|shop', 'acme.com|b.com'], 'website'],
  ])('is a question with %s', (_, table, column) => {
    const error = refusal(table);
    expect(error.what).toBe('there are too few rows to show which column holds the identifiers');
    expect(error.todo).toMatch(new RegExp(`^use --column ${column}:domain`));
  });
});

it('a question names three candidates at most, the most probable first', () => {
  const rows = numbered(12, (at) => ['a', 'b', 'c', 'd'].map((x) => `${x}${at}.com`).join('|'));
  const error = refusal(['website|domain|site|url', ...rows]);
  expect(error.message.match(/ as domain/g)).toHaveLength(3);
  expect(error.todo).toMatch(/^choose one: --column website:domain or /);
});
