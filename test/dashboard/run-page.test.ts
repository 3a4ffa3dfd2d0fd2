/** The page of one run: what it says of state, money, speed and files, and what it offers. */
import { describe, expect, it } from 'vitest';
import type { FileView } from '../../src/dashboard/file-page.js';
import { createRunLook, type RunView, speedOf } from '../../src/dashboard/look-at-run.js';
import { actionsOf, headlineOf } from '../../src/dashboard/run-page.js';
import type { RunRecord } from '../../src/engine/stores/run-store.js';
import { judgeRuns } from '../../src/run/facts/judge-runs.js';
import { ledgerState } from '../run/ledger-state.js';
import { HALTS, stoppedBy } from '../support/halts.js';
import { NO_FILES } from './served.js';
import {
  dashboardData,
  dashboardView,
  foundFile,
  NO_FILE,
  NOW,
  renderFileParts,
  runAlone,
  runRecord,
} from './views.js';

const MINUTE = 60_000;

const stoppedAt = (why: 'limit' | 'unmatched') => ({ type: 'halted', halt: HALTS[why] }) as const;

/** What is seen of a run; `ledger`: of its account. */
function seen(run: RunRecord, parts: Partial<RunView> = {}): RunView {
  const data = dashboardData({ runs: [run] });
  const [shown] = judgeRuns(data);
  if (shown === undefined) throw new Error('not judged');
  return {
    view: dashboardView({ data }),
    shown,
    storeNow: NOW,
    speed: null,
    newer: null,
    isOnOwnAccount: true,
    job: null,
    rows: null,
    failedRows: 0,
    matches: [],
    ...parts,
  };
}

const partsOf = (view: RunView) => renderFileParts(runAlone(view));
const tally = { matched: 610, notFound: 31, failed: 4, stored: 120, requests: 648, billed: 641 };

describe('the headline', () => {
  const DONE = '765 of 1,400 companies are done.';
  const DEAD = `${DONE} No heartbeat for 12\u00a0min: it was killed, or lost its engine.`;
  const PAUSED = `${DONE} Paused by ada since 1 Jan 1970, 00:00 UTC`;
  const silent = { heartbeatAt: NOW - 12 * MINUTE, tally };
  const unread = { identifiers: null, rows: null };
  const paused = { by: 'ada', at: 1 };
  it.each<[string, Parameters<typeof runRecord>[0], string]>([
    ['works', { tally }, DONE],
    ['reads its file', unread, 'Its file is being read.'],
    ['is paused', { tally, paused }, `${PAUSED}. “Resume” continues it.`],
    ['awaits answers', { tally, paused, spent: 694 }, `${DONE} Paused by ada, 53 answers are on their way.`],
    [
      'was stopped, and is paused',
      { status: 'stopped', tally, paused },
      `${PAUSED}. Resume it, then run the same command again.`,
    ],
    [
      'was cancelled',
      { status: 'cancelled', stop: { type: 'cancelled' }, tally, cancelled: paused },
      `${DONE} Cancelled by ada on 1 Jan 1970, 00:00 UTC.`,
    ],
    ['completed', { status: 'completed', identifiers: 765, tally }, 'All of its 765 companies are done.'],
    ['stopped', { status: 'stopped', stop: stoppedAt('limit'), tally }, `${DONE} The quota is used up.`],
    ['is dead', silent, `${DEAD} Run the same command again to continue. Paid answers are stored.`],
    [
      'of an inbox is dead',
      { ...silent, job: 'j-1', owner: 'j-1' },
      `${DEAD} The next watcher or scheduled start continues it. Paid answers are stored.`,
    ],
    ['ended early', { status: 'stopped', ...unread }, 'It ended before its file was read.'],
  ])('of a run that %s', (_, parts, headline) => {
    expect(headlineOf(seen(runRecord(parts)))).toBe(headline);
  });

  it('says that the file was started again, and the page links there', () => {
    const view = seen(runRecord({ status: 'stopped', tally }), { newer: runRecord({ id: 'r-2' }) });
    expect(headlineOf(view)).toContain('The same file was started again later.');
    expect(partsOf(view)).toContain('<a href="/runs/r-2">r-2</a>');
  });
});

const HELD = stoppedAt('unmatched');

it('begins with the question of a held run', () => {
  const view = seen(runRecord({ status: 'stopped', stop: HELD, tally: { notFound: 50 } }));
  expect(headlineOf(view)).toMatch(/^0 of 50 found: is `website` the right column\? 50 of/);
});

