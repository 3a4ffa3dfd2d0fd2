import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import type { EnrichProgress } from '../../src/run/enrich-request.js';
import type { SpendingQuestion } from '../../src/run/lookups/spending.js';
import type { TrialResult } from '../../src/run/lookups/trial.js';
import { createTerminalView, progressText } from '../../src/run/terminal-view.js';
import { NO_PROGRESS, runSettings } from '../engine/contract/run-settings.js';
import { ledgerState, runSpending } from './ledger-state.js';

const RUN = {
  ...NO_PROGRESS,
  tally: { matched: 900, notFound: 90, failed: 10, stored: 0, requests: 1_010, billed: 1_000 },
};
const ASKING: EnrichProgress = {
  record: { id: 'r-1', settings: runSettings() },
  isParked: false,
  wanted: 4_000,
  answered: 1_000,
  run: RUN,
  ledger: null,
  inFlight: 0,
  outage: null,
  queued: null,
};

const PAUSED = { run: { ...RUN, isPaused: true } };
const OVERAGE = {
  ledger: ledgerState({ quota: 10, sent: 25, overage: 20, run: runSpending({ overageBilled: 13 }) }),
};

const tally = { matched: 380, notFound: 30, failed: 2, stored: 588, requests: 412, billed: 412 };

it.each<[string, Partial<EnrichProgress>, string, number?]>([
  ['before the first report', { run: null }, '1,000 of 4,000 · 0 matched · 0 billed'],
  [
    'a known limit and a rate',
    { run: { ...RUN, tally }, ledger: ledgerState({ quota: 100_000, sent: 412 }), inFlight: 64 },
    '1,000 of 4,000 · 380 matched · 588 stored · 412 of 100,000 spent · 50/s · 1 min 0 s left',
    50,
  ],
  ['parked', { isParked: true }, '1,000 of 4,000 · parked · 900 matched · 1,000 billed'],
  ['queued', { queued: 'behind a.csv' }, '1,000 of 4,000 · behind a.csv · 900 matched · 1,000 billed'],
  [
    'paused, while the service gives no answers',
    { ...PAUSED, outage: 'status 503' },
    '1,000 of 4,000 · paused · waiting: status 503 · 900 matched · 1,000 billed',
  ],
  ['overage', OVERAGE, '1,000 of 4,000 · 900 matched · 25 of 30 spent · 1.3 overage'],
  ['nothing moves', {}, '1,000 of 4,000 · 900 matched · 1,000 billed', 0],
  [
    'more used than there was',
    { ledger: ledgerState({ quota: 10, others: 12 }) },
    '1,000 of 4,000 · 900 matched · 12 of 10 spent',
  ],
  ['all spending is paused', { run: null, ledger: ledgerState({ isPaused: true }) }, 'paused · 0 matched'],
])('the words of progress: %s', (_what, some, text, rate) => {
  expect(progressText({ ...ASKING, ...some }, rate ?? null, '0.1')).toContain(text);
});

function createScreen(
  some: { isTTY?: boolean; columns?: number; isQuiet?: boolean; hasColor?: boolean } = {},
) {
  const { isTTY = false, columns = 100, isQuiet = false, hasColor = false } = some;
  const written: string[] = [];
  let now = 1_000_000;
  const stream = { isTTY, columns, write: (text: string) => written.push(text) };
  const stderr = stream as unknown as NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  const view = createTerminalView({
    streams: { stdin: new PassThrough(), stderr },
    settings: { quiet: isQuiet, color: hasColor, overagePrice: '0.1', yes: false, confirmAbove: '20' },
    clock: { monotonic: () => now },
    stop: new AbortController().signal,
  });
  return {
    written,
    view: { ...view, update: (progress: EnrichProgress) => view.show({ type: 'progress', ...progress }) },
    pass(ms: number) {
      now += ms;
    },
  };
}

const CLEARED = '\r\u001b[2K';

