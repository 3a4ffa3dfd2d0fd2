import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ragged, Row } from '../../../src/core/table.js';
import { fitTable, MisfitTally } from '../../../src/input/text/row-fit.js';
import { sniffTable } from '../../../src/input/text/sniff-table.js';
import { CASES, casesOf } from '../../support/properties.js';
import { READING } from '../reading.js';

function read(text: string, options: { ragged?: Ragged; delimiter?: string; header?: boolean } = {}) {
  const layout = sniffTable({ name: 'in.csv', text, isWhole: true }, { ...READING, ...options });
  const rows = layout.createReader().push(text, true);
  return { layout, rows, problems: rows.map((row) => row.problem), cells: rows.map((row) => row.cells) };
}

const table = (...lines: string[]) => `${lines.join('\n')}\n`;

describe('a row with a cell too many or too few', () => {
  it.each([
    ['company,ticker,notes', 'Acme, Inc.,ACM,', { code: 'cell_count', cells: 4, columns: 3 }],
    ['company,isin,ticker,staff,notes', 'Acme x,ACM,13,', { code: 'cell_count', cells: 4, columns: 5 }],
  ])('does not fit the table %j: %j', (header, row, problem) => {
    const { rows } = read(table(header, row));
    expect(rows).toMatchObject([{ raw: row, cells: [], problem, isMisfit: true }]);
  });

  it('fits if all of its cells are blank, however many', () => {
    const rows = ['Apple,AAPL,big', ',', ',,,,', 'IBM,IBM', 'Sony,SONY,old'];
    const problem = { code: 'cell_count', cells: 2, columns: 3 };
    const { problems } = read(table('company,ticker,notes', ...rows));
    expect(problems).toEqual([null, null, null, problem, null]);
  });

  it.each([
    ['one of four', 3, 1, true],
    ['two of eight', 6, 2, true],
    ['two of seven', 5, 2, false],
    ['three of twenty', 17, 3, false],
    ['three of sixty', 57, 3, true],
  ])('is left out, or stops the file: %s', (_, good, bad, isRead) => {
    const tally = new MisfitTally();
    const row = { number: 1, line: 2, raw: '', cells: [] };
    for (let at = 0; at < good; at += 1) tally.note({ ...row, problem: null });
    const problem = { code: 'cell_count', cells: 4, columns: 3 } as const;
    for (let at = 0; at < bad; at += 1) tally.note({ ...row, problem, isMisfit: true });
    const assertFew = () => tally.assertFew({ name: 'a.csv', delimiter: "','", suspicion: null });
    if (isRead) expect(assertFew).not.toThrow();
    else expect(assertFew).toThrow('too many rows do not fit');
  });

  it('is a heading or a remark if it has one cell: that stops nothing', () => {
    const verdict = (...widths: number[]) => {
      const tally = new MisfitTally();
      for (const cells of widths) {
        const problem = cells === 3 ? null : ({ code: 'cell_count', cells, columns: 3 } as const);
        const row = { number: 1, line: 2, raw: '', cells: [], problem };
        tally.note(problem === null ? row : { ...row, isMisfit: true });
      }
      return () => tally.assertFew({ name: 'a.csv', delimiter: "','", suspicion: null });
    };
    expect(verdict(3, 3, 3, 3, 3, 3, 1, 1, 1)).not.toThrow();
    expect(verdict(3, 3, 3, 1, 1, 1, 3, 3, 3)).toThrow('too many rows');
    expect(verdict(3, 1, 1, 1, 1)).toThrow('too many rows');
    const group = [1, ...Array.from({ length: 11 }, () => 3)];
    expect(verdict(...group, ...group, ...group)).not.toThrow();
    expect(verdict(...group, ...group, 2, 2, 2)).toThrow('too many rows');
    expect(verdict(3, 3, 3, 3, 3, 3, 2, 2, 2)).toThrow('too many rows');
  });

  it('does not fit in a file with trailing delimiters either', () => {
    const good = ['Apple,AAPL,', 'Shell,SHEL,', 'Sony,SONY,', 'Nestle,NESN,', 'Roche,ROG,', 'Siemens,SIE,'];
    const odd = ['Acme, Inc.,ACM,', 'Acme, Inc.,ACM', 'SHEL,', 'Beta,BET'];
    expect(read(table('company,ticker', ...good, ...odd), { ragged: 'invalid' }).problems).toEqual([
      ...good.map(() => null),
      { code: 'cell_count', cells: 4, columns: 3 },
      { code: 'blank_column', cell: 3 },
      { code: 'cell_count', cells: 2, columns: 3 },
      // Only the empty last cell is missing.
      null,
    ]);
  });

  it('does not fit in a file that omits trailing blank cells either', () => {
    const full = ['Sony,SONY,31,big', 'Roche,ROG,55', 'Beta,BET,9,old'];
    const good = ['Apple,AAPL', 'Shell,SHEL', 'Nestle,NESN', ...full];
    const bad = ['Acme x,13', 'Acme, Inc.,ACM', 'Acme, Inc.,ACM,13', 'Acme,ACM,', 'Acme'];
    for (const row of bad) {
      const { problems } = read(table('company,ticker,employees,notes', ...good, ...good, row));
      expect(problems.slice(0, -1).filter((problem) => problem !== null)).toEqual([]);
      expect(problems.at(-1), row).not.toBe(null);
    }
  });

  it('stops a run when most rows are such, and no row is taken for the header', () => {
    const { layout, problems } = read(table('company,website', 'Acme, Inc.,acme.com', 'Beta, Ltd.,beta.io'));
    expect(layout.columns).toEqual(['company', 'website']);
    expect(problems).toEqual(Array(2).fill({ code: 'cell_count', cells: 3, columns: 2 }));
  });
});

