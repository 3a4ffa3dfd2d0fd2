import { describe, expect, it } from 'vitest';
import { wantsJson } from '../../src/config/load-settings.js';

type JsonClues = Parameters<typeof wantsJson>[0];

const inFile = (json: unknown) => ({ path: '/x/brand-enrich.config.json', values: { json } });
const NOTHING: JsonClues = { argv: ['run', 'x'], env: {}, file: null, settings: null };

describe('whether a program reads along', () => {
  it.each<[string, Partial<JsonClues>, boolean]>([
    ['nobody said so', {}, false],
    ['the settings say so', { settings: { json: true } }, true],
    ['the settings say no, whatever else does', { settings: { json: false }, file: inFile(true) }, false],
    ['a flag, beside words that mean nothing', { argv: ['rum', '--jsom', '--json', 'x'] }, true],
    ['a flag with a value that it must not have', { argv: ['run', 'x', '--json=true'] }, true],
    ['an operand of that name', { argv: ['run', '--', '--json'] }, false],
    ['the environment', { env: { BRAND_ENRICH_JSON: 'yes' } }, true],
    ['the environment, saying no', { env: { BRAND_ENRICH_JSON: 'false' }, file: inFile(true) }, false],
    ['the environment, saying nothing of sense', { env: { BRAND_ENRICH_JSON: 'perhaps' } }, false],
    ['an empty variable', { env: { BRAND_ENRICH_JSON: '' }, file: inFile(true) }, true],
    ['the config file', { file: inFile(true) }, true],
    ['the config file, saying no', { file: inFile(false) }, false],
  ])('%s', (_what, clues, expected) => {
    expect(wantsJson({ ...NOTHING, ...clues })).toBe(expected);
  });
});