describe('in a pipe', () => {
  it('prints a line every ten seconds, and no sooner', () => {
    const { view, written, pass } = createScreen();
    view.update(ASKING);
    pass(9_999);
    view.update(ASKING);
    expect(written).toEqual([]);
    pass(1);
    view.update(ASKING);
    pass(10_000);
    view.update({ ...ASKING, answered: 2_000 });
    expect(written).toEqual([
      '1,000 of 4,000 · 900 matched · 1,000 billed\n',
      '2,000 of 4,000 · 900 matched · 1,000 billed · 100/s · 20 s left\n',
    ]);
  });

  it('prints a notice on a line of its own, and nothing at the end', () => {
    const { view, written } = createScreen();
    view.notice('column website');
    view.end();
    expect(written).toEqual(['column website\n']);
  });
});

describe('on a terminal', () => {
  it('redraws the bar ten times a second at most', () => {
    const { view, written, pass } = createScreen({ isTTY: true });
    view.update(ASKING);
    view.update(ASKING);
    pass(100);
    view.update({ ...ASKING, answered: 4_000 });
    view.end();
    view.end();
    expect(written).toEqual([
      '\r██████░░░░░░░░░░░░░░░░░░ 1,000 of 4,000 · 900 matched · 1,000 billed\u001b[K',
      '\r████████████████████████ 4,000 of 4,000 · 900 matched · 1,000 billed\u001b[K',
      CLEARED,
    ]);
  });

  it('prints a notice above the bar', () => {
    const { view, written } = createScreen({ isTTY: true });
    view.update(ASKING);
    view.notice('note');
    expect(written.slice(1)).toEqual([CLEARED, 'note\n']);
  });

  it('shows no bar while the file is read, and an empty one when nothing is wanted', () => {
    const { view, written, pass } = createScreen({ isTTY: true });
    view.show({ type: 'reading', rows: 5_000 });
    pass(100);
    view.update({ ...ASKING, wanted: 0, answered: 0 });
    const empty = expect.stringContaining(`\r${'░'.repeat(24)} 0 of 0 · `);
    expect(written).toEqual(['\rreading 5,000 rows\u001b[K', empty]);
  });

  it.each([10, 24, 25, 40, 200])('never takes more than one line of %i columns', (columns) => {
    for (const hasColor of [true, false]) {
      for (const type of ['reading', 'progress', 'writing'] as const) {
        const { view, written } = createScreen({ isTTY: true, columns, hasColor });
        view.show(type === 'progress' ? { type, ...ASKING } : { type, rows: 123_456_789 });
        const text = written.join('');
        const visible = stripVTControlCharacters(text).replace('\r', '');
        expect(visible.length).toBeLessThan(columns);
        expect(visible.length).toBeGreaterThan(0);
        expect(text.includes('\u001b[36m')).toBe(hasColor && type === 'progress');
        expect(text.includes('\u001b[0m')).toBe(hasColor && type === 'progress');
      }
    }
  });

  it('shows the rate of the last ten seconds', () => {
    const { view, written, pass } = createScreen({ isTTY: true, columns: 200 });
    let answered = 0;
    for (let second = 0; second <= 30; second += 1) {
      answered += second < 15 ? 1_000 : 10;
      view.update({ ...ASKING, wanted: 100_000, answered });
      pass(1_000);
    }
    expect(written.at(-1)).toContain(' 10/s ·');
  });
});

it.each([true, false])('control characters of service and file are escaped (terminal: %s)', (isTTY) => {
  const { view, written, pass } = createScreen({ isTTY, columns: 300 });
  pass(10_000);
  view.update({ ...ASKING, outage: 'said \u001b[2J\u009bA\u202e\nbrand-enrich: done' });
  view.notice('column "web\u001b]0;x\u0007\nsite"');
  const text = written.join('').replaceAll(CLEARED, '').replace('\r', '').replace('\u001b[K', '');
  expect(text).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
  expect(text).toContain('waiting: said \\x1b[2J\\x9bA\\u202e\\nbrand-enrich: done');
  expect(text).toContain('column "web\\x1b]0;x\\x07\\nsite"\n');
});

