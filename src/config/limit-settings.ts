/**
 * The settings of limits and money, and the kinds of values they take: how fast, how much, how old
 * a stored answer may be, and what happens at the limit.
 */
import { priorityValue } from './column-value.js';
import {
  accepted,
  choice,
  count,
  duration,
  eachText,
  oneText,
  refused,
  type ValueKind,
  yesOrNo,
} from './parse-value.js';
import { optional, setting } from './setting.js';

/** Enough for any budget, and few enough for exact arithmetic in whole billionths. */
const DECIMAL = /^\d{1,12}(\.\d{1,9})?$/;

/**
 * An exact decimal, kept as text so that 0.3 stays 0.3. No sign, exponent or separators. `positive`
 * refuses zero.
 */
export function decimal(example: string, sign: 'positive' | 'not negative'): ValueKind<string> {
  return oneText('AMOUNT', (seen) => {
    const isRight = DECIMAL.test(seen) && (sign === 'not negative' || isPositiveDecimal(seen));
    if (isRight) return accepted(seen);
    const expected = sign === 'positive' ? 'an amount above zero' : 'an amount';
    return refused(expected, `digits, with a point before the fraction, for example ${example}`);
  });
}

/** Whether an exact decimal text is more than zero. */
export function isPositiveDecimal(decimalText: string): boolean {
  return /[1-9]/.test(decimalText);
}

/** Requests per second, up to three decimals; 0 lifts the pace. */
export const ratePerSecond: ValueKind<number> = oneText('N', (seen) => {
  const isRight = /^\d{1,6}(\.\d{1,3})?$/.test(seen);
  return isRight
    ? accepted(Number(seen))
    : refused('a number of requests per second', 'for example 50, or 0 for no pace at all');
});

/** When the quota renews: each month (UTC), never, or on a day of the month. */
type BillingPeriod = 'month' | 'none' | number;

export const billingPeriod: ValueKind<BillingPeriod> = oneText<BillingPeriod>('month|none|DAY', (seen) => {
  if (seen === 'month' || seen === 'none') return accepted(seen);
  const day = /^\d{1,2}$/.test(seen) ? Number(seen) : 0;
  if (day >= 1 && day <= 28) return accepted(day);
  return refused('a billing period', 'month, none, or the day of the month on which it renews, 1 to 28');
});

/**
 * Three digits, or `5xx` for 500 to 599 and so on. 200 is refused: an answer with a brand is what
 * the quota counts, and taken as free it would be bought without limit.
 */
export const statuses: ValueKind<readonly string[]> = eachText('list', 'LIST', (seen) => {
  const status = seen.trim().toLowerCase();
  return /^([1-5]\d\d|[345]xx)$/.test(status) && status !== '200'
    ? accepted(status)
    : refused(
        'a list of statuses',
        'statuses other than 200, separated by commas, for example 204,400,402,5xx',
      );
});

/** How many failed lookups end a run: a count, or a share of the lookups. */
type ErrorLimit =
  | { readonly type: 'count'; readonly count: number }
  | { readonly type: 'percent'; readonly percent: number };

export const errorLimit: ValueKind<ErrorLimit> = oneText<ErrorLimit>('N|N%', (seen) => {
  const percent = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(seen);
  if (percent !== null && Number(percent[1]) <= 100) {
    return accepted({ type: 'percent', percent: Number(percent[1]) });
  }
  if (/^\d{1,12}$/.test(seen)) return accepted({ type: 'count', count: Number(seen) });
  return refused('a number of errors', 'a whole number or a share from 0% to 100%, for example 100 or 5%');
});

/** `run` alone: a watcher has nobody to ask and parks what it cannot finish. */
const ASKING = { group: 'Limits and money', commands: ['run', 'config'] } as const;
const SPENDING = { group: 'Limits and money', commands: ['run', 'watch', 'up', 'config'] } as const;
const ESTIMATING = { group: 'Limits and money', commands: ['run', 'plan', 'watch', 'up', 'config'] } as const;
const MONEY = {
  group: 'Limits and money',
  commands: ['run', 'plan', 'watch', 'up', 'status', 'config'],
} as const;

