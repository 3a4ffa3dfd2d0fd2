import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { openInput } from '../../src/input/open-input.js';
import { folderOfFile, intakeOptions, readAll, readContent } from './reading.js';

const folder = folderOfFile();

const TEXT = 'name;site\r\nMüller;m.de\r\nL’Oréal;loreal.com\r\n';
const CELLS = [
  ['Müller', 'm.de'],
  ['L’Oréal', 'loreal.com'],
];

describe('an input', () => {
  it.each([
    ['utf-8', Buffer.from(TEXT), false],
    ['utf-8', Buffer.from(`\ufeff${TEXT}`), true],
    ['utf-8', Buffer.from(`\ufeff\ufeff${TEXT}`), true],
    ['utf-16le', iconv.encode(TEXT, 'utf-16le', { addBOM: true }), true],
    ['utf-16be', iconv.encode(TEXT, 'utf-16be', { addBOM: true }), true],
    ['utf-16le', iconv.encode(TEXT, 'utf-16le'), false],
    ['windows-1252', iconv.encode(TEXT, 'windows-1252'), false],
  ])('in %s is read byte for byte (%#)', async (encoding, bytes, hasBom) => {
    const { input, rows } = await readContent(folder, bytes);
    expect(rows.map((it) => it.cells)).toEqual(CELLS);
    expect(rows.map((it) => it.raw)).toEqual(['Müller;m.de', 'L’Oréal;loreal.com']);
    expect(input.shape).toEqual({
      format: 'csv',
      delimiter: ';',
      lineEnd: '\r\n',
      hasBom,
      isGzip: false,
      encoding,
      columns: ['name', 'site'],
      rawHeader: 'name;site',
    });
    expect([input.detected, input.warnings]).toEqual([`CSV, delimiter ';', ${encoding}`, []]);
    expect(input.sample).toEqual(CELLS);
    expect(input.content().contentHash).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it.each(['\n', '\r\n', '\r'] as const)('with lines ended by %j is read', async (lineEnd) => {
    const lines = ['a,b', '1,"x\ny"', '2,z', ''];
    const { input, rows } = await readContent(folder, lines.join(lineEnd));
    expect(rows.map((it) => it.cells)).toEqual([
      ['1', 'x\ny'],
      ['2', 'z'],
    ]);
    expect(input.shape.lineEnd).toBe(lineEnd);
  });

  it('with a byte order mark loses only the mark, however long it is', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `${i},site${i}.com`);
    const { rows } = await readContent(folder, `\ufeffid,site\n${lines.join('\n')}\n`);
    expect(rows.map((it) => it.raw)).toEqual(lines);
  });

  it('packed with gzip has the hash of its content, also in several members', async () => {
    const plain = await readContent(folder, TEXT);
    const packed = Buffer.concat([gzipSync(TEXT.slice(0, 20)), gzipSync(TEXT.slice(20))]);
    const { input, rows } = await readContent(folder, packed, { name: 'in.csv.gz' });
    expect(rows).toEqual(plain.rows);
    expect(input.content().contentHash).toBe(plain.input.content().contentHash);
    expect(input.shape.isGzip).toBe(true);
    expect(input.detected).toBe("CSV, delimiter ';', utf-8, gzip");
  });

  it('from standard input leaves no file behind, and can be read repeatedly', async () => {
    const stdin = Readable.from([Buffer.from(TEXT.slice(0, 13)), Buffer.from(TEXT.slice(13))]);
    const input = await openInput('-', ...intakeOptions(folder, { stdin }));
    expect(await readdir(join(folder.path, 'spool'))).toEqual([]);
    expect(input.name).toBe('stdin');
    const first = await readAll(input);
    expect(first.map((it) => it.cells)).toEqual(CELLS);
    expect(await readAll(input)).toEqual(first);
    await input.assertUnchanged();
    await input.close();
    await input.close();
  });

  it('from a named pipe is read without stopping its writer', async () => {
    const path = join(folder.path, 'pipe');
    execFileSync('mkfifo', [path]);
    const [input] = await Promise.all([
      openInput(path, ...intakeOptions(folder)),
      writeFile(path, `${TEXT}${'x;y\r\n'.repeat(50_000)}`),
    ]);
    expect(await readAll(input)).toHaveLength(50_002);
    await input.close();
  });

  it('from a named pipe with a silent writer is empty, and not waited for', async () => {
    const path = join(folder.path, 'empty-pipe');
    execFileSync('mkfifo', [path]);
    const opening = openInput(path, ...intakeOptions(folder));
    await Promise.all([expect(opening).rejects.toMatchObject({ code: 'input-empty' }), writeFile(path, '')]);
  });

  it.each([
    ['standard input that is silent', '-'],
    ['a named pipe without a writer', 'silent'],
  ])('%s is closed when the run is stopped', async (_, name) => {
    const path = name === '-' ? name : join(folder.path, name);
    if (name !== '-') execFileSync('mkfifo', [path]);
    const stop = new AbortController();
    const stdin = new PassThrough();
    const opening = openInput(path, ...intakeOptions(folder, { stdin, stop: stop.signal }));
    stop.abort();
    await expect(opening).rejects.toMatchObject({ code: 'interrupted', exitCode: 130 });
  });

  it('a pass ends with an interruption when it is stopped between two batches', async () => {
    const path = await folder.write('long.csv', `website\n${'acme.com\n'.repeat(10_000)}`);
    const stop = new AbortController();
    const input = await openInput(path, ...intakeOptions(folder, { stop: stop.signal }));
    const rows = input.rows();
    expect((await rows.next()).done).toBe(false);
    stop.abort();
    await expect(rows.next()).rejects.toMatchObject({ code: 'interrupted', exitCode: 130 });
    await input.close();
  });

  it('of JSON lines knows the columns of the sample at once, and all of them in the end', async () => {
    const lines = Array.from({ length: 1500 }, (_, i) =>
      i === 1400 ? '{"a":"x","late":1}' : `{"a":"${i}"}`,
    );
    const path = await folder.write('in.jsonl', lines.join('\n').padEnd(2_000_000));
    const input = await openInput(path, ...intakeOptions(folder));
    expect(input.sample).toHaveLength(1000);
    expect(() => input.content().columns).toThrow();
    const rows = await readAll(input);
    expect(rows).toHaveLength(1500);
    expect(input.content().columns).toEqual(['a', 'late']);
    await input.close();
  });

  it('is delivered in batches of at most 4,096 rows, numbered without a gap', async () => {
    const path = await folder.write('many.csv', `n\n${'x\n'.repeat(300_000)}`);
    const input = await openInput(path, ...intakeOptions(folder));
    let count = 0;
    for await (const batch of input.rows()) {
      expect(batch.length).toBeLessThanOrEqual(4096);
      for (const row of batch) {
        count += 1;
        if (row.number !== count || row.line !== count + 1) throw new Error(`row ${count} is out of place`);
      }
    }
    expect(count).toBe(300_000);
    await input.close();
  });

  it('is read up to the limit, but hashed completely', async () => {
    const text = `n\n${Array.from({ length: 200_000 }, (_, i) => i).join('\n')}\n`;
    const whole = await readContent(folder, text);
    const path = await folder.write('limited.csv', text);
    const input = await openInput(path, ...intakeOptions(folder, { limit: 3 }));
    const rows = await readAll(input);
    expect(rows.map((it) => it.raw)).toEqual(['0', '1', '2']);
    expect(input.content().contentHash).toBe(whole.input.content().contentHash);
    expect(await readAll(input)).toEqual(rows);
    await input.close();
  });

  it('with only a header has no rows and says so', async () => {
    const { input, rows } = await readContent(folder, 'name,site');
    expect(rows).toEqual([]);
    expect(input.warnings).toContain('the table has a header and no rows');
    expect(input.shape.columns).toEqual(['name', 'site']);
  });

  it('keeps a replacement character of the user', async () => {
    const { rows } = await readContent(folder, 'a,b\nx\ufffdy,é\n');
    expect(rows[0]?.cells[0]).toBe('x\ufffdy');
  });

  it('reports how it treated blank lines once it was read', async () => {
    const path = await folder.write('blank.csv', 'a,b\n\n1,2\n');
    const input = await openInput(path, ...intakeOptions(folder));
    await readAll(input);
    await readAll(input);
    expect(input.warnings).toEqual(['1 blank line ignored']);
    await input.close();
  });
});

