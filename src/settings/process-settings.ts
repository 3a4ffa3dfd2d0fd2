/** The settings of a process and of the commands other than runs. */
import { isAbsolute, join } from 'node:path';
import {
  engineValue,
  hostValue,
  mailValue,
  originValue,
  proxyValue,
  webhookValue,
} from './address-values.js';
import {
  choice,
  count,
  duration,
  keyValues,
  month,
  path,
  paths,
  someOf,
  text,
  yesOrNo,
} from './parse-value.js';
import { dashboardPasswordValue, notifySecretValue } from './secrets.js';
import {
  COMMANDS_WITH_SETTINGS,
  type CommandName,
  HOSTING,
  LOOKING_UP,
  linesOf,
  RUNNING,
  type Surroundings,
} from './setting.js';

const WITH_ENGINE = COMMANDS_WITH_SETTINGS.filter((name) => name !== 'serve');
/** These leave the state as it is. */
const KEEPS_DATA: readonly CommandName[] = [
  'config',
  'init',
  'doctor',
  'engine status',
  'engine stop',
  'engine export',
];
const TRANSFER: readonly CommandName[] = ['engine export', 'engine import'];

const inbox = linesOf('Inbox', ['watch', 'up', 'config']);
/** The command of a schedule follows `--` and has the flags of `run`. */
const schedule = linesOf('Schedules', ['schedule add'], { isFlagOnly: true });
const NOTIFIED: readonly CommandName[] = [...RUNNING, 'doctor'];
const notifying = linesOf('Notifications', RUNNING);
const network = linesOf('Network', [...LOOKING_UP, 'init', 'doctor', 'config']);
const engine = linesOf('Engine', WITH_ENGINE);
/** Commands that wait for requests in flight at SIGTERM. */
const stopping = linesOf('Engine', [...LOOKING_UP, 'ledger check', 'config']);
const always = linesOf('Logging and monitoring', COMMANDS_WITH_SETTINGS);
const watched = linesOf('Logging and monitoring', [...LOOKING_UP.filter((name) => name !== 'mcp'), 'config']);
const dashboard = linesOf('Dashboard', ['up', 'config']);
const serving = linesOf('Local service', ['serve', 'config']);
const admin = linesOf('Account and answers', ['ledger observe'], { isFlagOnly: true });

const SPENDING_BY = ['input', 'schedule', 'person', 'month'] as const;