describe('the habit of a file', () => {
  it('of trailing delimiters is a question in a few rows or over a value: the header may lack any name', () => {
    const rows = ['Apple,AAPL,', 'IBM,IBM,', 'Sony,SONY,'];
    for (const more of [[], ['Shell,SHEL,x']])
      expect(() => read(table('company,ticker', ...rows, ...more))).toThrow(
        'most rows end in one more delimiter than the header',
      );
    const { layout, problems } = read(table('company,ticker', ...rows, 'Shell,SHEL,', 'As of today'));
    expect(layout.rawHeader).toBe('company,ticker,');
    expect(problems.slice(0, 4)).toEqual([null, null, null, null]);
  });

  it('of trailing delimiters gives the header blank names, if the user says so, and keeps every byte', () => {
    for (const more of [',', ',,', ',"",']) {
      const lines = ['Apple,AAPL', '"Shell, plc",SHEL', 'IBM,IBM'].map((line) => line + more);
      const { layout, rows } = read(table('company,ticker', ...lines), { ragged: 'take' });
      const added = more.split(',').length - 1;
      expect(layout.columns).toEqual(['company', 'ticker', ...Array<string>(added).fill('')]);
      expect(layout.rawHeader).toBe(`company,ticker${','.repeat(added)}`);
      expect(rows.map((row) => row.raw)).toEqual(lines);
      expect(rows.every((row) => row.problem === null && row.shortBy === undefined)).toBe(true);
      expect(layout.warnings.join()).toMatch(/most rows end in .*more delimiters? than the header/);
    }
  });

  it('of a trailing delimiter in the header alone leaves the rows unchanged', () => {
    const { rows } = read(table('company,ticker,', 'Apple,AAPL', 'Shell,', 'Sony,SONY'));
    expect(rows.map((row) => [row.problem, row.shortBy])).toEqual(rows.map(() => [null, 1]));
    expect(rows).toHaveLength(3);
  });

  it('is not inferred from one row, rows cut inside their text, or a mixture', () => {
    const refused = (...rows: string[]) =>
      read(table('company,ticker,notes', ...rows), { ragged: 'invalid' }).problems.map((it) => it !== null);
    expect(refused('Acme, Inc.,ACM,')).toEqual([true]);
    expect(refused('Acme, Inc.,ACM,', 'Beta, Ltd.,BET,')).toEqual([true, true]);
    const mixture = [',Acme,ACM,', 'Acme,,ACM,', 'Acme, Inc.,ACM,', 'Acme,ACM,,'];
    expect(refused(...mixture)).toEqual([true, true, true, true]);
  });

  it('of omitting trailing blank cells accepts short rows whose cells resemble those above and below', () => {
    const long = ['2,beta.io,Rome,x', '3,gamma.de,Oslo', '4,delta.org', '5,eta.net,Bonn,y'];
    const text = table('id,website,city,note', '1,acme.com', ...long, '6', '7');
    const { rows } = read(text);
    expect(rows.map((row) => row.shortBy ?? 0)).toEqual([2, 0, 1, 2, 0, 3, 3]);
    expect(rows[0]?.cells).toEqual(['1', 'acme.com', '', '']);
    expect(read(text, { ragged: 'invalid' }).problems.filter(Boolean)).toHaveLength(5);
  });

  it('of omitting trailing blank cells is not inferred where rows end in blank cells', () => {
    const rows = ['1,acme.com', '2,beta.io,Rome,', '3,gamma.de,,', '4,delta.org', '5,eta.net,Bonn,y'];
    const { problems } = read(table('id,website,city,note', ...rows));
    expect(problems.map((it) => it !== null)).toEqual([true, false, false, true, false]);
  });
});

