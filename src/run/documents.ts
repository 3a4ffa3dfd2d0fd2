/**
 * The JSON for programs: the output of `--json`, `/status.json`, reports and webhooks. Types and
 * the schemas of `brand-enrich schema` come from these shapes. Times are ISO 8601 in UTC, money is
 * exact decimal text, null means unknown or none. New fields do not change the version.
 *
 * Import types only: zod takes time to load.
 */
import { z } from 'zod';
import { EXIT } from '../core/errors.js';
import { OUTCOME_STATUSES } from '../core/outcome.js';

const count = z.int().nonnegative();
const time = z.iso.datetime();
const money = z.string().regex(/^\d+(\.\d+)?$/);
const counts = z.record(z.string(), count);
const currency = z.string().nullable().describe('the label set with --currency; nothing is converted');
const version = z.literal(1);
const { object } = z;
const orNull = <Shape extends z.ZodRawShape>(shape: Shape) => object(shape).nullable();
const listOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(object(shape));
const examples = listOf({ line: count, reason: z.string() });
const listed = listOf({ line: count, value: z.string(), reason: z.string() });
const rows = object(
  Object.fromEntries(OUTCOME_STATUSES.map((each) => [each, count])) as Record<
    (typeof OUTCOME_STATUSES)[number],
    typeof count
  >,
);

const stopped = z
  .literal('min-match')
  .nullable()
  .describe('min-match: it is held for a person, because too few of its first answers match');

/** What a person ordered: `user@host`, or a name of the dashboard. */
const order = orNull({ by: z.string(), at: time });

/** What was read. */
const input = {
  name: z.string(),
  sha256: z.string(),
  records: count,
  columns: listOf({ name: z.string(), kind: z.string() }),
  detected: z.string().describe('the format, for people'),
  where: orNull({
    conditions: z.array(z.string()),
    rows: count.describe('rows that meet them all'),
  }).describe('which rows are looked up; null: all'),
  warnings: z.array(z.string()),
  unreadable: count,
  misfits: count.describe('unreadable rows with too many or too few cells'),
  short: count.describe('rows read despite missing last cells'),
  long: count.describe('rows read despite surplus cells'),
  examples,
};

/** Requests of the billing period. */
const use = {
  period: z.string().nullable().describe('its first day, or none: the quota never renews'),
  quota: count.nullable(),
  limit: count.nullable().describe('quota and overage'),
  used: count.describe('sent, in flight and by others, without those that are free'),
  cap: count.nullable().describe('--quota, where it is what counts; null: it is not'),
  left: count.nullable(),
  sent: count.describe('counted by this engine'),
  inFlight: count.describe('those that are free included'),
  others: count.describe('by others with the same token'),
  free: count.describe('for the own domain, proven free: in no other count'),
};

const account = object({
  name: z.string(),
  ...use,
  usage: count.nullable().describe('the last report of the service'),
  closedAt: time.nullable().describe('when the service refused for quota; null: it does not'),
  answeredAt: time.nullable().describe('the last answer of the service; null: none yet'),
  isPaused: z.boolean(),
  ratePerSecond: z.number().nullable().describe('null: unpaced'),
  days: listOf({ day: z.iso.date(), used: count }).describe(
    'use of the period as last seen on each day, oldest first; days without activity are left out',
  ),
});

const answers = {
  matched: count,
  notFound: count,
  oldestFetchedAt: time.nullable(),
  newestFetchedAt: time.nullable(),
};

/** What one run has sent. */
const requests = {
  sent: count,
  billed: count,
  unreported: count.describe('may also have been billed: in flight when their worker ended'),
  overage: count,
};

const changes = {
  new: count,
  changed: count,
  unchanged: count,
  vanished: count,
  failed: count.describe('there before, and their lookup failed now'),
};

const spending = object({ requests: count, overage: count, overageCost: money });

const spread = object({ byUs: count, byOthers: count, total: count });

const run = object({
  id: z.string(),
  label: z.string().describe('host and file name'),
  service: z.string(),
  account: z.string(),
  status: z
    .enum(['running', 'held', 'dead', 'finished', 'stopped', 'cancelled'])
    .describe('held: may not spend now; dead: its process ended, or has no heartbeat'),
  isPaused: z.boolean().describe('this run is paused, not only all spending'),
  paused: order.describe('who paused it, and since when'),
  cancelled: order,
  startedAt: time,
  heartbeatAt: time,
  rows: count.nullable(),
  identifiers: object({
    distinct: count.nullable(),
    matched: count,
    notFound: count,
    failed: count,
    stored: count,
    left: count,
  }),
  requests: object(requests),
  nothingMatched: z.boolean(),
  queued: z.string().nullable().describe('the runs that it waits for, in words'),
  earlier: object({ starts: count, billed: count, unreported: count, overage: count }).describe(
    'earlier starts of the same file that stopped, which are not listed',
  ),
  reason: z.string().nullable(),
});

