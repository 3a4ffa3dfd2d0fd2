/** The text of a config file with comments, as `init` writes it. Pure. */
import { COMMANDS_WITH_SETTINGS } from './setting.js';
import { SETTINGS, type SettingName } from './settings.js';

/** The most common settings, with an example of each. */
const SHOWN: readonly (readonly [SettingName, string | number | readonly string[]])[] = [
  ['baseUrl', 'https://api.example.com'],
  ['tokenFile', '/etc/brand-enrich/token'],
  ['ownDomain', 'brand.example'],
  ['account', 'data-team'],
  ['plan', 'paid'],
  ['overageBudget', '5'],
  ['maxRequests', 500],
  ['onLimit', 'wait'],
  ['priority', 'revenue:desc'],
  ['maxAgeMs', '7d'],
  ['columns', ['website:domain']],
  ['fields', ['name', 'qualityScore', 'company.location.region']],
  ['engine', 'redis://localhost:6379'],
  ['rate', 50],
  ['inboxes', ['/data/brands']],
  ['notifyUrl', 'https://hooks.example.com/brands'],
  ['metricsPort', 9464],
  ['logFile', '/var/log/brand-enrich.log'],
];

/** The given values; the other settings of the list are commented out. */
export function configText(values: Partial<Record<SettingName, unknown>>): string {
  const examples = SHOWN.filter(([name]) => values[name] === undefined);
  const given = Object.entries(values) as [SettingName, unknown][];
  return [
    '{',
    ...given.flatMap(([name, value]) => linesOf(name, value, '')),
    '',
    '  // To use a setting, remove the // before it. `brand-enrich config` shows all settings.',
    '',
    ...examples.flatMap(([name, example]) => linesOf(name, example, '// ')),
    '}',
    '',
  ].join('\n');
}

function linesOf(name: SettingName, value: unknown, mark: string): string[] {
  const { key, description, defaultText, commands } = SETTINGS[name];
  const users = commands.filter((each) => each !== 'config');
  const whose = users.length > 0 && users.length < COMMANDS_WITH_SETTINGS.length && !users.includes('run');
  const notes = [whose ? users.join(', ') : '', defaultText === '' ? '' : `default: ${defaultText}`];
  const note = notes.filter((each) => each !== '').join('; ');
  return [
    `  // ${description}${note === '' ? '' : ` (${note})`}`,
    `  ${mark}${JSON.stringify(key)}: ${JSON.stringify(value)},`,
  ];
}
