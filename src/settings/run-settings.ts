/** The settings of a run. */
import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { RAGGED_CHOICES, TABLE_FORMATS } from '../core/table.js';
import { baseUrlValue, domainValue } from './address-values.js';
import {
  columnChoices,
  delimiterValue,
  encodingValue,
  fillRequests,
  prefixValue,
  priorityValue,
  rowConditions,
} from './column-value.js';
import {
  billingPeriod,
  choice,
  count,
  decimal,
  duration,
  errorLimit,
  listOf,
  matching,
  matchShare,
  path,
  ratePerSecond,
  scoreValue,
  someOf,
  statuses,
  text,
  yesOrNo,
} from './parse-value.js';
import { tokenValue } from './secrets.js';
import { type CommandName, LOOKING_UP, linesOf, RUNNING } from './setting.js';

const WORKING: readonly CommandName[] = ['run', 'watch', 'worker', 'up', 'ledger check', 'mcp', 'config'];
const SPENDING: readonly CommandName[] = [...RUNNING, 'mcp'];
const LEDGER: readonly CommandName[] = ['ledger show', 'ledger observe', 'ledger check', 'ledger reset'];
const ACCOUNT: readonly CommandName[] = [...LOOKING_UP, 'status', ...LEDGER, 'init', 'doctor', 'config'];

const input = linesOf('Input', RUNNING);
const column = linesOf('Columns', RUNNING);
const service = linesOf('Service', ACCOUNT);
const sending = linesOf('Service', WORKING);
/** Only for `run`: a watcher cannot ask a person, and parks unfinished files. */
const asking = linesOf('Money', ['run', 'config']);
const spending = linesOf('Money', SPENDING);
const limiting = linesOf('Limits', SPENDING);
const working = linesOf('Limits', WORKING);
const money = linesOf('Money', [...SPENDING, 'status', 'ledger check', 'init']);
const output = linesOf('Output', RUNNING);