it('with --ragged take every row is read by position: padded, or cut with its text kept', () => {
  const { rows } = read(table('a,b', '1', '2,x', '3,x,y'), { ragged: 'take' });
  expect(rows).toMatchObject([
    { cells: ['1', ''], shortBy: 1, raw: '1' },
    { cells: ['2', 'x'], raw: '2,x' },
    { cells: ['3', 'x'], surplus: 1, raw: '3,x,y' },
  ]);
});

it('a surplus quoted cell that contains only the delimiter costs no byte', () => {
  const { rows } = read('a\tb\n1\tx\n2\ty\t"\t"\n', { delimiter: '\t' });
  expect(rows[1]).toMatchObject({ raw: '2\ty\t"\t"', isMisfit: true });
});

it('a table without a header is judged by the width of most rows', () => {
  expect(fitTable({ header: null, rows: [['a', 'b'], ['c', 'd'], ['e']], ragged: null }).columnCount).toBe(2);
});

/** Realistic tables, each of their rows with one delimiter removed or inserted at any position. */
describe('any one wrong delimiter', () => {
  const COMPANIES = 'Acme,Beta Works,Gamma Holding,Delta,Omega Labs,Sigma Foods,Zeta,Kappa Tools'.split(',');
  const CITIES = ['Rome', 'Oslo', 'Bonn', 'Turin'];
  const rowOf = (at: number) => ({
    company: `${COMPANIES[at % COMPANIES.length]} ${String.fromCharCode(97 + (at % 26))}`,
    ticker: `TK${String.fromCharCode(65 + (at % 26), 65 + (Math.floor(at / 26) % 26))}`,
    website: `site-${at}.com`,
    employees: String(10 + at * 7),
    city: CITIES[at % CITIES.length] ?? '',
    notes: at % 3 === 0 ? '' : at % 3 === 1 ? 'met in may' : 'a "large" one, with commas',
  });
  type Name = keyof ReturnType<typeof rowOf>;
  const LAYOUTS: readonly (readonly Name[])[] = [
    ['company', 'ticker', 'notes'],
    ['company', 'ticker', 'employees', 'city', 'notes'],
    ['ticker', 'company', 'notes'],
    ['company', 'city', 'website', 'employees'],
    ['website', 'company', 'ticker', 'city', 'notes'],
    ['company', 'notes', 'ticker'],
  ];
  /** How a whole file is written. */
  const HABITS = ['plain', 'trailing', 'trimmed', 'header ends blank', 'quoted'] as const;

  function write(cells: readonly string[], habit: (typeof HABITS)[number], delimiter: string): string[] {
    const quoted = cells.map((cell) =>
      habit === 'quoted' || cell.includes(delimiter) || cell.includes('"')
        ? `"${cell.replaceAll('"', '""')}"`
        : cell,
    );
    if (habit === 'trailing') return [...quoted, ''];
    while (habit === 'trimmed' && quoted.at(-1) === '') quoted.pop();
    return quoted;
  }

  it('shifts no cell into another column, loses no byte, and keeps the number of rows', CASES, () => {
    const numRuns = casesOf(3_000);
    let misfits = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...LAYOUTS),
        fc.constantFrom(...HABITS),
        fc.constantFrom(',', ';', '\t', '|'),
        fc.integer({ min: 24, max: 60 }),
        fc.integer({ min: 0, max: 1_000 }),
        fc.integer({ min: 0, max: 1_000 }),
        fc.constantFrom('too many', 'too few', 'none'),
        (names, habit, delimiter, count, spot, place, change) => {
          const records = Array.from({ length: count }, (_, at) => names.map((name) => rowOf(at)[name]));
          const lines = records.map((cells) => write(cells, habit, delimiter));
          const at = spot % count;
          const pieces = lines[at] ?? [];
          let bad = pieces.join(delimiter);
          if (change === 'too many') {
            const where = place % (pieces.length + 1);
            bad = [...pieces.slice(0, where), '', ...pieces.slice(where)].join(delimiter);
            const words = pieces[where]?.startsWith('"') ? [] : (pieces[where] ?? '').split(' ');
            // An unquoted "Acme, Inc." is the usual cause of a surplus delimiter.
            if (words.length > 1 && place % 2 === 0) {
              bad = [...pieces.slice(0, where), words.join(`${delimiter} `), ...pieces.slice(where + 1)].join(
                delimiter,
              );
            }
          }
          if (change === 'too few' && pieces.length > 1) {
            const where = place % (pieces.length - 1);
            const joined = (pieces[where] ?? '') + (pieces[where + 1] ?? '');
            bad = [...pieces.slice(0, where), joined, ...pieces.slice(where + 2)].join(delimiter);
          }
          const texts = lines.map((line, i) => (i === at ? bad : line.join(delimiter)));
          const header = names.join(delimiter) + (habit === 'header ends blank' ? delimiter : '');
          const ragged = habit === 'trailing' ? ('invalid' as const) : undefined;
          const { rows } = read(table(header, ...texts), { delimiter, ...(ragged && { ragged }) });
          expect(rows.map((row) => row.raw)).toEqual(texts);
          const whole = rows.filter((_, i) => i !== at);
          expect(whole.map((row) => row.problem).filter((problem) => problem !== null)).toEqual([]);
          // In one text each: a comparison of so many lists takes most of the time.
          const others = records.filter((_, i) => i !== at);
          expect(JSON.stringify(whole.map((row) => row.cells.slice(0, names.length)))).toBe(
            JSON.stringify(others),
          );
          const read1 = rows[at] as Row;
          if (read1.isMisfit) misfits += 1;
          if (read1.problem !== null) return;
          for (const name of ['ticker', 'website'] as const) {
            const column = names.indexOf(name);
            const others = names.filter((other) => other !== name).map((other) => rowOf(at)[other]);
            const found = (read1.cells[column] ?? '').trim();
            if (column >= 0 && found !== '') expect(others).not.toContain(found);
          }
        },
      ),
      { numRuns },
    );
    expect(misfits).toBeGreaterThan(numRuns / 3);
  });
});