const NOTIFY_EVENTS = ['finish', 'failure', 'limit', 'parked'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Root's home is closed to the user that runs root's private server, hence `/var/lib`. */
function stateFolder({ env, home, isRoot = false }: Surroundings): string {
  const stateHome = env.XDG_STATE_HOME ?? '';
  if (isRoot && !isAbsolute(stateHome)) return '/var/lib/brand-enrich';
  return join(isAbsolute(stateHome) ? stateHome : join(home, '.local', 'state'), 'brand-enrich');
}

export const PROCESS_SETTINGS = {
  inboxes: inbox('--inbox', paths('DIR'), '').describe('a folder to watch; repeat it for several', {
    mainOf: ['up'],
    commands: ['up', 'doctor', 'config'],
    note: 'none',
  }),
  settleMs: inbox('--settle', duration('100ms', '1h'), '2s').describe(
    'take a file when its size and time have not changed for this long',
    { mainOf: ['watch'] },
  ),
  pollMs: inbox('--poll', duration('100ms', '1h'), '500ms').describe(
    'look for new files this often; less often suits a slow network share',
    { mainOf: ['watch'] },
  ),
  filesAtOnce: inbox('--files-at-once', count(1, 64), '4').describe('files processed at once, per watcher', {
    mainOf: HOSTING,
  }),

  cron: schedule('--cron', text('CRON')).describe(
    "when to run: '0 2 * * *' is 02:00 every night; with six fields, the first is seconds",
  ),
  tz: schedule('--tz', text('ZONE')).describe(
    'time zone of --cron, {date} and {time}, for example Europe/Berlin',
    { note: "this machine's" },
  ),
  replace: schedule('--replace', yesOrNo).describe(
    'replace the schedule with this name; its last runs stay listed',
  ),
  catchUp: schedule('--catch-up', yesOrNo).describe(
    'if the machine was off at the time, run once when it is on again',
  ),

  notifyUrl: notifying('--notify-url', webhookValue).describe('webhook to notify of events, as JSON', {
    mainOf: HOSTING,
    commands: NOTIFIED,
    secrecy: 'origin',
    note: 'no webhook',
  }),
  notifySecret: notifying(null, notifySecretValue).describe(
    'secret that signs webhooks; no flag, because others can see command lines',
    { env: 'BRAND_ENRICH_NOTIFY_SECRET', secrecy: 'secret', note: 'not signed' },
  ),
  notifySecretFile: notifying('--notify-secret-file', path('FILE')).describe(
    'file that holds only the webhook secret',
    { secrecy: 'token path' },
  ),
  notifyMail: notifying('--notify-mail', mailValue).describe(
    'mail server and receivers, smtp://HOST?to=ADDRESS; with a password, set it in the environment',
    { mainOf: HOSTING, commands: NOTIFIED, secrecy: 'address', note: 'no e-mail' },
  ),
  notifyOn: notifying('--notify-on', someOf(NOTIFY_EVENTS), NOTIFY_EVENTS.join(',')).describe(
    'events to notify of: finished, failed, 80 % of the limit used, parked for quota or budget',
  ),

  // Variables of all programs: a lower-case name wins, as it does for curl.
  httpsProxy: network(null, proxyValue).describe('proxy for https addresses: service, logos, webhooks', {
    env: 'https_proxy',
    envAliases: [{ name: 'HTTPS_PROXY' }],
    secrecy: 'address',
    note: 'none',
  }),
  httpProxy: network(null, proxyValue).describe('the same for http addresses', {
    env: 'http_proxy',
    envAliases: [{ name: 'HTTP_PROXY' }],
    secrecy: 'address',
    note: 'none',
  }),
  noProxy: network(null, text('HOSTS')).describe(
    'hosts, domains and networks to reach without a proxy; this machine always is',
    { env: 'no_proxy', envAliases: [{ name: 'NO_PROXY' }], note: 'none' },
  ),
  caFile: network('--ca-file', path('FILE')).describe(
    "certificates (PEM) to trust besides Node's own: a company's authority, a proxy or a server",
    { commands: WITH_ENGINE },
  ),
  nodeCaFile: network(null, path('FILE')).describe(
    'the same for all Node programs; also trusted if --ca-file is set',
    { commands: WITH_ENGINE, env: 'NODE_EXTRA_CA_CERTS' },
  ),

  clientCert: network('--client-cert', paths('FILE'), '').describe(
    'certificate and key (PEM) to show to Redis and the service; repeat it if they are two files',
    { commands: WITH_ENGINE, note: 'none' },
  ),

  engine: engine('--engine', engineValue, 'embedded').describe(
    'embedded, or a redis://, rediss://, redis+sentinel:// or postgres:// address',
    {
      mainOf: LOOKING_UP,
      envAliases: [{ name: 'REDIS_URL' }, { name: 'DATABASE_URL', form: /^postgres/ }],
      secrecy: 'address',
    },
  ),
  state: engine('--state', path('DIR'), stateFolder).describe(
    'folder for the embedded engine and everything that must survive a crash',
    {
      commands: COMMANDS_WITH_SETTINGS,
      note: '$XDG_STATE_HOME/brand-enrich, else ~/.local/state/brand-enrich (root: /var/lib/brand-enrich)',
    },
  ),
  startEmpty: engine('--start-empty', yesOrNo).describe(
    'set aside state that the embedded engine cannot use, and start empty: all answers are bought again',
    { commands: WITH_ENGINE.filter((name) => !KEEPS_DATA.includes(name)), isFlagOnly: true },
  ),
  waitForDisk: engine('--wait-for-disk', yesOrNo).describe(
    'Redis 7.2 and later: wait until permits and answers are on disk (up to 1 s), with Sentinel on a replica',
    { commands: [...LOOKING_UP, 'config'] },
  ),
  stopGraceMs: stopping('--stop-grace', duration('1s', '1h'), '25s').describe(
    'SIGTERM: end within this time; 10 s of it, at most half, are for writing, the rest for ' +
      'requests in flight',
  ),
  worker: engine('--no-worker', yesOrNo).describe('leave the lookups to other processes', {
    commands: RUNNING,
  }),

  quiet: always('--quiet', yesOrNo).describe(
    'no progress, no summary; only warnings, errors and why a run stopped',
    { mainOf: ['run'], commands: ['run', 'watch', 'worker', 'serve', ...TRANSFER, 'up', 'mcp', 'config'] },
  ),
  json: always('--json', yesOrNo).describe('print the result on standard output as JSON', {
    mainOf: ['run'],
  }),
  logLevel: always('--log-level', choice(LOG_LEVELS, 'LEVEL'), 'info').describe(
    `lowest level that is logged: ${LOG_LEVELS.join(', ')}`,
  ),
  logFile: always('--log-file', path('FILE')).describe(
    'file to append the log to; long-running commands reopen it on SIGHUP (for rotation)',
    { note: 'standard error' },
  ),
  color: always('--no-color', yesOrNo).describe('no colours on the terminal', {
    envAliases: [{ name: 'NO_COLOR', meaning: 'false' }],
  }),
  configFile: always('--config', path('FILE')).describe('the config file', {
    isInFile: false,
    note: 'brand-enrich.config.json in the working folder',
  }),

  metricsPort: watched('--metrics-port', count(0, 65_535)).describe(
    'serve /metrics (Prometheus), /healthz and /readyz on this port; 0 takes a free one',
    { mainOf: ['up'], note: 'not served; 9464 with up' },
  ),
  metricsHost: watched('--metrics-host', hostValue, '127.0.0.1').describe(
    'address to serve them on; there is no password',
  ),
  metricsFile: watched('--metrics-file', path('FILE')).describe(
    'write the metrics of this run there at its end, for the textfile collector of node_exporter (NAME.prom)',
    { commands: ['run', 'config'], note: 'not written' },
  ),

  dashboard: dashboard('--no-dashboard', yesOrNo).describe('do not serve the dashboard'),
  dashboardPort: dashboard('--dashboard-port', count(0, 65_535), '8787').describe(
    'serve the dashboard on this port; 0 takes a free one',
    { mainOf: ['up'] },
  ),
  dashboardHost: dashboard('--dashboard-host', hostValue, '127.0.0.1').describe(
    'address to serve it on; other than loopback, a password is required',
    { mainOf: ['up'] },
  ),
  dashboardUrl: dashboard('--dashboard-url', originValue).describe(
    'where people reach it, if not there: for links; https makes its cookies secure, and its host ' +
      'name is allowed',
    { secrecy: 'address', note: 'where it listens' },
  ),
  dashboardPassword: dashboard(null, dashboardPasswordValue).describe(
    'password of the dashboard; no flag, because others can see command lines',
    { env: 'BRAND_ENRICH_DASHBOARD_PASSWORD', secrecy: 'secret', note: 'a random one at each start' },
  ),
  dashboardPasswordFile: dashboard('--dashboard-password-file', path('FILE')).describe(
    'file that holds only the dashboard password',
    { secrecy: 'token path' },
  ),

  port: serving('--port', count(0, 65_535), '8080').describe('port to listen on; 0 takes a free one'),
  host: serving('--host', hostValue, '127.0.0.1').describe('address to listen on'),
  catalogue: serving('--catalogue', path('FILE')).describe('the brands to serve, as JSONL', {
    note: 'the sample brands',
  }),
  accounts: serving('--accounts', path('FILE')).describe(
    'accounts file: hashed tokens, plans, quotas; usage is stored next to it',
    { note: 'one account, token demo-token' },
  ),
  journal: serving('--journal', path('FILE')).describe('file to append one line per billed request to', {
    note: 'none',
  }),
  faults: serving('--fault', keyValues, '').describe(
    'fault to inject, such as latency=100ms or 503=10%; repeatable; serve --help lists the keys',
    { note: 'none' },
  ),
  statement: serving('--statement', yesOrNo).describe(
    'print what each account of --accounts used and owes for a month, and exit',
    { commands: ['serve'], isFlagOnly: true },
  ),
  month: serving('--month', month).describe('the month of --statement (UTC)', {
    commands: ['serve'],
    isFlagOnly: true,
    note: 'this month',
  }),

  observedUsage: admin('--usage', count(0, 1_000_000_000_000)).describe(
    "usage of this period, as the service's website shows it",
  ),
  observedQuota: admin('--quota', count(0, 1_000_000_000_000)).describe(
    "quota, as the service's website shows it",
  ),
  spendingBy: admin('--by', choice(SPENDING_BY)).describe(
    'what the runs of the last days spent, by input, schedule, person or month',
    { commands: ['status'], note: 'the state of engine, account and runs' },
  ),
  olderThanMs: admin('--older-than', duration('0s', '365d'), '30d').describe(
    'forget answers that were fetched longer ago than this',
    { commands: ['outcomes purge'] },
  ),
} as const;
