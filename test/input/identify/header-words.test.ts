import { describe, expect, it } from 'vitest';
import { isHeaderLike, readHeader, tableWords } from '../../../src/input/identify/header-words.js';

describe('the name of a column', () => {
  const readings: readonly (readonly [reading: object, ...names: string[]])[] = [
    [{ web: 1, otherPage: 0 }, 'website', 'Website URL', 'companyDomain', 'Company Domain Name', 'Home page'],
    [{ web: 1, otherPage: 0 }, 'web_site', 'WWW', 'Webseite', 'Domäne', 'Site internet', 'Página web'],
    [{ web: 1, otherPage: 0 }, 'Sitio web', 'hemsida', 'Strona internetowa', 'Сайт', '公司网站'],
    [{ web: 1, otherPage: 0 }, 'ホームページ', 'strona www', 'Interneto svetainė', 'email domain'],
    [{ web: 1, otherPage: 0 }, '_source.website', 'profile.website', 'SITOWEBSCUOLA', 'Sito aziendale'],
    [{ web: 0.5, otherPage: 0 }, 'link', 'url', 'Lien'],
    [{ web: 0, mail: 1 }, 'E-Mail', 'contact_email', 'E-Mail-Adresse', 'correo', 'El. paštas'],
    [{ isin: 1 }, 'ISIN', 'isin_code', 'WKN/ISIN', 'isinNumber'],
    [{ symbol: 1 }, 'Ticker', 'tickerSymbol', 'Stock Symbol', 'Emittententicker'],
    [{ symbol: 0.9 }, 'symbol', 'symbols', 'Simbolo'],
    [{ symbol: 0.8 }, 'Börsenkürzel Kürzel', 'コード', '銘柄コード'],
    [{ symbol: 0.6, coin: 1 }, 'coin', 'Token'],
    [{ id: 1 }, 'Brand ID'],
    [{ otherPage: 1 }, 'jobs_url', 'Quelle', 'logo_url', 'LinkedIn URL', 'source'],
    [{ otherCode: 1 }, 'WKN', 'Country', 'status', 'zip'],
    [
      { web: 0, mail: 0, isin: 0, id: 0, symbol: 0, coin: 0, otherPage: 0 },
      ...['company', 'Description', '', 'https://web.example/ticker'],
    ],
  ];
  const cases = readings.flatMap(([reading, ...names]) => names.map((name) => [name, reading] as const));
  it.each(cases)('%j is read as %o', (name, reading) => {
    expect(readHeader(name)).toMatchObject(reading);
  });

  it.each([
    ['Website', true],
    ['Sector', true],
    ['GTLB', false],
    ['acme', false],
  ])('%j may be the name of a column: %j', (name, isOne) => {
    expect(isHeaderLike(name)).toBe(isOne);
  });
});

it.each([
  ['name, symbol, sector', [1, 0]],
  ['name, symbol, circulating_supply', [0, 2]],
  ['name, symbol', [0, 0]],
  ['symbol, exchange, blockchain', [1, 1]],
  ['Symbol, Name, nyse-listed.csv', [1, 0]],
  ['Symbol, Name, top-100-coins.csv', [0, 1]],
])('%s have words of tables of securities and of coins: %j', (names, words) => {
  expect(tableWords(names.split(', '))).toEqual(words);
});
