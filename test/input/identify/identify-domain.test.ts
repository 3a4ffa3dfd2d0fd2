/** The pitfalls of real website and e-mail columns, one per line. */
import { describe, expect, it } from 'vitest';
import type { Identified } from '../../../src/core/identifier.js';
import { sayRowReason } from '../../../src/core/row-reason.js';
import { identifyCell } from '../../../src/input/identify/identify-cell.js';

/** One word per result: the domain, `skipped: ...` or `invalid: ...`. */
function read(text: string): string {
  const identified: Identified = identifyCell(text, 'domain');
  if (identified.type !== 'identifier') return `${identified.type}: ${sayRowReason(identified.reason)}`;
  expect(identified.identifier.kind).toBe('domain');
  return identified.identifier.value;
}

const NOT_A_DOMAIN = 'invalid: not a domain name';
const IP_ADDRESS = 'invalid: an IP address, not a domain name';
const RESERVED = 'invalid: a reserved or private host name';
const UNKNOWN = 'invalid: unknown domain suffix';
const SHARED = 'invalid: a shared suffix, not the domain of one brand';
const SEVERAL = 'invalid: several domains in one cell';
const WORDS = 'invalid: a domain name with other words';
const OTHER_SCHEME = 'invalid: an address, but not of a website';
const FREE_MAIL = 'skipped: an address at a free e-mail provider';
const BLANK = 'skipped: the cell is blank';
const PLACEHOLDER = 'skipped: the cell is a placeholder such as "n/a"';

