import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutputPlan } from '../../../src/run/output/output-plan.js';
import { createRenderer } from '../../../src/run/output/render.js';
import { expectGolden } from './golden.js';
import { BRAND, CSV_SHAPE, DEFERRED, INVALID, JSON_SHAPE, MATCHED, NOT_FOUND, planFor } from './plans.js';

function output(plan: OutputPlan, raws: readonly string[]): string {
  const renderer = createRenderer(plan);
  const views = [MATCHED, NOT_FOUND, DEFERRED, INVALID];
  const rows = raws.map((raw, at) => {
    const view = views[at % views.length] ?? MATCHED;
    return renderer.row(raw, renderer.answer(view), at >= views.length ? 1 : null);
  });
  const unreadable = plan.hasUnreadable ? renderer.unreadable('7,"never closed', 'an unclosed quote') : '';
  return (renderer.header() ?? '') + rows.join('') + unreadable;
}

function cellsOf(csv: string, delimiter = ','): Record<string, string>[] {
  return parse(csv, { columns: true, delimiter });
}

describe('CSV output', () => {
  it('has our columns after the unchanged record', async () => {
    const raws = ['1,acme.example', '"2","x\n""y"""', '3, padded ', "4,=it's mine", '5,acme.example'];
    await expectGolden('default.csv', output(planFor({ hasUnreadable: true }), raws));
  });

  it('keeps delimiter and line ends of the input, and names columns where the input does not', async () => {
    const input = {
      ...CSV_SHAPE,
      delimiter: ';',
      lineEnd: '\r\n',
      rawHeader: null,
      columns: ['column_1', 'column_2'],
    } as const;
    await expectGolden('no-header.csv', output(planFor({ input }), ['1,10;acme.example', '2;"a;b"']));
  });

  it('has no header if the user wants none', () => {
    expect(createRenderer(planFor({ outputHeader: false })).header()).toBeNull();
    const typed = planFor({ outputHeader: false, format: 'xlsx' });
    expect(createRenderer(typed).header()).toBeNull();
  });

  it('has the requested columns', async () => {
    const fields = 'name company.location.region links.twitter logos.icon.svg brand_quality_tier'.split(' ');
    await expectGolden('fields.csv', output(planFor({ fields }), ['1,acme.example', '2,b.example']));
  });

  it('replaces the columns of an earlier run wherever they are', async () => {
    const input = {
      ...CSV_SHAPE,
      columns: ['brand_status', 'id', 'brand_identifier', 'web"site', 'brand_fetched_at'],
      rawHeader: 'brand_status,id,brand_identifier,"web""site",brand_fetched_at',
    };
    const plan = planFor({ input, fields: [], replacedColumns: [0, 2, 4] });
    const raws = ['matched,1,"a,b","acme ""x""",2026', ',"2",,y.example,'];
    await expectGolden('replaced.csv', output(plan, raws));
  });

  it('turns JSON lines into columns without losing a digit', async () => {
    const input = { ...JSON_SHAPE, columns: ['id', 'name', 'more', 'brand'] };
    const plan = planFor({ input, format: 'csv', fields: [], hasUnreadable: true });
    const raws = [
      '{"id":12345678901234567890,"name":"a \\"b\\"","more":{"x": [1,2]}}',
      '{"more":null,"id":1.10,"brand":{"status":"matched","identifier":"x","fetchedAt":null}}',
      '{"brand":{"status":"invalid","identifier":null,"fetchedAt":null,"raw":"{\\"kept\\":"}}',
      '{}',
    ];
    await expectGolden('from-json.csv', output(plan, raws));
  });

  it('escapes formulas in our cells, and in those of the user only with "all"', () => {
    const profile = JSON.stringify({ ...BRAND, name: '=HYPERLINK("x")', domain: '-1.5', description: '@a' });
    const row = (escapeFormulas: OutputPlan['escapeFormulas']) => {
      const renderer = createRenderer(planFor({ escapeFormulas }));
      const text =
        (renderer.header() ?? '') +
        renderer.row('1,=SUM(A1)', renderer.answer({ ...MATCHED, profile }), null);
      const { website, brand_name, brand_domain, brand_description } = cellsOf(text)[0] ?? {};
      return [website, brand_name, brand_domain, brand_description];
    };
    expect(row('ours')).toEqual(['=SUM(A1)', '\'=HYPERLINK("x")', '-1.5', "'@a"]);
    expect(row('all')).toEqual(["'=SUM(A1)", '\'=HYPERLINK("x")', "'-1.5", "'@a"]);
    expect(row('none')).toEqual(['=SUM(A1)', '=HYPERLINK("x")', '-1.5', '@a']);
  });

  it('with "all" escapes the user’s header, JSON values and kept text too, once however often it runs', () => {
    const all = { escapeFormulas: 'all', fields: [] } as const;
    const columns = ['=id', 'website', 'brand_status', 'brand_identifier', 'brand_fetched_at', 'brand_raw'];
    const input = { ...CSV_SHAPE, columns, rawHeader: columns.join(',') };
    const renderer = createRenderer(planFor({ ...all, input, replacedColumns: [2, 3, 4, 5] }));
    expect(renderer.header()).toMatch(/^'=id,website,brand_status/);
    const line = renderer.row('@x,,invalid,,,"=1,""a"', renderer.answer(INVALID), null);
    expect(line).toMatch(/^'@x,,invalid,.*,"'=1,""a"\n$/);
    const again = renderer.row('\'@x,,invalid,,,"\'=1,""a"', renderer.answer(INVALID), null);
    expect(again).toBe(line);
    const json = createRenderer(
      planFor({ ...all, input: { ...JSON_SHAPE, columns: ['+k'] }, format: 'csv' }),
    );
    expect(json.header()).toMatch(/^'\+k,brand_status/);
    expect(json.row('{"+k":"=a,b"}', json.answer(INVALID), null)).toMatch(/^"'=a,b",invalid/);
  });

  it('repeats the text of an unreadable row verbatim, and escapes it only with "all"', () => {
    const raw = (escapeFormulas: OutputPlan['escapeFormulas']) => {
      const renderer = createRenderer(planFor({ escapeFormulas, hasUnreadable: true }));
      return cellsOf(renderer.header() + renderer.unreadable('=1,"a', 'an unclosed quote'))[0]?.brand_raw;
    };
    expect([raw('none'), raw('ours'), raw('all')]).toEqual(['=1,"a', '=1,"a', '\'=1,"a']);
  });

  it('refuses an unreadable row in an output without brand_raw', () => {
    expect(() => createRenderer(planFor()).unreadable('"', 'x')).toThrow('planned without');
  });

  it('keeps any record of the user byte for byte, and all records as wide as the header', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', ';', '\n', '\r', ' ', '=', '0') });
    fc.assert(
      fc.property(
        fc.array(cell, { minLength: 2, maxLength: 5 }),
        fc.constantFrom(',', ';', '\t'),
        fc.boolean(),
        (cells, delimiter, quoted) => {
          const columns = cells.map((_cell, at) => `c${at}`);
          const input = { ...CSV_SHAPE, delimiter, columns, rawHeader: columns.join(delimiter) };
          const raw = stringify([cells], { delimiter, eof: false, quoted });
          const renderer = createRenderer(planFor({ input }));
          const line = renderer.row(raw, renderer.answer(MATCHED), 7);
          expect(line.startsWith(raw + delimiter)).toBe(true);
          const [header, record] = parse(renderer.header() + line, { delimiter, record_delimiter: '\n' });
          expect(record?.slice(0, cells.length)).toEqual(cells);
          expect(record).toHaveLength(header?.length ?? 0);
          expect(record?.[header?.indexOf('brand_duplicate_of') ?? -1]).toBe('7');
        },
      ),
    );
  });
});
