import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RunError } from '../../src/core/errors.js';
import { loadCatalogue, memberBytes, readCatalogueLine } from '../../src/local-service/load-catalogue.js';
import { generateCatalogue } from './generate-catalogue.js';
import { generatedDomain } from './generate-keys.js';

const lines = [...generateCatalogue(40)];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalogue-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let files = 0;
async function fileOf(content: string | Buffer, name = `${files}.jsonl`): Promise<string> {
  files += 1;
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

async function messageOf(path: string): Promise<string> {
  const error: unknown = await loadCatalogue(path).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RunError);
  return error instanceof RunError ? error.message : '';
}

type Json = Record<string, unknown>;
interface Draft {
  brand: Json & { company: Json; logos: Json[] };
  keys: Json;
  adult: unknown;
}

/** The first generated line (of a listed company), modified by `change`. */
function changedLine(change: (draft: Draft) => void, of = 0): string {
  const draft = JSON.parse(lines[of] ?? '') as Draft;
  change(draft);
  return JSON.stringify(draft);
}

describe('loading', () => {
  test.each<[string, (text: string) => string | Buffer]>([
    ['gzip', (text) => gzipSync(text)],
    ['CRLF line ends', (text) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text) => `\uFEFF${text}`],
    ['blank lines', (text) => `\n  \n${text.replaceAll('\n', '\n\n')}`],
    ['no line end after the last line', (text) => text.trimEnd()],
  ])('accepts %s', async (_, encode) => {
    const catalogue = await loadCatalogue(await fileOf(encode(`${lines.join('\n')}\n`)));
    expect(catalogue.size).toBe(40);
  });

  test('keeps a brand byte for byte: blanks, number forms, escapes, unknown fields', async () => {
    const body =
      `{ "id":"id_x", "name" : "A \\u00e9\\"}{", "domain":"a.com","claimed":false,"description":null,
      "longDescription":null,"links":[],"logos":[],"colors":[],"fonts":[],"images":[],"qualityScore":0.50,"company":{},
      "isNsfw":false,"urn":"urn:x","added":{"big":12345678901234567890,"one":1.10,"text":"]} \\\\"} }`.replace(
        /\n\s*/g,
        '',
      );
    const keys = '{"domains":["a.com"],"tickers":[],"isins":[],"crypto":[],"id":"id_x"}';
    const path = await fileOf(`{"keys": ${keys} , "brand" : ${body} , "adult":"none"}`);
    const catalogue = await loadCatalogue(path);
    expect(catalogue.find('id', 'id_x')?.body.toString()).toBe(body);
  });

  test('reads lines that are longer than one read of the file', async () => {
    const longDescription = 'é'.repeat(800_000);
    const long = changedLine(({ brand }) => Object.assign(brand, { longDescription }));
    const catalogue = await loadCatalogue(await fileOf([long, ...lines.slice(1)].join('\n')));
    expect(catalogue.size).toBe(40);
    expect(catalogue.find('domain', generatedDomain(0))?.body.length).toBeGreaterThan(1_600_000);
  });

  test('accepts null leaves, as live services send them', async () => {
    const line = changedLine((draft) => {
      draft.brand.name = null;
      draft.brand.company.location = null;
      draft.brand.company.employees = null;
      draft.brand.logos = [{ theme: null, formats: [{ src: 'x', width: null }], tags: [], type: 'icon' }];
    });
    expect((await loadCatalogue(await fileOf(line))).size).toBe(1);
  });
});

