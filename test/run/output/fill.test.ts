/** `--fill`: a brand's values in the user's own columns, and every other byte as it was. */
import { describe, expect, it, test } from 'vitest';
import type { TableShape } from '../../../src/core/table.js';
import { createFiller, FillCounts, fillValuesOf, planFills } from '../../../src/run/output/fill.js';
import type { OutputPlan } from '../../../src/run/output/output-plan.js';
import { createRenderer } from '../../../src/run/output/render.js';
import type { Scan } from '../../../src/run/scan/scan.js';
import { CSV_SHAPE, JSON_SHAPE, MATCHED, NOT_FOUND, planFor } from './plans.js';

const XLSX: TableShape = {
  ...CSV_SHAPE,
  format: 'xlsx',
  delimiter: '',
  rawHeader: '["id","website"]',
  typed: { codes: ['General', '@'], is1904: false, sheet: 'Sheet1' },
};

/** The plan of these fills, in a file whose second column is looked up. */
function filling(
  input: TableShape,
  fills: string[],
  { over = [] as string[], long = 0, allColumns = input.columns } = {},
) {
  const requests = (texts: string[]) =>
    texts.map((text) => {
      const [column = '', field = ''] = text.split('=');
      return { column, field };
    });
  const scan = { chosen: { choices: [{ column: 1 }] }, counts: { long } } as unknown as Scan;
  return planFills(planFor({ input, allColumns }), { fill: requests(fills), fillOver: requests(over) }, scan);
}

function fill(plan: OutputPlan, raw: string, nameMatch: number | null = null) {
  const filled = createFiller(plan)?.(raw, fillValuesOf(MATCHED, plan), nameMatch);
  return [filled?.raw, filled?.results?.map((result) => result?.type ?? null).join() ?? 'misfit'];
}

describe('a record of a CSV file', () => {
  const of = (columns: string[]) => ({ ...CSV_SHAPE, columns, rawHeader: columns.join() });
  const shape = of(['id', 'website', 'city', 'year']);
  test.each([
    ['a blank cell', '1,acme.com,,x', 'city=city', '1,acme.com,Fairfield,x', 'filled'],
    ['white space', '1,acme.com,"  ",x', 'city=city', '1,acme.com,Fairfield,x', 'filled'],
    ['cells as they stood', '"1",acme.com,, "x" ', 'city=city', '"1",acme.com,Fairfield, "x" ', 'filled'],
    ['a value that needs quotes', '1,acme.com,,', 'city=name', '1,acme.com,"Acme, Inc.",', 'filled'],
    ['a number', '1,acme.com,,', 'year=company.foundedYear', '1,acme.com,,1949', 'filled'],
    ['the same value', '1,acme.com," fairfield",', 'city=city', '1,acme.com," fairfield",', 'kept'],
    ['another value', '1,acme.com,Springfield,', 'city=city', '1,acme.com,Springfield,', 'differing'],
    ['NA, which is a value', '1,acme.com,NA,', 'city=city', '1,acme.com,NA,', 'differing'],
    ['a value that the brand lacks', '1,acme.com,,', 'city=company.location.subregion', '1,acme.com,,', ''],
    ['a column by its position', '1,acme.com,,', 'position:3=city', '1,acme.com,Fairfield,', 'filled'],
    ['a new column', '1,acme.com,,', 'region=company.location.region', '1,acme.com,,,Americas', 'filled'],
    ['a row with too few cells', '1,acme.com', 'city=city', '1,acme.com', 'misfit'],
    ['a row with too many cells', '1,acme.com,,,more', 'city=city', '1,acme.com,,,more', 'misfit'],
  ])('%s', (_what, raw, request, filled, type) => {
    expect(fill(filling(shape, [request]), raw)).toEqual([filled, type]);
  });

  it('is replaced if asked for, and the difference counts', () => {
    const plan = filling(shape, [], { over: ['city=city'] });
    expect(fill(plan, '1,acme.com,Springfield,')).toEqual(['1,acme.com,Fairfield,', 'differing']);
    expect(fill(plan, '1,acme.com,Fairfield,')).toEqual(['1,acme.com,Fairfield,', 'kept']);
  });

  it('keeps its cells if the name is that of another company', () => {
    expect(fill(filling(shape, ['city=city']), '1,acme.com,,', 0.5)).toEqual(['1,acme.com,,', '']);
  });

  it('gets a formula escaped, counts as equal the next time, and is never filled with a blank', () => {
    const plan = filling(shape, ['city=name']);
    const values = JSON.stringify(['=cmd()']);
    const once = createFiller(plan)?.('1,acme.com,,', values, null).raw ?? '';
    expect(once).toBe("1,acme.com,'=cmd(),");
    expect(createFiller(plan)?.(once, values, null).results?.[0]?.type).toBe('kept');
    expect(createFiller(plan)?.('1,acme.com,,', '["\\u0000 "]', null).results).toEqual([null]);
  });

  it('has the new column after those of the user, in rows without a brand too', () => {
    const renderer = createRenderer({
      ...filling(shape, ['region=company.location.region']),
      fields: ['name'],
    });
    const row = (view: typeof MATCHED) => renderer.row('1,acme.com,,', renderer.answer(view), null);
    expect(renderer.header()).toMatch(/^id,website,city,year,region,brand_status,/);
    expect(row(MATCHED)).toMatch(/^1,acme\.com,,,Americas,matched,/);
    expect(row(NOT_FOUND)).toMatch(/^1,acme\.com,,,,not_found,/);
  });

  it('is not filled by a brand of low quality', () => {
    const renderer = createRenderer({ ...filling(shape, ['city=city']), minQuality: 0.95 });
    expect(renderer.row('1,acme.com,,', renderer.answer(MATCHED), null)).toMatch(/^1,acme\.com,,,matched/);
  });
});

