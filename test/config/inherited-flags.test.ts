import { expect, it } from 'vitest';
import { inheritedFlags } from '../../src/config/settings.js';

it.each([
  [
    'where requests go and what they may cost',
    { baseUrl: 'https://a.example', overageBudget: '5', rate: '10' },
  ],
  ['who is told', { notifyUrl: 'https://hooks.example', notifyOn: 'finish' }],
])('a hosted run takes over %s', (_, flags) => {
  expect(inheritedFlags(flags)).toEqual(flags);
});

it('what is read and written is for each run to say, and the process keeps its own', () => {
  expect(
    inheritedFlags({ column: ['website'], output: 'a.csv', inbox: ['in'], metricsPort: '0', json: true }),
  ).toEqual({});
});