const TABLES: Record<string, readonly (readonly [string, ...string[]])[]> = {
  'a bare domain is reduced to the registrable one': [
    ['acme.com', 'acme.com', 'Acme.COM', 'www.acme.com', 'acme.com.', 'acme.com..', '.acme.com'],
    ['acme.com', '*.acme.com', '@acme.com', 'acme.com:8080', 'my_shop.acme.com', '_dmarc.acme.com'],
    ['acme.co.uk', 'shop.eu.acme.co.uk'],
    ['city.kawasaki.jp', 'city.kawasaki.jp'],
    ['3m.com', '3m.com'],
    ['1-800-flowers.com', '1-800-flowers.com'],
    [SHARED, 'ai'],
  ],
  'private suffixes are suffixes, so a shop stays that shop': [
    ['acme.myshopify.com', 'acme.myshopify.com', 'https://www.acme.myshopify.com/products'],
    ['acme.github.io', 'acme.github.io'],
    [SHARED, 's3.amazonaws.com', 'gov.uk', 'co.uk', 'com'],
  ],
  'a suffix is a website too: where its www is registrable, and where it is registered': [
    ['www.gov.uk', 'www.gov.uk', 'https://www.gov.uk/browse'],
    ['www.nhs.uk', 'WWW.NHS.UK'],
    ['www.gov.br', 'www.gov.br'],
    ['service.gov.uk', 'www.service.gov.uk'],
    ['www.ck', 'www.ck'],
    ['github.io', 'github.io', 'www.github.io'],
    ['blogspot.com', 'https://www.blogspot.com/'],
    ['uk.com', 'www.uk.com'],
    [SHARED, 'www.kawasaki.jp'],
  ],
  'a web address gives its host, whatever stands around it': [
    ['acme.com', 'https://acme.com', 'HTTP://WWW.ACME.COM/', 'acme.com/about', 'acme.com?utm_source=x'],
    ['acme.com', 'acme.com#top', '//acme.com/x', 'https://user:secret@acme.com/', 'user:secret@acme.com'],
    ['acme.com', 'ftp://files.acme.com', 'http:/acme.com', 'http:acme.com', 'https//acme.com'],
    ['acme.com', 'http://https://acme.com', 'http:\\\\acme.com\\page', '<https://acme.com>'],
    ['acme.com', 'https://acme.com/a page, with blanks.pdf'],
    ['acme.co.uk', 'https://www.acme.co.uk:8443/a/b.html?c=d&e=https://beta.com#f'],
    ['medium.com', 'https://medium.com/@acme'],
  ],
  'an address of another scheme is not a website': [
    [OTHER_SCHEME, 'android-app://com.acme.shop/', 'file://server.acme.com/share'],
    [NOT_A_DOMAIN, 'javascript:void(0)', 'tel:+4989123456', 'https%3A%2F%2Facme.com'],
  ],
  'an e-mail address gives the domain behind it': [
    ['acme.com', 'jo.public@acme.com', 'mailto:jo@acme.com', 'MAILTO:jo@acme.com?subject=Hello there'],
    ['acme.com', 'Jo Public <jo@acme.com>', '"Public, Jo" <jo@acme.com>'],
    ['acme.com', 'Beta.com Support <help@acme.com>', 'jo@acme.com <mailto:jo@acme.com>'],
    ['acme.com', 'acme.com/contact?mail=jo@acme.com'],
    ['acme.co.uk', 'jo.public@mail.acme.co.uk'],
    ['xn--bcher-kva.de', 'jo@bücher.de'],
    [NOT_A_DOMAIN, 'jo@[192.0.2.1]', 'jo.public@', 'jo.public@acme', 'jo.public(at)acme.com'],
    [IP_ADDRESS, 'jo@192.0.2.1'],
    [SEVERAL, 'jo.in/out@acme.com', 'jo.in?@acme'],
    ['medium.com', 'medium.com/@acme'],
    ['google.com', 'https://www.google.com/maps/@48.1,11.5'],
    [WORDS, 'jo at acme.com'],
  ],
  'a free mail provider is skipped behind an address, and only there': [
    [FREE_MAIL, 'jo@gmail.com', 'Jo <JO@GoogleMail.com>', 'jo@mail.yahoo.co.jp', 'jo@hotmail.co.uk'],
    [FREE_MAIL, 'jo@gmx.net', 'jo@t-online.de', 'http://jo@gmail.com', 'jo@gmail.com; ann@outlook.com'],
    ['gmail.com', 'gmail.com'],
    ['yahoo.com', 'https://mail.yahoo.com'],
    ['yahoo-inc.com', 'jo@yahoo-inc.com'],
    ['acme.com', 'jo@live.acme.com'],
  ],
  'one cell is one brand': [
    ['acme.com', 'acme.com, www.acme.com', 'acme.com;', 'jo@acme.com; ann@acme.com', 'acme.com beta.com'],
    ['acme.com', 'acme.com; beta.com', "['acme.com', 'beta.com']", '["acme.com"]', 'acme.com ::: beta.com'],
    ['acme.com', 'acme.com\nbeta.com', 'acme.com|beta.com', 'https://acme.com/ https://beta.com/'],
    ['acme.com', 'Jo <jo@acme.com>, Ann <ann@beta.com>', 'jo@gmail.com, jo@acme.com'],
    [WORDS, 'acme.com (old)', 'Acme Ltd, acme.com'],
    [NOT_A_DOMAIN, 'Acme Ltd'],
  ],
  'what cannot be seen is not there': [
    ['acme.com', '\ufeffacme.com', 'acme\u200b.com', 'ac\u00adme.com', 'acme.com\u200d'],
    ['acme.com', '\u00a0acme.com\u00a0', '  acme.com\r\n', '\u202aacme.com\u202c', 'acme。com'],
    ['acme.com', 'ａｃｍｅ．ｃｏｍ'],
    ['acme.com', 'ｈｔｔｐｓ：／／acme.com', 'jo＠acme.com', '"acme.com"', "'acme.com"],
  ],
  'an internationalised name has one form': [
    ['xn--bcher-kva.de', 'bücher.de', 'BÜCHER.DE', 'bu\u0308cher.de', 'XN--BCHER-KVA.de'],
    ['xn--fa-hia.de', 'faß.de'],
    ['xn--e1afmkfd.xn--p1ai', 'пример.рф'],
    ['xn--wgv71a119e.jp', '日本語。jp'],
    ['xn--mgba3gch31f060k.com', 'نامه\u200cای.com'],
    [NOT_A_DOMAIN, 'xn--a.com', 'xn--a-.com', 'xn--.com', 'xn--acme.com', 'xn--999.com', 'xn--bücher.de'],
    [NOT_A_DOMAIN, 'bücher%.de'],
    ['xn--n3h.net', '☃.net'],
  ],
  'addresses of machines are not domains': [
    [IP_ADDRESS, '192.0.2.1', 'http://192.0.2.1:8080/x', '2001:db8::1', 'http://[2001:db8::1]:8080/'],
    [IP_ADDRESS, '[::1]'],
    ['invalid: a number, not a domain name', '0x7f.1', '12.5'],
    [RESERVED, 'localhost', 'http://localhost:3000/', 'printer.local', 'wiki.internal', 'nas.lan'],
    [RESERVED, 'acme.example', 'example.com', 'www.example.org', 'shop.example.net', 'acme.test'],
    [RESERVED, 'acmeabcdefg.onion'],
  ],
  'other texts say why they are not domains': [
    [UNKNOWN, 'acme.unknownsuffix', 'www.acme'],
    [NOT_A_DOMAIN, 'acme', '-acme.com', 'acme-.com', 'acme_inc.com', 'acme..com', `${'a'.repeat(64)}.com`],
    [NOT_A_DOMAIN, `${'a.'.repeat(130)}com`, 'acme.com:80:90', '\ud800.com', '.', '..', 'https://'],
    [NOT_A_DOMAIN, 'id_acme', 'US0378331005'],
  ],
  'blanks and placeholders are skipped': [
    [BLANK, '', '   ', '\u00a0\u200b', '""'],
    [PLACEHOLDER, '-', '—', 'n/a', '#N/A', 'NA', 'null', 'NULL', 'None', 'unknown'],
  ],
};

for (const [title, table] of Object.entries(TABLES)) {
  describe(title, () => {
    const cases = table.flatMap(([expected, ...texts]) => texts.map((text) => [text, expected] as const));
    it.each(cases)('%j is %s', (text, expected) => {
      expect(read(text)).toBe(expected);
    });
  });
}
