/** Made-up dashboard data: a busy engine, one in an outage, and an empty one. */
import { type FileView, fileBody } from '../../src/dashboard/file-page.js';
import type { Viewer } from '../../src/dashboard/gate.js';
import type { DashboardData, DashboardView } from '../../src/dashboard/gather-dashboard.js';
import type { RunView } from '../../src/dashboard/look-at-run.js';
import { dashboardBody } from '../../src/dashboard/overview.js';
import { livePage } from '../../src/dashboard/plain-pages.js';
import { NO_TALLY, type RunRecord, type Tally } from '../../src/engine/stores/run-store.js';
import type { FoundFile } from '../../src/jobs/find-files.js';
import type { ParkState } from '../../src/jobs/job-folder.js';
import type { EndedRun, ScheduleState } from '../../src/jobs/schedules/schedule-book.js';
import type { Schedule } from '../../src/jobs/schedules/schedule-files.js';
import { projectPeriodEnd } from '../../src/ledger/projection.js';
import { judgeAccount, judgeBudget } from '../../src/run/facts/judge-account.js';
import { htmlOf } from '../../src/run/report/kit/page.js';
import { beginningRun, runSettings } from '../engine/contract/run-settings.js';
import { ledgerState } from '../run/ledger-state.js';
import { stoppedBy } from '../support/halts.js';

/** Who looks. */
export const VIEWER: Viewer = { user: 'Ada', formToken: 'form-token', notice: null };

/** The dashboard as a page, and what renews it. */
export const renderDashboard = (view: DashboardView) =>
  livePage('brand-enrich dashboard', dashboardBody(view, VIEWER), VIEWER);
export const renderParts = (view: DashboardView) => htmlOf(dashboardBody(view, VIEWER));

/** What the page of a file has between its head and its script. */
export const renderFileParts = (
  seen: FileView,
  viewer = VIEWER,
  terms = { overagePrice: '0.1', currency: 'EUR' },
) => htmlOf(fileBody(seen, viewer, terms));

export const NOW = Date.UTC(2026, 10, 20, 13, 25, 46);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ACCOUNT = 'key-a70879083fac2870';

/** A live run that began five minutes ago, unless the test says otherwise. */
export function runRecord(
  parts: Partial<Omit<RunRecord, 'tally' | 'settings'>> & {
    readonly tally?: Partial<Tally>;
    readonly settings?: Partial<RunRecord['settings']>;
  } = {},
): RunRecord {
  const asOf = parts.asOf ?? NOW - 5 * MINUTE;
  return beginningRun({
    id: 'r-20261120-8ce9ee49',
    label: { host: 'etl-1', name: 'customers.csv' },
    asOf,
    heartbeatAt: parts.status === undefined || parts.status === 'running' ? NOW - 2_000 : asOf + MINUTE,
    rows: 1_500,
    identifiers: 1_400,
    spent: parts.tally?.billed ?? 0,
    ...parts,
    settings: runSettings({
      service: 'https://api.example',
      account: ACCOUNT,
      plan: 'paid',
      overage: 1_000,
      freeStatuses: [],
      ...parts.settings,
    }),
    tally: { ...NO_TALLY, ...parts.tally },
  });
}

export const SCHEDULE: Schedule = {
  name: 'nightly',
  id: '1',
  cron: '0 2 * * *',
  tz: 'Europe/Berlin',
  host: 'etl-1',
  line: 'run customers.csv -o out/{date}.csv',
  input: '/data/customers.csv',
  flags: {},
  catchesUp: false,
  addedAt: NOW - 30 * DAY,
};

export function scheduleState(
  parts: Partial<Omit<ScheduleState, 'schedule'>> & {
    /** null for a schedule that is defined elsewhere, on `host`. */
    readonly schedule?: Partial<Schedule> | null;
  } = {},
): ScheduleState {
  const schedule = { ...SCHEDULE, ...parts.schedule };
  const { name, id, host } = schedule;
  return {
    name,
    id,
    host,
    queue: `schedules-${host}-0123456789abcdef`,
    isMissing: false,
    nextAt: Date.UTC(2026, 10, 21, 1),
    isRunning: false,
    isHostOffline: false,
    ended: ENDED_WELL,
    runs: [ENDED_WELL, ENDED_BADLY],
    passed: null,
    paused: null,
    ...parts,
    schedule: parts.schedule === null ? null : schedule,
  };
}

