/** ISINs, symbols, brand ids, cells of unknown kind; `identify-domain.test.ts` covers domains. */
import { describe, expect, it } from 'vitest';
import type { IdentifierKind } from '../../../src/core/identifier.js';
import { sayRowReason } from '../../../src/core/row-reason.js';
import { identifyCell } from '../../../src/input/identify/identify-cell.js';

/** `kind:value`, `skipped` or `invalid: reason`. */
function read(text: string, kind: IdentifierKind): string {
  const identified = identifyCell(text, kind);
  if (identified.type === 'identifier') return `${identified.identifier.kind}:${identified.identifier.value}`;
  return identified.type === 'skipped' ? 'skipped' : `invalid: ${sayRowReason(identified.reason)}`;
}

const casesOf = (rows: readonly (readonly [unknown, ...string[]])[]) =>
  rows.flatMap(([expected, ...texts]) => texts.map((text) => [text, expected] as const));

describe('an ISIN is recognised by its check digit, never by its country', () => {
  const wrongDigit = 'invalid: the check digit of the ISIN is wrong';
  const notAnIsin = 'invalid: not an ISIN (two letters, nine letters or digits, a check digit)';
  it.each(
    casesOf([
      ['isin:US0378331005', 'US0378331005', 'us0378331005', 'US 0378 3310 05', 'US-037833100-5'],
      ['isin:US0378331005', 'ISIN: US0378331005', 'ISIN US0378331005', 'ＵＳ0378331005'],
      ['isin:DE0007164600', '\u00a0DE0007164600\ufeff'],
      [wrongDigit, 'US0378331006'],
      [notAnIsin, 'US037833100', 'US03783310055', 'U$0378331005', 'US037833100A', 'AAPL', '716460'],
      ['skipped', 'n/a', 'NA', ''],
    ]),
  )('%j is %s', (text, expected) => {
    expect(read(text, 'isin')).toBe(expected);
  });

  it.each(['GB0002634946', 'AU0000XVGZA3', 'XS2010028699', 'EU000A1G0AB4'])('%j is kept as it is', (text) => {
    expect(read(text, 'isin')).toBe(`isin:${text}`);
  });
});

describe('any symbol in a column of tickers is a ticker', () => {
  it.each(
    casesOf([
      ['ticker:AAPL', 'AAPL', ' aapl ', '$AAPL', 'AAPL US Equity', 'AAPL US', 'AAPL UN Equity', 'ＡＡＰＬ'],
      ['ticker:BRK.B', 'BRK.B', 'BRK/B US Equity'],
      ['ticker:0700.HK', '0700.HK', "'0700.HK", '="0700.HK"'],
      ['ticker:BRK B', 'BRK  B', 'BRK\u00a0B'],
      ['ticker:SAP.DE', 'SAP GY Equity', 'SAP.DE'],
      ['ticker:NOVN.SW', 'NOVN SE Equity'],
      ['ticker:0005.HK', '5 HK Equity'],
      ['ticker:7203.T', '7203 JT', '7203 JP'],
      ['ticker:AAPL XX EQUITY', 'AAPL XX Equity'],
      ['skipped', 'na', 'null', 'None', 'N/A', '#N/A', '-', '$N/A'],
      ['invalid: not a ticker', '.', '..', '$', 'ÄÖ', 'AA\u0000PL', '\ud800', 'true', 'false'],
      ['invalid: not a ticker', 'Account Total', 'Cash & Cash Investments', 'CASH AND SWEEP', 'Contact us'],
      ['invalid: several values in one cell, not one ticker', 'AAPL\tMSFT', 'AAPL\nMSFT', 'AAPL, MSFT'],
      [`ticker:${'A'.repeat(32)}`, 'A'.repeat(32)],
      ['invalid: longer than 32 characters, not a ticker', 'A'.repeat(33)],
      ['invalid: an e-mail address, not a ticker', 'jo@acme.com'],
      ['invalid: a web address, not a ticker', 'https://acme.com'],
      ['invalid: an ISIN, not a ticker', 'US0378331005'],
    ]),
  )('%j is %s', (text, expected) => {
    expect(read(text, 'ticker')).toBe(expected);
  });

  it.each([
    ...['BF-B', 'M&M', '7203', 'AGO$F', '^GSPC', 'BRK/B', 'GC=F', 'BASF SE', 'REI UN', 'AIR.PA'],
    ...['BHP.AX', 'META', 'NYSE:GE', 'NA', 'NULL', 'TRUE'],
  ])('%j is kept as it is', (text) => {
    expect(read(text, 'ticker')).toBe(`ticker:${text}`);
  });
});