const dead = { heartbeatAt: NOW - 12 * MINUTE };
const paused = { by: 'ada', at: 1 };
it.each<[string, Parameters<typeof runRecord>[0], readonly string[]]>([
  ['a running run', {}, ['pause', 'cancel']],
  ['a paused run', { paused }, ['resume', 'cancel']],
  ['a run that stopped, and is paused', { status: 'stopped', paused }, ['resume', 'cancel']],
  ['a dead run', dead, []],
  ['a file of a process that was killed', { ...dead, job: 'j-1' }, ['pause', 'cancel']],
  ['a finished run', { status: 'completed' }, []],
  ['a stopped run', { status: 'stopped' }, []],
  ['a cancelled run', { status: 'cancelled' }, []],
  ['a held command', { status: 'stopped', stop: HELD }, ['rest']],
  ['a held file of an inbox that was moved', { status: 'stopped', stop: HELD, job: 'j', owner: 'j' }, []],
])('the offers for %s', (_, parts, actions) => {
  const view = seen(runRecord(parts));
  expect(actionsOf(view.shown)).toEqual(actions);
  const offered = [...partsOf(view).matchAll(/<form class="action" method="post" action="([^"]+)"/g)];
  const paths = actions.map((action) => `/runs/r-20261120-8ce9ee49/${action}`);
  expect(offered.map(([, path]) => path)).toEqual(paths);
});

it('offers the rest of a file that waits after its trial, and what failed of a finished one', () => {
  const { shown } = seen(runRecord({ status: 'stopped', stop: { type: 'declined' } }));
  expect(actionsOf(shown, 'tried')).toEqual(['rest', 'cancel']);
  expect(actionsOf(shown, 'unmatched')).toEqual(['rest', 'cancel']);
  const paused = seen(runRecord({ status: 'stopped', paused: { by: 'ada', at: 1 } }));
  expect(actionsOf(paused.shown, 'tried')).toEqual(['resume', 'cancel']);
  expect(partsOf(seen(runRecord({ status: 'completed' }), { failedRows: 12 }))).toContain(
    '>Run the 12 failed rows again</button>',
  );
});

it('is starting until its first request is sent', () => {
  const isStarting = (parts: Parameters<typeof runRecord>[0]) =>
    partsOf(seen(runRecord(parts))).includes('>Starting<');
  expect(isStarting({ identifiers: null, rows: null })).toBe(true);
  expect(isStarting({ tally: {} })).toBe(true);
  expect(isStarting({ tally: { requests: 1 } })).toBe(false);
  expect(isStarting({ status: 'completed', tally: {} })).toBe(false);
});

it('shows each number once', () => {
  const numbers = { matched: 611, notFound: 37, failed: 13, stored: 127, requests: 683, billed: 659 };
  const run = runRecord({ tally: numbers, identifiers: 1_403, rows: 1_511, spent: 692, overageBilled: 17 });
  const page = partsOf(seen(run, { speed: 5 }));
  const words = page.replaceAll(/<[^>]*>/g, ' ').split(/\s+/);
  for (const number of [611, 37, 13, 127, 24, 659, 17, '1,403', '1,511', 788, 615])
    expect(
      words.filter((word) => word === String(number)),
      String(number),
    ).toHaveLength(1);
});

it('shows the newest matches, whatever the service called them', () => {
  const attack = '<img src=x onerror=alert(1)>';
  const matches = [
    { identifier: 'acme.com', name: attack, score: 0.91, color: `"/>${attack}` },
    { identifier: attack, name: 'Beta', score: null, color: '#12806e' },
  ];
  const page = partsOf(seen(runRecord({ tally }), { matches }));
  expect(page).not.toContain('<img');
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;</bdi>');
  expect(page).toContain('fill="#12806e"');
  expect(page).toContain('0.910<span class="unseen">, high</span>');
  expect(page.indexOf('acme.com')).toBeLessThan(page.indexOf('Beta'));
});

