import { describe, expect, it } from 'vitest';
import { readHeader, symbolContext } from '../../../src/input/identify/header-words.js';

describe('the name of a column', () => {
  const whole = { weight: 1, role: null, isForeign: false };
  const partly = { weight: 0.6, role: null, isForeign: false };
  const silent = { meaning: null, weight: 0, role: null, isForeign: false };
  const foreign = { meaning: null, weight: 0, role: null, isForeign: true };
  const named = (meaning: string, reading: object) => ({ meaning, ...reading });
  const readings: readonly (readonly [object, ...string[]])[] = [
    [named('domain', whole), 'website', 'Website URL', 'companyDomain', 'Company Domain Name', 'Home page'],
    [named('domain', whole), 'web_site', 'WWW', 'Webseite', 'Domäne', 'Site internet', 'Página web'],
    [named('domain', whole), 'Sitio web', 'hemsida', 'Strona internetowa', 'Сайт', '公司网站'],
    [named('domain', whole), 'ホームページ', 'strona www', 'Interneto svetainė', 'email domain'],
    [named('domain', whole), '_source.website', 'profile.website', 'company.website'],
    [named('domain', partly), 'Sito aziendale', 'link'],
    [named('domain', { ...partly, role: 'parent' }), 'parent website'],
    [named('domain', { ...whole, role: 'customer' }), 'customer website'],
    [named('email', whole), 'E-Mail', 'contact_email', 'E-Mail-Adresse', 'correo'],
    [named('email', { ...partly, role: 'owner' }), 'Owner Email'],
    [named('isin', whole), 'ISIN', 'isin_code'],
    [named('isin', partly), 'underlying ISIN', 'WKN/ISIN'],
    [named('ticker', whole), 'Ticker', 'tickerSymbol', 'Stock Symbol', 'ETF symbol', 'Börsenkürzel'],
    [named('symbol', whole), 'symbol'],
    [named('crypto', whole), 'coin', 'crypto_symbol', 'Kryptowährung'],
    [named('id', whole), 'Brand ID'],
    [foreign, 'jobs_url', 'Quelle', 'logo_url', 'LinkedIn URL', 'WKN', 'created_by.emailAddress'],
    [{ ...foreign, role: 'owner' }, 'Account Owner Email', 'owner.email', 'Owner → Email'],
    [silent, 'company', 'id', '', 'stock'],
  ];
  const cases = readings.flatMap(([reading, ...names]) => names.map((name) => [name, reading] as const));
  it.each(cases)('%j is read as %o', (name, reading) => {
    expect(readHeader(name)).toEqual(reading);
  });
});

describe('the names of the other columns and of the file', () => {
  it.each([
    [['name', 'symbol', 'sector'], 'ticker'],
    [['name', 'symbol', 'circulating_supply'], 'crypto'],
    [['name', 'symbol'], null],
    [['symbol', 'exchange', 'blockchain'], null],
    [['ACT Symbol', 'Company Name'], 'ticker'],
    [['Symbol', 'Name', 'nyse-listed.csv'], 'ticker'],
    [['Symbol', 'Name', 'top-100-coins.csv'], 'crypto'],
  ] as const)('%j determine what a symbol is: %j', (columns, context) => {
    expect(symbolContext(columns)).toBe(context);
  });
});
