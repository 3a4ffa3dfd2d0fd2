/** `--where`: which rows are looked up, in text and JSON, and why the others are not. */
import { writeXlsx } from 'hucre/xlsx';
import { describe, expect, it } from 'vitest';
import { RowFilter } from '../../../src/input/identify/choose-columns.js';
import { readRow, reasonInCell } from '../../../src/run/scan/row-spool.js';
import { inputFacts } from '../../../src/run/scan/scan.js';
import { rowConditions } from '../../../src/settings/column-value.js';
import { Refusal } from '../../../src/settings/parse-value.js';
import { refusal } from '../../settings/refusal.js';
import { scanText } from '../scanned.js';

function conditions(...texts: string[]) {
  const parsed = rowConditions.parse(texts);
  if (parsed instanceof Refusal) throw new Error(`refused: ${texts.join()}`);
  return parsed;
}

const LIST = `website,country,note
acme.com,DE,x
beta.com, de ,
gamma.com,FR,x
localhost,DE,x
,DE,x
acme.com,,x
too,many,cells,here
`;

const reasonsOf = async (text: string, where: string[], name = 'list.csv') => {
  const scanned = await scanText(text, { where: conditions(...where), name });
  const rows = [...scanned.scan.rows.records()].flat().map(readRow);
  return {
    ...scanned,
    rows: rows.map((row) => (row.kind === 'asked' ? 'asked' : `${row.kind}: ${reasonInCell(row)}`)),
  };
};

describe('rows', () => {
  it('that meet every condition are looked up, the others say which one they miss', async () => {
    const { rows, texts, scan } = await reasonsOf(LIST, ['country=de', 'note:filled']);
    expect(rows).toEqual([
      'asked',
      'skipped: not selected: note is blank',
      'skipped: not selected: country is not de',
      'invalid: a reserved or private host name',
      'skipped: the cell is blank',
      'skipped: not selected: country is not de',
      expect.stringContaining('unreadable: line 8'),
    ]);
    expect(texts).toEqual(['domain:acme.com']);
    expect(inputFacts({ name: 'list.csv', detected: 'CSV', warnings: [] }, scan).where).toEqual({
      conditions: ['country=de', 'note:filled'],
      rows: 3,
    });
  });

  it('without the value are not selected, and the count says so', async () => {
    const { scan } = await reasonsOf(LIST, ['country=XX']);
    expect([scan.answers.wanted, scan.counts.selected]).toEqual([0, 0]);
  });

  it.each([
    ['jsonl', '{"website":"acme.com","n":1}\n{"website":"beta.com","n":null}\n{"website":"gamma.com"}\n'],
    ['json', '[{"website":"acme.com","n":1},{"website":"beta.com","n":null},{"website":"gamma.com"}]'],
  ])('of %s are judged by their keys', async (format, text) => {
    const { rows } = await reasonsOf(text, ['n:blank'], `list.${format}`);
    expect(rows).toEqual(['skipped: not selected: n is not blank', 'asked', 'asked']);
  });

  it('of a workbook are judged by cells that nothing else needs', async () => {
    const rows = [
      ['website', 'note', 'country'],
      ['acme.com', 'x', 'DE'],
      ['beta.com', 'x', 'FR'],
    ];
    const workbook = Buffer.from(await writeXlsx({ sheets: [{ name: 'List', rows }] }));
    const { texts } = await scanText(workbook, { where: conditions('country=de'), name: 'list.xlsx' });
    expect(texts).toEqual(['domain:acme.com']);
  });

  it('that are not selected do not decide the kind of a mixed column', async () => {
    const text = `code,type\n${'acme.com,web\n'.repeat(40)}${'US0378331005,isin\n'.repeat(3)}`;
    const columns = [{ name: 'code', kind: 'isin' as const }];
    const { texts } = await scanText(text, { columns, where: conditions('type=isin') });
    expect(texts).toEqual(['isin:US0378331005']);
  });
});

describe('a condition', () => {
  const COLUMNS = ['website', 'country', 'brand_status'];

  it('on an unknown column names the nearest one, and all', () => {
    const error = refusal(() => new RowFilter(COLUMNS, conditions('contry=DE')));
    expect(error).toMatchObject({ code: 'column-unknown', exitCode: 2 });
    expect(error.message).toContain('did you mean "country"? Otherwise use one of "website", "country"');
  });

  it('may name a column by position', () => {
    const filter = new RowFilter(COLUMNS, conditions('position:2=DE', 'position:1:filled'));
    expect(filter.reasonAgainst(['acme.com', 'DE'])).toBeNull();
    expect(filter.reasonAgainst(['', 'DE'])).toMatchObject({ column: 'position:1' });
  });

  it.each([{ where: conditions('brand_status=failed') }, { nameColumn: 'brand_name' }])(
    'on a column that the run will replace is refused: %j',
    async (options) => {
      const header = 'website,brand_status,brand_identifier,brand_name,brand_fetched_at';
      const text = `${header}\nacme.com,matched,acme.com,Acme,\n`;
      const error = await scanText(text, options).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'column-ours', exitCode: 2 });
    },
  );
});
