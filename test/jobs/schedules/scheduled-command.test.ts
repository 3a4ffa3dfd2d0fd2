import { expect, it } from 'vitest';
import { assertFlagsOfRun, readScheduledCommand } from '../../../src/jobs/schedules/scheduled-command.js';
import { loadSettings } from '../../../src/settings/load-settings.js';

const ENV = { BRAND_API_URL: 'https://brands.example', BRAND_API_TOKEN: 'sesame' };

function read(...argv: string[]) {
  return readScheduledCommand(argv, '/data/brands', (command, flags) =>
    loadSettings({ command, flags, env: ENV, file: null, home: '/home/ada' }),
  );
}

it('resolves the paths of a run, and keeps its words for display', () => {
  expect(
    read('run', 'my list.csv', ...'-o out/{date}.csv --errors /tmp/e.csv --max-cost 5 --refresh'.split(' ')),
  ).toEqual({
    line: "run 'my list.csv' -o out/{date}.csv --errors /tmp/e.csv --max-cost 5 --refresh",
    input: '/data/brands/my list.csv',
    flags: { output: '/data/brands/out/{date}.csv', errors: '/tmp/e.csv', maxCost: '5', refresh: true },
  });
});

it('keeps columns a list', () => {
  const { flags } = read('run', 'a.csv', '--column', 'a:domain', '--column', 'b');
  expect(flags).toEqual({ column: ['a:domain', 'b'] });
});

it.each([
  [[], /only runs can be scheduled/],
  [['plan', 'a.csv'], /only runs can be scheduled: plan/],
  [['run', 'a.csv', '--dry-run'], /only runs can be scheduled: run a\.csv --dry-run/],
  [['run'], /INPUT is missing/],
  [['run', '--help'], /only runs can be scheduled/],
  [['run', 'a.csv', '--no-such'], /no such flag: --no-such/],
  [['run', 'a.csv', '--rate', 'fast'], /--rate/],
  [['run', 'a.csv', '--try', '5'], /nobody to ask after a trial: --try; omit it/],
  [['run', 'a.csv', '--try=5', '--yes'], /nobody to ask after a trial: --try; omit it/],
  [['run', '-'], /no standard input or output/],
  [['run', 'a.csv', '-o', '-'], /no standard input or output/],
  [['run', 'a.csv', '--engine', 'redis://u:pw@queue'], /not a flag of a scheduled run: --engine/],
  [['run', 'a.csv', '--sample'], /not a flag of a scheduled run: --sample/],
  [['run', 'a.csv', '-o', '{datum}.csv'], /no such placeholder: \{datum\} in --output/],
  [['run', 'a.csv', '--fill', 'a=id', '--differences', '{datum}.csv'], /\{datum\} in --differences/],
  [['run', 'a.csv', '--changes', 'c.csv', '-o', '{date}.csv'], /whose name stays the same/],
  [['run', 'a.csv', '--waterfall', '--column', 'one'], /contradict/],
])('%j is refused', (argv, reason) => {
  expect(() => read(...argv)).toThrow(reason);
});

it.each([
  ['--base-url', 'https://brands.example'],
  ['--token-file', 'my.token'],
  ['--account', 'team'],
  ['--allow-http'],
  ['--own-domain', 'brands.example'],
  ['--engine', 'redis://queue'],
  ['--state', '/var/state'],
  ['--config', 'other.json'],
  ['--ca-file', 'ca.pem'],
  ['--notify-url', 'https://hooks.example'],
  ['--notify-secret-file', 'secret'],
  ['--notify-mail', 'smtp://mail.example?to=a@b.example'],
  ['--metrics-port', '1'],
  ['--log-file', '/var/log/x'],
])('%s belongs to the process that runs it, and is refused by name', (flag, ...value) => {
  expect(() => read('run', 'a.csv', flag, ...value)).toThrow(`not a flag of a scheduled run: ${flag}`);
});

it('a definition with such a flag is refused when it is read again', () => {
  const flags = { output: '/out.csv', baseUrl: 'https://brands.example', tokenFile: '/etc/shadow' };
  expect(() => assertFlagsOfRun(flags, 'schedule nightly')).toThrow(
    /2 problems[\s\S]*--base-url in schedule nightly[\s\S]*--token-file in schedule nightly/,
  );
  expect(() => assertFlagsOfRun({ unheardOf: 'x' }, 'schedule nightly')).toThrow(/unheardOf/);
});

it('shows nothing of a refused value that may be a secret', () => {
  for (const flags of [
    ['--engine', 'redis://u:geheim@queue'],
    ['--token-file', 'geheimgeheimgeheimgeheim'],
    ['--base-url', 'https://u:geheim@brands.example'],
  ]) {
    expect(() => read('run', 'a.csv', ...flags)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('geheim') }),
    );
  }
});
