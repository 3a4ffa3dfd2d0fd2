import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SpoolFile } from '../../../src/run/scan/spool-file.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { openSpool } from '../spools.js';

function append(file: SpoolFile, bytes: Uint8Array): number {
  const position = file.length;
  const { buffer, at } = file.room(bytes.length);
  buffer.set(bytes, at);
  file.advance(bytes.length);
  return position;
}

it('a spool file returns pieces by position, in any order', async () => {
  const file = await openSpool();
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 40 }), (pieces) => {
      const written = pieces.map((bytes) => ({ bytes, position: append(file, bytes) }));
      for (const { bytes, position } of written.reverse()) {
        expect(file.read(position, bytes.length).equals(bytes)).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});

it('a spool file keeps pieces larger than its buffer intact', async () => {
  const file = await openSpool();
  const large = Buffer.alloc(3_000_000, 'abc');
  const positions = [Buffer.from('before'), large, Buffer.from('after')].map((each) => append(file, each));
  expect(file.length).toBe(3_000_011);
  expect(file.read(positions[1] ?? 0, large.length).equals(large)).toBe(true);
  expect(file.read(positions[2] ?? 0, 5).toString()).toBe('after');
});

it('a spool file gives back reserved space that is not used', async () => {
  const file = await openSpool();
  const { buffer, at } = file.room(1_000);
  file.advance(buffer.write('short', at));
  expect(file.length).toBe(5);
  append(file, Buffer.from('!'));
  expect(file.read(0, 6).toString()).toBe('short!');
});

it('an open spool file has no name, so that a killed process leaves nothing', async () => {
  const folder = await temporaryFolder();
  const file = new SpoolFile(folder, 'rows', 'list.csv');
  append(file, Buffer.from('a row of a customer'));
  expect(readdirSync(folder)).toEqual([]);
  expect(file.read(0, 5).toString()).toBe('a row');
  await file.close();
  await file.close();
});

it('a spool file cannot be read beyond its end', async () => {
  const file = await openSpool();
  append(file, Buffer.from('abc'));
  expect(() => file.read(1, 3)).toThrow('ends before byte 4');
});

it('an error of a new spool file names the folder and the remedy', async () => {
  const folder = join(await temporaryFolder(), 'missing');
  expect(() => new SpoolFile(folder, 'rows', 'list.csv')).toThrow(
    `an output cannot be written: ${folder}; free space on the disk`,
  );
});
