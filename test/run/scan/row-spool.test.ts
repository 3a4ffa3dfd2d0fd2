import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ROW_KINDS, type RowKind, RowSpool, readRow } from '../../../src/run/scan/row-spool.js';
import { anyText } from '../../support/properties.js';
import { openSpool } from '../spools.js';

interface Added {
  readonly line: number;
  readonly kind: RowKind;
  readonly candidates: readonly number[];
  readonly reason: string;
  readonly raw: string;
}

function addAll(spool: RowSpool, rows: readonly Added[]): void {
  for (const { line, kind, candidates, reason, raw } of rows) spool.add(line, kind, candidates, reason, raw);
}

/** Rows with texts of these lengths. */
function rowsOf(lengths: readonly number[]): Added[] {
  return lengths.map((length, at) => ({
    line: at + 2,
    kind: 'asked',
    candidates: [at],
    reason: '',
    raw: 'é'.repeat(length),
  }));
}

const readAll = (spool: RowSpool) => [...spool.records()].flat().map(readRow);

/** Text of any characters that a decoder gives, alone and together; no half of a pair. */
const text = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom('', '\u0000', '"a ""quoted"" cell",é\n', '\ud83e\uddf8', '\ufeff', '\r\n'),
);

const row: fc.Arbitrary<Added> = fc.record({
  line: fc.integer({ min: 1, max: 0xffff_ffff }),
  kind: fc.constantFrom(...ROW_KINDS),
  candidates: fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { maxLength: 6 }),
  reason: text,
  raw: text,
});

it('the spool returns rows unchanged and in order, as often as they are read', async () => {
  const rows: Added[] = [];
  const spool = new RowSpool(await openSpool());
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), (more) => {
      rows.push(...more);
      addAll(spool, more);
      const expected = rows.map((each, at) => ({ number: at + 1, ...each }));
      expect(readAll(spool)).toEqual(expected);
      expect(readAll(spool)).toEqual(expected);
      expect(spool.count).toBe(rows.length);
    }),
    { numRuns: 40 },
  );
});

it('the spool returns rows that span two reads, and rows longer than one', async () => {
  const spool = new RowSpool(await openSpool());
  const lengths = [10, 1_048_560, 30, 2_500_000, 5, 700_000, 700_000, 1];
  addAll(spool, rowsOf(lengths));
  const rows = readAll(spool);
  expect(rows.map(({ raw }) => raw.length)).toEqual(lengths);
  expect(rows.map(({ candidates }) => candidates)).toEqual(lengths.map((_, at) => [at]));
});

const startsOf = (spool: RowSpool) => {
  let end = 0;
  return Float64Array.from([0, ...[...spool.records()].flat().map(({ length }) => (end += length))]);
};

it('inOrder returns rows in any order, also if far apart or longer than a block', async () => {
  const lengthAt = (at: number) => (at % 40 === 7 ? 300_000 : at % 13 === 5 ? 6_000 : at);
  const lengths = Array.from({ length: 400 }, (_, at) => lengthAt(at));
  const spool = new RowSpool(await openSpool());
  addAll(spool, rowsOf(lengths));
  const all = readAll(spool);
  const starts = startsOf(spool);
  const order = fc.shuffledSubarray([...all.keys()]);
  fc.assert(
    fc.property(order, (rows) => {
      const read = [];
      for (const record of spool.inOrder(Uint32Array.from(rows), starts)) read.push(readRow(record));
      expect(read).toEqual(rows.map((row) => all[row]));
    }),
    { numRuns: 30 },
  );
});

it('the spool has no batches without rows', async () => {
  expect([...new RowSpool(await openSpool()).records()]).toEqual([]);
});

it('the spool drops candidates after the 255th', async () => {
  const spool = new RowSpool(await openSpool());
  const many = Array.from({ length: 300 }, (_, at) => at);
  spool.add(2, 'asked', many, '', 'raw');
  spool.add(2, 'asked', [7], '', 'next');
  const [first, second] = readAll(spool);
  expect(first).toMatchObject({ candidates: many.slice(0, 255), raw: 'raw' });
  expect(second).toMatchObject({ candidates: [7], raw: 'next' });
});