const engine = z.enum(['embedded', 'redis', 'postgres']);

/** An engine, its account and its runs. */
const status = {
  engine,
  address: z.string(),
  warnings: z.array(z.string()),
  account: account.nullable(),
  budget: orNull({
    budget: money,
    price: money,
    used: money,
    left: money,
    overage: count,
    requestsAllowed: count.describe('by the budget beyond the quota'),
    requestsLeft: count,
    quotaCap: count.nullable().describe('--quota where it binds'),
  }),
  projection: orNull({
    endsOn: z.iso.date(),
    daysGone: z.number(),
    daysLeft: z.number(),
    used: spread,
    projected: spread,
    limitReachedOn: z.iso.date().nullable(),
  }),
  currency,
  queue: orNull({ waiting: count, active: count, delayed: count }).describe('in chunks'),
  answers: object(answers),
  runs: z.array(run).describe('those that are alive first, then the newest'),
  pauses: listOf({
    name: z.string().describe('of the file or the schedule, or “all spending”'),
    label: z.string(),
    run: z.string().nullable().describe('null: a schedule, or all spending'),
    by: z.string(),
    since: time,
  }).describe('what persons paused; oldest first'),
};

const scheduled = {
  name: z.string(),
  line: z.string().describe('the command as it was entered'),
  cron: z.string(),
  tz: z.string(),
  input: z.string(),
  catchesUp: z.boolean(),
};

const schedule = {
  ...scheduled,
  host: z.string(),
  source: z.string().nullable().describe('its config file; null: schedule add'),
  addedAt: time,
};

const ended = object({
  dueAt: time.nullable().describe('null: run by hand'),
  startedAt: time,
  endedAt: time,
  exitCode: z.int(),
  sentence: z.string(),
  output: z.string().nullable(),
});

const scheduleState = object({
  name: z.string(),
  host: z.string(),
  definition: z
    .enum(['here', 'elsewhere', 'missing'])
    .describe(
      'where what it runs is defined; missing: the engine lists it for this machine, and it never runs',
    ),
  line: z.string().nullable().describe('the command as it was entered; null: not defined here'),
  cron: z.string().nullable(),
  tz: z.string().nullable(),
  input: z.string().nullable(),
  catchesUp: z.boolean().nullable(),
  source: z.string().nullable().describe('its config file; null: schedule add, or not defined here'),
  addedAt: time.nullable(),
  nextAt: time.nullable(),
  isRunning: z.boolean(),
  isHostUp: z.boolean(),
  last: ended.nullable(),
  runs: z.array(ended).describe('the last ten, newest first'),
  passed: orNull({
    why: z.enum(['skipped', 'missed']),
    dueAt: time.nullable(),
    at: time,
    paused: order,
  }).describe('the last time without a run'),
  paused: order,
});

const orders = { pauses: count, cancels: count, isPaused: z.boolean().describe('all spending is paused') };

/** `description`: where it is printed. */
const document = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  object({ version, ...shape }).describe(description);

