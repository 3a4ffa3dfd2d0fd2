import { describe, expect, it } from 'vitest';
import { sniffTable } from '../../src/input/text/sniff-table.js';
import { folderOfFile, READING, readContent } from './reading.js';

function sniff(text: string) {
  return sniffTable({ name: 'in.csv', text, isWhole: true }, READING);
}

const folder = folderOfFile();

describe('the delimiter of a small or damaged file', () => {
  it.each([
    ['"name";"website"\n"a";"acme.com";\n', ';'],
    ['"name";"website"\n"a;"acme.com"\n', ';'],
    ['"name";"website"\n"a";"acme.com\n', ';'],
    ['"na,me";"website"\n"a, b";"acme.com";\n', ';'],
    ['"name"\t"website"\n"a, b, c"\t"acme.com"\t\n', '\t'],
    ['"name","website"\n"a; b","acme.com",\n', ','],
    ['company,website\nAcme, Inc.,acme.com\n', ','],
    // One column: its cells stay intact.
    ['company\nAcme, Inc.\nFoo\n', ';'],
  ])('of %j is %j', (text, delimiter) => {
    expect(sniff(text).delimiter).toBe(delimiter);
  });

  it('is named with its flag, as a guess, where the header cannot be read', () => {
    const text = '"name" ;"website"\n"a" ;"acme.com"\n';
    expect(() => sniff(text)).toThrow(/--delimiter if ',' \(detected\) does not separate the cells/);
    // A title above the names: the line of the names is known.
    expect(() => sniff('"A "good" title"\n\nname,website\na,acme.com\n')).toThrow(/--skip-lines 2 /);
  });

  it('is named with its flag, as a guess, where rows do not fit it', async () => {
    await expect(readContent(folder, 'company,website\nAcme, Inc.,acme.com\n')).rejects.toMatchObject({
      code: 'input-ragged',
      message: expect.stringMatching(
        /1 of 1 row with delimiter ',' \(detected\), first in line 2 .*another --delimiter/,
      ),
    });
    const asked = { delimiter: ';' };
    await expect(readContent(folder, 'company;website\nAcme; Inc.;acme.com\n', asked)).rejects.toThrow(
      /with delimiter ';', first in line 2/,
    );
  });
});

describe('quotes that enclose nothing', () => {
  it.each([
    ['name,website\nAcme, "acme.com"\n', 'in line 2 a blank before a quote'],
    ['name, "web, site"\nAcme,b.com\n', 'in line 1 a blank before a quote'],
    ["'name','website'\n'Acme','acme.com'\n", 'in line 1 cells are in single quotes'],
    ["name,website\n'Acme, Inc.','acme.com'\n'Beta',b.com\n", 'in line 2 cells are in single quotes'],
  ])('are reported: %j', (text, sentence) => {
    expect(sniff(text).warnings.join()).toContain(sentence);
  });

  it.each([
    "city,website\n's-Hertogenbosch,a.com\nthe '90s',b.com\nBonn,c.com\nRome,d.com\n",
    'size,website\n5" x 6",a.com\n 7",b.com\n',
    'name,website\n"Acme ""x""",a.com\n',
  ])('are not seen in %j', (text) => {
    expect(sniff(text).warnings).toEqual([]);
  });

  it('are named as the likely cause where rows do not fit', async () => {
    const text = 'name,website\nAcme, "Foo, bar.com"\n';
    await expect(readContent(folder, text)).rejects.toThrow(/3 cells .*in line 2 a blank before a quote/);
  });
});

it.each(['a', '1', '\n', 'é', ' '])('a file of hardly a byte (%j) is text', async (text) => {
  const read = await readContent(folder, text).catch((error: Error) => error);
  if (read instanceof Error) expect(read).toMatchObject({ code: 'input-empty' });
  else expect(read.input.shape.columns).toEqual([text]);
});