type Inbox = DashboardData['inboxes'][number];

/** An inbox in which nothing happens. */
export function inboxState(parts: Partial<Inbox> = {}): Inbox {
  const idle = { closed: null, queued: [], misplaced: [], inProgress: [], jobs: [], waiting: [] };
  return { folder: '/data/brands', ...idle, ...parts };
}

/** A file that waits for this. */
export function waitingFile(
  why: ParkState['why'],
  parts: Partial<NonNullable<Inbox['waiting']>[number]> = {},
): NonNullable<Inbox['waiting']>[number] {
  const ids = { job: 'j-waiting', run: 'r-waiting', file: 'a.csv', folder: 'a' };
  return { ...ids, since: 1, reason: 'x', state: { why, capMark: null }, ...parts };
}

/** A file of an inbox that was done; nothing lies in its folder. */
export function foundFile(parts: Partial<FoundFile> = {}): FoundFile {
  return {
    id: 'j-done',
    root: '/data/brands',
    inbox: 0,
    place: 'done',
    folder: '/data/brands/done/list-2026',
    file: 'list.csv',
    path: '/data/brands/done/list-2026/list.csv',
    size: 9,
    changedAt: NOW,
    endedAt: NOW,
    reason: { headline: '', details: '' },
    waitsFor: null,
    isAtOwnCap: false,
    under: undefined,
    runId: 'r-1',
    sentBy: undefined,
    startedBy: undefined,
    isDismissed: false,
    files: [],
    ...parts,
  };
}

/** Nothing is known of it. */
export const NO_FILE = {
  file: null,
  run: null,
  caps: null,
  closed: null,
  isPaused: false,
  now: NOW,
  result: null,
  draft: null,
} satisfies FileView;

/** A run that has no file here. */
export function runAlone(run: RunView): FileView {
  return { ...NO_FILE, run };
}

const TERMS = { plan: 'paid', budget: '100', price: '0.1' } as const;

/** Account, limit, budget and projection computed as for a real engine. */
export function accountParts(
  state: Parameters<typeof ledgerState>[0],
  plan: 'paid' | 'free' = 'paid',
): Pick<DashboardData, 'ledger' | 'plan' | 'budget' | 'projection'> {
  // The terms from the account's runs: an overage of 100 at 0.1 each.
  const overage = plan === 'paid' && state?.quota !== null ? 1_000 : 0;
  const ledger = ledgerState({ now: NOW, period: '2026-11-01', overage, ...state });
  const budget = judgeBudget(ledger, { ...TERMS, plan });
  return { ledger, plan, budget, projection: projectPeriodEnd(ledger, judgeAccount(ledger).limit) };
}

export function dashboardData(parts: Partial<DashboardData> = {}): DashboardData {
  return {
    at: NOW,
    storeNow: NOW,
    gone: new Set(),
    otherHolds: new Map(),
    engine: 'redis',
    address: 'redis://queue.internal:6379',
    warnings: [],
    account: ACCOUNT,
    ...accountParts({ quota: 20_000, sent: 9_940, held: 60, others: 1_220, answeredAt: NOW - 1_000 }),
    queue: { waiting: 17, active: 3, delayed: 2 },
    pauses: [],
    workers: [
      { host: 'etl-1', pid: '4711', since: NOW - 26 * HOUR },
      { host: 'etl-2', pid: '88', since: NOW - 4 * MINUTE },
    ],
    outcomes: {
      matched: 8_420,
      notFound: 611,
      oldestFetchedAt: Date.UTC(2026, 9, 24, 8, 5),
      newestFetchedAt: NOW - 1_000,
    },
    runs: RUNS,
    schedules: [
      scheduleState(),
      scheduleState({
        schedule: {
          name: 'weekly-funds',
          cron: '0 6 * * 1',
          tz: 'UTC',
          catchesUp: true,
          line: 'run funds.csv --max-cost 5',
        },
        nextAt: Date.UTC(2026, 10, 23, 6),
        ended: null,
        runs: [],
        isRunning: true,
      }),
    ],
    inboxes: [inboxState({ waiting: [MARCH] })],
    failed: [{ count: 0, cancelled: 0, files: [] }],
    results: new Map(),
    ...parts,
  };
}