export const RUN_SETTINGS = {
  delimiter: input('--delimiter', delimiterValue).describe('the character between cells, or the word tab', {
    note: 'detected',
  }),
  encoding: input('--encoding', encodingValue).describe('the encoding of the input', { note: 'detected' }),
  header: input('--no-header', yesOrNo).describe(
    'the first record is data; columns are named column_1, column_2 and so on',
  ),
  skipLines: input('--skip-lines', count(0, 1_000_000), '0').describe(
    'lines above the header that are not part of the table',
  ),
  sheet: input('--sheet', text('NAME')).describe('sheet of a workbook, by name or by number from 1', {
    note: 'the first visible one',
  }),
  records: input('--records', text('PATH')).describe(
    'the array of a JSON file that holds the rows, as keys between dots: companies, data.items',
    { note: 'the only one, or the longest' },
  ),
  limit: input('--limit', count(1)).describe('read at most this many records', { note: 'all' }),
  ragged: input('--ragged', choice(RAGGED_CHOICES)).describe(
    'rows with too many or too few cells: read them by position, or mark all of them invalid',
    { note: 'invalid, up to 5 % of the rows' },
  ),
  sample: input('--sample', yesOrNo).describe(
    'try it with sample brands from the built-in service: no token, no cost',
    { mainOf: SPENDING, commands: SPENDING },
  ),
  columns: column('--column', columnChoices, '').describe(
    'the column that holds the identifiers, by name or position:N; repeat it for fallback columns',
    { mainOf: ['run'], note: 'chosen by header and values' },
  ),
  kind: column('--kind', choice(IDENTIFIER_KINDS, 'KIND')).describe(
    `kind of identifiers in columns given without one: ${IDENTIFIER_KINDS.join(', ')}`,
    { commands: [...RUNNING, 'outcomes forget'], note: 'judged from the values' },
  ),
  allowMismatch: column('--allow-mismatch', yesOrNo).describe(
    'continue even if most values do not fit the kind given for their column',
  ),
  where: column('--where', rowConditions, '').describe(
    'look up only rows with this value, or COLUMN:blank, COLUMN:filled; repeat it: all must hold',
    { mainOf: ['run'], note: 'all rows' },
  ),
  nameColumn: column('--name-column', text('COLUMN')).describe(
    "the column with each company's name: adds brand_name_match, 0 to 1, and lists low ones as errors",
    { note: 'none' },
  ),
  waterfall: column('--waterfall', yesOrNo).describe(
    'if a row is not found, try its next column (costs more requests)',
  ),

  baseUrl: service('--base-url', baseUrlValue).describe('address of the service; a trailing /v2 is ignored', {
    mainOf: LOOKING_UP,
    commands: [...ACCOUNT, 'outcomes forget'],
    env: 'BRAND_API_URL',
    secrecy: 'address',
  }),
  token: service(null, tokenValue).describe(
    'token of the service; no flag, because others can see command lines',
    { env: 'BRAND_API_TOKEN', secrecy: 'secret' },
  ),
  tokenFile: service('--token-file', path('FILE')).describe('file that holds only the token', {
    mainOf: LOOKING_UP,
    env: 'BRAND_API_TOKEN_FILE',
    secrecy: 'token path',
  }),
  account: service('--account', text('NAME')).describe(
    'account that requests are counted on, for tokens that share a quota',
    { note: "the token's hash" },
  ),
  allowHttp: service('--allow-http', yesOrNo).describe(
    'allow http and SMTP without TLS to other machines: token and notifications can be intercepted',
    { commands: [...ACCOUNT, 'outcomes forget'] },
  ),
  allowNsfw: service('--allow-nsfw', choice(['true', 'false']), () => 'unset' as const).describe(
    'always (true) or never (false) return brands with adult content',
    { commands: SPENDING, note: 'the service decides' },
  ),
  ownDomain: service('--own-domain', domainValue).describe(
    "the service's own domain: looking it up shows quota and usage, free once that is proven",
    { commands: [...SPENDING, 'serve', 'init', 'doctor'] },
  ),
  timeoutMs: sending('--timeout', duration('1ms', '1h'), '40s').describe(
    'time limit for one request, in total',
  ),

  concurrency: working('--concurrency', count(1, 1_000), '64').describe(
    'requests in flight at once, per process',
  ),
  rate: limiting('--rate', ratePerSecond).describe('requests per second over all workers; 0 is unpaced', {
    note: '90; on this machine unpaced until the service refuses',
  }),
  plan: money('--plan', choice(['free', 'paid'])).describe(
    'plan of the account; only a paid plan has overage',
    { mainOf: SPENDING, note: 'no overage' },
  ),
  quota: spending('--quota', count(0, 1_000_000_000_000)).describe(
    'most requests per period; a number below the quota that the service reports rules out overage',
    { note: 'what the service reports' },
  ),
  period: spending('--period', billingPeriod, 'month').describe(
    'when the quota renews: every month, never, or on a day of the month (1 to 28)',
  ),
  freeStatuses: spending('--free-statuses', statuses, '204,400,402,5xx').describe(
    'statuses that are not billed, besides 401, 403 and 429',
  ),
  overageBudget: money('--overage-budget', decimal('50', 'not negative'), '0').describe(
    'budget per period beyond the quota',
    { mainOf: SPENDING, note: '0, and 100 with --plan paid' },
  ),
  overagePrice: money('--overage-price', decimal('0.1', 'positive'), '0.1').describe(
    'price of one request beyond the quota',
  ),
  currency: money(
    '--currency',
    matching('CODE', /^[A-Z]{3}$/, 'a currency', 'its three capital letters, for example EUR'),
  ).describe('the currency of all amounts, as a label only: nothing is converted'),
  maxRequests: spending('--max-requests', count(0, 1_000_000_000_000)).describe(
    'billable requests that this run may send, restarts included',
    { mainOf: SPENDING, note: 'no cap' },
  ),
  perCall: spending('--per-call', count(1, 100_000), '100').describe(
    'billable requests that one call of an agent may need',
    { mainOf: ['mcp'], commands: ['mcp', 'config'] },
  ),
  maxCost: spending('--max-cost', decimal('5', 'not negative')).describe(
    'amount that this run may spend on overage, restarts included',
    { note: 'no cap' },
  ),
  priority: spending('--priority', priorityValue).describe(
    'at a limit, look up the highest (or lowest) values first',
    { mainOf: ['run'], commands: RUNNING, note: 'file order' },
  ),
  confirmAbove: asking('--confirm-above', decimal('20', 'not negative'), '20').describe(
    'on a terminal, ask before starting a run that may cost more than this, or use most of the quota left',
  ),
  trial: asking('--try', count(1, 10_000)).describe('look up N first, spread over the file, then ask', {
    mainOf: ['run'],
    commands: RUNNING,
    env: null,
    note: 'all at once',
  }),
  yes: asking('--yes', yesOrNo).describe('do not ask', {
    mainOf: ['run', 'ledger check'],
    commands: ['run', 'ledger check', 'init', 'config'],
  }),
  root: input('--root', path('DIR'), '.').describe(
    'folder of the files that an agent may read and write; its links are not followed',
    { mainOf: ['mcp'], commands: ['mcp', 'config'] },
  ),
  dryRun: asking('--dry-run', yesOrNo).describe('the same as plan: nothing is spent or written', {
    mainOf: ['run'],
    commands: ['run'],
    isFlagOnly: true,
  }),
  maxErrors: limiting('--max-errors', errorLimit).describe('stop when more lookups than this have failed', {
    note: 'off',
  }),
  minMatch: limiting('--min-match', matchShare).describe(
    'hold the run for a person if fewer of the first 50 answers match; 0: never (for unknown brands)',
    { note: 'at least one match' },
  ),
  onLimit: limiting('--on-limit', choice(['stop', 'wait']), 'stop').describe(
    'at the limit: defer the remaining rows and finish the file, or wait until the limit is raised',
    { commands: ['run', 'config'] },
  ),
  usageLagMs: working('--usage-lag', duration('0s', '1h'), '60s').describe(
    "how far the service's usage header may lag",
  ),
  // Such services allow answers to be stored for 30 days at most, so we keep them that long.
  maxAgeMs: spending('--max-age', duration('0s', '30d'), '7d').describe(
    'reuse stored brands that are younger than this',
  ),
  maxAgeMissingMs: spending('--max-age-missing', duration('0s', '30d'), '1d').describe(
    'reuse stored "not found" answers that are younger than this',
  ),
  refresh: spending('--refresh', yesOrNo).describe(
    'buy every answer again, but only once even if the run is restarted',
    { commands: RUNNING },
  ),

  output: output('--output', path('FILE')).describe('output file; - is standard output', {
    mainOf: ['run', 'engine export'],
    commands: ['run', 'engine export'],
    isFlagOnly: true,
    short: '-o',
    note: '<name>.enriched.<ext>',
  }),
  format: output('--format', choice(TABLE_FORMATS)).describe('format of the enriched file', {
    note: 'by the name of the output, otherwise same as the input',
  }),
  fields: output('--fields', listOf('LIST', 'name,company.location.region,links.twitter')).describe(
    'fields of the brand to add as columns, by path; or none; +path for an unknown one',
    { mainOf: ['run'], note: 'the standard columns' },
  ),
  fill: output('--fill', fillRequests, '').describe(
    'fill blank cells of your column with a field of the brand',
    { mainOf: ['run'], note: 'none' },
  ),
  fillOver: output('--fill-over', fillRequests, '').describe('fill as --fill does, even over other values', {
    note: 'none',
  }),
  sort: output('--sort', choice(['quality', 'none']), 'quality').describe(
    'rank by quality score, best first, or keep the order of the input',
  ),
  escapeFormulas: output('--escape-formulas', choice(['all', 'ours', 'none']), 'ours').describe(
    'which cells to escape if a spreadsheet would run them as a formula: all, only ours, or none',
  ),
  outputHeader: output('--no-output-header', yesOrNo).describe(
    'write no header line; a list without one gets a header otherwise: column_1, brand_status and so on',
  ),
  prefix: output('--prefix', prefixValue, 'brand_').describe('prefix of the added columns'),
  errors: output('--errors', path('FILE')).describe('file for rows without an answer, with the reason', {
    commands: ['run'],
    isFlagOnly: true,
    note: '<name>.errors.<ext>',
  }),
  changes: output('--changes', path('FILE')).describe(
    'file for the brands that are new, changed or gone since the output that is replaced; .csv or .jsonl',
    { commands: ['run', 'config'], note: 'none' },
  ),
  differences: output('--differences', path('FILE')).describe(
    'file for the cells of filled columns that differ from the brand, as CSV',
    { commands: ['run'], isFlagOnly: true, note: '<name>.differences.csv' },
  ),
  report: output('--report', path('FILE')).describe('report file; the HTML page is written next to it', {
    commands: ['run'],
    isFlagOnly: true,
    note: '<name>.report.json',
  }),
  errorsInclude: output('--errors-include', someOf(['not_found']), '').describe(
    'further rows for the errors file: not_found, which the service does not know',
  ),
  minQuality: output('--min-quality', scoreValue).describe(
    'mark brands with a lower quality score in brand_error, and write their rows to the errors file too',
    { note: 'off' },
  ),
  embedLogos: output('--embed-logos', yesOrNo).describe(
    'fetch the logos shown on the report page and embed them in it',
  ),
  strict: output('--strict', yesOrNo).describe('exit with 1 if rows are invalid or nothing matched'),
} as const;
