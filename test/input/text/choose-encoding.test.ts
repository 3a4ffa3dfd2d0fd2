import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { chooseEncoding } from '../../../src/input/text/choose-encoding.js';

function sniff(bytes: Buffer) {
  const begin = bytes.findIndex((byte) => byte > 127);
  const stretch = begin < 0 ? Buffer.alloc(0) : bytes.subarray(Math.max(0, begin - 4096));
  return chooseEncoding('in.csv', null, { head: bytes, isWhole: true, stretch });
}

const FILL = 'Acme Industries;acme.com\n';

describe('the encoding of bytes', () => {
  it.each([
    ['ASCII', 'utf-8', Buffer.from('a,b\n1,2\n')],
    ['UTF-8', 'utf-8', Buffer.from('name\nMüller 漢字\n')],
    ['UTF-16LE without a mark', 'utf-16le', Buffer.from('name;ort\nMüller;Köln\n', 'utf16le')],
    ['UTF-16BE without a mark', 'utf-16be', iconv.encode('name;ort\nMüller;Köln\n', 'utf-16be')],
    ['Chinese in UTF-16LE', 'utf-16le', Buffer.from('公司,城市\n阿里巴巴集团,杭州\n'.repeat(30), 'utf16le')],
    ['German', 'windows-1252', iconv.encode(`${FILL}Müller;Köln\n`, 'windows-1252')],
    ['French with a curly apostrophe', 'windows-1252', iconv.encode('nom\nL’Oréal\n', 'windows-1252')],
    ['German in quotes', 'windows-1252', iconv.encode('Firma\n„Groß“\n„Süß“ Köln\nMüller\n', 'windows-1252')],
    ['one accent in a long file', 'windows-1252', iconv.encode(`${FILL.repeat(300)}Nestlé;x\n`, 'latin1')],
    ['a short table with one NUL', 'utf-8', Buffer.from('name,website\nA,a.com\nB\0,b.com\nC,c.co\n')],
    ['very little UTF-16LE', 'utf-16le', Buffer.from('a\nb.c\n', 'utf16le')],
    ['very little Chinese in UTF-16BE', 'utf-16be', iconv.encode('公司,城市\n阿里,杭州\n', 'utf-16be')],
    // Damaged rather than another code page: decoded strictly, so that the position is found.
    ['UTF-8 with one bad byte', 'utf-8', Buffer.concat([Buffer.from('Müller Köln '), Buffer.of(0xe9, 10)])],
  ])('is detected for %s', (_, encoding, bytes) => {
    expect(sniff(bytes)).toEqual({ encoding, bomBytes: 0 });
  });

  it.each([
    ['utf-8', 3],
    ['utf-16le', 2],
    ['utf-16be', 2],
    ['utf-32le', 4],
  ])('is indicated by the byte order mark of %s', (encoding, bomBytes) => {
    const bytes = iconv.encode('a,b\n', encoding, { addBOM: true });
    expect(sniff(bytes)).toEqual({ encoding, bomBytes });
  });

  it.each([
    ['windows-1251', 'название;город\nГазпром;Москва\nЯндекс;Москва\n'],
    ['windows-1250', 'nazwa;miasto\nŁódź Spółka;Łódź\nŻabka;Poznań\nŚląsk;Gdańsk\n'],
    ['shift_jis', '会社名,都市\nトヨタ自動車,豊田市\n任天堂,京都市\n'],
    ['euc-kr', '회사,도시\n삼성전자,수원\n현대자동차,서울\n'],
  ])('is not guessed for a few words in %s, but suggested', (encoding, text) => {
    const todo = `set it, for example --encoding ${encoding}`;
    expect(() => sniff(iconv.encode(text, encoding))).toThrow(todo);
  });

  it.each([
    [
      'windows-1250',
      'nazwa;miasto;branża\n',
      'Przedsiębiorstwo Wielobranżowe Dąbrowski;Łódź;budowa domów\nZakład Mięsny Święty;Gdańsk;żywność\nSpółdzielnia Mleczarska;Ostrołęka;mleko i sery\nHurtownia Części;Rzeszów;części\n',
    ],
    [
      'shift_jis',
      '会社名,都市\n',
      'トヨタ自動車株式会社,豊田市\n任天堂株式会社,京都市\nソニーグループ,東京都港区\n',
    ],
    ['windows-1251', 'название;город\n', 'Публичное общество Газпром;Москва\nКомпания Яндекс;Москва\n'],
    ['euc-kr', '회사,도시\n', '삼성전자주식회사,수원\n현대자동차,서울특별시\n엘지화학,서울특별시\n'],
    ['big5', '證券代號,名稱\n', '台灣積體電路製造股份有限公司,新竹\n鴻海精密工業,新北市\n聯發科技,新竹\n'],
  ])('is %s where the text is long enough to be far likelier so', (encoding, header, rows) => {
    expect(sniff(iconv.encode(header + rows.repeat(5), encoding)).encoding).toBe(encoding);
  });

  it('is ambiguous where two encodings are mixed', () => {
    const mixed = Buffer.concat([
      Buffer.from('Müller\n'),
      Buffer.from('Z\xfcrich\nK\xf6ln\nStra\xdfe', 'latin1'),
    ]);
    expect(() => sniff(mixed)).toThrow('the encoding of the input is unclear');
  });

  it('is binary with many control characters, and text with a few of them', () => {
    const bytes = Buffer.from(Array.from({ length: 4000 }, (_, i) => i % 256));
    expect(() => sniff(bytes)).toThrow('control characters in the first 4000 bytes');
    expect(() => sniff(Buffer.from(`a,b\n${'x\0y,z\n'.repeat(3)}`))).not.toThrow();
  });
});

describe('a requested encoding', () => {
  const choose = (asked: string, bytes: Buffer) =>
    chooseEncoding('in.csv', asked, {
      head: bytes,
      isWhole: true,
      stretch: bytes.subarray(
        Math.max(
          0,
          bytes.findIndex((byte) => byte > 127),
        ),
      ),
    });

  it('detects the byte order of utf-16 by the mark or by the zeros', () => {
    const text = 'name,site\na,b\n';
    expect(choose('utf-16', iconv.encode(text, 'utf-16be', { addBOM: true }))).toMatchObject({
      encoding: 'utf-16be',
      bomBytes: 2,
    });
    expect(choose('utf-16', iconv.encode(text, 'utf-16be'))).toEqual({ encoding: 'utf-16be', bomBytes: 0 });
  });

  it('is refused when the bytes contradict it', () => {
    expect(() => choose('iso-8859-1', Buffer.from('\ufeffa,b'))).toThrow('byte order mark of utf-8');
    expect(() => choose('iso-8859-1', Buffer.from('Müller, Köln, Łódź'))).toThrow('its text is utf-8');
    expect(choose('iso-8859-1', Buffer.from('M\xfcller', 'latin1')).encoding).toBe('iso-8859-1');
  });
});