it('--quiet prints warnings only', () => {
  const { view, written, pass } = createScreen({ isTTY: true, isQuiet: true });
  view.update(ASKING);
  pass(60_000);
  view.update(ASKING);
  view.notice('note');
  view.end();
  expect(written).toEqual([]);
  view.warn('warning');
  expect(written).toEqual(['warning\n']);
});

it('an outage and a near limit are reported once each, with --quiet too', () => {
  const { view, written } = createScreen({ isQuiet: true });
  const near = ledgerState({ quota: 100, sent: 80 });
  for (const some of [{ outage: 'status 503' }, { outage: 'status 503' }, { ledger: near }, { ledger: near }])
    view.update({ ...ASKING, ...some });
  expect(written).toEqual([
    'the service is unavailable: status 503; lookups continue when it answers\n',
    'warning: 80 of the limit of 100 requests are used\n',
  ]);
});

const ESTIMATE: SpendingQuestion = {
  requests: 1_500,
  withinQuota: 1_000,
  overageRequests: 400,
  maxCost: '40',
  deferred: 100,
  quotaLeft: 5_000,
  trial: null,
};
/** Costs nothing beyond the quota. */
const FREE = { ...ESTIMATE, requests: 1_000, overageRequests: 0, maxCost: '0', deferred: 0 };
const TRIAL: TrialResult = {
  isRequested: true,
  counts: { not_found: 2, matched: 17, failed: 1 },
  brands: [
    { identifier: 'domain:acme.com', name: 'Acme', domain: 'acme.com', score: 0.82, color: null },
    { identifier: 'domain:b.com', name: null, domain: null, score: null, color: null },
  ],
};

function question(isTTY = true) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const open = (some: { yes?: boolean; confirmAbove?: string; quiet?: boolean } = {}) =>
    createTerminalView({
      streams: { stdin, stderr },
      settings: { quiet: false, color: false, overagePrice: '0.1', yes: false, confirmAbove: '20', ...some },
      clock: systemClock,
      stop: new AbortController().signal,
    });
  const askIn = (view: ReturnType<typeof open>, about = ESTIMATE) => {
    view.show({ type: 'estimated', question: about });
    return view.questions.confirm?.(about);
  };
  const ask = (some: Parameters<typeof open>[0] = {}, about = ESTIMATE) => askIn(open(some), about);
  return { stdin, open, ask, askIn, said: () => String(stderr.read()) };
}

const PAUSE = {
  owner: 'key',
  label: { host: 'host', name: 'a.csv' },
  run: 'r-1',
  by: 'ada@office',
  at: Date.UTC(2026, 0, 14),
};

it.each([{}, { yes: true }])('a paused command is resumed by a person at a terminal: %j', async (some) => {
  const { stdin, open, said } = question();
  const agreed = open(some).questions.resumes?.(PAUSE);
  stdin.write('y\n');
  expect(await agreed).toBe(true);
  expect(said()).toContain('paused by ada@office since 14 Jan 2026, 00:00 UTC; resume it? [y/N]');
  expect(question(false).open(some).questions.resumes).toBeUndefined();
});

describe('the confirmation before money is spent', () => {
  it.each([
    ['y\n', true],
    ['Yes\n', true],
    ['n\n', false],
    ['\n', false],
    ['perhaps\n', false],
  ])('the answer %j is %s', async (answer, isAgreed) => {
    const { stdin, ask } = question();
    const agreed = ask();
    stdin.write(answer);
    expect(await agreed).toBe(isAgreed);
  });

  it('the end of the input is a no', async () => {
    const { stdin, ask } = question();
    const agreed = ask();
    stdin.end();
    expect(await agreed).toBe(false);
  });

  it('Ctrl-C is an interruption, and nothing was spent', async () => {
    const { stdin, ask } = question();
    stdin.write('\u0003');
    await expect(ask()).rejects.toMatchObject({ code: 'interrupted', exitCode: 130 });
  });

  it.each([{ yes: true }, { confirmAbove: '40' }])('nothing is asked with %j', async (some) => {
    const { ask, said } = question();
    expect(await ask(some)).toBe(true);
    expect(said()).toBe(
      '1,500 identifiers to look up, 1,000 within the quota, up to 400 as overage for\nat most 40, 100 beyond the limit\n',
    );
  });
});

