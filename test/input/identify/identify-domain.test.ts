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

const TABLES: Record<string, readonly (readonly [string, string])[]> = {
  'a bare domain is reduced to the registrable one': [
    ['acme.com', 'acme.com'],
    ['Acme.COM', 'acme.com'],
    ['www.acme.com', 'acme.com'],
    ['shop.eu.acme.co.uk', 'acme.co.uk'],
    ['acme.com.', 'acme.com'],
    ['acme.com..', 'acme.com'],
    ['.acme.com', 'acme.com'],
    ['*.acme.com', 'acme.com'],
    ['@acme.com', 'acme.com'],
    ['acme.com:8080', 'acme.com'],
    ['my_shop.acme.com', 'acme.com'],
    ['_dmarc.acme.com', 'acme.com'],
    ['city.kawasaki.jp', 'city.kawasaki.jp'],
    ['3m.com', '3m.com'],
    ['1-800-flowers.com', '1-800-flowers.com'],
    ['ai', SHARED],
  ],
  'private suffixes are suffixes, so a shop stays that shop': [
    ['acme.myshopify.com', 'acme.myshopify.com'],
    ['https://www.acme.myshopify.com/products', 'acme.myshopify.com'],
    ['acme.github.io', 'acme.github.io'],
    ['s3.amazonaws.com', SHARED],
    ['gov.uk', SHARED],
    ['co.uk', SHARED],
    ['com', SHARED],
  ],
  'a suffix is a website too: where its www is registrable, and where it is registered': [
    ['www.gov.uk', 'www.gov.uk'],
    ['https://www.gov.uk/browse', 'www.gov.uk'],
    ['WWW.NHS.UK', 'www.nhs.uk'],
    ['www.gov.br', 'www.gov.br'],
    ['www.service.gov.uk', 'service.gov.uk'],
    ['www.ck', 'www.ck'],
    ['github.io', 'github.io'],
    ['www.github.io', 'github.io'],
    ['https://www.blogspot.com/', 'blogspot.com'],
    ['www.uk.com', 'uk.com'],
    ['www.kawasaki.jp', SHARED],
  ],
  'a web address gives its host, whatever stands around it': [
    ['https://acme.com', 'acme.com'],
    ['HTTP://WWW.ACME.COM/', 'acme.com'],
    ['https://www.acme.co.uk:8443/a/b.html?c=d&e=https://beta.com#f', 'acme.co.uk'],
    ['acme.com/about', 'acme.com'],
    ['acme.com?utm_source=x', 'acme.com'],
    ['acme.com#top', 'acme.com'],
    ['//acme.com/x', 'acme.com'],
    ['https://user:secret@acme.com/', 'acme.com'],
    ['user:secret@acme.com', 'acme.com'],
    ['ftp://files.acme.com', 'acme.com'],
    ['http:/acme.com', 'acme.com'],
    ['http:acme.com', 'acme.com'],
    ['https//acme.com', 'acme.com'],
    ['http://https://acme.com', 'acme.com'],
    ['http:\\\\acme.com\\page', 'acme.com'],
    ['<https://acme.com>', 'acme.com'],
    ['https://medium.com/@acme', 'medium.com'],
    ['https://acme.com/a page, with blanks.pdf', 'acme.com'],
  ],
  'an address of another scheme is not a website': [
    ['android-app://com.acme.shop/', OTHER_SCHEME],
    ['file://server.acme.com/share', OTHER_SCHEME],
    ['javascript:void(0)', NOT_A_DOMAIN],
    ['tel:+4989123456', NOT_A_DOMAIN],
    ['https%3A%2F%2Facme.com', NOT_A_DOMAIN],
  ],
  'an e-mail address gives the domain behind it': [
    ['jo.public@acme.com', 'acme.com'],
    ['jo.public@mail.acme.co.uk', 'acme.co.uk'],
    ['mailto:jo@acme.com', 'acme.com'],
    ['MAILTO:jo@acme.com?subject=Hello there', 'acme.com'],
    ['Jo Public <jo@acme.com>', 'acme.com'],
    ['"Public, Jo" <jo@acme.com>', 'acme.com'],
    ['Beta.com Support <help@acme.com>', 'acme.com'],
    ['jo@acme.com <mailto:jo@acme.com>', 'acme.com'],
    ['jo@bücher.de', 'xn--bcher-kva.de'],
    ['jo@[192.0.2.1]', NOT_A_DOMAIN],
    ['jo@192.0.2.1', IP_ADDRESS],
    ['jo.in/out@acme.com', SEVERAL],
    ['jo.in?@acme', SEVERAL],
    ['acme.com/contact?mail=jo@acme.com', 'acme.com'],
    ['medium.com/@acme', 'medium.com'],
    ['https://www.google.com/maps/@48.1,11.5', 'google.com'],
    ['jo.public@', NOT_A_DOMAIN],
    ['jo.public@acme', NOT_A_DOMAIN],
    ['jo.public(at)acme.com', NOT_A_DOMAIN],
    ['jo at acme.com', WORDS],
  ],
  'a free mail provider is skipped behind an address, and only there': [
    ['jo@gmail.com', FREE_MAIL],
    ['Jo <JO@GoogleMail.com>', FREE_MAIL],
    ['jo@mail.yahoo.co.jp', FREE_MAIL],
    ['jo@hotmail.co.uk', FREE_MAIL],
    ['jo@gmx.net', FREE_MAIL],
    ['jo@t-online.de', FREE_MAIL],
    ['http://jo@gmail.com', FREE_MAIL],
    ['jo@gmail.com; ann@outlook.com', FREE_MAIL],
    ['gmail.com', 'gmail.com'],
    ['https://mail.yahoo.com', 'yahoo.com'],
    ['jo@yahoo-inc.com', 'yahoo-inc.com'],
    ['jo@live.acme.com', 'acme.com'],
  ],
  'one cell is one brand': [
    ['acme.com, www.acme.com', 'acme.com'],
    ['acme.com;', 'acme.com'],
    ['jo@acme.com; ann@acme.com', 'acme.com'],
    ['acme.com beta.com', 'acme.com'],
    ['acme.com; beta.com', 'acme.com'],
    ["['acme.com', 'beta.com']", 'acme.com'],
    ['["acme.com"]', 'acme.com'],
    ['acme.com ::: beta.com', 'acme.com'],
    ['acme.com\nbeta.com', 'acme.com'],
    ['acme.com|beta.com', 'acme.com'],
    ['https://acme.com/ https://beta.com/', 'acme.com'],
    ['Jo <jo@acme.com>, Ann <ann@beta.com>', 'acme.com'],
    ['jo@gmail.com, jo@acme.com', 'acme.com'],
    ['acme.com (old)', WORDS],
    ['Acme Ltd, acme.com', WORDS],
    ['Acme Ltd', NOT_A_DOMAIN],
  ],
  'what cannot be seen is not there': [
    ['\ufeffacme.com', 'acme.com'],
    ['acme\u200b.com', 'acme.com'],
    ['ac\u00adme.com', 'acme.com'],
    ['acme.com\u200d', 'acme.com'],
    ['\u00a0acme.com\u00a0', 'acme.com'],
    ['  acme.com\r\n', 'acme.com'],
    ['\u202aacme.com\u202c', 'acme.com'],
    ['acme。com', 'acme.com'],
    ['ａｃｍｅ．ｃｏｍ', 'acme.com'],
    ['ｈｔｔｐｓ：／／acme.com', 'acme.com'],
    ['jo＠acme.com', 'acme.com'],
    ['"acme.com"', 'acme.com'],
    ["'acme.com", 'acme.com'],
  ],
  'an internationalised name has one form': [
    ['bücher.de', 'xn--bcher-kva.de'],
    ['BÜCHER.DE', 'xn--bcher-kva.de'],
    ['bu\u0308cher.de', 'xn--bcher-kva.de'],
    ['XN--BCHER-KVA.de', 'xn--bcher-kva.de'],
    ['faß.de', 'xn--fa-hia.de'],
    ['пример.рф', 'xn--e1afmkfd.xn--p1ai'],
    ['日本語。jp', 'xn--wgv71a119e.jp'],
    ['نامه\u200cای.com', 'xn--mgba3gch31f060k.com'],
    ['xn--a.com', NOT_A_DOMAIN],
    ['xn--a-.com', NOT_A_DOMAIN],
    ['xn--.com', NOT_A_DOMAIN],
    ['xn--acme.com', NOT_A_DOMAIN],
    ['xn--999.com', NOT_A_DOMAIN],
    ['xn--bücher.de', NOT_A_DOMAIN],
    ['bücher%.de', NOT_A_DOMAIN],
    ['☃.net', 'xn--n3h.net'],
  ],
  'addresses of machines are not domains': [
    ['192.0.2.1', IP_ADDRESS],
    ['http://192.0.2.1:8080/x', IP_ADDRESS],
    ['2001:db8::1', IP_ADDRESS],
    ['http://[2001:db8::1]:8080/', IP_ADDRESS],
    ['[::1]', IP_ADDRESS],
    ['0x7f.1', 'invalid: a number, not a domain name'],
    ['12.5', 'invalid: a number, not a domain name'],
    ['localhost', RESERVED],
    ['http://localhost:3000/', RESERVED],
    ['printer.local', RESERVED],
    ['wiki.internal', RESERVED],
    ['nas.lan', RESERVED],
    ['acme.example', RESERVED],
    ['example.com', RESERVED],
    ['www.example.org', RESERVED],
    ['shop.example.net', RESERVED],
    ['acme.test', RESERVED],
    ['acmeabcdefg.onion', RESERVED],
  ],
  'other texts say why they are not domains': [
    ['acme.unknownsuffix', UNKNOWN],
    ['www.acme', UNKNOWN],
    ['acme', NOT_A_DOMAIN],
    ['-acme.com', NOT_A_DOMAIN],
    ['acme-.com', NOT_A_DOMAIN],
    ['acme_inc.com', NOT_A_DOMAIN],
    ['acme..com', NOT_A_DOMAIN],
    [`${'a'.repeat(64)}.com`, NOT_A_DOMAIN],
    [`${'a.'.repeat(130)}com`, NOT_A_DOMAIN],
    ['acme.com:80:90', NOT_A_DOMAIN],
    ['\ud800.com', NOT_A_DOMAIN],
    ['.', NOT_A_DOMAIN],
    ['..', NOT_A_DOMAIN],
    ['https://', NOT_A_DOMAIN],
    ['id_acme', NOT_A_DOMAIN],
    ['US0378331005', NOT_A_DOMAIN],
  ],
  'blanks and placeholders are skipped': [
    ['', BLANK],
    ['   ', BLANK],
    ['\u00a0\u200b', BLANK],
    ['""', BLANK],
    ['-', PLACEHOLDER],
    ['—', PLACEHOLDER],
    ['n/a', PLACEHOLDER],
    ['#N/A', PLACEHOLDER],
    ['NA', PLACEHOLDER],
    ['null', PLACEHOLDER],
    ['NULL', PLACEHOLDER],
    ['None', PLACEHOLDER],
    ['unknown', PLACEHOLDER],
  ],
};

for (const [title, table] of Object.entries(TABLES)) {
  describe(title, () => {
    it.each(table)('%j is %s', (text, expected) => {
      expect(read(text)).toBe(expected);
    });
  });
}
