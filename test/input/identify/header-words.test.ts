import { describe, expect, it } from 'vitest';
import { readHeader, symbolContext } from '../../../src/input/identify/header-words.js';

describe('the name of a column', () => {
  const whole = { weight: 1, role: null, isForeign: false };
  const partly = { weight: 0.6, role: null, isForeign: false };
  const silent = { meaning: null, weight: 0, role: null, isForeign: false };
  const foreign = { meaning: null, weight: 0, role: null, isForeign: true };
  it.each([
    ['website', { meaning: 'domain', ...whole }],
    ['Website URL', { meaning: 'domain', ...whole }],
    ['companyDomain', { meaning: 'domain', ...whole }],
    ['Company Domain Name', { meaning: 'domain', ...whole }],
    ['Home page', { meaning: 'domain', ...whole }],
    ['web_site', { meaning: 'domain', ...whole }],
    ['WWW', { meaning: 'domain', ...whole }],
    ['Webseite', { meaning: 'domain', ...whole }],
    ['Domäne', { meaning: 'domain', ...whole }],
    ['Site internet', { meaning: 'domain', ...whole }],
    ['Página web', { meaning: 'domain', ...whole }],
    ['Sitio web', { meaning: 'domain', ...whole }],
    ['Sito aziendale', { meaning: 'domain', ...partly }],
    ['hemsida', { meaning: 'domain', ...whole }],
    ['Strona internetowa', { meaning: 'domain', ...whole }],
    ['Сайт', { meaning: 'domain', ...whole }],
    ['公司网站', { meaning: 'domain', ...whole }],
    ['ホームページ', { meaning: 'domain', ...whole }],
    ['parent website', { meaning: 'domain', ...partly, role: 'parent' }],
    ['customer website', { meaning: 'domain', ...whole, role: 'customer' }],
    ['jobs_url', foreign],
    ['Quelle', foreign],
    ['strona www', { meaning: 'domain', ...whole }],
    ['Interneto svetainė', { meaning: 'domain', ...whole }],
    ['link', { meaning: 'domain', ...partly }],
    ['E-Mail', { meaning: 'email', ...whole }],
    ['contact_email', { meaning: 'email', ...whole }],
    ['E-Mail-Adresse', { meaning: 'email', ...whole }],
    ['correo', { meaning: 'email', ...whole }],
    ['email domain', { meaning: 'domain', ...whole }],
    ['ISIN', { meaning: 'isin', ...whole }],
    ['isin_code', { meaning: 'isin', ...whole }],
    ['underlying ISIN', { meaning: 'isin', ...partly }],
    ['Ticker', { meaning: 'ticker', ...whole }],
    ['tickerSymbol', { meaning: 'ticker', ...whole }],
    ['Stock Symbol', { meaning: 'ticker', ...whole }],
    ['ETF symbol', { meaning: 'ticker', ...whole }],
    ['Börsenkürzel', { meaning: 'ticker', ...whole }],
    ['symbol', { meaning: 'symbol', ...whole }],
    ['coin', { meaning: 'crypto', ...whole }],
    ['crypto_symbol', { meaning: 'crypto', ...whole }],
    ['Kryptowährung', { meaning: 'crypto', ...whole }],
    ['Brand ID', { meaning: 'id', ...whole }],
    ['logo_url', foreign],
    ['LinkedIn URL', foreign],
    ['WKN', foreign],
    ['Account Owner Email', { ...foreign, role: 'owner' }],
    ['owner.email', { ...foreign, role: 'owner' }],
    ['Owner → Email', { ...foreign, role: 'owner' }],
    ['created_by.emailAddress', foreign],
    ['Owner Email', { meaning: 'email', ...partly, role: 'owner' }],
    ['_source.website', { meaning: 'domain', ...whole }],
    ['profile.website', { meaning: 'domain', ...whole }],
    ['company.website', { meaning: 'domain', ...whole }],
    ['WKN/ISIN', { meaning: 'isin', ...partly }],
    ['company', silent],
    ['id', silent],
    ['', silent],
    ['stock', silent],
  ] as const)('%j is read as %o', (name, reading) => {
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