export const LIMIT_SETTINGS = {
  concurrency: setting({
    flag: '--concurrency',
    kind: count(1, 1_000),
    default: '64',
    group: 'Limits and money',
    commands: ['run', 'watch', 'worker', 'up', 'config'],
    description: 'requests in flight at once, per process',
  }),
  rate: optional({
    flag: '--rate',
    kind: ratePerSecond,
    ...SPENDING,
    defaultNote: '90, and unpaced on this machine until the service objects',
    description: 'requests per second, over all workers; 0 is unpaced',
  }),
  burst: optional({
    flag: '--burst',
    kind: count(1, 1_000),
    ...SPENDING,
    defaultNote: '10, and 1 with --rate',
    description: 'requests that may be sent at the same moment',
  }),
  plan: optional({
    flag: '--plan',
    kind: choice(['free', 'paid']),
    ...MONEY,
    defaultNote: 'no overage',
    description: 'the plan of the account; only a paid one has overage',
  }),
  quota: optional({
    flag: '--quota',
    kind: count(0, 1_000_000_000_000),
    ...ESTIMATING,
    defaultNote: 'what the service reports',
    description: 'requests per period; the lower of this and the quota that the service reports applies',
  }),
  period: setting({
    flag: '--period',
    kind: billingPeriod,
    default: 'month',
    ...ESTIMATING,
    description: 'when the quota renews: each month, never, or on a day of the month (1 to 28)',
  }),
  freeStatuses: setting({
    flag: '--free-statuses',
    kind: statuses,
    default: '204,400,402,5xx',
    ...SPENDING,
    description: 'statuses that are not billed, besides 401, 403 and 429',
  }),
  overageBudget: setting({
    flag: '--overage-budget',
    kind: decimal('50', 'not negative'),
    default: '0',
    ...MONEY,
    defaultNote: '0, and 100 with --plan paid',
    description: 'what may be spent per period beyond the quota; above 0 implies --plan paid',
  }),
  overagePrice: setting({
    flag: '--overage-price',
    kind: decimal('0.1', 'positive'),
    default: '0.1',
    ...MONEY,
    description: 'price of one request beyond the quota',
  }),
  maxRequests: optional({
    flag: '--max-requests',
    kind: count(0, 1_000_000_000_000),
    ...ESTIMATING,
    defaultNote: 'no cap',
    description: 'billable requests that this run may send, over restarts',
  }),
  maxCost: optional({
    flag: '--max-cost',
    kind: decimal('5', 'not negative'),
    ...ESTIMATING,
    defaultNote: 'no cap',
    description: 'overage money that this run may spend, over restarts',
  }),
  priority: optional({
    flag: '--priority',
    kind: priorityValue,
    ...ESTIMATING,
    defaultNote: 'the order of the file',
    description:
      'when the limit does not cover the file, look up the highest (or lowest) values of this column first',
  }),
  confirmAbove: setting({
    flag: '--confirm-above',
    kind: decimal('20', 'not negative'),
    default: '20',
    ...ASKING,
    description: 'on a terminal, ask before a run that may cost more than this',
  }),
  yes: setting({
    flag: '--yes',
    kind: yesOrNo,
    default: 'false',
    ...ASKING,
    description: 'do not ask',
  }),
  maxErrors: optional({
    flag: '--max-errors',
    kind: errorLimit,
    ...SPENDING,
    defaultNote: 'off',
    description: 'stop when more lookups than this have failed',
  }),
  onLimit: setting({
    flag: '--on-limit',
    kind: choice(['stop', 'wait']),
    default: 'stop',
    ...ASKING,
    description: 'at the limit: finish the file with the rest deferred, or wait until it is raised',
  }),
  usageLagMs: setting({
    flag: '--usage-lag',
    kind: duration('0s', '1h'),
    default: '60s',
    group: 'Limits and money',
    commands: ['run', 'watch', 'worker', 'up', 'config'],
    description: "how far the service's usage header may lag behind",
  }),
  // Services of this kind allow answers to be stored for 30 days at most, and so long they are
  // kept.
  maxAgeMs: setting({
    flag: '--max-age',
    kind: duration('0s', '30d'),
    default: '7d',
    ...ESTIMATING,
    description: 'stored brands younger than this are not bought again',
  }),
  maxAgeMissingMs: setting({
    flag: '--max-age-missing',
    kind: duration('0s', '30d'),
    default: '1d',
    ...ESTIMATING,
    description: 'the same for identifiers that were not found',
  }),
  refresh: setting({
    flag: '--refresh',
    kind: yesOrNo,
    default: 'false',
    ...ESTIMATING,
    description: 'buy every answer again, but only once however often the run is restarted',
  }),
} as const;
