/** The settings of a run: input, columns, service, limits and money, output. */
import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { RAGGED_CHOICES, TABLE_FORMATS } from '../core/table.js';
import { baseUrlValue, domainValue } from './address-values.js';
import { columnChoices, delimiterValue, encodingValue, prefixValue, priorityValue } from './column-value.js';
import {
  billingPeriod,
  choice,
  count,
  decimal,
  duration,
  errorLimit,
  listOf,
  onOrOff,
  path,
  ratePerSecond,
  scoreValue,
  someOf,
  statuses,
  text,
  yesOrNo,
} from './parse-value.js';
import { tokenValue } from './secrets.js';
import { type CommandName, linesOf } from './setting.js';

const READING: readonly CommandName[] = ['run', 'plan', 'watch', 'up', 'config'];
const RUNNING: readonly CommandName[] = ['run', 'watch', 'up', 'config'];
const WORKING: readonly CommandName[] = ['run', 'watch', 'worker', 'up', 'config'];
const LEDGER: readonly CommandName[] = ['ledger show', 'ledger observe', 'ledger reset'];
const ACCOUNT: readonly CommandName[] = [
  'run',
  'plan',
  'watch',
  'worker',
  'up',
  'status',
  ...LEDGER,
  'config',
];

const input = linesOf('Input', READING);
const column = linesOf('Columns', READING);
const service = linesOf('Service', ACCOUNT);
const sending = linesOf('Service', WORKING);
/** `run` alone: a watcher has nobody to ask and parks what it cannot finish. */
const asking = linesOf('Limits and money', ['run', 'config']);
const spending = linesOf('Limits and money', RUNNING);
const working = linesOf('Limits and money', WORKING);
const estimating = linesOf('Limits and money', READING);
const money = linesOf('Limits and money', ['run', 'plan', 'watch', 'up', 'status', 'config']);
const output = linesOf('Output', RUNNING);