describe('a JSON object', () => {
  const allColumns = ['id', 'website', 'city', 'at', 'a.b', 'p.q', 'tags'];
  const columns = [...allColumns, 'at.city', 'at.x', 'at.x.y.z', 'a.b.c', 'p'];
  const input = { ...JSON_SHAPE, columns };
  const [YES, NO] = ['filled', ''];
  test.each([
    ['an absent key', '{"id":1}', 'city', '{"id":1,"city":"Fairfield"}', YES],
    ['null', '{ "city" : null , "n":1.10}', 'city', '{ "city" : "Fairfield" , "n":1.10}', YES],
    ['an inner key', '{"at":{"city":"","x":1}}', 'at.city', '{"at":{"city":"Fairfield","x":1}}', YES],
    ['an absent inner key', '{"at":{ "x":1 }}', 'at.city', '{"at":{ "x":1 ,"city":"Fairfield"}}', YES],
    ['an absent object', '{"id":1.10}', 'at.city', '{"id":1.10,"at":{"city":"Fairfield"}}', YES],
    ['null for an object', '{"at" : null }', 'at.city', '{"at" : {"city":"Fairfield"} }', YES],
    ['two absent objects', '{"at":{}}', 'at.x.y.z', '{"at":{"x":{"y.z":"Fairfield"}}}', YES],
    ['a text for an object', '{"at":"a}"}', 'at.city', '{"at":"a}"}', NO],
    ['a blank for an object', '{"at":""}', 'at.city', '{"at":""}', NO],
    ['a number for an object', '{"at":{"x":1}}', 'at.x.y.z', '{"at":{"x":1}}', NO],
    ['a list for an object', '{"at":[{"city":""}]}', 'at.city', '{"at":[{"city":""}]}', NO],
    ['a key with a point', '{"p.q":"","p":{}}', 'p.q', '{"p.q":"Fairfield","p":{}}', YES],
    ['an absent key with a point', '{"p":{}}', 'p.q', '{"p":{},"p.q":"Fairfield"}', YES],
    ['a key with a point around one', '{"id":1}', 'a.b.c', '{"id":1,"a.b":{"c":"Fairfield"}}', YES],
    ['a new inner key', '{"at":{}}', 'at.region', '{"at":{"region":"Fairfield"}}', YES],
    ['new inner objects', '{}', 'at.region.name', '{"at":{"region":{"name":"Fairfield"}}}', YES],
    ['a new key', '{"tags":["x"]}', 'tags.first', '{"tags":["x"],"tags.first":"Fairfield"}', YES],
  ])('is filled: %s', (_what, raw, column, filled, type) => {
    for (const over of [[], [`${column}=city`]]) {
      const plan = filling(input, over.length > 0 ? [] : [`${column}=city`], { over, allColumns });
      expect(fill(plan, raw)).toEqual([filled, type]);
      if (type === YES) expect(fill(plan, filled)).toEqual([filled, 'kept']);
    }
  });

  it('adds a column in other formats for a new top-level key, but not for a nested one', () => {
    const { allColumns: made } = filling(input, ['at.region=city', 'headquarters=city'], { allColumns });
    expect(made).toEqual([...allColumns, 'headquarters']);
  });
});

