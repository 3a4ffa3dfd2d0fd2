import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as errors from '../../src/core/errors.js';
import {
  AuthenticationError,
  BrandEnrichError,
  ConfigError,
  DeclinedError,
  ERROR_CATALOGUE,
  type ErrorCode,
  EXIT,
  errorText,
  InterruptedError,
  RunError,
  worstExit,
} from '../../src/core/errors.js';

const DETAIL = { code: 'input-missing', subject: 'customers.csv', todo: 'name a file' } as const;

it.each([
  [ConfigError, 2, 'ConfigError'],
  [RunError, 5, 'RunError'],
  [AuthenticationError, 4, 'AuthenticationError'],
  [InterruptedError, 130, 'InterruptedError'],
  [DeclinedError, 0, 'DeclinedError'],
] as const)('exit codes by class: %o ends with %i', (Class, exitCode, name) => {
  const error = new Class(DETAIL);
  expect(error).toBeInstanceOf(BrandEnrichError);
  expect(error).toMatchObject({ ...DETAIL, exitCode, name });
});

describe('an error message', () => {
  it('reads what: subject; what to do', () => {
    expect(new RunError(DETAIL).message).toBe('the input cannot be opened: customers.csv; name a file');
  });

  it('prefers a more specific description over that of the catalogue', () => {
    const error = new RunError({ ...DETAIL, what: 'the input is a folder' });
    expect(error.message).toBe('the input is a folder: customers.csv; name a file');
    expect(error.code).toBe('input-missing');
  });

  it('keeps its cause, if it has one', () => {
    const cause = new Error('EACCES');
    expect(new RunError({ ...DETAIL, cause }).cause).toBe(cause);
    expect('cause' in new RunError(DETAIL)).toBe(false);
  });
});

it('every code has a description that fits the message form', () => {
  for (const [code, sentence] of Object.entries(ERROR_CATALOGUE)) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(sentence).not.toBe('');
    const error = new RunError({ code: code as ErrorCode, subject: 'S', todo: 'T' });
    expect(error.message).toBe(`${sentence}: S; T`);
  }
});

it('every code and every class is used outside of the table', () => {
  const folder = fileURLToPath(new URL('../../src', import.meta.url));
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'errors.ts')
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const raised = (code: string) => sources.includes(`'${code}'`);
  expect(Object.keys(ERROR_CATALOGUE).filter((code) => !raised(code))).toEqual([]);
  const classes = Object.keys(errors).filter((name) => name.endsWith('Error') && name !== 'BrandEnrichError');
  expect(classes.filter((name) => !sources.includes(`new ${name}(`))).toEqual([]);
});

describe('the worst of several exit codes', () => {
  it.each<[number[], number]>([
    [[], 0],
    [[1, 7], 7],
    [[7, 3], 3],
    [[3, 130], 130],
    [[130, 5], 5],
    [[5, 4], 4],
    [[4, 2], 2],
    [[1, 7, 3, 130, 5, 4], 4],
  ])('of %j is %i', (codes, worst) => {
    expect(worstExit(codes as never)).toBe(worst);
    expect(worstExit([...codes].reverse() as never)).toBe(worst);
  });

  it('covers every exit code', () => {
    for (const code of Object.values(EXIT)) expect(worstExit([code])).toBe(code);
  });
});

it.each([
  [new Error('went wrong'), 'went wrong'],
  ['words', 'words'],
  [undefined, 'undefined'],
  [{ toString: (): string => 'odd' }, 'odd'],
])('describes any thrown value', (thrown, words) => {
  expect(errorText(thrown)).toBe(words);
});
