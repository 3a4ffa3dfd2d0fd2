import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { RunError } from '../../src/core/errors.js';
import { openInput } from '../../src/input/open-input.js';
import { folderOfFile, intakeOptions, readContent } from './reading.js';

const folder = folderOfFile();

/** As Interactive Brokers writes it. */
const STATEMENT = `\ufeffStatement,Header,Field Name,Field Value
Statement,Data,BrokerName,Interactive Brokers LLC
Account Information,Header,Field Name,Field Value
Account Information,Data,Base Currency,USD
Open Positions,Header,DataDiscriminator,Asset Category,Currency,Symbol,Quantity
Open Positions,Data,Summary,Stocks,USD,AAPL,10
Open Positions,Data,Summary,Stocks,USD,MSFT,5
Open Positions,Total,,Stocks,USD,,
`;

describe('an unreadable input stops with a reason', () => {
  it.each([
    ['a PDF', Buffer.from('%PDF-1.7\nabc'), 'input-binary', 'a PDF document'],
    ['gzip in gzip', gzipSync(gzipSync('a,b')), 'input-binary', 'gzip data inside gzip'],
    ['zeros', Buffer.alloc(5000), 'input-binary', 'control characters'],
    ['a cut gzip', gzipSync('a,b\n'.repeat(9999)).subarray(0, 60), 'input-missing', 'damaged or cut off'],
    [
      'a cut workbook',
      Buffer.from('PK\u0003\u0004abc'),
      'input-binary',
      '(its ZIP archive is cut off or damaged)',
    ],
    ['several tables', Buffer.from(STATEMENT), 'input-preamble', "one of them: grep '^Open Positions,' "],
    ['nothing', Buffer.alloc(0), 'input-empty', 'has no records'],
    ['only a byte order mark', Buffer.from('\ufeff'), 'input-empty', 'has no records'],
    [
      'a header too long to look at',
      Buffer.from(`website,${'x,'.repeat(90_000)}\nacme.com\n`),
      'input-binary',
      'no line ends in its first 131072 characters',
    ],
    ['Cyrillic', iconv.encode('имя;город\nГазпром;Москва\n', 'windows-1251'), 'input-encoding', '--encoding'],
  ])('%s', async (_, bytes, code, words) => {
    const reading = readContent(folder, bytes);
    await expect(reading).rejects.toBeInstanceOf(RunError);
    await expect(reading).rejects.toMatchObject({ code });
    await expect(reading).rejects.toThrow(words);
  });

  it('the lock file that an Office program keeps beside an open one', async () => {
    const reading = readContent(folder, `\u0005Anna${'\0'.repeat(160)}`, { name: '~$list.xlsx' });
    await expect(reading).rejects.toMatchObject({ code: 'input-binary' });
    await expect(reading).rejects.toThrow('the lock file of an Office program, not a table; give list.xlsx');
  });

  it.each([
    ['a missing file', 'nowhere.csv'],
    ['a folder', '.'],
  ])('%s', async (_, name) => {
    const opening = openInput(join(folder.path, name), ...intakeOptions(folder));
    await expect(opening).rejects.toMatchObject({ code: 'input-missing', exitCode: 5 });
  });

  it('lines that are not JSON under a name that says so', async () => {
    const reading = readContent(folder, 'a,b\n1,2\n', { name: 'x.jsonl' });
    await expect(reading).rejects.toThrow('no line of the input is a JSON object');
  });

  it('missing standard input', async () => {
    await expect(openInput('-', ...intakeOptions(folder))).rejects.toMatchObject({ code: 'usage-invalid' });
  });

  it('standard input that breaks off', async () => {
    const stdin = new Readable({ read: () => undefined });
    const opening = openInput('-', ...intakeOptions(folder, { stdin }));
    stdin.destroy(new Error('gone'));
    await expect(opening).rejects.toMatchObject({ code: 'input-missing' });
  });

  it('a spool folder that cannot be used', async () => {
    const file = await folder.write('a-file', '');
    const options = intakeOptions(folder, { spoolFolder: join(file, 'spool'), stdin: Readable.from(['a']) });
    const opening = openInput('-', ...options);
    await expect(opening).rejects.toMatchObject({ code: 'output-unwritable' });
  });
});