const MARCH = waitingFile('limit', {
  file: 'Kunden März.csv',
  folder: 'Kunden März-2026-11-20T11-22-47Z',
  since: NOW - 2 * HOUR,
  reason: 'maxRequests 40 is reached for this run.',
  state: { why: 'limit', capMark: '40' },
});

const RUNS: readonly RunRecord[] = [
  runRecord({
    id: 'r-20261120-000001',
    tally: { matched: 610, notFound: 31, failed: 4, stored: 120, requests: 648, billed: 641 },
  }),
  runRecord({
    id: 'r-20261120-000002',
    label: { host: 'etl-2', name: 'newsletter subscribers (Q4).csv' },
    status: 'completed',
    settings: { output: '/srv/lists/out/newsletter subscribers (Q4).enriched.csv' },
    asOf: NOW - 3 * HOUR,
    identifiers: 4_900,
    rows: 5_210,
    tally: { matched: 1_100, notFound: 92, requests: 1_192, billed: 1_192 },
  }),
  runRecord({
    id: 'r-20261120-000003',
    label: { host: 'etl-2', name: 'partners.csv' },
    asOf: NOW - 20 * MINUTE,
    heartbeatAt: NOW - 12 * MINUTE,
    identifiers: 600,
    rows: 600,
    tally: { matched: 420, notFound: 30, requests: 450, billed: 450 },
  }),
  runRecord({
    id: 'r-20261119-000004',
    label: { host: 'etl-1', name: 'funds.csv' },
    status: 'stopped',
    asOf: NOW - 26 * HOUR,
    stop: { type: 'halted', halt: { why: 'limit', reached: { name: 'maxCost' } } },
    identifiers: 300,
    rows: 312,
    tally: { matched: 90, notFound: 10, requests: 100, billed: 100 },
  }),
];

export function dashboardView(parts: Partial<DashboardView> = {}): DashboardView {
  return {
    host: 'etl-1',
    now: NOW,
    data: dashboardData(),
    outageNoticedAt: null,
    serviceOutage: null,
    currency: 'EUR',
    isSample: false,
    isStopping: false,
    uploads: { roots: ['/data/brands'], received: [] },
    ...parts,
  };
}

/** An engine that was never used. */
export function emptyView(): DashboardView {
  return dashboardView({
    data: dashboardData({
      engine: 'embedded',
      address: '/home/ana/.local/state/brand-enrich',
      ...accountParts({ period: null }, 'free'),
      queue: { waiting: 0, active: 0, delayed: 0 },
      workers: [],
      outcomes: { matched: 0, notFound: 0, oldestFetchedAt: null, newestFetchedAt: null },
      runs: [],
      schedules: [],
      inboxes: [inboxState()],
    }),
  });
}

/** A week of a busy team: more of everything than the page shows at once. */
export function crowdedView(): DashboardView {
  const runs = Array.from({ length: 14 }, (_, at) =>
    runRecord({
      id: `r-20261119-1000${String(at).padStart(2, '0')}`,
      key: `key-${at}`,
      job: `j-${at}`,
      owner: `j-${at}`,
      label: { host: 'etl-1', name: `export ${at + 1} of the shop.csv` },
      status: 'completed',
      asOf: NOW - (at + 1) * 5 * HOUR,
      identifiers: 900,
      rows: 910,
      tally: { matched: 40 * at, notFound: 90, failed: at % 3, requests: 600, billed: 600 },
    }),
  );
  const failed = Array.from({ length: 5 }, (_, at) =>
    foundFile({
      id: `j-supplier-${at}`,
      file: at === 4 ? null : `supplier list ${at + 1}.csv`,
      folder: `/data/brands/failed/supplier list ${at + 1}-2026-11-20T1${at}-00-00Z`,
      endedAt: NOW - (at + 1) * HOUR,
      reason: {
        headline: at === 0 ? 'Several columns can hold the identifiers: website, mail.' : 'It has no rows.',
        details: 'What to do: name the column.',
      },
    }),
  );
  const sent = (at: number) => ({
    ...foundFile({ id: String(at).repeat(24), size: 48_000 * at, changedAt: NOW - at * MINUTE }),
    file: `new customers ${at}.xlsx`,
  });
  const waiting = [{ ...MARCH, state: { why: 'limit', capMark: null } as const }];
  const busy = dashboardData();
  return dashboardView({
    uploads: { roots: ['/data/brands'], received: [1, 2, 3, 4, 5].map(sent) },
    data: {
      ...busy,
      runs: [...busy.runs, ...runs],
      results: new Map(runs.map(({ id }) => [id, 'output'])),
      inboxes: [inboxState({ waiting })],
      failed: [{ count: 5, cancelled: 0, files: failed }],
    },
  });
}

