/**
 * ISINs, symbols, brand ids and cells of unknown kind. `identify-domain.test.ts` covers domains.
 */
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

describe('an ISIN is recognised by its check digit, never by its country', () => {
  const wrongDigit = 'invalid: the check digit of the ISIN is wrong';
  const notAnIsin = 'invalid: not an ISIN (two letters, nine letters or digits, a check digit)';
  it.each([
    ['US0378331005', 'isin:US0378331005'],
    ['us0378331005', 'isin:US0378331005'],
    ['US 0378 3310 05', 'isin:US0378331005'],
    ['US-037833100-5', 'isin:US0378331005'],
    ['ISIN: US0378331005', 'isin:US0378331005'],
    ['ISIN US0378331005', 'isin:US0378331005'],
    ['\u00a0DE0007164600\ufeff', 'isin:DE0007164600'],
    ['ＵＳ0378331005', 'isin:US0378331005'],
    ['GB0002634946', 'isin:GB0002634946'],
    ['AU0000XVGZA3', 'isin:AU0000XVGZA3'],
    ['XS2010028699', 'isin:XS2010028699'],
    ['EU000A1G0AB4', 'isin:EU000A1G0AB4'],
    ['US0378331006', wrongDigit],
    ['US037833100', notAnIsin],
    ['US03783310055', notAnIsin],
    ['U$0378331005', notAnIsin],
    ['US037833100A', notAnIsin],
    ['AAPL', notAnIsin],
    ['716460', notAnIsin],
    ['n/a', 'skipped'],
    ['NA', 'skipped'],
    ['', 'skipped'],
  ])('%j is %s', (text, expected) => {
    expect(read(text, 'isin')).toBe(expected);
  });
});

describe('a ticker is whatever its column contains', () => {
  it.each([
    ['AAPL', 'ticker:AAPL'],
    [' aapl ', 'ticker:AAPL'],
    ['BRK.B', 'ticker:BRK.B'],
    ['BF-B', 'ticker:BF-B'],
    ['M&M', 'ticker:M&M'],
    ['0700.HK', 'ticker:0700.HK'],
    ["'0700.HK", 'ticker:0700.HK'],
    ['7203', 'ticker:7203'],
    ['AGO$F', 'ticker:AGO$F'],
    ['$AAPL', 'ticker:AAPL'],
    ['^GSPC', 'ticker:^GSPC'],
    ['BRK/B', 'ticker:BRK/B'],
    ['GC=F', 'ticker:GC=F'],
    ['BRK  B', 'ticker:BRK B'],
    ['BRK\u00a0B', 'ticker:BRK B'],
    ['AAPL US Equity', 'ticker:AAPL'],
    ['AAPL US', 'ticker:AAPL'],
    ['BRK/B US Equity', 'ticker:BRK.B'],
    ['SAP GY Equity', 'ticker:SAP.DE'],
    ['NOVN SE Equity', 'ticker:NOVN.SW'],
    ['BASF SE', 'ticker:BASF SE'],
    ['REI UN', 'ticker:REI UN'],
    ['AAPL UN Equity', 'ticker:AAPL'],
    ['5 HK Equity', 'ticker:0005.HK'],
    ['7203 JT', 'ticker:7203.T'],
    ['AAPL XX Equity', 'ticker:AAPL XX EQUITY'],
    ['SAP.DE', 'ticker:SAP.DE'],
    ['AIR.PA', 'ticker:AIR.PA'],
    ['BHP.AX', 'ticker:BHP.AX'],
    ['META', 'ticker:META'],
    ['NYSE:GE', 'ticker:NYSE:GE'],
    ['ＡＡＰＬ', 'ticker:AAPL'],
    ['NA', 'ticker:NA'],
    ['NULL', 'ticker:NULL'],
    ['TRUE', 'ticker:TRUE'],
    ['na', 'skipped'],
    ['null', 'skipped'],
    ['None', 'skipped'],
    ['N/A', 'skipped'],
    ['#N/A', 'skipped'],
    ['-', 'skipped'],
    ['$N/A', 'skipped'],
    ['.', 'invalid: not a ticker'],
    ['..', 'invalid: not a ticker'],
    ['$', 'invalid: not a ticker'],
    ['ÄÖ', 'invalid: not a ticker'],
    ['AA\u0000PL', 'invalid: not a ticker'],
    ['\ud800', 'invalid: not a ticker'],
    ['AAPL\tMSFT', 'invalid: several values in one cell, not one ticker'],
    ['AAPL\nMSFT', 'invalid: several values in one cell, not one ticker'],
    ['AAPL, MSFT', 'invalid: several values in one cell, not one ticker'],
    ['A'.repeat(32), `ticker:${'A'.repeat(32)}`],
    ['A'.repeat(33), 'invalid: longer than 32 characters, not a ticker'],
    ['jo@acme.com', 'invalid: an e-mail address, not a ticker'],
    ['https://acme.com', 'invalid: a web address, not a ticker'],
    ['US0378331005', 'invalid: an ISIN, not a ticker'],
  ])('%j is %s', (text, expected) => {
    expect(read(text, 'ticker')).toBe(expected);
  });
});