export const DOCUMENTS = {
  report: document('the report of a run: its file, and run --json', {
    run: object({
      id: z.string(),
      key: z.string().describe('the same for the same command and content'),
      service: z.string(),
      status: z
        .enum(['finished', 'stopped', 'cancelled', 'paused', 'declined', 'too_many_failures', 'halted'])
        .describe('declined: it ended after its trial'),
      isComplete: z.boolean(),
      nothingMatched: z.boolean(),
      exitCode: z.literal(Object.values(EXIT)),
    }),
    stopped,
    reason: z.string().nullable().describe('why it stopped'),
    next: z.string().nullable().describe('what to do next, in words; null: nothing'),
    input: object(input),
    rows,
    listed: object({ not_found: listed, failed: listed, invalid: listed }).describe(
      'the first hundred rows of each, in the order of the file; value: identifier or invalid ' +
        'cell, cut after 200 characters',
    ),
    reasons: counts.describe('why rows are invalid or skipped'),
    identifiers: object({
      distinct: count,
      duplicateRows: count,
      byKind: counts,
      matched: count,
      notFound: count,
      beingFetched: count.describe('not found yet: the service is fetching them'),
      failed: count,
      deferred: count,
      stored: count.describe('matched and not found without a request'),
    }),
    failures: counts.describe('why identifiers failed'),
    quality: object({
      poor: count,
      acceptable: count,
      high: count,
      unscored: count,
      histogram: z.array(count),
    }),
    requests: object({
      ...requests,
      overageCost: money,
      savedByStored: count,
      savedByOthers: count.describe('looked up by another run in the meantime'),
      savedByDuplicates: count,
    }),
    cost: object({
      brands: count.describe('distinct identifiers that matched'),
      run: spending.describe('in this run'),
      inAll: spending.describe('with earlier starts of the same command that stopped'),
    }).describe('what the brands cost; unreported requests are included'),
    currency,
    account: orNull(use),
    fetchedAt: object({
      oldest: time.nullable(),
      newest: time.nullable(),
      scoresMayHaveDrifted: z.boolean(),
    }),
    nameMatch: orNull({
      column: z.string(),
      compared: count.describe('matched rows that have a name, as their brands have'),
      low: count.describe('of them those below the threshold, which are in the errors file'),
      threshold: z.number(),
    }).describe('names of the input against those of the brands; null: not asked for'),
    changes: orNull({
      file: z.string(),
      since: time.nullable().describe('when the output before was written; null: there is none'),
      ...changes,
      fields: counts.describe('how often each column changed'),
    }).describe('brands against the output before; null: not asked for, or the run is not complete'),
    files: object({ output: z.string(), errors: z.string().nullable() }).describe(
      'run --json: as the command names them; the report file: as seen from its folder',
    ),
    accounting: object({ recordsRead: count, rowsByStatus: count, recordsWritten: count.nullable() }),
    startedAt: time,
    endedAt: time,
    seconds: z.number(),
  }),
  plan: document('plan --json and run --dry-run --json', {
    input: object(input),
    leftOut: object({ linesAbove: count, sheets: z.array(z.string()) }).describe(
      'what no output has: lines above the table, other sheets',
    ),
    rows: object({ total: count, asked: count, duplicates: count, skipped: count, invalid: count }),
    reasons: counts,
    skipReasons: counts,
    identifiers: object({
      distinct: count,
      duplicateRows: count,
      byKind: counts,
      stored: count.nullable(),
    }),
    requests: object({ least: count, most: count }),
    spending: orNull({
      requests: count,
      withinQuota: count.nullable(),
      overage: count,
      overageCost: money.describe('at most'),
      deferred: count.nullable(),
    }),
    ways: z.string().nullable().describe('what would cover the deferred'),
    currency,
    priority: orNull({
      sentence: z.string(),
      first: listOf({ identifier: z.string(), value: z.string().nullable() }),
      last: orNull({ identifier: z.string(), value: z.string().nullable() }),
    }),
    account: orNull(use),
    files: object({ output: z.string(), errors: z.string(), report: z.string() }),
  }),
  status: document('status --json', {
    ...status,
    closedInboxes: listOf({ host: z.string(), folder: z.string(), reason: z.string() }),
    spools: listOf({
      engine: z.string(),
      folder: z.string(),
      answers: count,
      since: time,
      isOwn: z.boolean(),
    }).describe('paid answers on this disk'),
  }),
  spending: document('status --by --json', {
    by: z.enum(['input', 'schedule', 'person', 'month']),
    since: time.nullable().describe('start of the oldest run that is known; null: none is'),
    price: money.describe('of one request beyond the quota, as this command was told'),
    currency,
    groups: listOf({
      name: z.string().nullable().describe('null: none, or it is not known'),
      runs: count,
      billed: count,
      unreported: count.describe('may also have been billed: in flight when their worker ended'),
      overage: count,
      overageCost: money,
    }),
    account: orNull({
      name: z.string(),
      period: z.string().nullable(),
      sent: count.describe('counted by this engine in the period'),
      unattributed: count.describe('of them by runs that are not known any more, or by no run'),
      others: count.describe('by others with the same token: nothing else is known of them'),
    }),
    unknown: z.array(z.string()).describe('what cannot be told from what is kept'),
  }),
  dashboard: document('/status.json of the dashboard', {
    host: z.string(),
    isStopping: z.boolean(),
    engineUnavailableSince: time.nullable(),
    serviceOutage: z.string().nullable(),
    data: orNull({
      at: time,
      hold: z.enum(['paused', 'closed', 'used up']).nullable().describe('why no request may be sent'),
      ...status,
      inboxes: listOf({
        folder: z.string(),
        closed: z.string().nullable(),
        queued: z.array(z.string()).describe('files not taken yet'),
        inProgress: z.array(z.string()),
        waiting: listOf({
          file: z.string(),
          folder: z.string(),
          since: time.nullable(),
          reason: z.string(),
        }).nullable(),
      }),
      schedules: z.array(scheduleState),
    }).describe('null: the engine has not answered yet'),
  }),
  notice: document('the body of a webhook', {
    event: z.enum(['finish', 'failure', 'limit', 'parked']),
    at: time,
    isSample: z.boolean(),
    run: object({ id: z.string().nullable(), label: z.string() }),
    stopped,
    reason: z.string().nullable(),
    rows: rows.nullable(),
    requests: orNull({ ...requests, overageCost: money }),
    currency,
    account: orNull(use),
    changes: orNull({ since: time.nullable(), ...changes }),
    files: orNull({ output: z.string(), errors: z.string().nullable() }),
    report: z.string().nullable().describe('path of the JSON report'),
  }),
  error: document('any command that fails, with --json', {
    error: object({ code: z.string(), message: z.string(), exitCode: z.int() }),
  }),
  upload: document('the answer of POST /uploads?start=1', {
    id: z.string().describe('of its job, which all its runs share'),
    file: z.string().describe('its name in the inbox'),
    links: object({ run: z.string(), page: z.string() }),
  }),
  run: document('/runs/ID.json of the dashboard', {
    id: z.string().describe('as asked: of a run, or of the job of a file, whose latest run is shown'),
    state: z
      .enum([
        ...(['queued', 'running', 'paused', 'waiting', 'finished'] as const),
        ...(['failed', 'cancelled', 'stopped', 'dead'] as const),
      ])
      .describe(
        'queued: in the inbox, not taken yet; waiting: for quota or budget, then it continues by ' +
          'itself, or for a person; failed: see reason; stopped, dead: a command that has to be run again',
      ),
    isEnded: z.boolean().describe('its files are where the links lead, and stay there'),
    file: z.string().nullable(),
    reason: z.string().nullable(),
    run: run.nullable().describe('as in status --json; null: none has begun'),
    links: object({
      run: z.string(),
      page: z.string().describe('for people'),
      output: z.string().nullable(),
      partial: z.string().nullable().describe('the rows so far'),
      errors: z.string().nullable(),
      report: z.string().nullable(),
      reportPage: z.string().nullable(),
    }).describe('paths at this address; null: there is no such file'),
  }),
  'http-done': document('the dashboard, to a program whose order was carried out and is not about one run', {
    done: z.string().describe('for people'),
    links: object({ page: z.string().describe('for people') }),
  }),
  'http-error': document('the dashboard, to a program whose request fails', {
    error: object({ code: z.string(), message: z.string() }),
  }),
  ledger: document('ledger show and observe --json', { account }),
  'ledger-check': document('ledger check --json', {
    identifier: z.string(),
    outcome: z
      .enum(['matched', 'not_found', 'refused', 'failed'])
      .describe('refused: the quota is still used up'),
    isBilled: z.boolean().describe('it was or may have been billed'),
    account,
  }),
  'ledger-reset': document('ledger reset --json', { reset: z.string() }),
  answers: document('outcomes stats --json', { ...answers }),
  forgotten: document('outcomes forget and purge --json', { forgotten: count }),
  pause: document('pause and resume --json', {
    run: z.string().nullable().describe('null: all spending, or a schedule'),
    isPaused: z.boolean(),
  }),
  cancel: document('cancel --json', { cancelled: z.string() }),
  'engine-status': document('engine status --json', {
    engine,
    address: z.string(),
    isRunning: z.boolean(),
    serverVersion: z.string().nullable(),
    sessions: count,
    bytes: count,
    processes: z.array(z.int()).optional(),
    data: z.string().optional(),
    log: z.string().optional(),
  }),
  'engine-stop': document('engine stop --json', { stopped: z.boolean() }),
  'engine-export': document('engine export --json', {
    file: z.string(),
    answers: count,
    accounts: count,
    ...orders,
    unreadable: count,
  }),
  'engine-import': document('engine import --json', {
    answers: count,
    taken: count,
    known: count,
    expired: count,
    broken: count,
    ...orders,
    accounts: listOf({
      account: z.string(),
      period: z.string().nullable(),
      spent: count,
      result: z.enum(['counted', 'in flight', 'another period']),
    }),
    problems: z.array(z.string()),
  }),
  schedules: document('schedule list --json', { schedules: z.array(scheduleState) }),
  'schedule-add': document('schedule add --json', { schedule: object(schedule), nextAt: time }),
  'schedule-remove': document('schedule remove --json', { removed: z.string() }),
  'schedule-run': document('schedule run-now --json', { asked: z.string(), isHostUp: z.boolean() }),
  config: document('config --json', {
    file: z.string().nullable(),
    settings: listOf({ name: z.string(), value: z.string(), origin: z.string() }),
    schedules: listOf(scheduled).describe('those of the config file'),
  }),
  statement: document('serve --statement, one for each account', {
    account: z.string(),
    month: z.string(),
    plan: z.enum(['free', 'paid']),
    quota: count,
    requests: count,
    overageRequests: count,
    overagePrice: money,
    overageOwed: money,
    isFinal: z.boolean(),
  }),
  init: document('init --json', { config: z.string(), tokenFile: z.string().nullable() }),
};

type ReadonlyDeep<T> = T extends object ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> } : T;

/** The contents of a document; printing adds the version. */
export type Document<Name extends keyof typeof DOCUMENTS> = ReadonlyDeep<
  Omit<z.infer<(typeof DOCUMENTS)[Name]>, 'version'>
>;
