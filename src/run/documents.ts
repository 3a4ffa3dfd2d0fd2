/**
 * The JSON for programs, by shapes that give types and schemas. Times are ISO 8601 in UTC, money is
 * exact decimal text. New fields do not change the version. Import types only: zod loads slowly.
 */
import { z } from 'zod';
import { EXIT } from '../core/errors.js';
import { OUTCOME_STATUSES, STOP_CODES } from '../core/outcome.js';

const text = z.string();
const count = z.int().nonnegative();
const time = z.iso.datetime();
const money = z.string().regex(/^\d+(\.\d+)?$/);
const counts = z.record(text, count);
const texts = z.array(text);
const currency = text.nullable().describe('the label set with --currency; nothing is converted');
const version = z.literal(1);
const { object } = z;
const orNull = <Shape extends z.ZodRawShape>(shape: Shape) => object(shape).nullable();
const listOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(object(shape));
const examples = listOf({ line: count, reason: text });
const listed = listOf({ line: count, value: text, reason: text });
const countsOf = <Key extends string>(...keys: readonly Key[]) =>
  Object.fromEntries(keys.map((key) => [key, count])) as Record<Key, typeof count>;
const rows = object(countsOf(...OUTCOME_STATUSES));
const held = 'min-match: held for a person, because too few of the first answers match; null: not stopped';
const stopped = z.enum(STOP_CODES).nullable().describe(held);

/** What a person ordered: `user@host`, or a name of the dashboard. */
const order = orNull({ by: text, at: time });

const input = {
  name: text,
  sha256: text,
  records: count,
  columns: listOf({ name: text, kind: text }),
  detected: text.describe('the format, for people'),
  where: orNull({ conditions: texts, rows: count.describe('rows that meet them all') }).describe(
    'the rows that are looked up; null for all',
  ),
  warnings: texts,
  unreadable: count,
  misfits: count.describe('unreadable rows with too many or too few cells'),
  short: count.describe('rows read despite missing last cells'),
  long: count.describe('rows read despite surplus cells'),
  examples,
};

const use = {
  period: text.nullable().describe('its first day; none: the quota never renews'),
  quota: count.nullable(),
  limit: count.nullable().describe('quota and overage'),
  used: count.describe('sent, in flight and by others, without free requests'),
  cap: count.nullable().describe('--quota if it is below the quota or that is unknown, else null'),
  left: count.nullable(),
  sent: count.describe('counted by this engine'),
  inFlight: count.describe('free requests included'),
  others: count.describe('by others with the same token'),
  free: count.describe('requests for the own domain, proven free; no other count includes them'),
};

const account = object({
  name: text,
  ...use,
  usage: count.nullable().describe('the last report of the service'),
  closedAt: time.nullable().describe('when the service refused for quota; null unless it does'),
  answeredAt: time.nullable().describe('the last answer of the service; null before the first'),
  isPaused: z.boolean(),
  ratePerSecond: z.number().nullable().describe('null if unpaced'),
  days: listOf({ day: z.iso.date(), used: count }).describe(
    'use of the period as last seen on each day, oldest first; days without activity are left out',
  ),
});

const answers = {
  ...countsOf('matched', 'notFound'),
  oldestFetchedAt: time.nullable(),
  newestFetchedAt: time.nullable(),
};

const spent = {
  billed: count,
  unreported: count.describe('may also have been billed: in flight when their worker ended'),
  overage: count,
};
const requests = { sent: count, ...spent };

const changes = {
  ...countsOf('new', 'changed', 'unchanged', 'vanished'),
  failed: count.describe('there before, and their lookup failed now'),
};

const ranked = { identifier: text, value: text.nullable() };
const fills = {
  columns: listOf({
    column: text.describe('of the user'),
    field: text.describe('of the brand'),
    filled: count.describe('cells that were blank'),
    kept: count.describe('cells that say what the brand says'),
    differing: count.describe('cells that say something else; --fill-over replaces them'),
  }),
  misfits: count.describe('rows that are not filled, because they have too few or too many cells'),
};

const spending = object({ requests: count, overage: count, overageCost: money });

const spread = object(countsOf('byUs', 'byOthers', 'total'));

