import { describe, expect, it } from 'vitest';
import { ConfigError, RunError, throwProblems, usageProblem } from '../../src/core/errors.js';
import { flagOf, joinPhrases, type Phrase, phrase, remediesIn, sayPhrase } from '../../src/core/phrase.js';
import { chooseFrom } from '../../src/input/identify/choose-columns.js';
import { findColumn } from '../../src/input/identify/find-column.js';
import { sentError } from '../../src/input/reader/replies.js';
import { forProgram } from '../../src/library/waiters.js';
import { loadOptions } from '../../src/settings/load-settings.js';
import { SETTING_ENTRIES } from '../../src/settings/settings.js';
import { CHOICE } from '../input/identify/choose-from-table.js';
import { refusal } from '../settings/refusal.js';

it.each<[Phrase, string, string]>([
  ['as it is: --quota, maxCost', 'as it is: --quota, maxCost', 'as it is: --quota, maxCost'],
  [phrase`${{ setting: 'maxCost' }} ${5} is reached`, '--max-cost 5 is reached', 'maxCost 5 is reached'],
  [phrase`use ${{ set: { sheet: 'Q1' } }}`, 'use --sheet Q1', "use sheet: 'Q1'"],
  [phrase`use ${{ set: { sheet: "It's" } }}`, "use --sheet 'It'\\''s'", "use sheet: 'It\\'s'"],
  [phrase`use ${{ set: { skipLines: 3 } }}`, 'use --skip-lines 3', 'use skipLines: 3'],
  [
    phrase`use ${{ set: { header: false, kind: 'ticker' } }}`,
    'use --no-header --kind ticker',
    "use header: false, kind: 'ticker'",
  ],
  [phrase`use ${{ set: { refresh: true } }}`, 'use --refresh', 'use refresh: true'],
  [
    phrase`use ${{ set: { column: ['a b:isin', 'c:id'] } }}`,
    "use --column 'a b:isin' --column c:id",
    "use column: ['a b:isin', 'c:id']",
  ],
  [phrase`${{ unset: 'kind' }}, or not`, 'omit --kind, or not', 'omit kind, or not'],
  [phrase`name ${{ choose: 'state', example: 'DIR' }}`, 'name --state DIR', "name state: 'DIR'"],
  [phrase`set ${{ setting: 'token', shell: 'BRAND_API_TOKEN' }}`, 'set BRAND_API_TOKEN', 'set token'],
  [
    joinPhrases([{ unset: 'kind' }, phrase`${'a'} or ${1}`, 'b'], '; '),
    'omit --kind; a or 1; b',
    'omit kind; a or 1; b',
  ],
])('%j', (text, inFlags, inKeys) => {
  expect(sayPhrase(text, 'flags')).toBe(inFlags);
  expect(sayPhrase(text, 'keys')).toBe(inKeys);
  // Between processes.
  expect(sayPhrase(JSON.parse(JSON.stringify(text)), 'flags')).toBe(inFlags);
});

it('remediesIn returns remedies in order, also those of filled-in phrases', () => {
  const inner = phrase`${{ set: { sheet: 'a' } }} or ${{ set: { sheet: 'b' } }}`;
  expect(remediesIn(phrase`choose ${inner}, or ${{ unset: 'kind' }}`)).toEqual([
    { set: { sheet: 'a' } },
    { set: { sheet: 'b' } },
    { unset: 'kind' },
  ]);
  expect(remediesIn('--sheet a')).toEqual([]);
});

it.each(SETTING_ENTRIES.filter(([, { flag }]) => flag !== null))('%s has the flag of its key', (_, line) => {
  const { key = '', flag } = line;
  const isOn = line.kind.arity === 'switch' && flag?.startsWith('--no-');
  expect(isOn ? sayPhrase([{ set: { [key ?? '']: false } }], 'flags') : flagOf(key ?? '')).toBe(flag);
});

describe('an error', () => {
  it('names options to a program; errors of others stay unchanged', () => {
    const error = forProgram(refusal(() => loadOptions({})));
    expect(JSON.stringify([error, String(error)])).not.toMatch(/--|BRAND_/);
    expect(error).toMatchObject({
      subject: 'baseUrl, token',
      message: expect.stringContaining('set baseUrl, for example'),
    });
    const other = new Error('--quota');
    expect(forProgram(other)).toBe(other);
    expect(other.message).toBe('--quota');
  });

  const path = '/data/--quota/a -o b/BRAND_API_TOKEN.csv';
  const made = new RunError({
    code: 'input-missing',
    subject: phrase`${{ setting: 'caFile' }} ${path}`,
    todo: phrase`use ${{ set: { sheet: path } }}`,
  });
  const message = `the input cannot be opened: caFile ${path}; use sheet: '${path}'`;

  it("keeps the user's texts, also in an error made of it and in one of several problems", () => {
    expect(made.inWords('keys').message).toBe(message);
    expect(new ConfigError(made.detail).inWords('keys')).toEqual(made.inWords('keys'));
    const { what, subject, todo } = made.detail;
    const several = refusal(() =>
      throwProblems([usageProblem(what, subject, todo), usageProblem('w', path, 't')]),
    ) as ConfigError;
    expect(several.inWords('keys')).toMatchObject({
      subject: `caFile ${path}, ${path}`,
      todo: `fix these:\n  - ${message}\n  - w: ${path}; t`,
    });
  });

  it('keeps them on its way from the process that reads a file', () => {
    const { isUsage: _usage, ...detail } = JSON.parse(JSON.stringify(sentError('a.xlsx', made)));
    expect(new RunError(detail).inWords('keys').message).toBe(message);
  });

  const columns = ['--quota', 'x -o y', '--rate'];
  const sample = [['a.com', 'b.com', 'c.com']];
  const table = { name: '', shape: { columns, format: 'csv' }, sample } as const;
  it.each<[string, () => unknown, string[]]>([
    ['no columns', () => findColumn(columns, { name: '--concurrency', kind: null }), ['"--concurrency"']],
    [
      'columns in doubt',
      () => chooseFrom(table, CHOICE),
      ["column: '--quota:domain'", "column: 'x -o y:domain'", '"--rate"'],
    ],
  ])('of %s', (_, act, left) => {
    const { message } = (refusal(act) as ConfigError).inWords('keys');
    for (const text of left) expect(message).toContain(text);
    expect(message.replaceAll(/--(?:quota|rate|concurrency)\b/g, '')).not.toMatch(/--|BRAND_API/);
  });
});
