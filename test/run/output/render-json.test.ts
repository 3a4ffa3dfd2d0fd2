import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/core/errors.js';
import type { OutputPlan } from '../../../src/run/output/output-plan.js';
import { createRenderer } from '../../../src/run/output/render.js';
import { expectGolden } from './golden.js';
import { CSV_SHAPE, DEFERRED, INVALID, JSON_SHAPE, MATCHED, NOT_FOUND, planFor } from './plans.js';

function output(plan: OutputPlan, raws: readonly string[]): string {
  const renderer = createRenderer(plan);
  const views = [MATCHED, NOT_FOUND, DEFERRED, INVALID];
  const rows = raws.map((raw, at) => renderer.row(raw, renderer.answer(views[at % 4] ?? MATCHED), null));
  const text = (renderer.header() ?? '') + rows.join('') + renderer.unreadable('{"id":', 'not JSON');
  for (const line of text.split('\n').filter((line) => line !== '')) JSON.parse(line);
  return text;
}

describe('JSON lines', () => {
  it('have our key before the closing brace and are otherwise unchanged', async () => {
    const raws = [
      '{"id":12345678901234567890, "price" : 1.10,"website":"acme.example"}',
      '{ }',
      '  {"a":{"brand":1},"s":"}\\"{"} ',
      '{"id":1}',
    ];
    await expectGolden('default.jsonl', output(planFor({ input: JSON_SHAPE }), raws));
  });

  it('replace the key of an earlier run', async () => {
    const input = { ...JSON_SHAPE, columns: ['id', 'brand', 'z'] };
    const earlier =
      '{"status":"matched","kind":"domain","identifier":"}","fetchedAt":null,"profile":{"a":"{"}}';
    const raws = [`{"id":1,"brand":${earlier},"z":1.0}`, `{"brand":${earlier}}`, '{"id":2}'];
    await expectGolden('replaced.jsonl', output(planFor({ input }), raws));
  });

  it('contain CSV records as strings, with a key for every column', async () => {
    const input = {
      ...CSV_SHAPE,
      columns: ['id', '', 'name', 'name', 'name_2', 'brand_status', 'brand_raw'],
      lineEnd: '\r',
      delimiter: ';',
    } as const;
    const plan = planFor({ input, format: 'jsonl', replacedColumns: [5, 6] });
    const raws = ['007;"a ""b""";1.10;x;y;matched;', '2;;;"l1\nl2";;;"kept; text"'];
    await expectGolden('from-csv.jsonl', output(plan, raws));
  });

  it('stop where our key would overwrite one of the user', () => {
    const column = { ...CSV_SHAPE, columns: ['id', 'brand'], rawHeader: 'id,brand' };
    expect(() => createRenderer(planFor({ input: column, format: 'jsonl' }))).toThrow(ConfigError);
    for (const format of ['jsonl', 'csv'] as const) {
      const renderer = createRenderer(planFor({ input: JSON_SHAPE, format }));
      const ours = renderer.answer(MATCHED);
      expect(() => renderer.row('{"brand":"Nike"}', ours, null)).toThrow('--prefix');
      expect(() => renderer.row('{"\\u0062rand":{"status":"new"}}', ours, null)).toThrow('--prefix');
      expect(() => renderer.row('{"maker":"\\u0062","name":"brand"}', ours, null)).not.toThrow();
    }
  });

  it('keep the text of an unreadable line through any number of runs', () => {
    const renderer = createRenderer(planFor({ input: JSON_SHAPE }));
    const first = renderer.unreadable('{"a":"\\u00', 'not JSON').slice(0, -1);
    const skipped = { status: 'skipped', error: 'blank' } as const;
    const second = renderer.row(first, renderer.answer({ ...INVALID, ...skipped }), null);
    const brand = { ...JSON.parse(first).brand, ...skipped, raw: '{"a":"\\u00' };
    expect(JSON.parse(second)).toEqual({ brand });
    const third = renderer.row(second.slice(0, -1), renderer.answer({ ...INVALID, error: 'not JSON' }), null);
    expect(third.slice(0, -1)).toBe(first);
  });

  it('use the key that the prefix names', () => {
    const renderer = createRenderer(planFor({ input: JSON_SHAPE, prefix: 'enriched_' }));
    const line = JSON.parse(renderer.row('{"brand":"Nike"}', renderer.answer(NOT_FOUND), null));
    expect(line).toMatchObject({ brand: 'Nike', enriched: { status: 'not_found', identifier: 'ZZZZ' } });
  });

  it('carry the profile as the service sent it, except line breaks between its tokens', () => {
    const renderer = createRenderer(planFor({ input: JSON_SHAPE }));
    const profile = '{\r\n  "name": "a\\nb",\n  "n": 1.10, "big": 12345678901234567890, "x": "\u2028"\n}';
    const line = renderer.row('{}', renderer.answer({ ...MATCHED, profile }), null);
    expect(line).toContain(`"profile":${profile.replace(/[\r\n]+/g, '')}}}\n`);
  });

  it('return the user’s text character by character in the next run', () => {
    const renderer = createRenderer(planFor({ input: JSON_SHAPE }));
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    fc.assert(
      fc.property(objects, fc.constantFrom('', ' '), fc.json(), (object, blank, profile) => {
        fc.pre(!Object.hasOwn(object, 'brand'));
        const raw = JSON.stringify(object).replace(/}$/, `${blank}}${blank}`);
        const first = renderer.row(raw, renderer.answer({ ...MATCHED, profile }), null);
        expect(JSON.parse(first).brand).toMatchObject({ status: 'matched', profile: JSON.parse(profile) });
        const second = renderer.row(first.slice(0, -1), renderer.answer(NOT_FOUND), null);
        expect(second).toBe(renderer.row(raw, renderer.answer(NOT_FOUND), null));
      }),
    );
  });
});