describe('a crypto symbol is whatever its column contains', () => {
  it.each([
    ['usd \u200d coin', 'crypto:USD COIN'],
    ['btc', 'crypto:BTC'],
    ['META', 'crypto:META'],
    ['LINK', 'crypto:LINK'],
    ['$wif', 'crypto:WIF'],
    ['1inch', 'crypto:1INCH'],
    ['币安人生', 'crypto:币安人生'],
    ['straße', 'crypto:STRASSE'],
    ['STRAẞE', 'crypto:STRASSE'],
    ['İ', 'crypto:İ'],
    ['NULL', 'crypto:NULL'],
    ['none', 'skipped'],
    ['?', 'skipped'],
    ['BTC/ETH', 'crypto:BTC/ETH'],
    ['UNIBTC', 'crypto:UNIBTC'],
    ['BTC;ETH', 'invalid: several values in one cell, not one crypto symbol'],
    ['🚀', 'invalid: not a crypto symbol'],
    ['jo@acme.com', 'invalid: an e-mail address, not a crypto symbol'],
  ])('%j is %s', (text, expected) => {
    expect(read(text, 'crypto')).toBe(expected);
  });
});

describe('a brand id keeps its case', () => {
  const notAnId = 'invalid: not a brand id (id_ and more, or id and eight characters; case matters)';
  it.each([
    ['id_aB-9', 'id:id_aB-9'],
    ['idAbCd_12-', 'id:idAbCd_12-'],
    ['identifier', 'id:identifier'],
    ['\ufeff id_x ', 'id:id_x'],
    ['ID_x', notAnId],
    ['id_', notAnId],
    ['id_a b', notAnId],
    ['idAbCd12', notAnId],
    ['acme.com', notAnId],
    ['null', 'skipped'],
  ])('%j is %s', (text, expected) => {
    expect(read(text, 'id')).toBe(expected);
  });
});

describe('in a mixed column only what its shape shows is looked up, and free text is not', () => {
  const why = (words: string) => expect.stringMatching(new RegExp(`^invalid: ${words}`));
  const free = why('not recognised: kind auto takes only .*AAPL, BRK.B, 1332.T.*; name another kind');
  const number = why('a number: .*1332.T.*; name the kind ticker or crypto');
  const lower = why('a word or a symbol in lower case: .* in capitals; name the kind ticker or crypto');
  const id = why('a word or a brand id without id_: .*; name the kind id');
  it.each([
    ['US0378331005', 'isin:US0378331005'],
    ['us0378331005', 'isin:US0378331005'],
    ['US 0378 3310 05', 'isin:US0378331005'],
    ['ISIN: DE 000A1EWWW0', 'isin:DE000A1EWWW0'],
    ['US0378331006', 'invalid: the check digit of the ISIN is wrong'],
    ['Acme № AG 0049', free],
    ['Acme 00490024', free],
    ['id_aB9', 'id:id_aB9'],
    ['idAbCd1234', id],
    ['identifier', id],
    ['https://www.acme.de/x', 'domain:acme.de'],
    ['www.acme.de', 'domain:acme.de'],
    ['jo@acme.de', 'domain:acme.de'],
    ['jo@gmail.com', 'skipped'],
    ['acme.com', 'domain:acme.com'],
    ['SAP.DE', 'auto:SAP.DE'],
    ['BHP.AX', 'auto:BHP.AX'],
    ['VOLV-B.ST', 'auto:VOLV-B.ST'],
    ['sap.de', 'domain:sap.de'],
    ['Shop.Sap.de', 'domain:sap.de'],
    ['SHOP.SAP.DE', 'domain:sap.de'],
    ['ACME.CO.UK', 'domain:acme.co.uk'],
    ['RCI.B.TO', 'auto:RCI.B.TO'],
    ['07.03.DE', 'domain:03.de'],
    ['SAP.DE.', 'auto:SAP.DE'],
    ['AAPL', 'auto:AAPL'],
    [' ＡＡＰＬ ', 'auto:AAPL'],
    ['F', 'auto:F'],
    ['1INCH', 'auto:1INCH'],
    ['ABCDEF', 'auto:ABCDEF'],
    ['BRK.B', 'auto:BRK.B'],
    ['BF-B', 'auto:BF-B'],
    ['VOD.L', 'auto:VOD.L'],
    ['0700.HK', 'auto:0700.HK'],
    ['1332.T', 'auto:1332.T'],
    ['005930.KS', 'auto:005930.KS'],
    ['$META', 'auto:META'],
    ['$ACME.COM', 'domain:acme.com'],
    ['btc', lower],
    ['Sap', lower],
    ['brk.b', lower],
    ['vod.L', lower],
    ['1332.t', lower],
    ['12345', number],
    ['0700', number],
    ['$100', number],
    ['Müller & Söhne', free],
    ['MÜLLER', free],
    ['+49 30 1234', free],
    ['+49301234', free],
    ['030/1234-56', free],
    ['IBM Corp', free],
    ['IBM CORP', free],
    ['AT&T', free],
    ['ACMECORP', free],
    ['Acme, Inc.', free],
    ['币安人生', free],
    ['NYSE:GE', free],
    ['BRK B', free],
    ['BHP.ASX', free],
    ['1332.TWO', free],
    ['1234567.T', free],
    ['EN-US', free],
    ['1332-T', free],
    ['A-1', free],
    ['$5M', free],
    ['€5M', free],
    ['12.50', free],
    ['1,000', free],
    ['2026-11-23', free],
    ['10:30', free],
    ['[object Object]', free],
    ['NA', 'skipped'],
    ['$null', 'skipped'],
    ['', 'skipped'],
    ['..', free],
    ['a\u0007b', free],
    ['\ud800', free],
    ['jo at acme.com', 'invalid: a domain name with other words'],
    ['jo@acme', 'invalid: not a domain name'],
    ['192.0.2.1.', free],
  ])('%j is %s', (text, expected) => {
    expect(read(text, 'auto')).toEqual(expected);
  });
});
