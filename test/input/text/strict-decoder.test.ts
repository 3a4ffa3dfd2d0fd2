import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { createStrictDecoder, EncodingFault } from '../../../src/input/text/strict-decoder.js';

function decode(encoding: string, bytes: Buffer, size = bytes.length || 1): string {
  const decoder = createStrictDecoder(encoding);
  let text = '';
  for (let at = 0; at < bytes.length; at += size) text += decoder.write(bytes.subarray(at, at + size), false);
  return text + decoder.write(Buffer.alloc(0), true);
}

function faultOf(encoding: string, bytes: Buffer, size?: number): EncodingFault {
  try {
    decode(encoding, bytes, size);
  } catch (error) {
    if (error instanceof EncodingFault) return error;
    throw error;
  }
  throw new Error('no fault');
}

const TEXT = 'Müller,Zürich\nL’Oréal,5 €\n';

describe('strict decoding', () => {
  it.each([
    ['utf-8', `${TEXT}漢字😀\ufffd`],
    ['utf-16le', `${TEXT}漢字😀\ufffd`],
    ['utf-16be', `${TEXT}漢字😀\ufffd`],
    ['windows-1252', TEXT],
    ['iso-8859-1', 'Müller\x92'],
    ['shift_jis', '会社名,トヨタ'],
    ['utf-32le', '漢字😀'],
  ])('reads %s in chunks of any size', (encoding, text) => {
    const bytes = iconv.encode(text, encoding, { addBOM: false });
    for (let size = 1; size <= 9; size += 1) expect(decode(encoding, bytes, size)).toBe(text);
  });

  it('reads any UTF-8 in chunks of any size', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 7 }), (text, size) => {
        expect(decode('utf-8', Buffer.from(text), size)).toBe(text);
      }),
    );
  });

  it.each([
    ['a byte of another code page', 'utf-8', Buffer.from('ab\nM\xfcller', 'latin1'), 4, 'fc'],
    ['a character cut off at the end', 'utf-8', Buffer.from('ab漢').subarray(0, 4), 2, 'e6'],
    ['a character cut off in the middle', 'utf-8', Buffer.from('a\xe6\xbcb漢', 'latin1'), 1, 'e6'],
    ['an encoded surrogate', 'utf-8', Buffer.from('a\xed\xa0\x80', 'latin1'), 1, 'ed'],
    ['a low surrogate alone', 'utf-8', Buffer.from('é\x80'.normalize(), 'latin1'), 0, 'e9'],
    ['half a unit at the end', 'utf-16le', Buffer.from('ab').subarray(0, 1), 0, '61'],
    ['a lone surrogate', 'utf-16le', Buffer.from('a\ud83d\nb', 'utf16le'), 2, '3d'],
    ['a lone surrogate at the end', 'utf-16le', Buffer.from('a\ud83d', 'utf16le'), 2, '3d'],
  ])('stops at %s and reports the position', (_, encoding, bytes, offset, seen) => {
    for (const size of [1, 2, 3, 100]) {
      expect(faultOf(encoding, bytes, size).byte).toEqual({ offset, seen });
    }
  });

  it.each([
    ['shift_jis', '会社名,トヨタ自動車 ', '\x82\x20日本'],
    ['gbk', '公司名称,中国', '\xff'],
    ['big5', '公司名稱,台灣', '\xff\x20'],
    ['windows-1252', 'Zürich,é', '\x81'],
    ['utf-32le', '漢字', '\xff\xff\xff\xff'],
  ])('stops at bytes that %s does not have, wherever a read ends', (encoding, text, fault) => {
    const bytes = Buffer.concat([iconv.encode(text, encoding), Buffer.from(fault, 'latin1')]);
    for (let size = 1; size <= bytes.length; size += 1) {
      const { byte, textBefore } = faultOf(encoding, bytes, size);
      expect(byte).toBeNull();
      expect(text.endsWith(textBefore)).toBe(true);
    }
  });

  it('returns the text before the fault, so that lines can be counted', () => {
    expect(faultOf('utf-8', Buffer.from('é\n\nb\xfc', 'latin1')).textBefore).toBe('');
    expect(faultOf('utf-8', Buffer.concat([Buffer.from('é\n\nb'), Buffer.of(0xfc, 10)])).textBefore).toBe(
      'é\n\nb',
    );
    expect(faultOf('windows-1252', Buffer.from('a\né\x8d', 'latin1')).textBefore).toBe('a\né');
  });
});