describe('any symbol in a column of coins is a coin', () => {
  it.each(
    casesOf([
      ['crypto:USD COIN', 'usd \u200d coin'],
      ['crypto:BTC', 'btc'],
      ['crypto:WIF', '$wif'],
      ['crypto:1INCH', '1inch'],
      ['crypto:STRASSE', 'straße', 'STRAẞE'],
      ['skipped', 'none', '?'],
      ['invalid: several values in one cell, not one crypto symbol', 'BTC;ETH'],
      ['invalid: not a crypto symbol', '🚀'],
      ['invalid: an e-mail address, not a crypto symbol', 'jo@acme.com'],
    ]),
  )('%j is %s', (text, expected) => {
    expect(read(text, 'crypto')).toBe(expected);
  });

  it.each(['META', 'LINK', '币安人生', 'İ', 'NULL', 'BTC/ETH', 'UNIBTC'])('%j is kept as it is', (text) => {
    expect(read(text, 'crypto')).toBe(`crypto:${text}`);
  });
});

describe('a brand id keeps its case', () => {
  const notAnId = 'invalid: not a brand id (id_ and more, or id and eight characters; case matters)';
  it.each(
    casesOf([
      ['id:id_x', '\ufeff id_x '],
      [notAnId, 'ID_x', 'id_', 'id_a b', 'idAbCd12', 'acme.com'],
      ['skipped', 'null'],
    ]),
  )('%j is %s', (text, expected) => {
    expect(read(text, 'id')).toBe(expected);
  });

  it.each(['id_aB-9', 'idAbCd_12-', 'identifier'])('%j is kept as it is', (text) => {
    expect(read(text, 'id')).toBe(`id:${text}`);
  });
});

describe('a mixed column yields values that show their kind, and no free text', () => {
  const why = (words: string) => expect.stringMatching(new RegExp(`^invalid: ${words}`));
  const free = why('not recognised: kind auto takes only .*AAPL, BRK.B, 1332.T.*; name another kind');
  const number = why('a number: .*1332.T.*; name the kind ticker or crypto');
  const lower = why('a word or a symbol in lower case: .* in capitals; name the kind ticker or crypto');
  const id = why('a word or a brand id without id_: .*; name the kind id');
  it.each(
    casesOf([
      ['isin:US0378331005', 'US0378331005', 'us0378331005', 'US 0378 3310 05'],
      ['isin:DE000A1EWWW0', 'ISIN: DE 000A1EWWW0'],
      ['invalid: the check digit of the ISIN is wrong', 'US0378331006'],
      [free, 'Acme № AG 0049', 'Acme 00490024', 'Müller & Söhne', 'MÜLLER', '+49 30 1234', '+49301234'],
      [free, '030/1234-56', 'IBM Corp', 'IBM CORP', 'AT&T', 'ACMECORP', 'Acme, Inc.', '币安人生', 'NYSE:GE'],
      [free, 'BRK B', 'BHP.ASX', '1332.TWO', '1234567.T', 'EN-US', '1332-T', 'A-1', '$5M', '€5M', '12.50'],
      [free, '1,000', '2026-11-23', '10:30', '[object Object]', '..', 'a\u0007b', '\ud800', '192.0.2.1.'],
      ['id:id_aB9', 'id_aB9'],
      [id, 'idAbCd1234', 'identifier'],
      ['domain:acme.de', 'https://www.acme.de/x', 'www.acme.de', 'jo@acme.de'],
      ['skipped', 'jo@gmail.com', 'NA', '$null', ''],
      ['domain:acme.com', 'acme.com', '$ACME.COM', '="acme.com"'],
      ['auto:SAP.DE', 'SAP.DE', 'SAP.DE.'],
      ['domain:sap.de', 'sap.de', 'Shop.Sap.de', 'SHOP.SAP.DE'],
      ['domain:acme.co.uk', 'ACME.CO.UK'],
      ['domain:03.de', '07.03.DE'],
      ['auto:AAPL', 'AAPL', ' ＡＡＰＬ '],
      ['auto:META', '$META'],
      [lower, 'btc', 'Sap', 'brk.b', 'vod.L', '1332.t'],
      [number, '12345', '0700', '$100'],
      ['invalid: a domain name with other words', 'jo at acme.com'],
      ['invalid: not a domain name', 'jo@acme'],
    ]),
  )('%j is %s', (text, expected) => {
    expect(read(text, 'auto')).toEqual(expected);
  });

  it.each([
    ...['BHP.AX', 'VOLV-B.ST', 'RCI.B.TO', 'F', '1INCH', 'ABCDEF', 'BRK.B', 'BF-B', 'WWW.L'],
    ...['VOD.L', '0700.HK', '1332.T', '005930.KS'],
  ])('%j is kept as it is', (text) => {
    expect(read(text, 'auto')).toBe(`auto:${text}`);
  });
});
