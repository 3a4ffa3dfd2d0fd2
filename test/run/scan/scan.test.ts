import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readRow, reasonInCell } from '../../../src/run/scan/row-spool.js';
import { inputFacts, type Scan, wantNextCandidates } from '../../../src/run/scan/scan.js';
import { scanText } from '../scanned.js';

const WEBSITE = { name: 'website', kind: 'domain' } as const;
const TICKER = { name: 'ticker', kind: 'ticker' } as const;
const RENDERED = { before: '', after: '' };

const rowsOf = (scan: Scan) => [...scan.rows.records()].flat().map(readRow);
/** Returns the candidates of each row, such as `0,3`. */
const candidatesOf = (scan: Scan) => rowsOf(scan).map(({ candidates }) => candidates.join());

const CUSTOMERS = `id,website,ticker
1,https://www.acme.com/about,ACME
2,,BETA
3,acme.com,GAMA
4,localhost,
5,,
6,info@acme.com,
7,"beta.io, formerly gamma.io",BETA
8,someone@gmail.com,
9,too,many,cells
10,delta.org,DLTA
`;

describe('one column', () => {
  it('keeps every row, wanted, invalid, skipped or unreadable, and counts them', async () => {
    const { scan, texts } = await scanText(CUSTOMERS, { columns: [WEBSITE] });
    expect(texts).toEqual(['domain:acme.com', 'domain:delta.org']);
    expect(rowsOf(scan).map(({ raw }) => raw)).toEqual(CUSTOMERS.trimEnd().split('\n').slice(1));
    expect(rowsOf(scan).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const kinds = rowsOf(scan).map(({ kind }) => kind);
    expect(kinds.slice(0, 5)).toEqual(['asked', 'skipped', 'asked', 'invalid', 'skipped']);
    expect(kinds.slice(5)).toEqual(['asked', 'invalid', 'skipped', 'unreadable', 'asked']);
    expect(candidatesOf(scan)).toEqual(['0', '', '0', '', '', '0', '', '', '', '1']);
    const misfits = { unreadable: 1, misfits: 1, short: 0, long: 0 };
    const counts = { selected: 9, asked: 4, invalid: 2, skipped: 3, duplicates: 2, ...misfits };
    expect(scan.counts).toEqual(counts);
    expect(Object.fromEntries(scan.byKind)).toEqual({ domain: 2 });
    expect([scan.answers.wanted, scan.answers.answered]).toEqual([2, 0]);
  });

  it('counts reasons, and shows the first wrong rows with their lines', async () => {
    const { scan } = await scanText(CUSTOMERS, { columns: [WEBSITE] });
    const misfit = { code: 'cell_count', cells: 4, columns: 3 };
    expect([...scan.reasons.skipped]).toEqual([
      { value: { code: 'blank' }, count: 2 },
      { value: { code: 'free_mail' }, count: 1 },
    ]);
    expect([...scan.reasons.invalid]).toEqual([
      { value: { code: 'private_host' }, count: 1 },
      { value: { code: 'with_words' }, count: 1 },
      { value: misfit, count: 1 },
    ]);
    expect(scan.invalid.map(({ line }) => line)).toEqual([5, 8, 10]);
    expect(scan.invalid[2]?.reason).toEqual(misfit);
    const cells = rowsOf(scan).flatMap((row) => (row.reason === '' ? [] : [reasonInCell(row)]));
    expect(cells[0]).toBe('the cell is blank');
    expect(cells.at(-1)).toBe('line 10: 4 cells instead of 3');
  });

  it('treats a cell seen before, or an equal brand in another spelling, as the same identifier', async () => {
    const cells = ['acme.com', 'ACME.COM', 'acme.com', 'http://acme.com/', 'beta.io', 'acme.com', 'beta.io'];
    const { scan, texts } = await scanText(`website\n${cells.join('\n')}\n`, { columns: [WEBSITE] });
    expect(texts).toEqual(['domain:acme.com', 'domain:beta.io']);
    expect(candidatesOf(scan)).toEqual(['0', '0', '0', '0', '1', '0', '1']);
    expect(scan.counts).toMatchObject({ asked: 7, duplicates: 5 });
  });

  it('treats an invalid cell as invalid again', async () => {
    const text = 'website\nlocalhost\nlocalhost\n\nacme.com\nlocalhost\n';
    const { scan } = await scanText(text, { columns: [WEBSITE] });
    expect(scan.counts).toMatchObject({ asked: 1, invalid: 3, duplicates: 0 });
  });
});

describe('several columns', () => {
  it('without --waterfall use the first that has an identifier', async () => {
    const { scan, texts } = await scanText(CUSTOMERS, { columns: [WEBSITE, TICKER] });
    expect(texts).toEqual(['domain:acme.com', 'ticker:BETA', 'domain:delta.org']);
    expect(candidatesOf(scan)).toEqual(['0', '1', '0', '', '', '0', '1', '', '', '2']);
    expect(Object.fromEntries(scan.byKind)).toEqual({ domain: 2, ticker: 1 });
  });

  it('with --waterfall number the others as candidates, which are not wanted yet', async () => {
    const { scan, texts } = await scanText(CUSTOMERS, { columns: [WEBSITE, TICKER], waterfall: true });
    const rest = ['ticker:BETA', 'ticker:GAMA', 'domain:delta.org', 'ticker:DLTA'];
    expect(texts).toEqual(['domain:acme.com', 'ticker:ACME', ...rest]);
    expect(candidatesOf(scan)).toEqual(['0,1', '2', '0,3', '', '', '0', '2', '', '', '4,5']);
    expect([0, 1, 2, 3, 4, 5].filter((index) => scan.answers.isWanted(index))).toEqual([0, 2, 4]);
    expect(scan.answers.wanted).toBe(3);
  });

  it('make the next candidate wanted only after "not found"', async () => {
    const { scan } = await scanText(CUSTOMERS, { columns: [WEBSITE, TICKER], waterfall: true });
    const { answers } = scan;
    expect(wantNextCandidates(scan)).toBe(0);
    answers.set(0, 'not_found', null, RENDERED);
    answers.set(2, 'not_found', null, RENDERED);
    answers.set(4, 'matched', 1, RENDERED);
    expect(wantNextCandidates(scan)).toBe(2);
    expect([1, 3, 5].map((index) => answers.isWanted(index))).toEqual([true, true, false]);
    expect(wantNextCandidates(scan)).toBe(0);
  });

  it.each(['failed', 'deferred'] as const)('make nothing more wanted if the lookup %s', async (status) => {
    const { scan } = await scanText(CUSTOMERS, { columns: [WEBSITE, TICKER], waterfall: true });
    scan.answers.set(0, status, null, RENDERED);
    scan.answers.set(4, status, null, RENDERED);
    expect(wantNextCandidates(scan)).toBe(0);
  });

  it('proceed to the last candidate, past those that another row has answered', async () => {
    const { scan, texts } = await scanText('a,b,c\nx.com,y.com,z.com\ny.com,,\n', {
      columns: ['a', 'b', 'c'].map((name) => ({ name, kind: 'domain' })),
      waterfall: true,
    });
    expect(texts).toEqual(['domain:x.com', 'domain:y.com', 'domain:z.com']);
    scan.answers.set(0, 'not_found', null, RENDERED);
    scan.answers.set(1, 'not_found', null, RENDERED);
    expect(wantNextCandidates(scan)).toBe(1);
    expect(scan.answers.isWanted(2)).toBe(true);
    scan.answers.set(2, 'not_found', null, RENDERED);
    expect(wantNextCandidates(scan)).toBe(0);
  });
});

describe('the scan as a whole', () => {
  it('has the hash of the original bytes', async () => {
    const { scan } = await scanText(CUSTOMERS, { columns: [WEBSITE] });
    expect(scan.contentHash).toBe(createHash('sha256').update(CUSTOMERS).digest('hex'));
  });

  it('keeps at most a thousand reasons, and a hundred invalid rows', async () => {
    const cell = (at: number) => `10.${at % 250}.${Math.floor(at / 250)}.9 x${at}!`;
    const text = `website\n${Array.from({ length: 1_500 }, (_, at) => cell(at)).join('\n')}\n`;
    const { scan } = await scanText(text, { columns: [WEBSITE], allowMismatch: true });
    expect(scan.counts.invalid).toBe(1_500);
    expect([...scan.reasons.invalid].length).toBeLessThanOrEqual(1_000);
    expect(scan.invalid).toHaveLength(100);
    const facts = inputFacts({ name: 'customers.csv', detected: 'CSV', warnings: [] }, scan);
    expect(facts.examples).toHaveLength(5);
  });
});

it('the scan reports progress by rows', async () => {
  const counts: number[] = [];
  await scanText(CUSTOMERS, { columns: [WEBSITE], onRows: (rows) => counts.push(rows) });
  expect(counts.at(-1)).toBe(10);
});

it('a stopped scan ends with an interruption, not with a bug', async () => {
  const stop = AbortSignal.abort(new Error('stopped by SIGINT'));
  await expect(scanText(CUSTOMERS, { columns: [WEBSITE], stop })).rejects.toMatchObject({
    code: 'interrupted',
    exitCode: 130,
  });
});

it('a table that was read as one column gets advice on the delimiter', async () => {
  await expect(scanText('name;site\nacme\nbeta\n')).rejects.toMatchObject({
    code: 'column-doubtful',
    message: expect.stringMatching(
      /read as one column, with delimiter ','.*use --delimiter ';' if that separates/,
    ),
  });
  await expect(scanText('"name,site"\n"Acme,acme.com"\n')).rejects.toMatchObject({
    message: expect.stringMatching(
      /quotes enclose the whole first line.*remove the quotes if they enclose whole/,
    ),
  });
  await expect(scanText('name:site\nacme:acme.com\n', { columns: [WEBSITE] })).rejects.toMatchObject({
    code: 'column-unknown',
    message: expect.stringContaining("--delimiter ':'"),
  });
});

it('rows that an earlier run could not read keep its line, and new ones get their own', async () => {
  const text = `website,brand_status,brand_identifier,brand_fetched_at,brand_error,brand_raw
acme.com,deferred,,,not asked,
,invalid,,,line 42: a quoted cell is never closed,"x,""y"
,invalid,,,line 57: a quoted cell is never closed,"z,""y"
`;
  const { scan } = await scanText(text, { columns: [WEBSITE] });
  expect(scan.invalid).toEqual([
    { line: 3, value: '', reason: { code: 'unread_earlier' } },
    { line: 4, value: '', reason: { code: 'unread_earlier' } },
  ]);
  expect([...scan.reasons.invalid]).toEqual([{ value: { code: 'unread_earlier' }, count: 2 }]);
  expect(rowsOf(scan).slice(1).map(reasonInCell)).toEqual([
    'line 42: a quoted cell is never closed',
    'line 57: a quoted cell is never closed',
  ]);
});

it('the scan notes cells with several domains, and looks up the first of each', async () => {
  const { input, texts } = await scanText('website\nacme.com\nbeta.io; gamma.com\n', { columns: [WEBSITE] });
  expect(texts).toEqual(['domain:acme.com', 'domain:beta.io']);
  const warning = 'several domains in a cell (first in line 3): the first is looked up';
  expect(input.warnings).toContain(warning);
});

it('the scan reads the array of a JSON file that the user names', async () => {
  const text = '{"many": [{"website": "a.com"}, {"website": "b.com"}], "few": [{"website": "c.com"}]}';
  const { texts } = await scanText(text, { name: 'a.json', records: 'few', columns: [WEBSITE] });
  expect(texts).toEqual(['domain:c.com']);
});