const DAYS_AGO = NOW - 3 * DAY;

/** Everything that can go wrong at once, with very long names. */
export function troubledView(): DashboardView {
  const long =
    'a-file-with-a-name-that-goes-on-and-on-without-any-place-to-break-it-anywhere-at-all-2026-11-20.csv';
  return dashboardView({
    now: NOW + 4 * MINUTE,
    outageNoticedAt: NOW + MINUTE,
    serviceOutage: 'it cannot be reached (connection refused)',
    data: dashboardData({
      ...accountParts({ quota: 5_000, sent: 5_600, others: 430, closedAt: NOW - 42 * MINUTE }),
      runs: [
        runRecord({ tally: { matched: 300, failed: 700, requests: 1_000, billed: 300 } }),
        runRecord({
          id: 'r-2',
          label: { host: 'etl-1', name: `${long}` },
          status: 'cancelled',
          stop: { type: 'cancelled' },
        }),
        runRecord({ id: 'r-3', asOf: DAYS_AGO, heartbeatAt: DAYS_AGO, identifiers: null, rows: null }),
      ],
      workers: null,
      schedules: [
        scheduleState({
          isHostOffline: true,
          schedule: { name: long.slice(0, 64), host: 'laptop-of-somebody-on-holiday' },
          nextAt: NOW - 5 * HOUR,
          passed: { why: 'missed', dueAt: NOW - 5 * HOUR, at: NOW - 4 * HOUR },
        }),
        scheduleState({ ended: { ...ENDED_BADLY }, schedule: { name: 'hourly' } }),
        scheduleState({ schedule: null, name: 'elsewhere', host: 'etl-2' }),
        scheduleState({ schedule: null, name: 'planted', isMissing: true, ended: null, runs: [] }),
      ],
      inboxes: [
        inboxState({
          folder: '/mnt/share/marketing/brands',
          waiting: [
            waitingFile('limit', {
              file: long,
              since: NOW - 2 * DAY,
              reason:
                'The service refuses further requests: its quota is reached (5600 sent by us, 430 by others, limit 6000).',
            }),
            waitingFile('unreachable'),
          ],
        }),
        inboxState({ folder: '/mnt/gone', waiting: null }),
      ],
    }),
  });
}

/** A troubled dashboard whose texts are all this one. */
export function hostileView(attack: string): DashboardView {
  const view = troubledView();
  const data = view.data ?? dashboardData();
  const texts = { job: attack, run: attack, file: attack, folder: attack, reason: attack };
  const inbox = inboxState({ folder: attack, waiting: [waitingFile('limit', texts)] });
  const schedule = { name: attack, line: attack, host: attack, cron: attack, tz: attack };
  return {
    ...view,
    host: attack,
    data: {
      ...data,
      address: attack,
      account: attack,
      runs: [
        runRecord({
          id: attack,
          label: { host: attack, name: attack },
          status: 'stopped',
          settings: { output: attack },
          stop: stoppedBy(attack),
        }),
      ],
      schedules: data.schedules.map((each) => ({
        ...each,
        isHostOffline: true,
        name: attack,
        host: attack,
        schedule: { ...SCHEDULE, ...schedule },
      })),
      inboxes: [inbox, { ...inbox, waiting: [] }, { ...inbox, waiting: null }],
    },
  };
}

export const ENDED_WELL: EndedRun = {
  dueAt: Date.UTC(2026, 10, 20, 1),
  startedAt: Date.UTC(2026, 10, 20, 1),
  endedAt: Date.UTC(2026, 10, 20, 1, 4, 10),
  exitCode: 0,
  sentence: '1,200 rows, 1,150 matched, 48 not found, 2 invalid, 61 billed',
  output: '/data/out/2026-11-20.csv',
  runId: 'r-20261120-00000a',
  billed: 61,
};

const ENDED_BADLY: EndedRun = {
  dueAt: NOW - HOUR,
  startedAt: NOW - HOUR,
  endedAt: NOW - HOUR + 800,
  exitCode: 5,
  sentence: 'the input cannot be opened: /data/missing.csv; check the path',
  output: null,
};
