import { expect, it } from 'vitest';
import { COMMAND_NAMES } from '../../src/settings/setting.js';
import { inheritedFlags, SETTING_ENTRIES } from '../../src/settings/settings.js';

it('every setting has a description and a command', () => {
  for (const [name, line] of SETTING_ENTRIES) {
    expect(line.description, name).toMatch(/^[^\n]{5,110}[^.\n]$/);
    expect(line.commands.length, name).toBeGreaterThan(0);
    expect(line.commands.every((command) => COMMAND_NAMES.includes(command))).toBe(true);
  }
});

it.each([
  ['where requests go and what they cost', { baseUrl: 'https://a.example', overageBudget: '5', rate: '10' }],
  ['how hosts are reached', { caFile: 'ca.pem' }],
  ['recipients of notifications', { notifyUrl: 'https://hooks.example', notifyOn: 'finish' }],
])('an inbox or schedule run inherits %s', (_, flags) => {
  expect(inheritedFlags(flags)).toEqual(flags);
});

it('each run sets its own input and output, and the process keeps the rest', () => {
  const flags = { column: ['website'], output: 'a.csv', inbox: ['in'], metricsPort: '0', json: true };
  expect(inheritedFlags(flags)).toEqual({});
});