describe('a bad line', () => {
  const withLine = (more: object) => changedLine((draft) => Object.assign(draft, more));
  const withBrand = (more: object) => changedLine(({ brand }) => Object.assign(brand, more));
  const withKeys = (more: object) => changedLine(({ keys }) => Object.assign(keys, more));
  const wide = { logos: [{ formats: [{ width: 'x' }] }] };

  test.each<[string, string, string]>([
    ['that is not JSON', '{"brand": ', 'is not JSON'],
    ['that is a list', '[]', 'line: '],
    ['without a brand', '{"keys":{},"adult":"none"}', 'brand: '],
    ['with an unknown member', withLine({ extra: 1 }), 'extra'],
    ['without a required field', withBrand({ urn: undefined }), 'brand.urn: '],
    ['with a score above 1', withBrand({ qualityScore: 1.2 }), 'brand.qualityScore: '],
    ['with a score below 0', withBrand({ qualityScore: -0.1 }), 'brand.qualityScore: '],
    ['with a score as text', withBrand({ qualityScore: '1' }), 'brand.qualityScore: '],
    ['with a wrong check digit', withKeys({ isins: ['US0378331006'] }), 'keys.isins[0]: '],
    ['with a domain that is a URL', withKeys({ domains: ['https://a.com'] }), 'keys.domains[0]: '],
    ['with a ticker of blanks', withKeys({ tickers: [' '] }), 'keys.tickers[0]: '],
    ['with another id in its keys', withKeys({ id: 'id_other' }), 'keys.id: must equal brand.id'],
    ['with an unknown adult status', withLine({ adult: 'maybe' }), 'adult: '],
    ['that is adult and not isNsfw', withLine({ adult: 'flagged' }), 'brand.isNsfw: '],
    ['with a wrong type deep inside', withBrand(wide), 'brand.logos[0].formats[0].width: '],
    ['with a colour that cannot be read', withBrand({ colors: [{ hex: 'red' }] }), 'brand.colors[0].hex: '],
  ])('%s is named with its field', async (_, line, words) => {
    const message = await messageOf(await fileOf([lines[5], line, lines[6]].join('\n')));
    expect(message).toContain(`.jsonl line 2, `);
    expect(message).toContain(words);
  });

  test('that is not UTF-8 is named', async () => {
    const path = await fileOf(`${lines[0]}\n`);
    await appendFile(path, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(await messageOf(path)).toContain('line 2, is not UTF-8');
  });

  test('whose key belongs to another brand names key and brand', async () => {
    const stolen = changedLine((draft) => Object.assign(draft.keys, { tickers: ['saaa'] }), 7);
    const message = await messageOf(await fileOf(['', lines[0], lines[1], stolen].join('\n')));
    expect(message).toContain('line 4, keys: the ticker saaa belongs to the brand of line 2');
  });

  test('is numbered with blank lines counted, and further ones are listed by number', async () => {
    const bad = '{}';
    const message = await messageOf(await fileOf(['', bad, lines[0], bad, bad].join('\n')));
    expect(message).toContain('line 2, ');
    expect(message).toMatch(/correct it and lines 4, 5$/);
  });

  test('among very many leaves the message short', async () => {
    const message = await messageOf(await fileOf('{}\n'.repeat(1_000)));
    expect(message).toMatch(/ and lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 989 more$/);
  });

  test('without end is refused before it fills the memory', async () => {
    const path = await fileOf(Buffer.alloc(6 * 1024 * 1024, 'x'));
    expect(await messageOf(path)).toContain('a line of more than');
  });
});

describe('a file', () => {
  test('that is missing or a folder is named', async () => {
    expect(await messageOf(join(folder, 'nowhere.jsonl'))).toContain('nowhere.jsonl (it does not exist)');
    expect(await messageOf(folder)).toContain('(it is a folder)');
  });

  test.each([
    ['empty', ''],
    ['blank', '\n \n'],
  ])('that is %s holds no brands', async (_, content) => {
    expect(await messageOf(await fileOf(content))).toContain('the catalogue holds no brands');
  });

  test('of truncated gzip is refused', async () => {
    const whole = gzipSync(lines.join('\n'));
    const message = await messageOf(await fileOf(whole.subarray(0, whole.length - 20), 'cut.jsonl.gz'));
    expect(message).toContain('cut.jsonl.gz (unexpected end of file)');
  });
});

describe('finding a member in JSON bytes', () => {
  test('returns what JSON.parse returns, for any JSON', () => {
    const members = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(members, fc.jsonValue(), fc.integer({ max: 3, min: 0 }), (others, value, indent) => {
        const bytes = Buffer.from(JSON.stringify({ ...others, brand: value, after: others }, null, indent));
        expect(JSON.parse(memberBytes(bytes, 'brand').toString())).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test.each([
    ['{"brand":1,"\\u0062rand":2}', '2'],
    ['{"keys":{"brand":1},"brand":[{"brand":3}]}', '[{"brand":3}]'],
  ])('returns the last of two, like JSON.parse, and no member of a member: %s', (json, found) => {
    expect(memberBytes(Buffer.from(json), 'brand').toString()).toBe(found);
  });

  test('does not copy', () => {
    const bytes = Buffer.from(lines[0] ?? '');
    const read = readCatalogueLine(bytes);
    expect(typeof read === 'object' && read.body.buffer === bytes.buffer).toBe(true);
  });
});
