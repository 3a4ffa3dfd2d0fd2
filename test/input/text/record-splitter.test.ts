import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordSplitter, type SplitterOptions } from '../../../src/input/text/record-splitter.js';

const CSV: SplitterOptions = { mode: 'lf', delimiter: ',', columnCount: 2, passLines: 0 };

function split(text: string, options: Partial<SplitterOptions> = {}) {
  return new RecordSplitter({ ...CSV, ...options }).push(text, true);
}

/** `line:raw`, with `!` before records that could not be read. */
function sketch(text: string, options: Partial<SplitterOptions> = {}): string[] {
  return split(text, options).map((it) => `${it.problem === null ? '' : '!'}${it.line}:${it.raw}`);
}

describe('the record splitter', () => {
  it.each([
    ['ends records at LF, CRLF and the end of the text', 'a,b\nc,d\r\ne,f', ['1:a,b', '2:c,d', '3:e,f']],
    ['keeps a CR inside a bare cell', 'a\rx,b\nc,d\n', ['1:a\rx,b', '2:c,d']],
    ['keeps line breaks inside quotes', 'a,"b\nc\r\nd"\ne,f\n', ['1:a,"b\nc\r\nd"', '4:e,f']],
    ['takes quotes in a bare cell as data', '5" pipe,b\nJoe "J" Doe,c\n', ['1:5" pipe,b', '2:Joe "J" Doe,c']],
    ['ends a quoted cell before CRLF', 'a,"b"\r\n"c",d\r\n', ['1:a,"b"', '2:"c",d']],
    ['ends a quoted cell at the end of the text', 'a,"b"', ['1:a,"b"']],
    ['ends a quoted cell before a last lone CR', 'a,"b"\r', ['1:a,"b"']],
    ['returns blank lines', '\n\r\na,b\n', ['1:', '2:', '3:a,b']],
    ['rejects text after a closing quote', '"a"x,b\nc,d\n', ['!1:"a"x,b', '2:c,d']],
    ['rejects a cell that is never closed', 'a,"b\nc,d\ne,f', ['!1:a,"b', '2:c,d', '3:e,f']],
    ['rejects up to the line where the faulty cell begins', '"a\nb","c\nd,e\n', ['!1:"a\nb","c', '3:d,e']],
    [
      'continues after a stray quote that meets a proper one',
      'a,"b\nc,d\ne,"f, g"\n',
      ['!1:a,"b', '2:c,d', '3:e,"f, g"'],
    ],
  ])('%s', (_, text, expected) => {
    expect(sketch(text)).toEqual(expected);
  });

  it.each([
    ['CR', 'a,b\rc,"d\ne"\rf,g', ['1:a,b', '2:c,"d\ne"', '4:f,g']],
    ['CRLF among CR', 'a,b\rc,"d"\r\ne,f\r', ['1:a,b', '2:c,"d"', '3:e,f']],
  ])('in a file with lines ended by CR, reads %s', (_, text, expected) => {
    expect(sketch(text, { mode: 'cr' })).toEqual(expected);
  });

  it('names the reason, and the line of the cell where it is not the first', () => {
    expect(split('"a\nb","c"d\n')[0]?.problem).toEqual({ code: 'text_after_quote', cellLine: 2 });
    expect(split('"a"b,c\n')[0]?.problem).toEqual({ code: 'text_after_quote' });
    expect(split('a,"b')[0]?.problem).toEqual({ code: 'open_quote' });
  });

  it('allows 100 line breaks in a quoted cell and no more', () => {
    const lines = (breaks: number) => `a,"${'x\n'.repeat(breaks)}"\nc,d\n`;
    expect(split(lines(100)).map((it) => it.line)).toEqual([1, 102]);
    const over = split(lines(101));
    expect(over[0]?.problem).toEqual({ code: 'many_line_breaks', most: 100 });
    expect(over[0]?.raw).toBe('a,"x');
    expect(over).toHaveLength(103);
    expect(over.at(-1)).toMatchObject({ line: 103, raw: 'c,d', problem: null });
  });

  it('allows 64 KiB in a quoted cell and no more', () => {
    const cell = (length: number) => `a,"${'x'.repeat(length)}"\nc,d\n`;
    expect(split(cell(65_536))[0]?.problem).toBe(null);
    const over = split(cell(65_537));
    expect(over[0]?.problem).toEqual({ code: 'long_quoted_cell' });
    expect(over[1]).toMatchObject({ line: 2, raw: 'c,d', problem: null });
  });

  it('detects rows glued together by two stray quotes', () => {
    const rows = Array.from({ length: 40 }, (_, i) => `name ${i},site${i}.com`);
    rows[5] = 'name 5,"site5.com';
    rows[30] = 'name 30,site30.com"';
    const records = split(`${rows.join('\n')}\n`);
    expect(records.filter((it) => it.problem !== null).map((it) => it.line)).toEqual([6]);
    expect(records).toHaveLength(40);
  });

  it('does not take a list in a cell for glued rows', () => {
    const record = 'Acme,"Berlin, Germany\nParis, France\nRome, Italy\nOslo, Norway\nBern"';
    expect(sketch(`${record}\nx,y\n`)).toEqual([`1:${record}`, '6:x,y']);
  });

  it('does not take lines for glued rows when other quotes stand among them', () => {
    const record = 'Acme,"Rome\nOslo, Norway\nParis, ""France""\nBonn, Germany\nBern, Switzerland"';
    expect(sketch(`${record}\nx,y\n`)).toEqual([`1:${record}`, '6:x,y']);
  });

  it('does not take an address of a few lines for glued rows', () => {
    const record = 'Acme,"Main St\nRome, Italy\nEurope, Earth"';
    expect(sketch(`${record}\nx,y\n`)).toEqual([`1:${record}`, '4:x,y']);
  });

  it('keeps only the beginning of an endless record, and continues after it', () => {
    const splitter = new RecordSplitter(CSV);
    const records = [
      ...splitter.push('a,b\n', false),
      ...Array.from({ length: 30 }, () => splitter.push('x'.repeat(100_000), false)).flat(),
      ...splitter.push('\nc,d\n', true),
    ];
    expect(records.map((it) => it.line)).toEqual([1, 2, 3]);
    expect(records[1]?.problem).toEqual({ code: 'large_record' });
    expect(records[1]?.raw).toHaveLength(1024 * 1024);
    expect(records[2]?.raw).toBe('c,d');
    expect(splitter.position().rest).toBe('');
  });

  it('skips lines without interpreting their quotes', () => {
    expect(sketch('a "title\r\n\r\nb,c\n', { passLines: 2 })).toEqual(['3:b,c']);
  });

  it('reads the same records however the text is cut into chunks', () => {
    const piece = fc.constantFrom('a', ',', '"', '""', '\n', '\r\n', '\r', '","', '"\n"', 'é', 'x,y\n');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }),
        fc.array(fc.nat(5), { minLength: 1, maxLength: 20 }),
        fc.constantFrom('lf' as const, 'cr' as const),
        (pieces, sizes, mode) => {
          const text = pieces.join('');
          const splitter = new RecordSplitter({ ...CSV, mode });
          const records = [];
          let at = 0;
          for (let i = 0; at < text.length; i += 1) {
            const size = 1 + (sizes[i % sizes.length] ?? 0);
            records.push(...splitter.push(text.slice(at, at + size), false));
            at += size;
          }
          records.push(...splitter.push('', true));
          expect(records).toEqual(split(text, { mode }));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('loses no character but line ends, and ends every record at a line end', () => {
    const piece = fc.constantFrom('a', ',', '"', '""', '\n', '","', 'b"c');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 80 }), (pieces) => {
        const text = pieces.join('');
        const records = split(text);
        expect(records.map((it) => it.raw).join('\n')).toBe(text.replace(/\n$/, ''));
        let line = 1;
        for (const record of records) {
          expect(record.line).toBe(line);
          line += record.raw.split('\n').length;
        }
      }),
      { numRuns: 500 },
    );
  });
});
