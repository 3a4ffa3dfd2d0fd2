import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findColumn } from '../../../src/input/identify/find-column.js';
import { unansweredIn } from '../../../src/run/lookups/collect-outcomes.js';
import { Priorities, priorityValueOf } from '../../../src/run/scan/priorities.js';
import { refusal } from '../../settings/refusal.js';
import { scanText } from '../scanned.js';

const COLUMNS = ['id', 'worth'];

/** Numbers of identifiers, best first; `cells[n]` are those of the rows of identifier n. */
function orderOf(cells: readonly (readonly string[])[], direction: 'asc' | 'desc' = 'desc'): number[] {
  const priorities = new Priorities(COLUMNS, COLUMNS.indexOf('worth'), direction);
  for (const [index, own] of cells.entries()) for (const cell of own) priorities.note(index, cell, index + 2);
  return [...priorities.order(cells.length)];
}

describe('the order', () => {
  it.each([
    {
      what: 'numbers as numbers',
      cells: [['9'], ['10'], ['-1'], ['9.5']],
      desc: [1, 3, 0, 2],
      asc: [2, 0, 3, 1],
    },
    { what: 'words as text', cells: [['b'], ['C'], ['a']], desc: [1, 0, 2], asc: [2, 0, 1] },
    { what: 'blanks last', cells: [[''], ['1'], [], ['2']], desc: [3, 1, 0, 2], asc: [1, 3, 0, 2] },
    { what: 'words after numbers', cells: [['n/a'], ['1'], ['']], desc: [1, 0, 2], asc: [1, 0, 2] },
    { what: 'equals in file order', cells: [['5'], ['5'], ['5']], desc: [0, 1, 2], asc: [0, 1, 2] },
    { what: 'the best row of each', cells: [['1', '8'], ['5'], ['9', '2']], desc: [2, 0, 1], asc: [0, 2, 1] },
    { what: 'a number over a word', cells: [['z', '1'], ['2']], desc: [1, 0], asc: [0, 1] },
    {
      what: 'dates by time',
      cells: [['2025-12-31'], ['2026-02-01'], ['2026-01-31']],
      desc: [1, 2, 0],
      asc: [0, 2, 1],
    },
  ])('puts $what', ({ cells, desc, asc }) => {
    expect(orderOf(cells, 'desc')).toEqual(desc);
    expect(orderOf(cells, 'asc')).toEqual(asc);
  });

  it('equals a plain stable sort, for any number of identifiers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 3 }), { maxLength: 3_000 }),
        (rows) => {
          const best = rows.map((own) => (own.length === 0 ? Number.NEGATIVE_INFINITY : Math.max(...own)));
          const expected = rows
            .map((_, index) => index)
            .sort((a, b) => (best[b] ?? 0) - (best[a] ?? 0) || a - b);
          expect(orderOf(rows.map((own) => own.map(String)))).toEqual(expected);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('knows the value of the best row', () => {
    const priorities = new Priorities(COLUMNS, COLUMNS.indexOf('worth'), 'desc');
    priorities.note(0, '3', 2);
    priorities.note(0, '7.50', 3);
    priorities.note(1, 'Gold', 4);
    priorities.note(2, '', 5);
    expect([0, 1, 2, 3].map((index) => priorities.valueOf(index))).toEqual(['7.5', 'gold', null, null]);
  });
});

describe('an ambiguity stops the run before it spends', () => {
  it('a formatted number, named with its line', () => {
    const error = refusal(() => orderOf([['900'], ['1,200']]));
    expect(error.code).toBe('column-doubtful');
    expect(error.message).toContain('"1,200" in "worth", line 3');
  });

  it('an unknown column, with the nearest name', () => {
    const error = refusal(() => findColumn(COLUMNS, { name: 'wrth', kind: null }, 'priority'));
    expect(error.code).toBe('column-unknown');
    expect(error.message).toContain('"worth"');
  });

  it('two columns of one name, with the flag that decides', () => {
    const error = refusal(() => findColumn(['worth', 'worth'], { name: 'worth', kind: null }, 'priority'));
    expect(error.message).toContain('--priority position:1 or --priority position:2');
  });

  it('too many different words', () => {
    const priorities = new Priorities(COLUMNS, COLUMNS.indexOf('worth'), 'desc');
    for (let at = 0; at < 100_000; at += 1) priorities.note(at, `w${at}`, at);
    priorities.note(0, 'w5', 0);
    expect(() => priorities.note(0, 'one more', 7)).toThrow(/100,000 different words: "worth", line 7/);
  });
});

describe('in real files', () => {
  const WEBSITE = { name: 'website', kind: 'domain' } as const;
  const WORTH = { name: 'worth', direction: 'desc' } as const;
  async function bought(text: string, some: Parameters<typeof scanText>[1] = {}): Promise<string[]> {
    const { scan } = await scanText(text, { columns: [WEBSITE], priority: WORTH, ...some });
    return [...unansweredIn(scan, 2, 'priority')].flat().map(({ text: identifier }) => identifier);
  }

  it('a repeated cell counts with its new priority', async () => {
    const text = 'website,worth\na.com,1\nb.com,5\na.com,9\nhttp://b.com/,2\nc.com,\n';
    expect(await bought(text)).toEqual(['domain:a.com', 'domain:b.com', 'domain:c.com']);
  });

  it('rows without an identifier may contain anything', async () => {
    const text = 'website,worth\n,$1\nlocalhost,$2\na.com,1\n';
    expect(await bought(text)).toEqual(['domain:a.com']);
  });

  it('numbers in JSON lines are numbers', async () => {
    const text = '{"website":"a.com","worth":9}\n{"website":"b.com","worth":10}\n{"website":"c.com"}\n';
    const order = await bought(text, { name: 'list.jsonl', priority: { ...WORTH, direction: 'asc' } });
    expect(order).toEqual(['domain:a.com', 'domain:b.com', 'domain:c.com']);
  });

  it('answered or unwanted identifiers are left out', async () => {
    const text = 'website,other,worth\na.com,x.com,1\nb.com,y.com,2\n';
    const { scan } = await scanText(text, {
      columns: [WEBSITE, { name: 'other', kind: 'domain' }],
      waterfall: true,
      priority: WORTH,
    });
    scan.answers.set(2, 'not_found', null, { before: '', after: '' });
    scan.answers.want(3);
    const left = [...unansweredIn(scan, 50, 'priority')].flat().map(({ text: identifier }) => identifier);
    expect(left).toEqual(['domain:y.com', 'domain:a.com']);
  });
});

describe('a cell of the priority column', () => {
  it.each([
    ['1200', 1_200],
    [' 42 ', 42],
    ['-3.5', -3.5],
    ['+7', 7],
    ['.5', 0.5],
    ['3.', 3],
    ['1e6', 1_000_000],
    ['007', 7],
    ['0', 0],
  ])('%j is the number %j', (cell, number) => {
    expect(priorityValueOf(cell)).toBe(number);
  });

  it.each([
    ['Gold', 'gold'],
    [' tier 1 ', 'tier 1'],
    ['n/a', 'n/a'],
    ['-', '-'],
    ['2026-01-31', '2026-01-31'],
    ['2026-01-31T10:00:00Z', '2026-01-31t10:00:00z'],
    ['2026-01', '2026-01'],
    ['Q1', 'q1'],
    ['Größe', 'größe'],
    ['NaN', 'nan'],
    ['Infinity', 'infinity'],
  ])('%j is the word %j', (cell, word) => {
    expect(priorityValueOf(cell)).toEqual({ word });
  });

  it.each(['', ' ', '\t'])('%j is blank', (cell) => {
    expect(priorityValueOf(cell)).toBeNull();
  });

  const UNCLEAR =
    '1,200 | 1.200,50 | 1 200 | 1_000 | $900 | € 1200 | EUR 900 | USD900 | (500) | 50% | 11-50 | 10k | 31.12.2026 | 12/31/2026 | 0x10 | 1e999 | --5';
  it.each(UNCLEAR.split(' | '))('%j is ambiguous', (cell) => {
    expect(priorityValueOf(cell)).toBe('unclear');
  });
});