const run = object({
  id: text,
  label: text.describe('host and file name'),
  service: text,
  account: text,
  status: z
    .enum(['running', 'held', 'dead', 'finished', 'stopped', 'cancelled'])
    .describe('held: may not spend now; dead: its process ended, or has no heartbeat'),
  isPaused: z.boolean().describe('this run is paused, not only all spending'),
  paused: order.describe('who paused the run, and since when'),
  cancelled: order,
  startedAt: time,
  heartbeatAt: time,
  rows: count.nullable(),
  identifiers: object({
    distinct: count.nullable(),
    ...countsOf('matched', 'notFound', 'failed', 'stored', 'left'),
  }),
  requests: object(requests),
  nothingMatched: z.boolean(),
  queued: text.nullable().describe('the runs ahead of this one, in words'),
  earlier: object({ starts: count, ...spent }).describe(
    'stopped earlier starts of the same file, which are not listed',
  ),
  reason: text.nullable(),
});

const engine = z.enum(['embedded', 'redis', 'postgres']);

const status = {
  engine,
  address: text,
  warnings: texts,
  account: account.nullable(),
  budget: orNull({
    budget: money,
    price: money,
    used: money,
    left: money,
    overage: count,
    requestsAllowed: count.describe('by the budget beyond the quota'),
    requestsLeft: count,
    quotaCap: count.nullable().describe('--quota if it is below the quota'),
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
  queue: orNull(countsOf('waiting', 'active', 'delayed')).describe('in chunks'),
  answers: object(answers),
  runs: z.array(run).describe('live runs first, then the newest'),
  pauses: listOf({
    name: text.describe('of the file or the schedule, or “all spending”'),
    label: text,
    run: text.nullable().describe('null for a schedule or all spending'),
    by: text,
    since: time,
  }).describe('pauses that people ordered, oldest first'),
};

const scheduled = {
  name: text,
  line: text.describe('the command as it was entered'),
  cron: text,
  tz: text,
  input: text,
  catchesUp: z.boolean(),
};

const schedule = {
  ...scheduled,
  host: text,
  source: text.nullable().describe('its config file; null after schedule add'),
  addedAt: time,
};

const ended = object({
  dueAt: time.nullable().describe('null if run by hand'),
  startedAt: time,
  endedAt: time,
  exitCode: z.int(),
  sentence: text,
  output: text.nullable(),
});

const scheduleState = object({
  name: text,
  host: text,
  definition: z
    .enum(['here', 'elsewhere', 'missing'])
    .describe('where its command is defined; missing: this machine should have it, so it never runs'),
  line: text.nullable().describe('the command as it was entered; null unless defined here'),
  cron: text.nullable(),
  tz: text.nullable(),
  input: text.nullable(),
  catchesUp: z.boolean().nullable(),
  source: text.nullable().describe('its config file; null after schedule add or if not defined here'),
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

const orders = { ...countsOf('pauses', 'cancels'), isPaused: z.boolean().describe('all spending is paused') };

/** `description`: where it is printed. */
const document = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  object({ version, ...shape }).describe(description);

export const DOCUMENTS = {
  report: document('the report of a run: its file, and run --json', {
    run: object({
      id: text,
      key: text.describe('the same for the same command and content'),
      service: text,
      status: z
        .enum(['finished', 'stopped', 'cancelled', 'paused', 'declined', 'too_many_failures', 'halted'])
        .describe('declined: it ended after its trial'),
      isComplete: z.boolean(),
      nothingMatched: z.boolean(),
      exitCode: z.literal(Object.values(EXIT)),
    }),
    stopped,
    reason: text.nullable().describe('why it stopped'),
    next: text.nullable().describe('what to do next, in words; null if nothing'),
    input: object(input),
    rows,
    listed: object({ not_found: listed, failed: listed, invalid: listed }).describe(
      'the first hundred rows of each, in the order of the file; value: identifier or invalid ' +
        'cell, cut after 200 characters',
    ),
    reasons: counts.describe('why rows are invalid or skipped'),
    identifiers: object({
      ...countsOf('distinct', 'duplicateRows'),
      byKind: counts,
      ...countsOf('matched', 'notFound', 'failed', 'deferred'),
      beingFetched: count.describe('not found yet: the service is fetching them'),
      stored: count.describe('matched and not found without a request'),
    }),
    failures: counts.describe('why identifiers failed'),
    quality: object({ ...countsOf('poor', 'acceptable', 'high', 'unscored'), histogram: z.array(count) }),
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
      column: text,
      compared: count.describe('matched rows that have a name, as their brands have'),
      low: count.describe('of them below the threshold; the errors file lists them'),
      threshold: z.number(),
    }).describe('names of the input compared with those of the brands; null unless asked for'),
    changes: orNull({
      file: text,
      since: time.nullable().describe('when the earlier output was written; null without one'),
      ...changes,
      fields: counts.describe('how often each column changed'),
    }).describe('brands compared with the earlier output; null unless asked for and complete'),
    fills: orNull({
      ...fills,
      file: text.nullable().describe('lists cells that differ; null without any, or for a stream'),
    }).describe('columns that --fill and --fill-over name; null without them'),
    files: object({ output: text, errors: text.nullable() }).describe(
      'run --json: as the command names them; the report file: as seen from its folder',
    ),
    accounting: object({ recordsRead: count, rowsByStatus: count, recordsWritten: count.nullable() }),
    startedAt: time,
    endedAt: time,
    seconds: z.number(),
  }),
  plan: document('plan --json and run --dry-run --json', {
    input: object(input),
    leftOut: object({ linesAbove: count, sheets: texts }).describe(
      'parts of the input that are in no output: lines above the table, other sheets',
    ),
    rows: object(countsOf('total', 'asked', 'duplicates', 'skipped', 'invalid')),
    reasons: counts,
    skipReasons: counts,
    identifiers: object({
      ...countsOf('distinct', 'duplicateRows'),
      byKind: counts,
      stored: count.nullable(),
    }),
    requests: object(countsOf('least', 'most')),
    spending: orNull({
      requests: count,
      withinQuota: count.nullable(),
      overage: count,
      overageCost: money.describe('at most'),
      deferred: count.nullable(),
    }),
    ways: text.nullable().describe('settings that would cover the deferred requests'),
    currency,
    priority: orNull({ sentence: text, first: listOf(ranked), last: orNull(ranked) }),
    account: orNull(use),
    fills: orNull(fills).describe('of rows with a stored brand; null without --fill or a service'),
    files: object({ output: text, errors: text, report: text }),
  }),
  status: document('status --json', {
    ...status,
    closedInboxes: listOf({ host: text, folder: text, reason: text }),
    spools: listOf({ engine: text, folder: text, answers: count, since: time, isOwn: z.boolean() }).describe(
      'paid answers on this disk',
    ),
  }),
  spending: document('status --by --json', {
    by: z.enum(['input', 'schedule', 'person', 'month']),
    since: time.nullable().describe('start of the oldest known run; null without runs'),
    price: money.describe('of one request beyond the quota, by the settings of this command'),
    currency,
    groups: listOf({
      name: text.nullable().describe('null if there is none, or it is unknown'),
      runs: count,
      ...spent,
      overageCost: money,
    }),
    account: orNull({
      name: text,
      period: text.nullable(),
      sent: count.describe('counted by this engine in the period'),
      unattributed: count.describe('of them by forgotten runs, or by no run'),
      others: count.describe('by others with the same token'),
    }),
    unknown: texts.describe('questions that the stored records cannot answer'),
  }),
  dashboard: document('/status.json of the dashboard', {
    host: text,
    isStopping: z.boolean(),
    engineUnavailableSince: time.nullable(),
    serviceOutage: text.nullable(),
    data: orNull({
      at: time,
      hold: z.enum(['paused', 'closed', 'used up']).nullable().describe('why no request may be sent'),
      ...status,
      inboxes: listOf({
        folder: text,
        closed: text.nullable(),
        queued: texts.describe('files not taken yet'),
        inProgress: texts,
        waiting: listOf({ file: text, folder: text, since: time.nullable(), reason: text }).nullable(),
      }),
      schedules: z.array(scheduleState),
    }).describe('null before the first answer of the engine'),
  }),
  notice: document('the body of a webhook', {
    event: z.enum(['finish', 'failure', 'limit', 'parked']),
    at: time,
    isSample: z.boolean(),
    run: object({ id: text.nullable(), label: text }),
    stopped,
    reason: text.nullable(),
    rows: rows.nullable(),
    requests: orNull({ ...requests, overageCost: money }),
    currency,
    account: orNull(use),
    changes: orNull({ since: time.nullable(), ...changes }),
    files: orNull({ output: text, errors: text.nullable() }),
    report: text.nullable().describe('path of the JSON report'),
  }),
  error: document('any command that fails, with --json', {
    error: object({ code: text, message: text, exitCode: z.int() }),
  }),
  upload: document('the answer of POST /uploads?start=1', {
    id: text.describe('of its job, which all its runs share'),
    file: text.describe('its name in the inbox'),
    links: object({ run: text, page: text }),
  }),
  run: document('/runs/ID.json of the dashboard', {
    id: text.describe('the requested ID: of a run, or of the job of a file, whose latest run is shown'),
    state: z
      .enum([
        ...(['queued', 'running', 'paused', 'waiting', 'finished'] as const),
        ...(['failed', 'cancelled', 'stopped', 'dead'] as const),
      ])
      .describe(
        'queued: in the inbox, not taken yet; waiting: for a person, or for quota or budget and then ' +
          'it continues by itself; failed: see reason; stopped, dead: the command has to be run again',
      ),
    isEnded: z.boolean().describe('the files that the links name are final'),
    file: text.nullable(),
    reason: text.nullable(),
    run: run.nullable().describe('as in status --json; null before the first run'),
    links: object({
      run: text,
      page: text.describe('for people'),
      output: text.nullable(),
      partial: text.nullable().describe('the rows so far'),
      errors: text.nullable(),
      report: text.nullable(),
      reportPage: text.nullable(),
    }).describe('paths at this address; null without such a file'),
  }),
  'http-done': document('the answer of the dashboard to an order that is not about one run', {
    done: text.describe('for people'),
    links: object({ page: text.describe('for people') }),
  }),
  'http-error': document('the answer of the dashboard to a failed request', {
    error: object({ code: text, message: text }),
  }),
  doctor: document('doctor --json', {
    isReady: z.boolean().describe('no check failed'),
    checks: listOf({
      check: z.enum([
        ...(['service', 'token', 'engine', 'disk', 'clock', 'time zone'] as const),
        ...(['inbox', 'webhook', 'e-mail'] as const),
      ]),
      state: z.enum(['ok', 'warning', 'failed', 'skipped']).describe('skipped: not set, or not free'),
      text: text.describe('for people: what was seen, and what to do'),
    }),
  }),
  ledger: document('ledger show and observe --json', { account }),
  'ledger-check': document('ledger check --json', {
    identifier: text,
    outcome: z
      .enum(['matched', 'not_found', 'refused', 'failed'])
      .describe('refused: the quota is still used up'),
    isBilled: z.boolean().describe('the request was or may have been billed'),
    account,
  }),
  'ledger-reset': document('ledger reset --json', { reset: text }),
  answers: document('outcomes stats --json', { ...answers }),
  forgotten: document('outcomes forget and purge --json', { forgotten: count }),
  pause: document('pause and resume --json', {
    run: text.nullable().describe('null for a schedule or all spending'),
    isPaused: z.boolean(),
  }),
  cancel: document('cancel --json', { cancelled: text }),
  'engine-status': document('engine status --json', {
    engine,
    address: text,
    isRunning: z.boolean(),
    serverVersion: text.nullable(),
    sessions: count,
    bytes: count,
    processes: z.array(z.int()).optional(),
    data: text.optional(),
    log: text.optional(),
  }),
  'engine-stop': document('engine stop --json', { stopped: z.boolean() }),
  'engine-export': document('engine export --json', {
    file: text,
    ...countsOf('answers', 'accounts', 'unreadable'),
    ...orders,
  }),
  'engine-import': document('engine import --json', {
    ...countsOf('answers', 'taken', 'known', 'expired', 'broken'),
    ...orders,
    accounts: listOf({
      account: text,
      period: text.nullable(),
      spent: count,
      result: z.enum(['counted', 'in flight', 'another period']),
    }),
    problems: texts,
  }),
  schedules: document('schedule list --json', { schedules: z.array(scheduleState) }),
  'schedule-add': document('schedule add --json', { schedule: object(schedule), nextAt: time }),
  'schedule-remove': document('schedule remove --json', { removed: text }),
  'schedule-run': document('schedule run-now --json', { asked: text, isHostUp: z.boolean() }),
  config: document('config --json', {
    file: text.nullable(),
    settings: listOf({
      name: text,
      value: z.union([text, z.number(), z.boolean(), texts]).nullable().describe('null if not set'),
      origin: text,
    }),
    schedules: listOf(scheduled).describe('schedules of the config file'),
  }),
  statement: document('serve --statement, one for each account', {
    account: text,
    month: text,
    plan: z.enum(['free', 'paid']),
    ...countsOf('quota', 'requests', 'overageRequests'),
    overagePrice: money,
    overageOwed: money,
    isFinal: z.boolean(),
  }),
  init: document('init --json', { config: text, tokenFile: text.nullable() }),
};

type ReadonlyDeep<T> = T extends object ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> } : T;

/** The contents of a document; printing adds the version. */
export type Document<Name extends keyof typeof DOCUMENTS> = ReadonlyDeep<
  Omit<z.infer<(typeof DOCUMENTS)[Name]>, 'version'>
>;
