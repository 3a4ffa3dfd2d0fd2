import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES } from '../../src/config/setting.js';
import { inheritedFlags, SETTING_ENTRIES } from '../../src/config/settings.js';
import { settingsTable } from '../support/settings-table.js';

const rows = settingsTable()
  .split('\n')
  .map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

describe('the table of settings in the README', () => {
  it('has one row of six cells per setting', () => {
    expect(rows).toHaveLength(SETTING_ENTRIES.length + 2);
    expect(rows.every((cells) => cells.length === 6)).toBe(true);
  });

  it.each([
    ['`--max-age <DURATION>`', '`BRAND_ENRICH_MAX_AGE`', '`maxAge`', '`7d`', 'run, plan, watch, up'],
    ['`-o, --output <FILE>`', '', '', '`<name>.enriched.<ext>`', 'run, plan, engine export'],
    ['', '`BRAND_API_TOKEN`', '', '', /run, plan, watch, worker/],
    ['`--engine <ENGINE>`', '`BRAND_ENRICH_ENGINE`, `REDIS_URL`', '`engine`', '`embedded`', 'all'],
    ['`--no-header`', '`BRAND_ENRICH_HEADER`', '`header`', '', 'run, plan, watch, up'],
  ])('shows %s', (...expected) => {
    const row = rows.find((cells) => cells[0] === expected[0] && cells[1] === expected[1]) ?? [];
    expect(row.slice(0, 5)).toEqual(
      expected.map((cell) => (typeof cell === 'string' ? cell : expect.stringMatching(cell))),
    );
  });

  it('has a description and a command for every setting', () => {
    for (const [name, line] of SETTING_ENTRIES) {
      expect(line.description, name).toMatch(/^[^\n]{5,110}[^.\n]$/);
      expect(line.commands.length, name).toBeGreaterThan(0);
      expect(line.commands.every((command) => COMMAND_NAMES.includes(command))).toBe(true);
    }
  });
});

it.each([
  [
    'where requests go and what they may cost',
    { baseUrl: 'https://a.example', overageBudget: '5', rate: '10' },
  ],
  ['how hosts are reached', { caFile: 'ca.pem' }],
  ['recipients of notifications', { notifyUrl: 'https://hooks.example', notifyOn: 'finish' }],
])('an inbox or schedule run inherits %s', (_, flags) => {
  expect(inheritedFlags(flags)).toEqual(flags);
});

it('each run sets its own input and output, and the process keeps the rest', () => {
  expect(
    inheritedFlags({ column: ['website'], output: 'a.csv', inbox: ['in'], metricsPort: '0', json: true }),
  ).toEqual({});
});
