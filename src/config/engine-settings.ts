/** The settings of the engine, of the admin commands, and of how the program behaves. */
import { isAbsolute, join } from 'node:path';
import { engineValue } from './address-values.js';
import { choice, count, duration, path, yesOrNo } from './parse-value.js';
import type { CommandName, Surroundings } from './setting.js';
import { COMMAND_NAMES, derived, optional, setting } from './setting.js';

const WITHOUT_ENGINE: readonly CommandName[] = ['serve', 'generate-catalogue'];
const WITH_ENGINE: readonly CommandName[] = COMMAND_NAMES.filter((name) => !WITHOUT_ENGINE.includes(name));
/** Those that only look at what is there. */
const KEEPS_DATA: readonly CommandName[] = ['config', 'engine status', 'engine stop', 'engine export'];
const EVERYWHERE = { group: 'Behaviour', commands: COMMAND_NAMES } as const;
/** Those of pino. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * `$XDG_STATE_HOME/brand-enrich`, else `~/.local/state/brand-enrich`; a relative variable does not
 * count (XDG Base Directory Specification). Root's home is closed to the user that its private
 * server runs as.
 */
function stateFolder({ env, home, isRoot = false }: Surroundings): string {
  const stateHome = env.XDG_STATE_HOME ?? '';
  if (isRoot && !isAbsolute(stateHome)) return '/var/lib/brand-enrich';
  return join(isAbsolute(stateHome) ? stateHome : join(home, '.local', 'state'), 'brand-enrich');
}

export const ENGINE_SETTINGS = {
  engine: setting({
    flag: '--engine',
    envAlias: { name: 'REDIS_URL' },
    kind: engineValue,
    default: 'embedded',
    group: 'Engine',
    commands: WITH_ENGINE,
    secrecy: 'address',
    description: 'embedded, or a redis://, rediss://, postgres:// or postgresql:// address',
  }),
  state: derived({
    flag: '--state',
    kind: path('DIR'),
    fallback: stateFolder,
    group: 'Engine',
    commands: COMMAND_NAMES,
    defaultNote:
      '$XDG_STATE_HOME/brand-enrich, else ~/.local/state/brand-enrich (root: /var/lib/brand-enrich)',
    description: 'folder of the embedded engine and of what must survive a crash',
  }),
  startEmpty: setting({
    flag: '--start-empty',
    env: null,
    isInFile: false,
    kind: yesOrNo,
    default: 'false',
    group: 'Engine',
    commands: WITH_ENGINE.filter((name) => !KEEPS_DATA.includes(name)),
    description:
      'set aside state that the embedded engine cannot use and start empty: everything is bought again',
  }),
  waitForDisk: setting({
    flag: '--wait-for-disk',
    kind: yesOrNo,
    default: 'false',
    group: 'Engine',
    commands: ['run', 'watch', 'worker', 'schedule serve', 'up', 'config'],
    description: 'Redis 7.2 and later: wait until permits and answers are on disk (up to 1 s each time)',
  }),
  worker: setting({
    flag: '--no-worker',
    kind: yesOrNo,
    default: 'true',
    group: 'Engine',
    commands: ['run', 'watch', 'up', 'config'],
    description: 'leave the lookups to other processes',
  }),
} as const;

export const ADMIN_SETTINGS = {
  observedUsage: optional({
    flag: '--usage',
    env: null,
    isInFile: false,
    kind: count(0, 1_000_000_000_000),
    group: 'Account and answers',
    commands: ['ledger observe'],
    description: "usage of this period as the service's own pages show it",
  }),
  observedQuota: optional({
    flag: '--quota',
    env: null,
    isInFile: false,
    kind: count(0, 1_000_000_000_000),
    group: 'Account and answers',
    commands: ['ledger observe'],
    description: "quota as the service's own pages show it",
  }),
  olderThanMs: setting({
    flag: '--older-than',
    env: null,
    isInFile: false,
    kind: duration('0s', '365d'),
    default: '30d',
    group: 'Account and answers',
    commands: ['outcomes purge'],
    description: 'forget answers fetched longer ago than this',
  }),
} as const;

export const BEHAVIOUR_SETTINGS = {
  strict: setting({
    flag: '--strict',
    kind: yesOrNo,
    default: 'false',
    group: 'Behaviour',
    commands: ['run', 'watch', 'up', 'config'],
    description: 'exit with 1 if there are invalid rows or nothing matched',
  }),
  quiet: setting({
    flag: '--quiet',
    kind: yesOrNo,
    default: 'false',
    group: 'Behaviour',
    commands: [
      'run',
      'plan',
      'watch',
      'worker',
      'serve',
      'generate-catalogue',
      'engine export',
      'engine import',
      'up',
      'config',
    ],
    description: 'no progress and no summary; only warnings, errors and why a run stopped',
  }),
  json: setting({
    flag: '--json',
    kind: yesOrNo,
    default: 'false',
    ...EVERYWHERE,
    description: 'print the result on standard output as JSON',
  }),
  logLevel: setting({
    flag: '--log-level',
    kind: choice(LOG_LEVELS, 'LEVEL'),
    default: 'info',
    ...EVERYWHERE,
    description: `lowest level that is logged: ${LOG_LEVELS.join(', ')}`,
  }),
  logFile: optional({
    flag: '--log-file',
    kind: path('FILE'),
    ...EVERYWHERE,
    defaultNote: 'standard error',
    description: 'file that the log is appended to; SIGHUP reopens it (for rotation) in commands that run on',
  }),
  color: setting({
    flag: '--no-color',
    envAlias: { name: 'NO_COLOR', meaning: 'false' },
    kind: yesOrNo,
    default: 'true',
    ...EVERYWHERE,
    description: 'no colours on the terminal',
  }),
  configFile: optional({
    flag: '--config',
    isInFile: false,
    kind: path('FILE'),
    ...EVERYWHERE,
    defaultNote: 'brand-enrich.config.json in the working folder',
    description: 'the config file',
  }),
} as const;