describe('the quota', () => {
  it.each([
    [2_000, false],
    [1_999, true],
    [1_000, true],
    [null, false],
  ])('with %s left, 1,000 identifiers need a question: %s', async (quotaLeft, isAsked) => {
    const { stdin, ask, said } = question();
    const agreed = ask({ quiet: true }, { ...FREE, quotaLeft });
    stdin.end();
    expect(await agreed).toBe(!isAsked);
    if (isAsked) expect(said()).toMatch(/^1,000 identifiers to look up, .*spend it\? \[y\/N\] /s);
    expect(await question().ask({ yes: true }, { ...FREE, quotaLeft })).toBe(true);
  });

  it('quota and cost are one question, asked once', async () => {
    const { stdin, open, askIn, said } = question();
    const view = open();
    const agreed = askIn(view, { ...ESTIMATE, quotaLeft: null, withinQuota: null });
    stdin.write('y\n');
    expect(await agreed).toBe(true);
    expect(await askIn(view, { ...ESTIMATE, quotaLeft: 1_000 })).toBe(true);
    expect(said().match(/spend it/g)).toHaveLength(1);
  });

  it('the estimate is repeated after the first request only if it costs more or is not enough', async () => {
    const { open, askIn, said } = question(false);
    const view = open();
    const unknown = { ...FREE, withinQuota: null, quotaLeft: null, deferred: null };
    const trial = { ...TRIAL, isRequested: false };
    await askIn(view, unknown);
    await askIn(view, { ...FREE, requests: 999, trial });
    expect(said()).toBe('1,000 identifiers to look up\n');
    await askIn(view, { ...FREE, requests: 999, withinQuota: 900, deferred: 99, trial });
    expect(said()).toBe('999 more identifiers to look up, 900 within the caps, 99 beyond the limit\n');
  });

  it('a cap is named where it leaves less than the quota', async () => {
    const { ask, said } = question(false);
    await ask({}, { ...FREE, requests: 13, withinQuota: 0, quotaLeft: 500, deferred: 13 });
    expect(said()).toBe('13 identifiers to look up, 0 within the caps, 13 beyond the limit\n');
  });

  it('without a terminal nothing is asked, and the share is printed', async () => {
    const { ask, said } = question(false);
    expect(await ask({}, { ...FREE, quotaLeft: 1_200 })).toBe(true);
    const share = 'more than half of the 1,200 left';
    expect(said()).toBe(`1,000 identifiers to look up, 1,000 within the quota, ${share}\n`);
  });
});

describe('after a trial', () => {
  const tried = { ...FREE, trial: TRIAL };

  it.each([
    ['y\n', true],
    ['n\n', false],
  ])('the result is shown, and %j continues: %s', async (answer, isAgreed) => {
    const { stdin, ask, said } = question();
    const agreed = ask({ quiet: true }, tried);
    stdin.write(answer);
    expect(await agreed).toBe(isAgreed);
    expect(said().split('\n').slice(0, 4)).toEqual([
      'tried 20 identifiers: 17 matched (85 %), 2 not found, 1 failed',
      '  domain:acme.com: Acme, acme.com, score 0.82',
      '  domain:b.com: no name, no domain, unscored',
      '1,000 more identifiers to look up, 1,000 within the quota',
    ]);
  });

  it.each([
    [true, { yes: true }, true],
    [false, {}, false],
    [false, { yes: true }, true],
  ])('on a terminal (%s) with %j it continues without a question: %s', async (isTTY, some, continues) => {
    const { ask, said } = question(isTTY);
    expect(await ask(some, tried)).toBe(continues);
    expect(said()).toMatch(/^tried 20 identifiers: 17 matched/);
    expect(said()).not.toContain('continue?');
  });

  it('a trial without results has no share', async () => {
    const { ask, said } = question(false);
    await ask({}, { ...tried, trial: { isRequested: true, counts: {}, brands: [] } });
    expect(said()).toMatch(/^tried 0 identifiers: 0 matched\n/);
  });
});