describe('an encoding that shows late', () => {
  const filler = 'Acme,acme.com\n'.repeat(150_000);

  it('is found when everything before was ASCII', async () => {
    const bytes = Buffer.concat([Buffer.from(`n,s\n${filler}`), Buffer.from('M\xfcller,m.de\n', 'latin1')]);
    const { input, rows } = await readContent(folder, bytes);
    expect(input.shape.encoding).toBe('windows-1252');
    expect(rows.at(-1)?.cells).toEqual(['Müller', 'm.de']);
  });

  it('stops reading with line and byte when it is not the one at the start', async () => {
    const before = `n,s\nMüller,m.de\n${filler}`;
    const bytes = Buffer.concat([Buffer.from(before), Buffer.from('K\xf6ln,k.de\n', 'latin1')]);
    const reading = readContent(folder, bytes);
    const byte = Buffer.byteLength(before) + 1;
    await expect(reading).rejects.toThrow(`line 150003, byte ${byte} (0xf6 is not utf-8)`);
    await expect(reading).rejects.toThrow('--encoding windows-1252');
    await expect(reading).rejects.toMatchObject({ code: 'input-encoding', exitCode: 5 });
  });

  it('counts the byte order mark when it reports the byte', async () => {
    const bytes = Buffer.concat([Buffer.from('\ufeffn,s\n'), Buffer.from('M\xfcller,x\n', 'latin1')]);
    await expect(readContent(folder, bytes)).rejects.toThrow('line 2, byte 8 (0xfc is not utf-8)');
  });
});

describe('an input that changes', () => {
  async function opened(name: string) {
    const path = await folder.write(name, 'a,b\n1,2\n');
    const input = await openInput(path, ...intakeOptions(folder));
    await readAll(input);
    await input.assertUnchanged();
    return { path, input };
  }

  it.each([
    ['grows', (path: string) => writeFile(path, 'a,b\n1,2\n3,4\n')],
    ['is touched', (path: string) => utimes(path, 1, 1)],
    [
      'is replaced by an equal file',
      async (path: string) => {
        await writeFile(`${path}.other`, 'a,b\n1,2\n');
        await rename(`${path}.other`, path);
      },
    ],
  ])('because it %s is detected', async (_, change) => {
    const { path, input } = await opened('changing.csv');
    await change(path);
    await expect(input.assertUnchanged()).rejects.toMatchObject({ code: 'input-changed', exitCode: 5 });
    await input.close();
  });

  it('is unchanged when only its permissions change', async () => {
    const { path, input } = await opened('rights.csv');
    await chmod(path, 0o400);
    await input.assertUnchanged();
    await input.close();
  });

  it('between two passes is detected by its content', async () => {
    const { path, input } = await opened('passes.csv');
    await writeFile(path, 'a,b\n1,3\n');
    await expect(readAll(input)).rejects.toMatchObject({ code: 'input-changed' });
    await input.close();
  });
});