describe('the money', () => {
  it.each([
    ['running', { status: 'running' }, 'Answers on their way'],
    ['that was cancelled just now', { status: 'cancelled', endedAt: NOW - 3_000 }, 'Answers on their way'],
    ['that stopped just now', { status: 'stopped', endedAt: NOW - 49_000 }, 'Answers on their way'],
    ['whose permits ran out', { status: 'cancelled', endedAt: NOW - 50_000 }, 'May also have been billed'],
  ] as const)('has the requests in flight of a run %s', (_, parts, term) => {
    const page = partsOf(seen(runRecord({ ...parts, tally, spent: 644 })));
    expect(page).toContain(`<dt>${term}</dt><dd>3</dd>`);
    expect(page.includes('Workers were killed')).toBe(term !== 'Answers on their way');
  });

  it('is that of the run, of earlier starts, and what may have been billed', () => {
    const run = runRecord({
      status: 'stopped',
      tally,
      spent: 644,
      overageBilled: 12,
      endedAt: runRecord({}).asOf + 60_000,
      earlier: { starts: 2, matched: 48, notFound: 2, billed: 50, unreported: 1, overage: 5, tookMs: 60_000 },
    });
    const page = partsOf(seen(run));
    expect(page).toContain('<dt>May also have been billed</dt><dd>3</dd>');
    expect(page).toContain('<dt>May have been billed in earlier starts</dt><dd>1</dd>');
    for (const [term, figure, below] of [
      ['Paid lookups', '691', '50 of them in 2 earlier starts'],
      ['Extra cost', '1.70\u00a0EUR', '17 lookups beyond the quota'],
      ['Done', '55 %', 'of its companies'],
      ['Took', '2 min 0 s', 'in all of its starts'],
    ])
      expect(page).toContain(`<dt>${term}</dt><dd>${figure}<span class="below">${below}</span>`);
  });

  it('of a run on another account is in requests: its price is not known here', async () => {
    const run = runRecord({ tally, overageBilled: 12, settings: { account: 'theirs' } });
    const own = { quota: 20_000, sent: 20_000, closedAt: NOW };
    const view = dashboardView({
      data: dashboardData({ runs: [run], ledger: ledgerState({ now: NOW, ...own }) }),
      serviceOutage: 'it cannot be reached',
      isSample: true,
    });
    const engine = { runs: {} } as never;
    const seenRun = await createRunLook({ engine, look: async () => view, finder: NO_FILES })(run.id);
    if (seenRun === null || seenRun === 'unavailable') throw new Error('not seen');
    expect(seenRun.shown.standing).toBe('running');
    const page = partsOf(seenRun);
    expect(page).not.toMatch(/EUR|0\.10|1\.20|class="banner warn|class="banner bad"(?! id="silent")/);
    expect(page).toContain('<dt>Extra</dt><dd>12<span class="below">lookups beyond the quota</span>');
  });

  it('of a first start says how many of the requests that were sent were billed', () => {
    const page = partsOf(seen(runRecord({ tally })));
    expect(page).toContain('<dt>Paid lookups</dt><dd>641<span class="below">7 others cost nothing</span>');
  });

  it('of a run at work counts what is in flight', () => {
    const page = partsOf(seen(runRecord({ tally, spent: 649 })));
    expect(page).toContain('<dt>Answers on their way</dt><dd>8</dd>');
    expect(page).not.toContain('been billed');
  });
});

describe('the speed', () => {
  const run = runRecord({ tally: { matched: 100, stored: 50 }, asOf: NOW - 10_000 });

  it('is the average since the start, without stored answers, and unknown right after it', () => {
    expect([speedOf(run, NOW), speedOf(run, run.asOf + 1_000)]).toEqual([10, null]);
  });

  it.each([
    [5, '2 min 7 s', '5.0 a second'],
    [0, '–', '0.0 a second'],
  ])('of %i gives the time left', (speed, left, rate) => {
    const page = partsOf(seen(runRecord({ tally }), { speed }));
    expect(page).toContain(`<dt>Time left</dt><dd>${left}<span class="below">${rate}</span>`);
  });

  it('is beside the last answer, with the moment for those who want it', () => {
    const data = dashboardData({ ledger: ledgerState({ now: NOW, answeredAt: NOW - 55_000 }) });
    expect(partsOf(seen(runRecord({ tally }), { view: dashboardView({ data }) }))).toContain(
      '<time datetime="2026-11-20T13:24:51.000Z" title="20 Nov 2026, 13:24 UTC">55\u00a0s ago</time>',
    );
  });
});

describe('the files', () => {
  const settings = { output: '/srv/a/out.csv' };
  it.each<[string, Parameters<typeof runRecord>[0], string]>([
    ['at work', {}, 'They are written when the run ends.'],
    ['of a command', { status: 'completed', settings }, 'They are in <code>/srv/a/out.csv</code> on'],
    ['that was stopped', { status: 'stopped', settings }, 'They are in <code>/srv/a/</code> on <bdi>etl-1<'],
    ['of a program', { status: 'completed' }, 'They are not in an inbox of this process. The run was on'],
  ])('of a run %s', (_, run, words) => {
    expect(partsOf(seen(runRecord(run)))).toContain(words);
  });

  it('of an inbox are linked by their names', () => {
    const file = foundFile({
      files: [
        { name: 'Kunden März.report.html', type: 'page', size: 120_000 },
        { name: 'b.differences.csv', type: 'differences', size: 1 },
        { name: 'a"><b>.csv', type: 'other', size: 1 },
      ],
    });
    const run = seen(runRecord({ status: 'completed' }), { job: file });
    const page = renderFileParts({ ...runAlone(run), file });
    const path = '/files/j-done/';
    expect(page).toContain(`<a href="${path}Kunden%20M%C3%A4rz.report.html" target="_blank">Report</a>`);
    expect(page).toContain(`<a href="${path}a%22%3E%3Cb%3E.csv" download="">Other file</a>`);
    expect(page).toContain('b.differences.csv" download="">Differences</a>');
    expect(page).toContain('120\u00a0kB');
    expect(page).not.toContain('<b>');
  });
});

const NO_CAP = { own: null, most: null };

it.each<[string, Partial<FileView>, string[]]>([
  ['that was tried', waitingFor('tried'), ['>Tried<', 'then decide about the rest', '>Go on<']],
  ['that is paused', { ...waitingFor('paused'), isPaused: true }, ['>Paused<', '>Resume<']],
  ['that was resumed', waitingFor('paused'), ['>Starting<', 'as soon as there is room']],
  [
    'that was put away',
    { file: foundFile({ place: 'failed', isDismissed: true }) },
    ['>Failed<', 'headline">Dismissed', 'Try again'],
  ],
  [
    'that failed and was put away',
    {
      file: foundFile({ place: 'failed', isDismissed: true, reason: { headline: 'No rows.', details: 'x' } }),
    },
    ['headline">No rows. Dismissed', '<p class="reason">x</p>'],
  ],
])('a file %s and whose run is forgotten has its next step', (_, parts, words) => {
  const view = { ...NO_FILE, ...parts };
  const page = renderFileParts(view);
  for (const each of words) expect(page).toContain(each);
  expect(page).not.toContain('>Dismiss<');
});

it('a file that is done without a match asks about its column', () => {
  const rows = { matched: 0, not_found: 40, failed: 0, invalid: 0, skipped: 0, deferred: 0 };
  const run = seen(runRecord({ status: 'completed' }), { rows });
  const page = renderFileParts({ ...runAlone(run), file: foundFile() });
  expect(page).toContain('None of the 40 rows has a brand. Are the column and its kind right?');
});

function waitingFor(waitsFor: 'tried' | 'paused'): Partial<FileView> {
  return { file: foundFile({ place: 'waiting', waitsFor }), caps: { maxRequests: NO_CAP, maxCost: null } };
}

it('escapes all data, and has the same parts whatever the data', () => {
  const attack = `</script><script>alert(1)</script>"'<img src=x>`;
  const settings = { account: attack, service: attack, maxRequests: 1 };
  const run = runRecord({
    label: { host: attack, name: attack },
    id: attack,
    stop: stoppedBy(attack),
    status: 'stopped',
    settings,
  });
  const view = seen(run, { newer: runRecord({ id: attack }) });
  const page = renderFileParts(runAlone(view), { user: attack, formToken: 'x', notice: attack });
  expect(page).not.toContain('<script');
  expect(page).not.toContain('<img');
  const parts = (text: string) => [...text.matchAll(/data-part="([a-z]+)"/g)].map(([, name]) => name);
  expect(parts(partsOf(view))).toEqual(parts(partsOf(seen(runRecord({ tally })))));
  expect(new Set(parts(partsOf(view))).size).toBe(parts(partsOf(view)).length);
});

describe('a look at a run', () => {
  const older = runRecord({ id: 'r-old', status: 'stopped', key: 'other', settings: { account: 'key-2' } });
  const created = (runs: { get: () => Promise<RunRecord | null> }, outageNoticedAt: number | null = null) =>
    createRunLook({
      engine: { runs } as never,
      look: async () => dashboardView({ outageNoticedAt }),
      finder: NO_FILES,
    });

  it('finds listed runs, and older ones in the engine', async () => {
    const look = created({ get: async () => older });
    expect(await look('r-20261120-000001')).toMatchObject({ shown: { standing: 'running' } });
    expect(await look('r-old')).toMatchObject({ shown: { standing: 'stopped' } });
  });

  it('tells a run that is unknown from an engine that does not answer', async () => {
    expect(await created({ get: async () => null })('r-none')).toBeNull();
    expect(await created({ get: async () => older })('../\0')).toBeNull();
    expect(await created({ get: () => Promise.reject(new Error('gone')) })('r-none')).toBe('unavailable');
    const out = created({ get: () => new Promise(() => undefined) }, NOW - 1_000);
    expect(await out('r-none')).toBe('unavailable');
    expect(await out('r-20261120-000001')).toMatchObject({ shown: { standing: 'running' } });
  });
});
