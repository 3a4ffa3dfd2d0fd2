import { expect, it } from 'vitest';
import { configText } from '../../src/commands/init.js';
import { loadSettings, parseConfigFile } from '../../src/settings/load-settings.js';

const VALUES = { baseUrl: 'https://api.example.com', tokenFile: '/token', plan: 'paid' } as const;
const load = (text: string) =>
  loadSettings({
    flags: {},
    env: {},
    file: parseConfigFile('/c.json', text),
    command: 'up',
    home: '/home/ada',
  });

it('contains the given values, and the others as comments', () => {
  const { settings, origins } = load(configText(VALUES));
  expect(settings).toMatchObject(VALUES);
  expect(origins).toMatchObject(Object.fromEntries(Object.keys(VALUES).map((name) => [name, 'file'])));
  expect(settings.ownDomain).toBeNull();
});

it('is valid without the comments', () => {
  const { settings } = load(configText(VALUES).replace(/^ {2}\/\/ "/gm, '  "'));
  expect(settings).toMatchObject({ ...VALUES, ownDomain: 'brandfetch.com', maxRequests: 500, rate: 50 });
});