export const RUN_SETTINGS = {
  delimiter: input('--delimiter', delimiterValue).describe('the character between cells, or the word tab', {
    note: 'detected',
  }),
  encoding: input('--encoding', encodingValue).describe('the encoding of the input', { note: 'detected' }),
  header: input('--no-header', yesOrNo).describe(
    'the first record is data; columns are called column_1, column_2 and so on',
  ),
  skipLines: input('--skip-lines', count(0, 1_000_000), '0').describe(
    'lines above the header that do not belong to the table',
  ),
  sheet: input('--sheet', text('NAME')).describe('sheet of a workbook, by name or as number from 1', {
    note: 'the first that is not hidden',
  }),
  limit: input('--limit', count(1)).describe('read at most this many records', { note: 'all' }),
  ragged: input('--ragged', choice(RAGGED_CHOICES)).describe(
    'rows that do not fit the table: take their cells by position, or mark all of them invalid',
    { note: 'invalid, up to 5 % of the rows' },
  ),
  sample: input('--sample', yesOrNo).describe(
    'try it out against the built-in service with sample brands: no token, no cost',
  ),
  columns: column('--column', columnChoices, '').describe(
    'the column with the identifiers, by name or as position:N; repeat it for columns to fall back on',
    { note: 'chosen by header and values' },
  ),
  kind: column('--kind', choice(IDENTIFIER_KINDS, 'KIND')).describe(
    `the kind of identifiers in columns named without one: ${IDENTIFIER_KINDS.join(', ')}`,
    { commands: [...READING, 'outcomes forget'], note: 'judged from the values' },
  ),
  allowMismatch: column('--allow-mismatch', yesOrNo).describe(
    'go on although most values cannot be of the kind given for their column',
  ),
  waterfall: column('--waterfall', yesOrNo).describe(
    'where a row was not found, ask again with its next column (costs requests)',
  ),

  baseUrl: service('--base-url', baseUrlValue).describe('address of the service; a trailing /v2 is ignored', {
    commands: [...ACCOUNT, 'outcomes forget'],
    env: 'BRAND_API_URL',
    secrecy: 'address',
  }),
  token: service(null, tokenValue).describe(
    'token of the service; no flag, because others can see command lines',
    { env: 'BRAND_API_TOKEN', secrecy: 'secret' },
  ),
  tokenFile: service('--token-file', path('FILE')).describe('file that holds the token and nothing else', {
    env: 'BRAND_API_TOKEN_FILE',
    secrecy: 'token path',
  }),
  account: service('--account', text('NAME')).describe(
    'name of the account that requests are counted on, for tokens that share a quota',
    { note: "the token's hash" },
  ),
  allowHttp: service('--allow-http', yesOrNo).describe(
    'allow plain http and mail without TLS to other machines: token and notifications can be read on the way',
    { commands: [...ACCOUNT, 'outcomes forget'] },
  ),
  allowUnknown: service('--allow-unknown', yesOrNo).describe(
    'go on when nothing is found at an address that never gave a good answer (lists of unknown brands)',
    { commands: RUNNING },
  ),
  allowNsfw: service('--allow-nsfw', choice(['true', 'false']), () => 'unset' as const).describe(
    'return brands with adult content always (true) or never (false)',
    { commands: READING, note: 'the service decides' },
  ),
  ownDomain: service('--own-domain', domainValue).describe(
    "the service's own brand: asking for it is free and shows quota and usage",
    { commands: ['run', 'watch', 'serve', 'up', 'config'] },
  ),
  timeoutMs: sending('--timeout', duration('1ms', '1h'), '40s').describe(
    'how long one request may take in total',
  ),
  compression: sending('--compression', onOrOff, 'on').describe('let the service compress its answers'),

  concurrency: working('--concurrency', count(1, 1_000), '64').describe(
    'requests in flight at once, per process',
  ),
  rate: spending('--rate', ratePerSecond).describe('requests per second, over all workers; 0 is unpaced', {
    note: '90, and unpaced on this machine until the service objects',
  }),
  burst: spending('--burst', count(1, 1_000)).describe('requests that may be sent at the same moment', {
    note: '10, and 1 with --rate',
  }),
  plan: money('--plan', choice(['free', 'paid'])).describe(
    'the plan of the account; only a paid one has overage',
    { note: 'no overage' },
  ),
  quota: estimating('--quota', count(0, 1_000_000_000_000)).describe(
    'requests per period; the lower of this and the quota that the service reports applies',
    { note: 'what the service reports' },
  ),
  period: estimating('--period', billingPeriod, 'month').describe(
    'when the quota renews: each month, never, or on a day of the month (1 to 28)',
  ),
  freeStatuses: spending('--free-statuses', statuses, '204,400,402,5xx').describe(
    'statuses that are not billed, besides 401, 403 and 429',
  ),
  overageBudget: money('--overage-budget', decimal('50', 'not negative'), '0').describe(
    'what may be spent per period beyond the quota; above 0 implies --plan paid',
    { note: '0, and 100 with --plan paid' },
  ),
  overagePrice: money('--overage-price', decimal('0.1', 'positive'), '0.1').describe(
    'price of one request beyond the quota',
  ),
  maxRequests: estimating('--max-requests', count(0, 1_000_000_000_000)).describe(
    'billable requests that this run may send, over restarts',
    { note: 'no cap' },
  ),
  maxCost: estimating('--max-cost', decimal('5', 'not negative')).describe(
    'overage money that this run may spend, over restarts',
    { note: 'no cap' },
  ),
  priority: estimating('--priority', priorityValue).describe(
    'when the limit does not cover the file, look up the highest (or lowest) values of this column first',
    { note: 'the order of the file' },
  ),
  confirmAbove: asking('--confirm-above', decimal('20', 'not negative'), '20').describe(
    'on a terminal, ask before a run that may cost more than this',
  ),
  yes: asking('--yes', yesOrNo).describe('do not ask'),
  maxErrors: spending('--max-errors', errorLimit).describe('stop when more lookups than this have failed', {
    note: 'off',
  }),
  onLimit: asking('--on-limit', choice(['stop', 'wait']), 'stop').describe(
    'at the limit: finish the file with the rest deferred, or wait until it is raised',
  ),
  usageLagMs: working('--usage-lag', duration('0s', '1h'), '60s').describe(
    "how far the service's usage header may lag behind",
  ),
  // Services of this kind allow answers to be stored for 30 days at most; so long they are kept.
  maxAgeMs: estimating('--max-age', duration('0s', '30d'), '7d').describe(
    'stored brands younger than this are not bought again',
  ),
  maxAgeMissingMs: estimating('--max-age-missing', duration('0s', '30d'), '1d').describe(
    'the same for identifiers that were not found',
  ),
  refresh: estimating('--refresh', yesOrNo).describe(
    'buy every answer again, but only once however often the run is restarted',
  ),

  output: output('--output', path('FILE')).describe(
    'where the result goes; - is standard output, where an export goes by default',
    { commands: ['run', 'engine export'], isFlagOnly: true, short: '-o', note: '<name>.enriched.<ext>' },
  ),
  format: output('--format', choice(TABLE_FORMATS)).describe('format of the enriched file', {
    note: 'that of the output name, else of the input',
  }),
  fields: output('--fields', listOf('LIST', 'name,company.location.region,links.twitter')).describe(
    'other fields of the brand as columns, by path, separated by commas; +path for one that is not known',
    { note: 'the standard columns' },
  ),
  sort: output('--sort', choice(['quality', 'none']), 'quality').describe(
    'rank by quality score, best first, or keep the order of the input',
  ),
  escapeFormulas: output('--escape-formulas', choice(['all', 'ours', 'none']), 'ours').describe(
    'cells to escape where a spreadsheet would see a formula: all, only ours, or none',
  ),
  prefix: output('--prefix', prefixValue, 'brand_').describe('prefix of the columns that are added', {
    commands: READING,
  }),
  errors: output('--errors', path('FILE')).describe('where rows without an answer go, with the reason', {
    commands: ['run'],
    isFlagOnly: true,
    note: '<name>.errors.<ext>',
  }),
  report: output('--report', path('FILE')).describe(
    'where the report goes; the page for people is written beside it, ending in .html',
    { commands: ['run'], isFlagOnly: true, note: '<name>.report.json' },
  ),
  errorsInclude: output('--errors-include', someOf(['not_found']), '').describe(
    'other rows that go where rows without an answer go: not_found, those that the service does not know',
  ),
  minQuality: output('--min-quality', scoreValue).describe(
    'mark brands with a lower quality score: brand_error says so, and the errors file has their rows too',
    { note: 'off' },
  ),
  embedLogos: output('--embed-logos', yesOrNo).describe(
    'fetch the logos shown on the report page and embed them in it',
  ),
} as const;