test.each([
  ['null', '[1,"a",null]', '[1,"a",1949]', 'filled'],
  ['a text stays one', '[1,"a"," "]', '[1,"a","1949"]', 'filled'],
  ['the format of a cell', '[1,"a",{"s":" ","f":1}]', '[1,"a",{"s":"1949","f":1}]', 'filled'],
  ['a formatted number that differs', '[1,"a",{"n":"5","f":1}]', '[1,"a",{"n":"5","f":1}]', 'differing'],
])('a row of a workbook is filled: %s', (_what, raw, filled, type) => {
  const input = { ...XLSX, columns: ['id', 'website', 'year'], rawHeader: '["id","website","year"]' };
  expect(fill(filling(input, ['year=company.foundedYear']), raw)).toEqual([filled, type]);
});

describe('a fill that cannot work is refused before anything is spent', () => {
  const columns = ['id', 'website', 'city', 'city', 'country'];
  const shape = { ...CSV_SHAPE, columns, rawHeader: columns.join() };
  const parquet: TableShape = {
    ...XLSX,
    format: 'parquet',
    columns: ['id', 'website'],
    parquet: { schema: [{ name: 'id', type: 'INT64' }] },
  };
  const twice = ['a', 'website', 'a.b', 'a.b'];
  const earlier = { ...JSON_SHAPE, columns: ['id', 'website', 'brand', 'brand.error'] };
  test.each<[string, TableShape, string[], string]>([
    ['two columns of one name', shape, ['city=city'], 'column-doubtful'],
    ['a slip of the pen', shape, ['contry=country'], 'column-unknown'],
    ['the column that is looked up', shape, ['website=domain'], 'usage-invalid'],
    ['one column twice', shape, ['country=country', 'country=name'], 'usage-invalid'],
    ['a name that a run adds', shape, ['brand_name=name'], 'usage-invalid'],
    [
      'a key and an inner key of one name',
      { ...earlier, columns: twice },
      ['position:4=city'],
      'usage-invalid',
    ],
    ['a key that a run adds', earlier, ['position:3=name'], 'usage-invalid'],
    ['a position that is not there', shape, ['position:9=name'], 'column-unknown'],
    ['a column of numbers in a Parquet file', parquet, ['id=name'], 'usage-invalid'],
  ])('%s', (_what, input, fills, code) => {
    expect(() => filling(input, fills)).toThrow(expect.objectContaining({ code }));
  });

  it('a member of the key that a run adds', () => {
    const allColumns = ['id', 'website', 'brand'];
    const refused = expect.objectContaining({ code: 'usage-invalid' });
    expect(() => filling(earlier, ['brand.error=name'], { allColumns })).toThrow(refused);
  });

  it('a new column beside rows with surplus cells', () => {
    const refused = expect.objectContaining({ code: 'usage-invalid' });
    expect(() => filling(shape, ['region=country'], { long: 1 })).toThrow(refused);
  });
});

it.each([
  ['', 'website'],
  ['city', 'website', 'city'],
])('%j, %j, %j: a fill names column 1 by position', (...columns) => {
  const plan = filling({ ...CSV_SHAPE, columns }, ['position:1=city']);
  expect(new FillCounts(plan).columns).toEqual([expect.objectContaining({ column: 'position:1' })]);
});

it('the results of the cells are counted by column', () => {
  const input = { ...CSV_SHAPE, columns: ['id', 'website', 'city'], rawHeader: 'id,website,city' };
  const plan = filling(input, ['city=city']);
  const counts = new FillCounts(plan);
  const filler = createFiller(plan);
  const differing = ['1,a.com,', '2,a.com,Fairfield', '3,a.com,Rome', '4,a.com'].flatMap((raw) =>
    filler === null ? [] : counts.add(filler(raw, fillValuesOf(MATCHED, plan), null)),
  );
  expect(differing).toEqual([{ column: 'city', theirs: 'Rome', brand: 'Fairfield' }]);
  expect(counts).toEqual({
    columns: [{ column: 'city', field: 'city', filled: 1, kept: 1, differing: 1 }],
    misfits: 1,
  });
});
