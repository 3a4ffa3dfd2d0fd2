/** Which column is chosen without --column, and when the run stops rather than guesses. */
import { describe, expect, it } from 'vitest';
import { CUSTOMERS, choose, chosen, refusal } from './choose-from-table.js';

describe('without --column', () => {
  it.each([
    ['a website by its name and values', CUSTOMERS, 'website:domain'],
    ['a website in another language', ['Firma|Webseite', 'Acme|acme.com', 'Beta|beta.de'], 'Webseite:domain'],
    ['domains under a name that says nothing', ['a|b', 'Acme|acme.com', 'Beta|beta.com'], 'b:domain'],
    [
      'a website with unusable values',
      ['name|website', 'A|acme.com', 'B|acme', 'C|none yet'],
      'website:domain',
    ],
    ['the only website, of a parent', ['name|parent website', 'A|acme.com'], 'parent website:domain'],
    [
      'the own website rather than that of the parent, whichever is fuller',
      ['own website|parent website', 'acme.com|beta.com', '|gamma.com', 'delta.com|beta.com'],
      'own website:domain',
    ],
    [
      'the website, not that of the parent',
      ['website|parent website', 'acme.com|beta.com'],
      'website:domain',
    ],
    ['a website by its name when no row is sampled', ['name|website'], 'website:domain'],
    ['e-mail if nothing is better', ['name|email', 'Jo|jo@acme.com', 'Al|al@gmail.com'], 'email:domain'],
    ['a website before e-mail', ['email|website', 'jo@acme.com|acme.com', 'al@beta.com|'], 'website:domain'],
    ['ISINs by their check digit', ['Fonds|Kennung', 'A|US0378331005', 'B|de000 7164600'], 'Kennung:isin'],
    ['an ISIN rather than its ticker', ['ticker|isin', 'AAPL|US0378331005', 'SAP|DE0007164600'], 'isin:isin'],
    ['an ISIN, not its WKN', ['wkn|isin', '865985|US0378331005', '716460|DE0007164600'], 'isin:isin'],
    ['tickers that look like domains', ['name|ticker', 'SAP|SAP.DE', 'Airbus|AIR.PA'], 'ticker:ticker'],
    ['a website that looks like tickers', ['name|website', 'SAP|SAP.DE', 'Axa|AXA.FR'], 'website:domain'],
    ['a symbol as ticker beside a sector', ['symbol|sector', 'META|Tech', 'DASH|Food'], 'symbol:ticker'],
    ['a symbol as coin', ['symbol|blockchain', 'ETH|ethereum', 'LINK|ethereum'], 'symbol:crypto'],
    ['a coin', ['coin|amount', 'BTC|1', 'META|2'], 'coin:crypto'],
    ['certain brand ids under any name', ['key|x', 'id_abc|1', 'id_def|2'], 'key:id'],
    ['new brand ids by their name', ['Brand ID|x', 'idAbCd1234|1', 'idZz_-9876|2'], 'Brand ID:id'],
    [
      'no logo, no profile',
      ['logo_url|linkedin|site', 'cdn.acme.com|linkedin.com/a|acme.com'],
      'site:domain',
    ],
    ['a filled one of two equal names', ['url|name|url', '|A|acme.com', '|B|beta.com'], 'url:domain'],
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
    [
      'contacts of few companies, whose domains are no pages',
      ['domain|x', ...Array.from({ length: 60 }, (_, at) => `company-${at % 2}.com|https://a${at}.com/p`)],
      'domain:domain',
    ],
    ['numbers with an exchange', ['name|code', 'Nissui|1332.T', 'Inpex|1605.T'], 'code:ticker'],
    ['symbols with the suffix of an exchange alone', ['name|x', 'BP|BP.L', 'Vodafone|VOD.L'], 'x:ticker'],
    ['a symbol of a company', ['ACT Symbol|Company Name', 'A|Agilent', 'AA|Alcoa'], 'ACT Symbol:ticker'],
  ])('%s', (_, table, expected) => {
    expect(chosen(table)).toBe(expected);
  });

  it('pages of one single site are not the customers’ own', () => {
    const pages = ['a', 'b', 'c', 'd', 'e'].map((page) => `x|https://directory.com/${page}`);
    expect(refusal(['name|website', ...pages]).code).toBe('column-doubtful');
  });

  it('says which column, which kind and why', () => {
    expect(choose(CUSTOMERS).sentence).toBe(
      'identifiers come from column "website" as domain, because its name and 2 of 2 sampled values fit; 1 of 3 sampled rows is blank there',
    );
  });

  it('says that e-mail addresses were left aside', () => {
    const { sentence } = choose(['email|website', 'jo@acme.com|acme.com', 'al@beta.com|beta.com']);
    expect(sentence).toContain('e-mail addresses ("email") are ignored');
  });

  it('distinguishes two columns of one name by their position', () => {
    expect(choose(['url|name|url', '|A|acme.com', '|B|beta.com']).choices[0]?.column).toBe(2);
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
      'identifiers come from column "ticker" as ticker, because its name and 600 of 600 sampled values fit',
    );
  });

  it('is reported, with the setting to fall back on the column that fills the gaps', () => {
    const { choices, sentence } = choose(securities(600, 540));
    expect(choices).toEqual([{ column: 1, name: 'website', kind: 'domain' }]);
    expect(sentence).toBe(
      'identifiers come from column "website" as domain, because its name and 540 of 540 sampled values fit; ' +
        '60 of 600 sampled rows are blank there, and "ticker" has a value in 60 of them: ' +
        "column: ['website:domain', 'ticker:ticker'] adds it as a fallback",
    );
  });

  it('is not that of NA as a ticker', () => {
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
      'identifiers come from column "Website URL" as domain, because its name and 33 of 33 sampled values fit; ' +
        'where it has none, from "Company Domain Name" as domain, because its name and 32 of 32 sampled values fit',
    );
  });

  it.each([
    ['a website', ['name|website', 'Acme|', 'Beta|-'], '--column website:domain'],
    ['a ticker', ['name|ticker', 'Acme|NA', 'Beta|NULL'], '--column ticker:ticker'],
    ['an ISIN', ['name|isin', 'Acme|', 'Beta|n/a'], '--column isin:isin'],
  ])('%s without a value is never chosen', (_, table, flag) => {
    const error = refusal(table);
    expect(error.message).toContain('might, but all of its sampled cells are blank, or NA and the like');
    expect(error.todo).toContain(flag);
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
    expect(chosen(table('countervalue ticker', (_, at) => ['EUR', 'USD'][at % 2] ?? ''))).toBe(
      'currency ticker:crypto',
    );
    expect(chosen(table('symbol', (coin) => `${coin}USDT`))).toBe('currency ticker:crypto');
    const markets = ['symbol|baseAsset|quoteAsset', ...coins.map((coin) => `${coin}USDT|${coin}|USDT`)];
    expect(chosen(markets)).toBe('baseAsset:crypto');
    expect(chosen(['Symbol|Side', ...coins.map((coin) => `${coin}USDT|Buy`)])).toBe('Symbol:crypto');
    expect(chosen(['symbol|close', 'BTC/USD|1', 'BTC/USD|2'])).toBe('symbol:crypto');
    expect(chosen(['instId|last', ...coins.map((coin) => `${coin}-USD|1`)])).toBe('instId:crypto');
  });

  it.each([
    ['Código de Negociação|Mercado', ['PETR4|Fracionário', 'VALE3F|À Vista'], ':ticker'],
    ['Kod|Şirket Ünvanı|Endeks', ['THYAO|Türk Hava Yolları|BIST 30', 'ASELS|Aselsan|BIST 30'], ':ticker'],
    ['Code|Stock|Units held|Gain/loss', ['RMV|Rightmove plc|7|1', 'NXT|Next plc|9|2'], ':ticker'],
    ['Instrument|Qty.|LTP', ['ADANIENT|1|2', 'TCS|3|4'], ':ticker'],
    ['code|report_date', ['ABBV.US|1', 'COIN.US|2', 'AVGO.US|3', 'AAPL.US|4'], ':ticker'],
    ['Asset|Fee', ['btc|1', 'eth|2', 'ada|2', 'xrp|2'], ':crypto'],
  ])('codes of exchanges and brokers are taken: %s', (header, rows, kind) => {
    expect(chosen([header, ...rows])).toBe(header.split('|')[0] + kind);
  });

  it.each([
    ['Code|Customer|Units|Price', ['ACM|Acme Ltd|7|1', 'BET|Beta Ltd|9|2']],
    ['Kod|Firma', ['KOW|Kowalski', 'NOW|Nowak']],
    ['word|count', ['link|1', 'near|2', 'flow|3', 'dash|4', 'dot|5']],
    ['invoice_id|customer', ['100200-EUR|A', '100201-EUR|B', '100202-EUR|C', '100203-EUR|D']],
    ['sku|n', ['A1K-USD|1', 'A2K-USD|2', 'A3K-USD|3', 'A4K-USD|4']],
    ['pair|rate', ['EUR/USD|1', 'GBP/USD|2', 'EUR/CHF|3', 'USD/JPY|4']],
    ['domain logo|n', ['BTC-USD|1', 'ETH-USD|2', 'XRP-USD|3', 'ADA-USD|4']],
  ])('codes of goods and customers are not: %s', (header, rows) => {
    expect(refusal([header, ...rows]).code).toBe('column-doubtful');
  });

  it('codes of which it is unclear what they are do not compete with websites', () => {
    const rows = ['ACME|acme.com', 'BETA|beta.io', 'GAMMA|', 'DELTA|delta.de'];
    expect(chosen(['Symbol|Firma|WWW', ...rows.map((row) => row.replace('|', '|Firma|'))])).toBe(
      'WWW:domain',
    );
    const few = ['Symbol|WWW', ...rows, ...Array.from({ length: 9 }, () => 'MORE|')];
    expect(refusal(few).message).toContain('a symbol may be a ticker or a coin');
  });

  it('names under the header "ticker" are not tickers', () => {
    const table = ['ticker|city', 'Acme Corporation|Rome', 'Beta Industries|Bonn', 'Gamma Limited|Oslo'];
    expect(refusal(table).message).toContain('0 of its 3 sampled values are written like tickers');
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

describe('a tie or a doubt stops with the flag that resolves it', () => {
  /** What each table is, its lines with ` / ` between them, and what is said of it. */
  const DOUBTS = `
    # two websites
    website|domain / acme.com|zeta.de / beta.com|eta.de
    more than one column could hold the identifiers: "website" (2 of 2 rows fit), "domain" (2 of 2 rows fit); choose one: --column website:domain or --column domain:domain; or both, with later columns as fallbacks: --column website:domain --column domain:domain
    # two columns of one name
    url|name|url / a.com|A|acme.com / b.com|B|beta.com
    more than one column could hold the identifiers: number 1 (2 of 2 rows fit), number 3 (2 of 2 rows fit); choose one: --column position:1:domain or --column position:3:domain; or both, with later columns as fallbacks: --column position:1:domain --column position:3:domain
    # the websites of two parties, however full
    customer_website|vendor_website / a.com|b.com / c.com| / d.com|
    more than one column could hold the identifiers: "customer_website" (3 of 3 rows fit), "vendor_website" (1 of 3 rows fit); choose one: --column customer_website:domain or --column vendor_website:domain; or both, with later columns as fallbacks: --column customer_website:domain --column vendor_website:domain
    # a symbol of undetermined kind
    name|symbol / Meta|META / Link|LINK
    a symbol may be a ticker or a coin: "symbol"; choose one: --column symbol:ticker or --column symbol:crypto
    # a ticker in a list of coins
    coin|ticker / Bitcoin|BTC / Chainlink|LINK
    a symbol may be a ticker or a coin: "ticker"; choose one: --column ticker:ticker or --column ticker:crypto
    # company names
    company|city / Acme|Berlin / Beta|Rome
    no column clearly holds identifiers: "company", "city"; company names cannot be looked up: add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids, or name the column that holds them with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
    # a website whose values cannot be looked up
    name|website|rev / N0|b0.example|7 / N1|b1.example|8
    no column clearly holds identifiers ("website" might, but 0 of its 2 sampled values are domains; others: a reserved or private host name): "name", "website", "rev"; company names cannot be looked up: add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids, or name the column that holds them with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
    # the same in the output of an earlier run, whose values are to be corrected
    name|website|brand_status|brand_identifier|brand_fetched_at|brand_error / N0|b0.example|invalid||| / N1|10.0.0.1|invalid|||
    no column clearly holds identifiers ("website" might, but 0 of its 2 sampled values are domains; others: a reserved or private host name): "name", "website"; correct its values, or use --column website:domain (kinds: domain, ticker, isin, crypto, id)
    # the output of an earlier run, with rows that could not be read
    name|x|brand_status|brand_identifier|brand_fetched_at|brand_raw / ||invalid|||"a / ||invalid|||"b
    no column clearly holds identifiers: "name", "x"; correct its rows, or name the column that the earlier run used, with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
    # a website that is the same for all, behind a logo
    logo_url|website / cdn.org|a.acme.com / cdn.org|b.acme.com / cdn.org|c.acme.com / cdn.org|d.acme.com / cdn.org|e.acme.com
    no column clearly holds identifiers ("website" might, but all of its sampled values belong to one domain): "logo_url", "website"; use --column website:domain (kinds: domain, ticker, isin, crypto, id)
    # logos are not suggested
    name|logo_url / Acme|cdn.org/1 / Beta|img.net/2
    no column clearly holds identifiers: "name", "logo_url"; company names cannot be looked up: add a column of websites, e-mail addresses, tickers, ISINs, crypto symbols or brand ids, or name the column that holds them with --column NAME:KIND (kinds: domain, ticker, isin, crypto, id)
    # values that are partly domains, under a name that says nothing
    name|x / A|acme.com / B|beta.com / C|none yet
    no column clearly holds identifiers ("x" might, but 2 of its 3 sampled values are domains; others: not a domain name): "name", "x"; use --column x:domain (kinds: domain, ticker, isin, crypto, id)
    # symbols under a name that says nothing
    a|b / META|US / LINK|US
    no column clearly holds identifiers ("a" might, but its values may be tickers, coins or other codes): "a", "b"; use --column a:ticker or --column a:crypto (kinds: domain, ticker, isin, crypto, id)
    # identifiers of several kinds
    Kunde|Kennung / Acme|acme.com / Beta|DE0007164600 / Gamma|AAPL / Eta|eta.de / Zeta|MSFT
    no column clearly holds identifiers ("Kennung" has domains, ISINs and symbols): "Kunde", "Kennung"; use --column Kennung:auto, which reads each value by its shape
    # identifiers of several kinds, most of which are domains
    x / acme.com / beta.com / US0378331005
    no column clearly holds identifiers ("x" has domains and ISINs): "x"; use --column x:auto, which reads each value by its shape
    # tickers that look like domains, under a name that says nothing
    a / SAP.DE / AIR.PA
    no column clearly holds identifiers ("a" might, but its values may be tickers, coins or other codes): "a"; use --column a:ticker or --column a:crypto (kinds: domain, ticker, isin, crypto, id)`;
  it.each(
    DOUBTS.split('\n    # ')
      .slice(1)
      .map((each) => each.split('\n').map((line) => line.trim())),
  )('%s', (_, table = '', message = '') => {
    const error = refusal(table.split(' / '));
    expect(error.code).toBe('column-doubtful');
    expect(error.exitCode).toBe(2);
    expect(error.message).toBe(message);
  });
});

describe('columns that name the same companies', () => {
  it.each<[string, string[], string]>([
    [
      'two names of one meaning',
      ['Website URL|Company Domain Name', 'a.com|', 'b.com|www.b.com'],
      'Website URL:domain Company Domain Name:domain',
    ],
    ['the fuller first', ['Website URL|Domain', '|b.com', 'a.com|a.com'], 'Domain:domain Website URL:domain'],
    [
      'of two countries',
      ['website|domain', 'acme.com|acme.de', 'beta.com|beta.de'],
      'website:domain domain:domain',
    ],
    [
      'few values',
      ['Website|Domain', 'a.com|', 'b.com|b.com', 'c.com|', 'd.com|'],
      'Website:domain Domain:domain',
    ],
    ['no row that has both', ['Website URL|Domain', 'a.com|', '|b.com'], 'Website URL:domain Domain:domain'],
    ['numbered', ['Website 1|Website 2', 'a.com|b.com', 'c.com|'], 'Website 1:domain Website 2:domain'],
    ['e-mail addresses', ['E-mail 1|E-mail 2', 'jo@a.com|x@b.com'], 'E-mail 1:domain E-mail 2:domain'],
    [
      'three at most',
      ['Website 1|Website 2|Website 3|Website 4', 'a.com|b.com|a.com|a.com'],
      'Website 1:domain Website 2:domain Website 3:domain',
    ],
    [
      'a website and an ISIN',
      ['web|isin', 'apple.com|US0378331005', 'sap.com|DE0007164600'],
      'web:domain isin:isin',
    ],
  ])('are read in turn: %s', (_, table, expected) => {
    expect(chosen(table)).toBe(expected);
  });

  it.each([
    ['that of another company', ['Website|Partner Website', 'a.com|', 'b.com|x.com'], 'Website:domain'],
    ['a nearly empty ISIN', ['Website|isin', 'a.com|', 'b.com|', 'c.com|US0378331005'], 'Website:domain'],
  ])('%s is none of them', (_, table, expected) => {
    expect(chosen(table)).toBe(expected);
  });

  it('a coin and a ticker are a question', () => {
    const table = ['coin|ticker|exchange', 'BTC|IBIT|NASDAQ', 'ETH|ETHA|NASDAQ'];
    expect(refusal(table).what).toBe('more than one column could hold the identifiers');
  });

  it('values that differ are a question', () => {
    expect(refusal(['Website|Domain', 'a.com|b.com', 'c.com|d.com']).code).toBe('column-doubtful');
  });
});

describe('what may be symbols', () => {
  it('is the column with a name rather than the index of a data frame', () => {
    expect(refusal(['|x', 'AAPL|AAPL', 'MSFT|MSFT']).todo).toMatch(/^use --column x:ticker or/);
  });

  it.each([
    ['times', ['name|created', 'Acme|2024-01-05T10:00:00Z', 'Beta|2024-02-05T11:00:00Z']],
    ['countries', ['name|x', 'Acme|US', 'Beta|DE', 'Gamma|FR']],
    ['codes of countries', ['name|Country', 'Acme|USA', 'Beta|DEU', 'Gamma|FRA']],
    ['serial numbers', ['name|x', 'Acme|INV-2024-001', 'Beta|INV-2024-002']],
    ['amounts', ['name|revenue', 'Acme|12M', 'Beta|7M']],
    ['batches', ['name|batch', 'Acme|W21', 'Beta|S19']],
    ['statuses', ['name|status', 'Acme|OPEN', 'Beta|WON']],
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
    ['a column of coins', 'Currency|Amount', rows(COINS, NUMBERS), 'Currency:crypto'],
    ['symbols of shares', 'symbol|quantity', rows(SHARES, NUMBERS), 'symbol:ticker'],
    ['symbols of coins', 'symbol|exchange|coin_id', rows(COINS, NUMBERS, NUMBERS), 'symbol:crypto'],
    [
      'symbols of firms',
      'symbol|description',
      rows(['AB', 'CD', 'EF'], ['A Inc.', 'C plc', 'E']),
      'symbol:ticker',
    ],
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
  it.each([
    [['Local Code|Name', '7203|Toyota', '6758|Sony'], 'jpx_listed_issues.csv', 'Local Code:ticker'],
    [['Código|Ação|Tipo', 'PETR4|PETROBRAS|PN', 'VALE3|VALE|ON'], 'dia.csv', 'Código:ticker'],
  ])('are tickers in %j', (table, fileName, expected) => {
    expect(chosen(table, { fileName })).toBe(expected);
  });

  it('are not those of goods, nor of customers', () => {
    expect(() => chosen(['StockCode|Description', '85123A|MUG', '71053|LAMP'])).toThrow('no column clearly');
    expect(() => chosen(['Code|Company', 'C1|Acme', 'C2|Beta'])).toThrow('no column clearly');
  });
});
